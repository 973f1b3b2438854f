"""The facts of the credit system, and the records that it stores. Times are whole epoch seconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from hashlib import sha256
from typing import ClassVar, NamedTuple

from queueing.core.credits.holding import Holding
from queueing.core.credits.period import Period
from queueing.core.credits.prices import Prices
from queueing.core.names import CohortName, FlavorResource, QueueName, Uid

PART = 1 << 32
"""Parts in a micro-credit: balances are integers in this unit, so that fractions are not lost."""
MICRO = 1_000_000
"""Micro-credits in a credit."""
HOUR = 3600
"""Credits are shown in units of so many (GPU hours, for example)."""
_OF_QUEUE = "clusterqueue."
_NAME_MAX = 253


class CreditKind(StrEnum):
    """The kinds of objects of the credit system."""

    POLICY = "CreditPolicy"
    GRANT = "CreditGrant"
    ACCOUNT = "CreditAccount"
    BUDGET = "CreditBudget"
    SAVED = "Checkpoint"
    USAGE = "UsageRecord"


class CreditMode(StrEnum):
    """How far balances may bend weights: `mode` of a CreditPolicy."""

    OFF = "Off"
    GENTLE = "Gentle"
    BALANCED = "Balanced"
    KARMA = "Karma"


BOUNDS: Mapping[CreditMode, int] = {
    CreditMode.OFF: 0,
    CreditMode.GENTLE: 2,
    CreditMode.BALANCED: 4,
    CreditMode.KARMA: 60,
}
"""The largest exponent of two by mode; no balance reaches that of Karma."""


class Member(NamedTuple):
    """A child in a ledger, by kind (ClusterQueue, Cohort or Namespace) and name."""

    kind: str
    name: str


class Sink(StrEnum):
    """Where credits go that no child gets; negative for credits that come from there."""

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
    """A CreditPolicy. Without root cohorts it applies to all trees that no other policy names."""

    name: str
    mode: CreditMode = CreditMode.BALANCED
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
    """Seconds that ledgers stay behind the clock, so that all earlier writes have been observed."""
    admission_hold_s: int = 0
    """For how many seconds of borrowing a hold counts against a balance; 0 for no holds."""
    keeps_usage: bool = False
    """Whether rows of usage are kept for its trees (`usageRecords`)."""
    orders_local_queues: bool = False
    """Whether ClusterQueues with admission fair sharing have ledgers that order LocalQueues."""

    def factor(self, priority: int) -> Fraction:
        """Return what a workload of this priority pays for each unit that it borrows."""
        found = Fraction(1)
        for lowest, factor in self.class_factors:
            if priority >= lowest:
                found = factor
        return found

    @property
    def debt_limit(self) -> int:
        """The largest debt, in seconds of entitlement; by default half-life / ln 2.

        Decay bounds a surplus by the same amount, even if a child lends all that it may.
        """
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
    """(Sibling, micro-credits), the largest first."""
    borrowed_from: tuple[tuple[str, int], ...] = ()
    wasted: int = 0
    """What was used for work that evictions lost, in `PART`s of a micro-credit."""
    departed_at: int | None = None
    """When it ceased to be a child; None for a present one."""
    held: int = 0
    """Micro-credits that are held against its balance: see `state.credits.holds`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CreditAccountFact:
    """A CreditAccount: one ledger up to `as_of`, as it is stored, and read after a restart.

    Its children are those of `cohort`, or the namespaces of `queue`; just one of the two is set.
    """

    kind: ClassVar = CreditKind.ACCOUNT
    cohort: CohortName | None = None
    queue: QueueName | None = None
    as_of: int | None = None
    policy: str = ""
    unit: str = ""
    children: tuple[ChildRecord, ...] = ()
    sinks: Mapping[Sink, int] = field(default_factory=dict)
    leavers: tuple[Holding, ...] = ()
    grants: Mapping[Uid, bool] = field(default_factory=dict)
    """Grants that were booked, and whether they were taken back since."""
    grant_names: Mapping[Uid, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the CreditAccount."""
        return account_of_queue(self.queue) if self.queue else self.cohort or ""


def account_of_queue(queue: QueueName) -> str:
    """Return the name of a ClusterQueue's CreditAccount, distinct from that of any cohort."""
    name = f"{_OF_QUEUE}{queue}"
    if len(name) <= _NAME_MAX:
        return name
    digest = sha256(queue.encode()).hexdigest()[:12]
    return f"{name[: _NAME_MAX - len(digest) - 1].rstrip('-.')}-{digest}"


def name_of_tree(root: Member) -> str:
    """Return the name of a tree: kind and name of its root."""
    return f"{root.kind}/{root.name}"


class HolderKind(StrEnum):
    """The kinds of objects that a CreditBudget may be for."""

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
    """Whether workloads that it does not cover wait; else they run with the lowest priority."""
    created: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAccountFact:
    """The status of a CreditBudget, as it is stored, and read after a restart."""

    kind: ClassVar = CreditKind.BUDGET
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
    """Workloads that run beyond the budget, without spending it."""
    leavers: tuple[Holding, ...] = ()
    bound: bool = False
    """Whether the holder exists and has prices."""


class RowName(NamedTuple):
    """What a row is about: a user of a LocalQueue, or with both empty a ClusterQueue or cohort."""

    holder: Member
    local_queue: str
    """Its key."""
    user: str
    resource: FlavorResource


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRow:
    """The usage of one name in one stretch of time, in amounts times seconds."""

    name: RowName
    used: int = 0
    borrowed: int = 0
    """The part of `used` that was borrowed, in `PART`s."""
    idle: int = 0
    """The part of `used` before all pods ran. Counted when they run, or when the holding ends."""
    wasted: int = 0
    """What was used for work that evictions lost. Counted at the eviction."""
    cost: int = 0
    """Micro-credits."""
    quota: int = 0
    """Nominal quota; only in rows of queues and cohorts, like `lent`."""
    lent: int = 0
    """What siblings used of the quota, in `PART`s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageRecordFact:
    """The usage rows of a tree from `start` to `as_of`: one hour, or the present one so far."""

    kind: ClassVar = CreditKind.USAGE
    root: Member
    start: int
    as_of: int
    unit: str = ""
    rows: tuple[UsageRow, ...] = ()
    leavers: tuple[Holding, ...] = ()

    @property
    def name(self) -> str:
        """The name of the tree: kind and name of its root."""
        return name_of_tree(self.root)


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedFact:
    """A Checkpoint: the work of a workload was saved at a time."""

    name: str
    """Key of the Checkpoint."""
    uid: Uid
    at: int


@dataclass(frozen=True, slots=True)
class CreditGone:
    """An object of the credit system was deleted."""

    kind: CreditKind
    name: str


Record = CreditAccountFact | BudgetAccountFact | UsageRecordFact
"""What is stored of an account, as of a time, with its `leavers`: holdings that are not over by
then, of workloads whose status does not show them any more, or soon will not."""
CreditFact = CreditPolicyFact | CreditGrantFact | BudgetFact | SavedFact | Record | CreditGone
