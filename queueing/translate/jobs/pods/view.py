"""The kind `v1 Pod`: gated until its Workload is admitted, and deleted instead of suspended."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

import msgspec
from typing_extensions import override

from queueing.translate import labels
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.gang_keys import group_of, key_of_group
from queueing.translate.jobs.gated_pods import left_of
from queueing.translate.jobs.injection import ConflictError, Injection, inject
from queueing.translate.jobs.patches import MergePatch, Patch
from queueing.translate.jobs.pod_sets import each_name_once, equivalent, topology_request
from queueing.translate.jobs.pods.roles import role_hash
from queueing.translate.jobs.view import End, JobPodSet, JobView
from queueing.translate.wire.meta import Condition, Meta, Wire
from queueing.translate.wire.pods import PodTemplate, SchedulingGate, TemplateMeta
from queueing.translate.wire.workloads import Workload

KIND = JobKind(api_version="v1", kind="Pod", plural="pods")
MAIN = "main"


class Pods(StrEnum):
    """Which pods are queued."""

    NONE = "None"
    OF_PARENTS = "OfParents"
    """Those of objects that are queued through their pods."""
    ALL = "All"


class PodStatus(Wire, frozen=True):
    """Status of a pod."""

    phase: str = "Pending"
    message: str = ""
    conditions: list[Condition] = []


class _Placement(Wire, frozen=True):
    node_name: str = ""
    scheduling_gates: list[SchedulingGate] = []
    priority_class_name: str = ""


class _Meta(Meta, frozen=True):
    deletion_grace_period_seconds: int | None = None


class _Pod(Wire, frozen=True):
    metadata: _Meta
    spec: msgspec.Raw
    status: PodStatus = PodStatus()


_pods = msgspec.json.Decoder(_Pod)
_placements = msgspec.json.Decoder(_Placement)
_parts = msgspec.json.Decoder(dict[str, msgspec.Raw])


@dataclass(frozen=True, slots=True, kw_only=True)
class PodJob(JobView):
    """A pod; `source` is its status."""

    source: PodStatus
    gates: Sequence[str]
    """Its scheduling gates."""
    own_class: str
    unseen: bool = False
    """The watch shows it no more: it is gone, or has lost its mark."""

    @property
    def gated(self) -> bool:
        """Whether it waits for its Workload."""
        return labels.GATE in self.gates

    @property
    def held(self) -> bool:
        """Whether it has our finalizer, so that what became of it can be seen."""
        return labels.MANAGED in self.metadata.finalizers

    @property
    def role(self) -> str:
        """The pod set that it is of."""
        return self.pod_sets[0].name

    @property
    def counts(self) -> bool:
        """Whether it has succeeded, or has not ended."""
        return self.end is None or self.end.succeeded

    @property
    def last_active(self) -> float:
        """When it was active last, in seconds; infinity while nothing says so."""
        times = [
            one.changed
            for one in self.source.conditions
            if one.type == "ContainersReady" and one.reason == "PodFailed"
        ]
        if self.metadata.deletion_timestamp is not None:
            times.append(self.metadata.deletion_timestamp.timestamp())
        return min(times, default=inf)

    @property
    def may_go_on(self) -> bool:
        """Whether it may be there still when the watch, which is by its mark, shows it no more."""
        return self.is_marked and (self.held or not self.ended)

    @property
    @override
    def is_marked(self) -> bool:
        return self.metadata.labels.get(labels.MANAGED) == "true"

    @property
    @override
    def is_stopped_by_deletion(self) -> bool:
        return True

    @property
    @override
    def priority_class(self) -> str:
        return self.own_class

    @override
    def wire_pod_sets(self) -> list[dict[str, Any]]:
        (pod_set,) = self.pod_sets
        parts = _parts.decode(pod_set.encoded_template)
        template = {"spec": each_name_once(parts["spec"])}
        found: dict[str, Any] = {"name": pod_set.name, "count": 1, "template": template}
        rank = {"podIndexLabel": labels.POD_RANK}
        return [found | topology_request(self.metadata.annotations, rank)]

    @override
    def fits(self, workload: Workload) -> bool:
        return equivalent(self, workload)

    @override
    def start(self, added: Sequence[Injection]) -> Sequence[Patch]:
        (one,) = added
        missing = set(one.scheduling_gates) - set(self.gates)
        if missing == {labels.TOPOLOGY_GATE}:
            raise ConflictError(f"a pod needs the gate {labels.TOPOLOGY_GATE} from its creation on")
        if missing or one.swaps:
            raise ConflictError("a pod that exists cannot be given devices by claims")
        own = TemplateMeta(labels=self.metadata.labels, annotations=self.metadata.annotations)
        template = PodTemplate(metadata=own, spec=self.pod_sets[0].template.spec)
        body = inject(template, one)
        ours = {labels.GATE, labels.TOPOLOGY_GATE} - set(one.scheduling_gates)
        body.setdefault("spec", {})["schedulingGates"] = left_of(self.gates, ours)
        rank = self.metadata.labels.get(self.metadata.annotations.get(labels.POD_RANK_LABEL, ""))
        if rank is not None:
            body.setdefault("metadata", {}).setdefault("labels", {})[labels.POD_RANK] = rank
        if self.group and labels.ROLE_HASH not in self.metadata.annotations:
            notes = body.setdefault("metadata", {}).setdefault("annotations", {})
            notes[labels.ROLE_HASH] = self.role
        return (MergePatch(body=body),)

    def release(self) -> Patch:
        """Return the patch that takes our finalizer away."""
        kept = [one for one in self.metadata.finalizers if one != labels.MANAGED]
        return MergePatch(body={"metadata": {"finalizers": kept or None}})

    def freed(self) -> Patch:
        """Return the patch after which the pod is none of ours: it runs, and is not followed."""
        kept = [one for one in self.metadata.finalizers if one != labels.MANAGED]
        gates = left_of(self.gates, (labels.GATE, labels.TOPOLOGY_GATE))
        meta = {"finalizers": kept or None, "labels": {labels.MANAGED: None}}
        return MergePatch(body={"metadata": meta, "spec": {"schedulingGates": gates}})

    @override
    def suspension(self, *, mark: bool) -> Patch | None:
        return None

    @override
    def reset(self) -> Patch | None:
        return None

    @property
    @override
    def was_started(self) -> bool:
        return labels.POD_SET in self.metadata.labels

    @property
    @override
    def marks_its_start(self) -> bool:
        return True

    @override
    def differs(self, workload: Workload) -> bool:
        return False

    @override
    def undo(self, workload: Workload, stored: bytes) -> Patch | None:
        return None


def read_pod(data: bytes | msgspec.Raw, queued: Pods = Pods.ALL) -> PodJob:
    """Read a pod, and keep of it what is used. Raises msgspec.ValidationError."""
    pod = _pods.decode(data)
    meta, status = pod.metadata, pod.status
    placed = _placements.decode(pod.spec)
    gates = [one.name for one in placed.scheduling_gates]
    gated = labels.GATE in gates
    notes = msgspec.json.encode(meta.annotations)
    template = msgspec.Raw(b'{"metadata":{"annotations":%b},"spec":%b}' % (notes, bytes(pod.spec)))
    group = group_of(meta)
    end = _end(meta, status, bound=bool(placed.node_name))
    return PodJob(
        kind=KIND,
        metadata=meta,
        key=KIND.key(meta.key),
        group=key_of_group(meta.namespace, group) if group else None,
        suspended=gated or meta.deleting or end is not None,
        stopping=False,
        pod_sets=(
            JobPodSet(
                name=_role(meta, template) if group else MAIN,
                count=1,
                least=None,
                encoded_template=template,
            ),
        ),
        running_pods=int(status.phase == "Running"),
        active=not gated and end is None,
        ready=any(one.type == "Ready" and one.status == "True" for one in status.conditions),
        end=end,
        ignored=queued is not Pods.ALL and labels.SUSPENDING_PARENT not in meta.annotations,
        source=status,
        gates=gates,
        own_class=placed.priority_class_name,
    )


def _role(meta: Meta, template: msgspec.Raw) -> str:
    """Return the pod set of a member of a group.

    A start changes what the digest is made of, so it is asked for only until there is a label.
    """
    written = meta.annotations.get(labels.ROLE_HASH) or meta.labels.get(labels.POD_SET)
    return written or role_hash(template)


def _end(meta: _Meta, status: PodStatus, *, bound: bool) -> End | None:
    """Return how a pod has ended.

    One that is deleted before it has a node never runs. One without any grace left was deleted by
    its kubelet, when its containers had ended, or by force.
    """
    if status.phase in ("Succeeded", "Failed"):
        return End(status.phase == "Succeeded", status.message)
    if meta.deleting and (not bound or meta.deletion_grace_period_seconds == 0):
        return End(succeeded=False, message="")
    return None
