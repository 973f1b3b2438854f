"""StatefulSet: its pods are one group, which is admitted as a whole."""

from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, PodGroups
from queueing_api.queueing.v1alpha1.queueable_kind import (
    FixedField,
    KindResource,
    PodIndexes,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
    ThroughPods,
)

MAIN = "main"
_INDEX = "apps.kubernetes.io/pod-index"
SHAPE_FIELDS = (
    "nodeSelector",
    "affinity",
    "tolerations",
    "runtimeClassName",
    "priority",
    "topologySpreadConstraints",
    "overhead",
    "resourceClaims",
    "resources.requests",
)
"""Fields of a pod's spec on which its quota and its placement depend, beside its containers."""


def fixed_shape(template: str) -> list[FixedField]:
    """Return the fields of a template that must not change while its pods are queued."""
    spec, parts = f"{template}.spec", ["ports", "resources.requests"]
    containers = [
        FixedField(path=f"{spec}.{name}", entries=parts, when="Queued")
        for name in ("initContainers", "containers")
    ]
    return containers + [FixedField(path=f"{spec}.{name}", when="Queued") for name in SHAPE_FIELDS]


SPEC = QueueableKindSpec(
    resource=KindResource(group="apps", version="v1", kind="StatefulSet", plural="statefulsets"),
    suspend=Suspension(
        through_pods=ThroughPods(
            templates=["spec.template"],
            annotations={"kueue.x-k8s.io/pod-suspending-parent": "statefulset"},
            stopped="object.?status.readyReplicas.orValue(0) == 0",
        )
    ),
    pod_sets=[
        PodSetRule(
            name=MAIN,
            count="object.spec.?replicas",
            template="spec.template",
            spec_only=True,
            topology=PodIndexes(pod_index_label=_INDEX),
        )
    ],
    on_hold="object.spec.?replicas.orValue(1) == 0",
    active=StateRule(expression="object.?status.replicas.orValue(0) > 0"),
    ready=StateRule(expression="object.?status.readyReplicas.orValue(0) >= podSets[0].count"),
    fixed=fixed_shape("spec.template"),
)
HOOKS = Hooks(
    reads=(
        "status.currentRevision",
        "status.updateRevision",
        "spec.updateStrategy.type",
        "spec.updateStrategy.rollingUpdate.partition",
    ),
    pod_groups=PodGroups(
        number=lambda _: 0,
        role=lambda _: MAIN,
        annotations={
            # Pods come one by one, each when the one before is ready.
            "kueue.x-k8s.io/pod-group-fast-admission": "true",
            "kueue.x-k8s.io/pod-group-serving": "true",
            "kueue.x-k8s.io/pod-group-pod-index-label": _INDEX,
        },
        on_hold="StatefulSet scaled to zero; workload on hold",
        off_hold="Workload no longer on hold; waiting for quota reservation",
    ),
)
FRAMEWORKS = (
    Framework(name="statefulset", spec=SPEC, hooks=HOOKS, prebuilt=False, implies=("pod",)),
)
