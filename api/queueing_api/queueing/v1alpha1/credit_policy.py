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
    """How long usage records are kept, and at which resolution."""

    hours: DurationText = "48h"
    """Age at which hourly records are merged into those of the day."""
    days: DurationText = "1488h"
    """Age at which daily records are merged into those of the month."""
    months: DurationText = "17568h"
    """Age at which monthly records are deleted."""


class CreditPolicySpec(Wire):
    """How credits are counted, and how far they bend fair shares."""

    mode: CreditMode = "Balanced"
    """How far balances may change weights. Off: credits are neither counted nor used. Gentle: by a
    factor of 4 at most. Balanced: by 16. Karma: without a practical bound, so that the child with
    the largest balance goes first."""
    root_cohorts: Annotated[list[DnsSubdomain], Field(max_length=256), SET] = Field(
        default_factory=list
    )
    """Root cohorts of the trees to which the policy applies. Empty: all that no other policy names.
    If two policies name the same tree, the one whose name sorts first applies."""
    prices: Annotated[list[CreditPrice], Field(min_length=1, max_length=64), ATOMIC]
    """Prices of resources. A resource without a price earns and costs nothing."""
    billing: Literal["Dominant", "Sum"] = "Dominant"
    """How the resources of one flavor are billed together: only the most expensive one, or all."""
    unit: Annotated[str, Field(min_length=1, max_length=16)] = "GPUh"
    """Name of the unit in which 3600 credits are displayed."""
    half_life: DurationText = "336h"
    """Time in which a balance, surplus or debt, shrinks by half. Choose at least five times the
    longest cycle of demand."""
    horizon: DurationText = "6h"
    """A surplus worth the entitlement for this time doubles the weight; such a debt halves it."""
    bound: Annotated[int, Field(ge=0, le=16)] | None = None
    """Largest power of two by which a weight is multiplied or divided. Unset: as the mode says, 2
    for Gentle, 4 for Balanced."""
    hysteresis: ShortQuantity = "1.25"
    """How many times larger the share of a victim must be than that of its preemptor, between 1
    and 16. Applies only if the balance of either of them changes its weight."""
    minimum_runtime: DurationText | None = None
    """How long a workload must have run before it may be preempted by shares. Unset: not at all.
    Does not protect against the reclaim of nominal quota."""
    class_factors: Annotated[list[CreditClassFactor], Field(max_length=16), ATOMIC] = Field(
        default_factory=list
    )
    """Factors on the price of borrowing for workloads of different priorities."""
    non_borrowing_min_priority: Int32 | None = None
    """Workloads of this priority and above may not borrow: together they stay within the nominal
    quota of their ClusterQueue. Unset: all may borrow."""
    admission_hold: DurationText | None = None
    """From its admission on, a workload's cost of borrowing for this time, or for its maximum
    execution time if that is shorter, is held against the balance of its queue. The hold is
    released as it is paid, or when the workload ends. Unset: nothing is held. With 10m a surplus
    cannot pay, in one moment, for more than it is worth."""
    local_queues: Literal["Off", "Order"] = "Off"
    """What credits do within ClusterQueues whose admissionMode is UsageBasedAdmissionFairSharing.
    Order: the namespaces of their LocalQueues have a ledger. LocalQueues, and victims, are ordered
    by the current usage of their namespace relative to its part of the queue and its balance,
    instead of by usage history. Off: no ledger, and no effect on the order."""
    debt_limit: DurationText | None = None
    """Largest debt, as the time in which it would be paid back if the whole entitlement were lent.
    Unset: 1.44 half-lives, which is also the largest possible surplus."""
    usage_records: UsageRetention | None = None
    """Keeps UsageRecords of what was used, borrowed, lent, wasted and held idle. They outlive the
    Workloads. Unset: no records are kept."""


class CreditPolicyStatus(Wire):
    """Whether the policy has an effect."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Effective is False, and says why, while the policy changes no share: without
    fair sharing, with mode Off, or if another policy applies to its trees."""


class CreditPolicy(KubeObject):
    """How lending and borrowing in trees of cohorts become credits, and what these do.

    A queue that lends idle quota which siblings actually use earns credits; one that borrows pays.
    A balance changes the weight in fair sharing within bounds. It never changes nominal quota.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CreditPolicy"] = "CreditPolicy"
    spec: CreditPolicySpec
    """How credits are counted, and how far they bend fair shares."""
    status: CreditPolicyStatus = Field(default_factory=CreditPolicyStatus)
    """Whether the policy has an effect."""
