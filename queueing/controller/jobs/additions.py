"""What a start adds to a Job's pod template, by the admission of its Workload.

Node labels, tolerations and the like of its flavors and admission checks, labels and annotations of
ours, the last checkpoint, and the submitter's trace context.
"""

from dataclasses import replace

from queueing.controller.stores.objects import Objects
from queueing.controller.work_queues import Features
from queueing.kube.errors import NotSentError
from queueing.translate import labels
from queueing.translate.jobs.injection import ConflictError, Injection, injection_of
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import PodSetAssignment, Workload


def additions(
    objects: Objects, features: Features, job: JobView, template: PodTemplate, workload: Workload
) -> Injection:
    """Return what is added to a pod template of a job, by a Workload with that pod set alone.

    Raises ConflictError when the template contradicts it, so that the job can never start, and
    NotSentError while the store lacks a ResourceFlavor of the admission.
    """
    admission = workload.status.admission
    if admission is None or not admission.pod_set_assignments:
        raise ConflictError("the admission names no pod set")
    assignment = admission.pod_set_assignments[0]
    added = injection_of(
        assignment,
        [objects.flavors[name] for name in _flavors(objects, assignment)],
        marks={
            labels.POD_CLUSTER_QUEUE: admission.cluster_queue,
            labels.POD_LOCAL_QUEUE: workload.spec.queue_name,
        },
        workload=workload.metadata.name,
    )
    for check in workload.status.admission_checks:
        for update in check.pod_set_updates:
            if update.name == assignment.name:
                added = added.merged(update)
    own = template.metadata.annotations
    for told in [annotate(job, own, workload) for annotate in features.annotations]:
        added = replace(added, annotations={**added.annotations, **told})
    trace = job.metadata.annotations.get(labels.TRACE_PARENT, "")
    return added if labels.TRACE_PARENT in own else added.handing_down(trace)


def _flavors(objects: Objects, assignment: PodSetAssignment) -> list[str]:
    names = sorted(set(assignment.flavors.values()))
    missing = [name for name in names if name not in objects.flavors]
    if missing:
        raise NotSentError(f"waiting for missing ResourceFlavor(s): {', '.join(missing)}")
    return names
