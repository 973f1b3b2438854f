"""What the ledger is told, and the record of it that is stored. Times are whole seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from typing import NamedTuple

from queueing.core.credits.period import Period
from queueing.core.credits.prices import Prices
from queueing.core.names import CohortName, FlavorResource, Key, QueueName, Uid

PART = 1 << 32
"""Parts of a micro-credit: the unit in which balances are kept, so that nothing is rounded off."""
MICRO = 1_000_000
"""Micro-credits in a credit."""
HOUR = 3600
"""Seconds of the unit in which people see credits."""
_OF_QUEUE = "clusterqueue."
_NAME_MAX = 253


class Mode(StrEnum):
    """How far balances may bend weights."""

    OFF = "Off"
    GENTLE = "Gentle"
    BALANCED = "Balanced"
    KARMA = "Karma"


BOUNDS: Mapping[Mode, int] = {Mode.OFF: 0, Mode.GENTLE: 2, Mode.BALANCED: 4, Mode.KARMA: 60}
"""Highest power of two by mode; that of Karma is beyond every balance that can be reached."""


class Member(NamedTuple):
    """A child of a cohort, ClusterQueue or Cohort, or of a queue, Namespace: its kind and name."""

    kind: str
    name: str


class Sink(StrEnum):
    """Where credits go that no child has; negative where they come from."""

    IMPORTED = "Imported"
    CLASSES = "Classes"
    ROUNDING = "Rounding"
    DECAYED = "Decayed"
    FORGIVEN = "Forgiven"
    GRANTED = "Granted"
    ADJUSTED = "Adjusted"
    REFUNDED = "Refunded"


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditPolicyFact:
    """A CreditPolicy. With no root cohorts named it is for all trees that no other one names."""

    name: str
    mode: Mode = Mode.BALANCED
    root_cohorts: tuple[CohortName, ...] = ()
    prices: Prices
    unit: str = "GPUh"
    half_life_s: int = 14 * 24 * HOUR
    horizon_s: int = 6 * HOUR
    bound: int = 4
    hysteresis: Fraction = Fraction(5, 4)
    minimum_runtime_s: int = 0
    class_factors: tuple[tuple[int, Fraction], ...] = ()
    """Lowest priority and factor, sorted by priority."""
    debt_limit_s: int | None = None
    non_borrowing_min_priority: int | None = None
    """From this priority upwards workloads may not borrow; None: all may."""
    lag_s: int = 0
    """How far the ledger stays behind, so that what was written by then has been heard of."""
    admission_hold_s: int = 0
    """For how long what is borrowed is held against a balance before it is paid; 0: not at all."""
    keeps_usage: bool = False
    """Whether rows of usage are kept for its trees."""
    orders_local_queues: bool = False
    """Whether queues that let LocalQueues take turns have ledgers, and go by them."""

    def factor(self, priority: int) -> Fraction:
        """Return what a workload of this priority pays for each unit that it borrows."""
        found = Fraction(1)
        for lowest, factor in self.class_factors:
            if priority >= lowest:
                found = factor
        return found

    @property
    def debt_limit(self) -> int:
        """Largest debt in seconds of entitlement; by default half-life / ln 2, as for surplus."""
        if self.debt_limit_s is not None:
            return self.debt_limit_s
        return self.half_life_s * 1_442_695 // 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditGrantFact:
    """A CreditGrant, booked once at the time of its creation."""

    name: str
    uid: Uid
    receiver: Member
    amount: int
    """Micro-credits."""
    at: int
    expires_at: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildRecord:
    """The balance of one child. Balances and sinks are in parts of a micro-credit (`PART`)."""

    member: Member
    balance: int
    earned: int = 0
    spent: int = 0
    entitlement: int = 0
    """Micro-credits per second."""
    exponent: int = 0
    """By how many 1024ths of a doubling its weight is bent now."""
    lent_to: tuple[tuple[str, int], ...] = ()
    """Sibling and micro-credits, the most first."""
    borrowed_from: tuple[tuple[str, int], ...] = ()
    wasted: int = 0
    """What was used for work that evictions lost, in parts."""
    departed_at: int | None = None
    held: int = 0
    """Micro-credits that it is about to pay for work that began lately."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaverRecord:
    """A workload that was evicted: what its status tells no more, or soon will not."""

    uid: Uid
    queue: QueueName
    priority: int
    since: int
    until: int | None = None
    """None while it still holds quota."""
    usage: Mapping[FlavorResource, int]
    local_queue: Key | None = None
    user: str = ""
    runs_since: int | None = None
    """Since when all its pods ran; None when they never did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditAccountFact:
    """One ledger up to `as_of`: what is stored, and read again after a restart.

    It is of the children of a cohort; with a `queue` of the namespaces in that, and of no cohort.
    """

    cohort: CohortName | None = None
    queue: QueueName | None = None
    as_of: int | None = None
    policy: str = ""
    unit: str = ""
    children: tuple[ChildRecord, ...] = ()
    sinks: Mapping[Sink, int] = field(default_factory=dict)
    leavers: tuple[LeaverRecord, ...] = ()
    grants: Mapping[Uid, bool] = field(default_factory=dict)
    """Grants that were booked, and whether they were taken back since."""
    grant_names: Mapping[Uid, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the CreditAccount."""
        return account_of_queue(self.queue) if self.queue else self.cohort or ""


def account_of_queue(queue: QueueName) -> str:
    """Name the CreditAccount of a ClusterQueue: apart from that of a cohort of the same name."""
    name = f"{_OF_QUEUE}{queue}"
    if len(name) <= _NAME_MAX:
        return name
    digest = sha256(queue.encode()).hexdigest()[:12]
    return f"{name[: _NAME_MAX - len(digest) - 1].rstrip('-.')}-{digest}"


class HolderKind(StrEnum):
    """What a budget may be for."""

    LOCAL_QUEUE = "LocalQueue"
    CLUSTER_QUEUE = "ClusterQueue"
    COHORT = "Cohort"


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetFact:
    """A CreditBudget, which counts from its creation on."""

    name: str
    kind: HolderKind
    holder: str
    """Name of the holder; the key of a LocalQueue."""
    grant: int
    """Micro-credits in each period."""
    period: Period = field(default_factory=Period)
    blocks: bool = True
    """What it does not cover waits; else it runs without standing."""
    created: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAccountFact:
    """What a CreditBudget's status tells: stored, and read again after a restart."""

    name: str
    as_of: int | None = None
    period_start: int | None = None
    period_end: int | None = None
    spent: int = 0
    """Micro-credits, in the period that began at `period_start`."""
    held: int = 0
    left: int = 0
    unit: str = ""
    opportunistic: tuple[Uid, ...] = ()
    """Who runs without spending the budget."""
    leavers: tuple[LeaverRecord, ...] = ()
    bound: bool = False
    """Whether the holder exists and has prices."""


class RowName(NamedTuple):
    """Whose row it is: a user's in a LocalQueue, or, with both empty, the queue's or cohort's."""

    holder: Member
    local_queue: str
    """Its key."""
    user: str
    resource: FlavorResource


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """What one name did in one stretch of time, in amounts times seconds."""

    name: RowName
    used: int = 0
    borrowed: int = 0
    """Of what was used, in parts (`PART`)."""
    idle: int = 0
    """Of what was used: held before all pods ran. Told when they run, or when the stay ends."""
    wasted: int = 0
    """What was used for work that evictions lost. Told at the eviction."""
    cost: int = 0
    """Micro-credits."""
    quota: int = 0
    """Nominal quota; of queues and cohorts only, as what they lent is."""
    lent: int = 0
    """What siblings used of it, in parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecordFact:
    """What a tree did from `start` to `as_of`: one hour, or what there is of it so far."""

    root: Member
    start: int
    as_of: int
    unit: str = ""
    rows: tuple[UsageRow, ...] = ()
    leavers: tuple[LeaverRecord, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFact:
    """The work of one life of a workload was saved, as a Checkpoint tells."""

    name: str
    """Key of the Checkpoint."""
    uid: Uid
    at: int


class CreditKind(StrEnum):
    """Kinds of objects that the ledger is told of."""

    POLICY = "CreditPolicy"
    GRANT = "CreditGrant"
    ACCOUNT = "CreditAccount"
    BUDGET = "CreditBudget"
    SAVED = "Checkpoint"
    USAGE = "UsageRecord"


@dataclass(frozen=True, slots=True)
class CreditGone:
    """The object is no more."""

    kind: CreditKind
    name: str


CreditFact = (
    CreditPolicyFact
    | CreditGrantFact
    | CreditAccountFact
    | BudgetFact
    | BudgetAccountFact
    | SavedFact
    | UsageRecordFact
    | CreditGone
)
