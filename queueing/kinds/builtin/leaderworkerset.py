"""LeaderWorkerSet: a Workload for each group of a leader and its workers."""

from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.kinds.builtin.statefulset import MAIN, fixed_shape
from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, PodGroups, Seen
from queueing.kinds.pod_sets import PodSet
from queueing.translate import labels
from queueing.translate.jobs.placed_pods import LWS_INDEX
from queueing.translate.wire.meta import Meta
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

NAME = "leaderworkerset.x-k8s.io/leaderworkerset"
_OF_CONTROLLER = "leaderworkerset.sigs.k8s.io"
_KEPT = f"{_OF_CONTROLLER}/name"
_TEMPLATES = "spec.leaderWorkerTemplate"
_LEADER, _WORKER = f"{_TEMPLATES}.leaderTemplate", f"{_TEMPLATES}.workerTemplate"
_HAS_LEADER = f"has(object.{_LEADER})"
_SIZE = f"object.{_TEMPLATES}.?size.orValue(1)"
_GROUP = f"{_OF_CONTROLLER}/group-index"
_LEADER_NAME = f"{_OF_CONTROLLER}/leader-name"
LEADER, WORKER = "leader", "worker"
_REPLICAS = "object.spec.?replicas.orValue(1)"
_SURGE = "object.spec.?rolloutStrategy.?rollingUpdateConfiguration.?maxSurge.orValue(0)"
_UPDATES = (
    f"!(string({_SURGE}) in ['0', '0%']) && object.?status.updatedReplicas.orValue(0) < {_REPLICAS}"
)
_REPLICAS_NOW = "object.?status.replicas.orValue(0)"
_INDEX = PodIndexes(pod_index_label=LWS_INDEX)

SPEC = QueueableKindSpec(
    resource=KindResource(
        group="leaderworkerset.x-k8s.io",
        version="v1",
        kind="LeaderWorkerSet",
        plural="leaderworkersets",
    ),
    suspend=Suspension(
        through_pods=ThroughPods(
            templates=[_LEADER, _WORKER],
            annotations={
                "kueue.x-k8s.io/pod-suspending-parent": NAME,
                "kueue.x-k8s.io/pod-group-serving": "true",
            },
            copied_labels=[labels.QUEUE_NAME, labels.PRIORITY_CLASS],
            stopped="object.?status.readyReplicas.orValue(0) == 0",
        )
    ),
    pod_sets=[
        PodSetRule(name=LEADER, when=_HAS_LEADER, template=_LEADER),
        PodSetRule(
            name=WORKER,
            when=_HAS_LEADER,
            count=f"{_SIZE} - 1",
            template=_WORKER,
            topology=_INDEX,
        ),
        PodSetRule(
            name=MAIN, when=f"!{_HAS_LEADER}", count=_SIZE, template=_WORKER, topology=_INDEX
        ),
    ],
    # While it is updated there may be more of them for a while.
    groups=f"{_UPDATES} && {_REPLICAS_NOW} > {_REPLICAS} ? {_REPLICAS_NOW} : {_REPLICAS}",
    active=StateRule(expression="object.?status.replicas.orValue(0) > 0"),
    ready=StateRule(
        expression="object.?status.readyReplicas.orValue(0) >= object.spec.?replicas.orValue(1)"
    ),
    fixed=[
        FixedField(path=f"{_TEMPLATES}.size", when="Queued"),
        *fixed_shape(_LEADER),
        *fixed_shape(_WORKER),
    ],
)

_decoder = msgspec.json.Decoder(dict[str, Any])


def without_bookkeeping(_: Seen, found: Sequence[PodSet]) -> list[PodSet]:
    """Leave out of templates what the kind's controller writes into them, but for the name."""
    return [replace(one, template=_bare(one.template)) for one in found]


def _bare(template: msgspec.Raw) -> msgspec.Raw:
    parts = _decoder.decode(template)
    metadata = parts.get("metadata") or {}
    for name in ("labels", "annotations"):
        if metadata.get(name):
            metadata[name] = {
                key: value
                for key, value in metadata[name].items()
                if key == _KEPT or not key.startswith(_OF_CONTROLLER)
            }
    return msgspec.Raw(msgspec.json.encode(parts))


def number(pod: Meta) -> int | None:
    """Return the number of the group that a pod is of."""
    text = pod.labels.get(_GROUP, "")
    return int(text) if text.isdecimal() else None


def role(pod: Meta) -> str:
    """Return the pod set of a pod: a worker names its leader."""
    return WORKER if _LEADER_NAME in pod.annotations else LEADER


HOOKS = Hooks(
    pod_sets=without_bookkeeping,
    pod_groups=PodGroups(
        number=number,
        role=role,
        owner_label=_KEPT,
    ),
)
FRAMEWORKS = (Framework(name=NAME, spec=SPEC, hooks=HOOKS, prebuilt=False, implies=("pod",)),)
