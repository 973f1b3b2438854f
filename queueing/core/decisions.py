"""What the engine decided: the only output of the engine.

A decision is a value, never an exception. `controller` carries it out and reports an `Outcome`;
`sim` and `plan` print it.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from itertools import chain
from typing import ClassVar, NamedTuple

from queueing.core.facts import PodSetAssignment
from queueing.core.names import CheckName, Key, QueueName, Uid
from queueing.core.values import value


class Reason(StrEnum):
    """Why a workload waits: the reasons of the condition `QuotaReserved=False`."""

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
"""Reasons of workloads that credits bar in at least one flavor, though there is quota."""


class Bar(NamedTuple):
    """Why credits bar a workload though there is quota: reason and message."""

    reason: Reason
    message: str


class PreemptionReason(StrEnum):
    """Why a victim is preempted: the reasons of the condition `Preempted`."""

    IN_CLUSTER_QUEUE = "InClusterQueue"
    IN_COHORT_RECLAMATION = "InCohortReclamation"
    IN_COHORT_FAIR_SHARING = "InCohortFairSharing"
    IN_COHORT_RECLAIM_WHILE_BORROWING = "InCohortReclaimWhileBorrowing"
    MOVED = "Moved"
    """A domain of a topology is opened for a larger gang, and it goes on elsewhere. Ours; Kueue has
    no such reason."""
    FLAVOR_MIGRATION = "FlavorMigration"
    """It is a variant, and one of the same workload gets a more favorable flavor. Then there is no
    such condition, and this is the reason of `Evicted`."""


class Requeue(StrEnum):
    """How a workload that was not admitted is queued now."""

    IMMEDIATE = "Immediate"
    """In the queue, to be tried again in the next round."""
    INADMISSIBLE = "Inadmissible"
    """Set aside until something that blocks it changes, or its backoff is over."""
    NOT_HEAD = "NotHead"
    """Behind the head of its queue; not judged in this round."""
    NOT_QUEUED = "NotQueued"
    """In no queue: gated, on hold, deactivated, or naming no usable queue."""


class Mode(StrEnum):
    """How far the judgement of a workload that waits came."""

    NO_FIT = "NoFit"
    """It fits in no flavor, not even by preemption, or credits bar it."""
    NO_CANDIDATES = "NoCandidates"
    """It would fit by preemption, but there are no victims."""
    PREEMPT = "Preempt"
    """It preempts others, or would if its preemption were not gated."""
    DEFERRED_FIT = "DeferredFit"
    """It waits until the victims of other preemptors have left."""
    SKIPPED = "Skipped"
    """It would get quota, but for earlier heads of its round, or for pods that are not ready."""


@value()
class Admit:
    """Give the workload this quota. With `checks` it only reserves quota until they are Ready."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName
    pod_sets: tuple[PodSetAssignment, ...]
    borrowing: bool = False
    checks: tuple[CheckName, ...] = ()
    note: str = ""
    """Flavors considered and why they were passed over; part of the QuotaReserved event."""
    warnings: tuple[str, ...] = ()
    """Which of its pods there are no nodes for, as far as that is known."""
    mode: ClassVar[None] = None
    """What a `Wait` has instead: how far the judgement came."""


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
    """The workload is not admitted now; the reason and message say why."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName | None
    requeue: Requeue
    reason: Reason
    message: str
    mode: Mode | None = None
    """None if it was not judged."""
    nominated: tuple[PodSetAssignment, ...] = ()
    """The flavors that it was nominated for."""
    targets: tuple[Key, ...] = ()
    """The victims that it was nominated with."""
    recomputed: bool = field(default=False, compare=False)
    """Whether it was nominated anew, because an earlier head chose the same victims. Only shown."""


@value()
class Place:
    """Give the pods of a workload that holds quota these places: its second pass."""

    workload: Key
    uid: Uid
    cluster_queue: QueueName
    pod_sets: tuple[PodSetAssignment, ...]
    """Its admission, with the new places."""
    left: tuple[str, ...] = ()
    """The failed nodes that pods leave; none where they get their first places."""
    mode: ClassVar[None] = None


@value()
class Strand:
    """The second pass of a workload that holds quota found no place for its pods.

    It is tried again later; or, if it `evicts`, the workload gives its quota back, because a node
    failed and there is no other for its pods.
    """

    workload: Key
    uid: Uid
    cluster_queue: QueueName
    message: str
    left: tuple[str, ...] = ()
    """The failed nodes for which there is no other; none where there is no first place."""
    evicts: bool = False
    mode: ClassVar[None] = None


Decision = Admit | Preempt | Wait | Place | Strand
Written = Admit | Preempt | Place | Strand
"""Decisions of which each is one write of a status, unless a `Strand` does not evict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cycle:
    """The decisions of one call of the engine, in the order they were made."""

    number: int
    now: float
    rounds: tuple[tuple[Decision, ...], ...]
    judged: int
    """How many heads were judged: the unit of `budget`."""
    finished: bool
    """False when the budget ran out first: call again with no new fact to continue."""
    wake_at: float | None
    """Earliest time at which a waiting decision may change without any event."""

    @property
    def decisions(self) -> tuple[Decision, ...]:
        return tuple(chain.from_iterable(self.rounds))


class Verdict(StrEnum):
    """How the write of a decision ended (docs/decisions/0002)."""

    DONE = "Done"
    REFUSED = "Refused"
    UNKNOWN = "Unknown"
    WITHDRAWN = "Withdrawn"
    """It was not written, because nobody needed it any more."""


@value()
class Outcome:
    """How the write of a decision ended.

    If it was refused or withdrawn, the assumed decision is taken back. If it was done, or that is
    unknown, it stays assumed until the next fact of the workload (from the watch, or a quorum
    read).
    """

    decision: Written
    verdict: Verdict
    message: str = ""
