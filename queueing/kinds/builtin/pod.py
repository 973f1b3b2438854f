"""A plain pod: gated until it is admitted, and deleted instead of suspended."""

from queueing.kinds.frameworks import Framework
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    PodIndexes,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

GATE = "kueue.x-k8s.io/admission"
_PHASE = 'object.?status.phase.orValue("Pending")'
_SCHEDULED = (
    "object.?status.conditions.orValue([])"
    '.exists(c, c.type == "PodScheduled" && c.status == "True")'
)

SPEC = QueueableKindSpec(
    resource=KindResource(group="", version="v1", kind="Pod", plural="pods"),
    suspend=Suspension(gate=GATE),
    pod_sets=[
        PodSetRule(
            name="main",
            topology=PodIndexes(pod_index_label="kueue.x-k8s.io/pod-group-pod-index"),
        )
    ],
    active=StateRule(expression=f'{_PHASE} in ["Pending", "Running"] && {_SCHEDULED}'),
    ready=StateRule(condition="Ready"),
    finished=[
        EndRule(
            expression=f'{_PHASE} in ["Succeeded", "Failed"]',
            succeeded=f'{_PHASE} == "Succeeded"',
            message="object.status.?message",
        )
    ],
)
FRAMEWORKS = (Framework(name="pod", spec=SPEC),)
