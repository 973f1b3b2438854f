"""What a queue or cohort lists by flavor: quotas, when the search over flavors stops, checks."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.core.names import CheckName, FlavorName, ResourceName


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Quota of one resource in one flavor; a limit of None does not bind."""

    nominal: int
    borrowing_limit: int | None = None
    lending_limit: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FlavorQuotas:
    """One flavor of a resource group and its quota per covered resource."""

    flavor: FlavorName
    quotas: tuple[tuple[ResourceName, Quota], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceGroup:
    """Resources that get their flavor together, and the flavors in order of preference."""

    covered: tuple[ResourceName, ...]
    flavors: tuple[FlavorQuotas, ...]


class FlavorPolicy(StrEnum):
    """What to do at a flavor that fits only by borrowing or preempting."""

    MAY_STOP_SEARCH = "MayStopSearch"
    TRY_NEXT_FLAVOR = "TryNextFlavor"


class FlavorPreference(StrEnum):
    """Ranking of flavors when both policies say TryNextFlavor."""

    BORROWING_OVER_PREEMPTION = "BorrowingOverPreemption"
    PREEMPTION_OVER_BORROWING = "PreemptionOverBorrowing"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fungibility:
    """When the search over flavors stops."""

    when_can_borrow: FlavorPolicy = FlavorPolicy.MAY_STOP_SEARCH
    when_can_preempt: FlavorPolicy = FlavorPolicy.TRY_NEXT_FLAVOR
    preference: FlavorPreference = FlavorPreference.BORROWING_OVER_PREEMPTION


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRule:
    """An admission check of a queue; with no flavors named it applies to all."""

    name: CheckName
    on_flavors: tuple[FlavorName, ...] = ()
