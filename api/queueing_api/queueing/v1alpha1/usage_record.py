"""UsageRecord: what the workloads of one tree of queues did in one hour, day or month."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC
from queueing_api.meta.v1 import KubeObject
from queueing_api.queueing.v1alpha1.credit_account import CreditLeaver, Part
from queueing_api.wire import DnsSubdomain, ResourceName, Time, Wire

AmountSeconds = Annotated[str, Field(max_length=48, pattern=r"^[0-9]+$")]
"""Amount times seconds, a decimal number: of cpu in thousandths of a core, of memory in bytes."""


class UsageRoot(Wire):
    """Top of a tree: a cohort that has none above it, or a queue in no cohort."""

    kind: Literal["ClusterQueue", "Cohort"]
    """Kind of the root."""
    name: DnsSubdomain
    """Name of the root."""


class UsageRecordSpec(Wire):
    """Which tree, and which stretch of time."""

    root: UsageRoot
    """The tree that the rows are of."""
    resolution: Literal["Hour", "Day", "Month"]
    """Length of the stretch, in UTC."""
    start: Time
    """When it begins."""
    end: Time
    """When it ends."""


class UsageRow(Wire):
    """What one user used through one LocalQueue of one resource, or what a queue lent of it.

    Amounts that are unset are nothing.
    """

    cluster_queue: DnsSubdomain | None = None
    """ClusterQueue that was used, or that lent."""
    cohort: DnsSubdomain | None = None
    """Cohort that lent to siblings of its own."""
    local_queue: str | None = None
    """LocalQueue, as namespace/name; unset in rows of what was lent."""
    user: str | None = None
    """Value of the Workload's label queueing.dev/user."""
    flavor: DnsSubdomain
    """ResourceFlavor that the quota is of."""
    resource: ResourceName
    """Resource that the quota is of."""
    used: AmountSeconds | None = None
    """Quota that was held."""
    borrowed: AmountSeconds | None = None
    """What of it was beyond the nominal quota of the ClusterQueue, rounded down."""
    borrowed_remainder: Part | None = None
    """What was rounded off, in parts of 2^32."""
    idle: AmountSeconds | None = None
    """What of it was held before all pods ran; told once they run, or at the end."""
    wasted: AmountSeconds | None = None
    """What was used for work that evictions lost; told at the eviction."""
    cost_micro_credits: AmountSeconds | None = None
    """What it cost, in millionths of a credit, by the prices of the time."""
    quota: AmountSeconds | None = None
    """Nominal quota of the queue or cohort."""
    lent: AmountSeconds | None = None
    """What of it siblings used, rounded down."""
    lent_remainder: Part | None = None
    """What was rounded off, in parts of 2^32."""


class UsageRecordStatus(Wire):
    """The rows, and up to when they count."""

    as_of: Time | None = None
    """Up to when everything is counted; the end, once it is past."""
    unit: str = ""
    """Name of 3600 credits."""
    rows: Annotated[list[UsageRow], Field(max_length=4096), ATOMIC] = Field(default_factory=list)
    """What was used, by name."""
    leavers: Annotated[list[CreditLeaver], Field(max_length=4096), ATOMIC] = Field(
        default_factory=list
    )
    """Evicted workloads: those that still hold quota, and those that gave it back after asOf."""
    folded: Annotated[list[Time], Field(max_length=64), ATOMIC] = Field(default_factory=list)
    """Beginnings of the finer records that are added up in this one."""


class UsageRecord(KubeObject):
    """What the workloads of one tree of queues did in one hour, day or month.

    Written by the controller while a CreditPolicy says so, and read by `queueing usage`.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["UsageRecord"] = "UsageRecord"
    spec: UsageRecordSpec
    """Which tree, and which stretch of time."""
    status: UsageRecordStatus = Field(default_factory=UsageRecordStatus)
    """The rows, and up to when they count."""
