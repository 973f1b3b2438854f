"""Members of a gang whose pods cannot be told any more, seen as they were admitted."""

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from queueing.translate.jobs.gang import part_of, pod_set_names
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload


def as_admitted(jobs: Sequence[JobView], workload: Workload) -> Mapping[str, JobView]:
    """Return by uid those of a gang's jobs that only its Workload can tell the pods of.

    Theirs are the pod sets that bear their name and are no other job's.
    """
    left = {one.name for one in workload.spec.pod_sets}
    left -= {name for job in jobs for name in pod_set_names(job)}
    found: dict[str, JobView] = {}
    lacking = (job for job in jobs if not job.pod_sets)
    # The longest name first, as pod sets of it begin with shorter ones, too.
    for job in sorted(lacking, key=lambda one: -len(one.metadata.name)):
        prefix = f"{job.metadata.name}-"
        mine = {name for name in left if name.startswith(prefix)}
        if mine:
            left -= mine
            found[job.metadata.uid] = job.standing_on(_of_one(workload, mine, prefix))
    return found


def _of_one(workload: Workload, names: set[str], prefix: str) -> Workload:
    """Return a view of a Workload with the pod sets of one job, called as the job calls them."""
    view = part_of(workload, *names)
    pod_sets = [replace(one, name=one.name.removeprefix(prefix)) for one in view.spec.pod_sets]
    return replace(view, spec=replace(view.spec, pod_sets=pod_sets))
