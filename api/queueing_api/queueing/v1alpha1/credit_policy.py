"""CreditPolicy: how lending and borrowing become credits, and what these do."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC, SET, list_map
from queueing_api.meta.v1 import Condition, KubeObject
from queueing_api.wire import DnsSubdomain, Int32, Quantity, ResourceName, Wire

DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
DurationText = Annotated[str, Field(max_length=32, pattern=DURATION_PATTERN)]
"""A length of time such as 30s, 5m or 336h."""

CreditMode = Literal["Off", "Gentle", "Balanced", "Karma"]


ShortQuantity = Annotated[Quantity, Field(max_length=32)]
"""A quantity that the API server's rules can compare: what they may cost depends on its length."""


class CreditPrice(Wire):
    """What one unit of a resource costs, in credits per second."""

    flavor: DnsSubdomain | None = None
    """ResourceFlavor that the price is for. Unset: every flavor without a price of its own."""
    resource: ResourceName
    """Resource that the price is for, for example nvidia.com/gpu."""
    price: ShortQuantity
    """Credits per second for one unit: one device, one core, one byte. The reference device costs
    1; a device of half its speed 500m."""


class CreditClassFactor(Wire):
    """What workloads from a priority upwards pay for what they borrow."""

    min_priority: Int32
    """Lowest priority that the factor is for. The entry with the highest one that a workload
    reaches counts."""
    factor: ShortQuantity
    """Factor on what borrowing costs, above 0 and at most 10; 1 without an entry."""


class UsageRetention(Wire):
    """For how long rows of usage are kept, and how fine."""

    hours: DurationText = "48h"
    """Age at which the rows of an hour are added up with those of its day."""
    days: DurationText = "1488h"
    """Age at which the rows of a day are added up with those of its month."""
    months: DurationText = "17568h"
    """Age at which the rows of a month are deleted."""


class CreditPolicySpec(Wire):
    """How credits are counted, and how far they bend fair shares."""

    mode: CreditMode = "Balanced"
    """How far balances may bend weights. Off: credits are neither counted nor used. Gentle: by a
    factor of 4 at most, Balanced: 16, Karma: without a practical bound, so that the richest goes
    first."""
    root_cohorts: Annotated[list[DnsSubdomain], Field(max_length=256), SET] = Field(
        default_factory=list
    )
    """Root cohorts whose trees the policy is for. Empty: all that no other policy names. When two
    policies claim one tree, the one whose name sorts first has it."""
    prices: Annotated[list[CreditPrice], Field(min_length=1, max_length=64), ATOMIC]
    """What resources cost. What has no price is lent and borrowed for nothing."""
    billing: Literal["Dominant", "Sum"] = "Dominant"
    """How the resources of one flavor are billed together: only the most expensive one, or all."""
    unit: Annotated[str, Field(min_length=1, max_length=16)] = "GPUh"
    """Name under which 3600 credits are shown to people."""
    half_life: DurationText = "336h"
    """Time in which balances, surplus and debt alike, lose half of what they are. Choose at least
    five times the longest cycle of demand."""
    horizon: DurationText = "6h"
    """A balance worth the entitlement of this time doubles the weight; a debt halves it."""
    bound: Annotated[int, Field(ge=0, le=16)] | None = None
    """Highest power of two by which a weight is bent. Unset: as the mode says, 2 for Gentle, 4 for
    Balanced."""
    hysteresis: ShortQuantity = "1.25"
    """How much larger the share of a victim must be than that of its preemptor, between 1 and 16.
    It counts only where the balance of either of them bends its weight."""
    minimum_runtime: DurationText | None = None
    """How long a workload runs before it may be preempted for the sake of fair shares. Unset: no
    time. Nominal quota is reclaimed without regard to it."""
    class_factors: Annotated[list[CreditClassFactor], Field(max_length=16), ATOMIC] = Field(
        default_factory=list
    )
    """What workloads of different priorities pay for what they borrow."""
    non_borrowing_min_priority: Int32 | None = None
    """Workloads of this priority and above may not borrow: together they stay within the nominal
    quota of their ClusterQueue. Unset: all may borrow."""
    admission_hold: DurationText | None = None
    """For how long what a workload will pay is held against the balance of its queue from its
    admission on, or for its maximum execution time if that is less. As it is paid, or as the
    workload ends, it is released. Unset: nothing is held; 10m keeps a surplus from buying, in one
    moment, more than it is worth."""
    local_queues: Literal["Off", "Order"] = "Off"
    """What credits do within ClusterQueues whose admissionMode is UsageBasedAdmissionFairSharing.
    Order: the namespaces behind their LocalQueues have a ledger, and LocalQueues go by what their
    namespace holds, against its part of the queue and its balance, instead of by usage history;
    victims too. Off: neither."""
    debt_limit: DurationText | None = None
    """Largest debt, as the time in which the whole entitlement, if it were lent, would pay it
    back. Unset: 1.44 half-lives, which is also as much as a surplus can reach."""
    usage_records: UsageRetention | None = None
    """Keeps rows of what was used, borrowed, lent, wasted and held idle in UsageRecords, which
    outlive Workloads. Unset: no rows are kept."""


class CreditPolicyStatus(Wire):
    """Whether the policy has an effect."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Effective is False, and says why, while the policy bends no share: without
    fair sharing, with mode Off, or when another policy has its trees."""


class CreditPolicy(KubeObject):
    """How lending and borrowing in trees of cohorts become credits, and what these do.

    Whoever lends idle quota that siblings really use earns; whoever borrows pays. A balance bends
    the weight in fair sharing within bounds. Nominal quota is never touched.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CreditPolicy"] = "CreditPolicy"
    spec: CreditPolicySpec
    """How credits are counted, and how far they bend fair shares."""
    status: CreditPolicyStatus = Field(default_factory=CreditPolicyStatus)
    """Whether the policy has an effect."""
