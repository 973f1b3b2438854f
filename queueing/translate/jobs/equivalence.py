"""Whether a job still is what its Workload was made of."""

from queueing.devices.wire.swaps import same_but_swapped
from queueing.translate.jobs.view import JobPodSet, JobView
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import PodSet, Workload


def equivalent(job: JobView, workload: Workload) -> bool:
    """Say whether a Workload's pod sets still equal those of a job, in order.

    The number of pods and the containers must always be equal; what an admission itself changes
    (tolerations, node selector) only while the Workload holds no quota. A job that runs with fewer
    pods by partial admission is equal.
    """
    mine, theirs = job.pod_sets, workload.spec.pod_sets
    return len(mine) == len(theirs) and all(
        _alike(one, other, workload) for one, other in zip(mine, theirs, strict=True)
    )


def _alike(mine: JobPodSet, want: PodSet, workload: Workload) -> bool:
    admission = workload.status.admission
    counts = {want.count}
    if admission is not None and want.min_count is not None:
        counts |= {
            one.count
            for one in admission.pod_set_assignments
            if one.name == want.name and one.count is not None
        }
    if mine.count not in counts or mine.least != want.min_count:
        return False
    return _same_template(mine.template, want, reserved=admission is not None)


def _same_template(template: PodTemplate, want: PodSet, *, reserved: bool) -> bool:
    mine, other = template.spec, want.template.spec
    if (mine.resources, mine.priority_class_name) != (other.resources, other.priority_class_name):
        return False
    containers = (mine.containers, mine.init_containers)
    if containers != (other.containers, other.init_containers) and not (
        reserved
        and same_but_swapped(mine.containers, other.containers)
        and same_but_swapped(mine.init_containers, other.init_containers)
    ):
        return False
    if reserved:
        return True
    return (mine.tolerations, mine.node_selector, mine.affinity) == (
        other.tolerations,
        other.node_selector,
        other.affinity,
    )
