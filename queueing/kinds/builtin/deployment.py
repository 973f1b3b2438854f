"""Deployment: each of its pods is queued by itself, as a plain pod."""

from queueing.kinds.frameworks import Framework
from queueing.translate import labels
from queueing_api.queueing.v1alpha1.queueable_kind import (
    KindResource,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
    ThroughPods,
)

SPEC = QueueableKindSpec(
    resource=KindResource(group="apps", version="v1", kind="Deployment", plural="deployments"),
    suspend=Suspension(
        through_pods=ThroughPods(
            templates=["spec.template"],
            labels={"kueue.x-k8s.io/managed": "true"},
            annotations={"kueue.x-k8s.io/pod-suspending-parent": "deployment"},
            copied_labels=[labels.QUEUE_NAME, labels.PRIORITY_CLASS],
            stopped="object.?status.readyReplicas.orValue(0) == 0",
        )
    ),
    pod_sets=[PodSetRule(name="main", template="spec.template", spec_only=True)],
    groups="object.spec.?replicas.orValue(1)",
    active=StateRule(expression="object.?status.replicas.orValue(0) > 0"),
)
FRAMEWORKS = (Framework(name="deployment", spec=SPEC, prebuilt=False, implies=("pod",)),)
