"""CreditPolicy, CreditGrant, CreditAccount, CreditBudget and UsageRecord as they are read."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime

from queueing.translate.wire.meta import Condition, Meta, Quantity, Wire


class Price(Wire, frozen=True):
    """What one unit of a resource costs."""

    resource: str
    price: Quantity
    flavor: str = ""


class ClassFactor(Wire, frozen=True):
    """What workloads from a priority upwards pay."""

    min_priority: int
    factor: Quantity


class UsageRetention(Wire, frozen=True):
    """Ages at which rows become coarser, and go; durations as texts."""

    hours: str = "48h"
    days: str = "1488h"
    months: str = "17568h"


class CreditPolicySpec(Wire, frozen=True):
    """Terms of a policy; durations as texts."""

    mode: str = "Balanced"
    root_cohorts: list[str] = []
    prices: list[Price] = []
    billing: str = "Dominant"
    unit: str = "GPUh"
    half_life: str = "336h"
    horizon: str = "6h"
    bound: int | None = None
    hysteresis: Quantity = "1.25"
    minimum_runtime: str = ""
    class_factors: list[ClassFactor] = []
    debt_limit: str = ""
    non_borrowing_min_priority: int | None = None
    admission_hold: str = ""
    usage_records: UsageRetention | None = None
    local_queues: str = "Off"


class Conditions(Wire, frozen=True):
    """A status of which only conditions are read."""

    conditions: list[Condition] = []


class CreditPolicy(Wire, frozen=True):
    """A CreditPolicy."""

    metadata: Meta
    spec: CreditPolicySpec = CreditPolicySpec()
    status: Conditions = Conditions()


class Receiver(Wire, frozen=True):
    """Whose balance is changed."""

    kind: str
    name: str


class CreditGrantSpec(Wire, frozen=True):
    """What is given to whom."""

    receiver: Receiver
    amount: Quantity = 0
    author: str = ""
    reason: str = ""
    expires_at: datetime | None = None


class CreditGrant(Wire, frozen=True):
    """A CreditGrant."""

    metadata: Meta
    spec: CreditGrantSpec
    status: Conditions = Conditions()


class Partner(Wire, frozen=True):
    """How much was lent to, or borrowed from, somebody."""

    name: str
    micro_credits: int = 0
    amount: str = ""


class Child(Wire, frozen=True):
    """The balance of one child."""

    kind: str
    name: str
    balance: str = ""
    weight_factor: str = "1"
    micro_credits: int = 0
    remainder: int = 0
    earned: int = 0
    spent: int = 0
    wasted: int = 0
    lent_to: list[Partner] = []
    borrowed_from: list[Partner] = []
    entitlement: int = 0
    held: int = 0
    departed_at: datetime | None = None


class SinkEntry(Wire, frozen=True):
    """What a sink received."""

    name: str
    micro_credits: int = 0
    remainder: int = 0


class Used(Wire, frozen=True):
    """How much of a resource of a flavor is held."""

    flavor: str
    resource: str
    amount: int = 0


class Leaver(Wire, frozen=True):
    """A workload that was evicted, and what it held."""

    uid: str
    cluster_queue: str
    since: datetime
    until: datetime | None = None
    priority: int = 0
    usage: list[Used] = []
    local_queue: str = ""
    user: str = ""
    runs_since: datetime | None = None


class GrantEntry(Wire, frozen=True):
    """A grant that was booked."""

    uid: str
    name: str = ""
    expired: bool = False


class CreditAccountSpec(Wire, frozen=True):
    """Whose account it is."""

    cohort_name: str = ""
    cluster_queue_name: str = ""


class CreditAccountStatus(Wire, frozen=True):
    """The ledger as of one moment."""

    as_of: datetime | None = None
    policy: str = ""
    unit: str = ""
    children: list[Child] = []
    sinks: list[SinkEntry] = []
    leavers: list[Leaver] = []
    grants: list[GrantEntry] = []


class CreditAccount(Wire, frozen=True):
    """A CreditAccount."""

    metadata: Meta
    spec: CreditAccountSpec = CreditAccountSpec()
    status: CreditAccountStatus = CreditAccountStatus()


class BudgetHolder(Wire, frozen=True):
    """Whose workloads spend it."""

    kind: str
    name: str
    namespace: str = ""


class CreditBudgetSpec(Wire, frozen=True):
    """What may be spent."""

    holder: BudgetHolder
    grant: Quantity = 0
    period: str = "Monthly"
    on_exhausted: str = "Block"


class CreditBudgetStatus(Wire, frozen=True):
    """What was spent."""

    as_of: datetime | None = None
    period_start: datetime | None = None
    spent_micro_credits: int = 0
    opportunistic: list[str] = []
    leavers: list[Leaver] = []
    conditions: list[Condition] = []


class CreditBudget(Wire, frozen=True):
    """A CreditBudget."""

    metadata: Meta
    spec: CreditBudgetSpec
    status: CreditBudgetStatus = CreditBudgetStatus()


class UsageRoot(Wire, frozen=True):
    """Top of a tree."""

    kind: str
    name: str


class UsageRecordSpec(Wire, frozen=True):
    """Which tree, and which stretch of time."""

    root: UsageRoot
    resolution: str
    start: datetime
    end: datetime


class UsageRow(Wire, frozen=True):
    """A row; amounts times seconds as decimal numbers."""

    flavor: str
    resource: str
    cluster_queue: str = ""
    cohort: str = ""
    local_queue: str = ""
    user: str = ""
    used: str = "0"
    borrowed: str = "0"
    borrowed_remainder: int = 0
    idle: str = "0"
    wasted: str = "0"
    cost_micro_credits: str = "0"
    quota: str = "0"
    lent: str = "0"
    lent_remainder: int = 0


class UsageRecordStatus(Wire, frozen=True):
    """The rows, and up to when they count."""

    as_of: datetime | None = None
    unit: str = ""
    rows: list[UsageRow] = []
    leavers: list[Leaver] = []
    folded: list[datetime] = []


class UsageRecord(Wire, frozen=True):
    """A UsageRecord."""

    metadata: Meta
    spec: UsageRecordSpec
    status: UsageRecordStatus = UsageRecordStatus()
