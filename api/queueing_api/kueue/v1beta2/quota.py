"""Quotas of ClusterQueues and Cohorts: groups of resources, flavors, and what is used of them."""

from typing import Annotated

from pydantic import Field

from queueing_api.marks import ATOMIC, list_map
from queueing_api.wire import DnsSubdomain, Int64, Quantity, ResourceName, Wire

FlavorName = DnsSubdomain
CohortName = DnsSubdomain


class ResourceQuota(Wire):
    """How much of one resource in one flavor its owner may use, borrow and lend."""

    name: ResourceName
    """Resource that the quota is about, for example cpu or nvidia.com/gpu."""
    nominal_quota: Quantity
    """Own quota: what workloads can use at any time, and what others may borrow while it is idle.
    Must not be negative."""
    borrowing_limit: Quantity | None = None
    """Most that may be taken from the cohort beyond the nominal quota. Unset means no limit, zero
    means none; allowed only below a cohort."""
    lending_limit: Quantity | None = None
    """Most of the nominal quota that the rest of the cohort may use while it is idle. Unset means
    all of it, zero means none; allowed only below a cohort."""


class FlavorQuotas(Wire):
    """The quotas of one flavor."""

    name: FlavorName
    """ResourceFlavor that the quotas are for. Until it exists, the ClusterQueue is not active."""
    resources: Annotated[list[ResourceQuota], Field(min_length=1, max_length=64), list_map("name")]
    """One quota for each covered resource of the group, in the order of coveredResources."""


class ResourceGroup(Wire):
    """Resources that a workload gets from one flavor together, and the flavors to choose from."""

    covered_resources: Annotated[list[ResourceName], Field(min_length=1, max_length=64), ATOMIC]
    """Resources of this group. A resource stands in one group only."""
    flavors: Annotated[list[FlavorQuotas], Field(min_length=1, max_length=64), list_map("name")]
    """Flavors that provide these resources, the preferred ones first. A flavor stands in one group
    only."""


ResourceGroups = Annotated[list[ResourceGroup], Field(max_length=16), ATOMIC]


class FairSharing(Wire):
    """How much its owner counts when idle resources are shared out."""

    weight: Quantity = "1"
    """Weight beside that of its siblings: with twice the weight, twice the borrowing counts as
    the same share. Zero makes every borrower's share infinite, so that it loses against all
    others; other values must be above 1n."""


class FairSharingStatus(Wire):
    """Where its owner stands in fair sharing."""

    weighted_share: Int64
    """Largest ratio, over resources, of what is borrowed to what the cohort can lend, in
    thousandths and divided by the weight, rounded up. Zero while nothing is borrowed;
    9223372036854775807 with weight zero and something borrowed."""


class ResourceUsage(Wire):
    """What is used of one resource in one flavor."""

    name: ResourceName
    """Resource that is counted."""
    total: Quantity = Field(default_factory=lambda: "0")
    """Amount in use, borrowed included."""
    borrowed: Quantity = Field(default_factory=lambda: "0")
    """Part of the total that is beyond the nominal quota."""


class FlavorUsage(Wire):
    """What is used of one flavor."""

    name: FlavorName
    """ResourceFlavor that is counted."""
    resources: Annotated[list[ResourceUsage], Field(max_length=64), list_map("name")]
    """Amounts in use, one entry per resource."""


FlavorUsages = Annotated[list[FlavorUsage], Field(max_length=256), list_map("name")]
