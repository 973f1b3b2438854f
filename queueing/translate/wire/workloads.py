"""The Workload: its pod sets, and the status that is the only commit record."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime
from typing import Any

from queueing.core.names import Key
from queueing.translate.wire.meta import Condition, Meta, Resources, Wire
from queueing.translate.wire.pods import PodTemplate, Toleration


class SliceConstraint(Wire, frozen=True):
    """How many pods must be together in one domain of a level."""

    topology: str = ""
    size: int = 0


class TopologyRequest(Wire, frozen=True):
    """How close together pods are to be placed, and the group of pod sets that go together."""

    required: str | None = None
    preferred: str | None = None
    unconstrained: bool | None = None
    pod_set_slice_required_topology: str = ""
    pod_set_slice_size: int | None = None
    podset_slice_required_topology_constraints: list[SliceConstraint] = []
    pod_set_group_name: str = ""
    pod_index_label: str = ""
    sub_group_index_label: str = ""
    sub_group_count: int | None = None


class PodSet(Wire, frozen=True):
    """Pods of one shape."""

    name: str = "main"
    template: PodTemplate = PodTemplate()
    count: int = 1
    min_count: int | None = None
    topology_request: TopologyRequest | None = None


class PriorityClassRef(Wire, frozen=True):
    """Where the priority came from."""

    group: str = ""
    kind: str = ""
    name: str = ""


class GateName(Wire, frozen=True):
    """A preemption gate named by the spec."""

    name: str = ""


class WorkloadSpec(Wire, frozen=True):
    """Spec of a Workload."""

    pod_sets: list[PodSet] = []
    queue_name: str = ""
    priority_class_ref: PriorityClassRef | None = None
    priority: int | None = None
    active: bool = True
    maximum_execution_time_seconds: int | None = None
    preemption_gates: list[GateName] = []


class TopologyAssignment(Wire, frozen=True):
    """Where the pods of a pod set are to run, in compressed form: see `core.topology.encoding`."""

    levels: list[str] = []
    slices: list[dict[str, Any]] = []

    def as_document(self) -> dict[str, Any]:
        """Return it as the document that it was read from."""
        return {"levels": self.levels, "slices": self.slices}


class PodSetAssignment(Wire, frozen=True):
    """Flavors and usage of an admitted pod set."""

    name: str = "main"
    flavors: dict[str, str] = {}
    resource_usage: Resources = {}
    count: int | None = None
    topology_assignment: TopologyAssignment | None = None
    delayed_topology_request: str = ""


class Admission(Wire, frozen=True):
    """`status.admission`."""

    cluster_queue: str = ""
    pod_set_assignments: list[PodSetAssignment] = []


class RequeueState(Wire, frozen=True):
    """How often and until when a workload backs off."""

    count: int = 0
    requeue_at: datetime | None = None


class ReclaimablePod(Wire, frozen=True):
    """Pods of a set whose quota is no longer needed."""

    name: str = ""
    count: int = 0


class PodSetUpdate(Wire, frozen=True):
    """What an admission check adds to the pods of a set."""

    name: str = ""
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    node_selector: dict[str, str] = {}
    tolerations: list[Toleration] = []


class CheckState(Wire, frozen=True):
    """One entry of `status.admissionChecks`."""

    name: str = ""
    state: str = "Pending"
    last_transition_time: datetime | None = None
    message: str = ""
    requeue_after_seconds: int | None = None
    retry_count: int = 0
    pod_set_updates: list[PodSetUpdate] = []


class GateState(Wire, frozen=True):
    """Position of a preemption gate."""

    name: str = ""
    position: str = "Closed"
    last_transition_time: datetime | None = None

    @property
    def changed(self) -> float:
        """When the position changed last; 0 if that is unknown."""
        return self.last_transition_time.timestamp() if self.last_transition_time else 0.0


class EvictionCount(Wire, frozen=True):
    """How often a workload was evicted for one reason."""

    reason: str = ""
    underlying_cause: str = ""
    count: int = 0


class SchedulingStats(Wire, frozen=True):
    """`status.schedulingStats`."""

    evictions: list[EvictionCount] = []


class UnhealthyNode(Wire, frozen=True):
    """A node of an admission that failed."""

    name: str = ""


class WorkloadStatus(Wire, frozen=True):
    """Status of a Workload."""

    conditions: list[Condition] = []
    admission: Admission | None = None
    requeue_state: RequeueState | None = None
    reclaimable_pods: list[ReclaimablePod] = []
    admission_checks: list[CheckState] = []
    accumulated_past_execution_time_seconds: int = 0
    scheduling_stats: SchedulingStats | None = None
    preemption_gates: list[GateState] = []
    unhealthy_nodes: list[UnhealthyNode] = []

    def condition(self, kind: str) -> Condition | None:
        """Return a condition, whatever it says; None when nobody ever wrote it."""
        for one in self.conditions:
            if one.type == kind:
                return one
        return None

    def true_condition(self, kind: str) -> Condition | None:
        """Return a condition that is True; None when it is not."""
        for one in self.conditions:
            if one.type == kind:
                return one if one.status == "True" else None
        return None

    def is_true(self, kind: str) -> bool:
        """Say whether a condition is there and True."""
        for one in self.conditions:
            if one.type == kind:
                return one.status == "True"
        return False

    def is_set_aside(self, reason: str) -> bool:
        """Say whether it is queued no more, until what has this reason is over."""
        requeued = self.condition("Requeued")
        return requeued is not None and requeued.status != "True" and requeued.reason == reason

    def true_since(self, kind: str) -> float | None:
        """Return since when a condition is True; None when it is not."""
        for one in self.conditions:
            if one.type == kind:
                return one.changed if one.status == "True" else None
        return None

    def changed(self, kind: str) -> float | None:
        """Return when a condition changed last; None when nobody ever wrote it."""
        found = self.condition(kind)
        return None if found is None else found.changed


class Workload(Wire, frozen=True):
    """A Workload."""

    metadata: Meta
    spec: WorkloadSpec = WorkloadSpec()
    status: WorkloadStatus = WorkloadStatus()

    @property
    def finished(self) -> bool:
        """Whether it has the condition `Finished`."""
        return self.status.is_true("Finished")

    @property
    def queued_since(self) -> float:
        """When it began to queue: when it was made, or when it last came back."""
        return self.status.true_since("Requeued") or self.metadata.created

    @property
    def local_queue(self) -> Key:
        """The LocalQueue that it names, be there one or not."""
        return Key(f"{self.metadata.namespace}/{self.spec.queue_name}")
