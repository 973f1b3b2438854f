"""What the engine decided: the only output of the engine.

A decision is a value, never an exception. `controller` carries it out and reports an `Outcome`;
`sim` and `plan` print it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from queueing.core.facts import PodSetAssignment
from queueing.core.names import CheckName, Key, QueueName, Uid
from queueing.core.values import value


class Reason(StrEnum):
    """Why a workload waits: the wire's reasons of `QuotaReserved=False`."""

    NO_MATCHING_FLAVOR = "NoMatchingFlavor"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
    WAITING_FOR_PREEMPTED = "WaitingForPreemptedWorkloads"
    MISCONFIGURED = "Misconfigured"
    SUSPENDED = "Suspended"
    PENDING_EVALUATION = "PendingEvaluation"
    WAITING_FOR_PODS_READY = "WaitingForPodsReady"
    ADMISSION_GATED = "AdmissionGated"
    ON_HOLD = "OnHold"
    DEACTIVATED = "Deactivated"
    BUDGET_EXHAUSTED = "BudgetExhausted"
    """A CreditBudget does not cover a run. Ours; Kueue has no such reason."""
    MAY_NOT_BORROW = "MayNotBorrow"
    """A CreditPolicy keeps workloads of this priority within nominal quota. Ours, too."""


BARRED = frozenset((Reason.BUDGET_EXHAUSTED, Reason.MAY_NOT_BORROW))
"""Reasons of those who wait for credits, in one flavor at least."""


class Bar(NamedTuple):
    """Why a workload waits though there is room: the wire's word, and a sentence."""

    reason: Reason
    message: str


class PreemptionReason(StrEnum):
    """Why a victim is preempted: the wire's reasons of the `Preempted` condition."""

    IN_CLUSTER_QUEUE = "InClusterQueue"
    IN_COHORT_RECLAMATION = "InCohortReclamation"
    IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
    IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"


class Requeue(StrEnum):
    """Where a workload that was not admitted stands now."""

    IMMEDIATE = "Immediate"
    """In the queue, to be tried again in the next round."""
    INADMISSIBLE = "Inadmissible"
    """Set aside until something that blocks it changes, or its backoff is over."""
    NOT_HEAD = "NotHead"
    """Behind the head of its queue; not judged in this round."""
    NOT_QUEUED = "NotQueued"
    """In no queue: gated, on hold, deactivated, or naming no usable queue."""


class Mode(StrEnum):
    """How far flavor assignment came."""

    NO_FIT = "NoFit"
    NO_CANDIDATES = "NoCandidates"
    PREEMPT = "Preempt"
    DEFERRED_FIT = "DeferredFit"
    SKIPPED = "Skipped"


@value()
class Admit:
    """Give the workload this quota. With `checks` it only reserves, until they are Ready."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName
    pod_sets: tuple[PodSetAssignment, ...]
    borrowing: bool = False
    checks: tuple[CheckName, ...] = ()
    note: str = ""
    """Flavors considered and why they were passed over; part of the QuotaReserved event."""


@value()
class Preempt:
    """Evict `workload` so that `preemptor` fits in a later round."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName
    """The victim's queue."""
    preemptor: Key
    preemptor_uid: Uid
    preemptor_queue: QueueName
    reason: PreemptionReason
    preemptor_path: str
    """`/root cohort/…/queue` of the preemptor."""
    victim_path: str
    already_evicted: bool = False


@value()
class Wait:
    """The workload was judged, or looked at, and is not admitted now."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName | None
    requeue: Requeue
    reason: Reason
    message: str
    mode: Mode | None = None
    """None when flavors were not assigned at all."""
    nominated: tuple[PodSetAssignment, ...] = ()
    targets: tuple[Key, ...] = ()
    recomputed: bool = field(default=False, compare=False)
    """Its victims were searched for anew: an earlier head had chosen the same. Only for telling."""


Decision = Admit | Preempt | Wait


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The decisions of one call of the engine, in the order they were made."""

    number: int
    now: float
    rounds: tuple[tuple[Decision, ...], ...]
    judged: int
    """Heads judged, the measure of `budget`."""
    finished: bool
    """False when the budget ran out first: call again with no new fact to continue."""
    wake_at: float | None
    """Earliest time at which a waiting decision may change without any event."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All decisions, round after round."""
        return tuple(decision for one in self.rounds for decision in one)


class Verdict(StrEnum):
    """How the write of a decision ended (see the three outcomes in ARCHITECTURE.md)."""

    DONE = "Done"
    REFUSED = "Refused"
    UNKNOWN = "Unknown"


@value()
class Outcome:
    """What became of the write of an Admit or Preempt.

    Refused takes the assumption back. Done and Unknown keep it charged until a fact of the
    workload (the watch's echo, or a quorum read) says what is so.
    """

    decision: Admit | Preempt
    verdict: Verdict
    message: str = ""
