"""How claims that users wrote are treated, by Kueue's feature gates for DRA."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from queueing.translate.configuration import is_enabled
from queueing_api.config.v1beta2 import Configuration

INTEGRATION = "KueueDRAIntegration"
SOURCES: Mapping[str, str] = {
    "Counter": "KueueDRAIntegrationPartitionableDevices",
    "Capacity": "KueueDRAIntegrationConsumableCapacity",
}
"""Gate of each kind of source that a mapping of device classes may count by."""


class OwnClaims(StrEnum):
    """What happens to Workloads with claims that their user wrote."""

    COUNTED = "Counted"
    REFUSED = "Refused"
    IGNORED = "Ignored"
    """They are admitted, and their claims are not charged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceGates:
    """The gates as they stand."""

    claims: OwnClaims = OwnClaims.COUNTED
    extended: bool = True
    """Whether a request for the extended resource of a class counts as devices of that class."""
    off: Mapping[str, str] = field(default_factory=dict)
    """Kinds of sources that are not counted by, and the gate of each."""


def gates_of(configuration: Configuration | None) -> DeviceGates:
    """Read the gates; without a Configuration they stand as in Kueue."""
    known = configuration or Configuration()
    on = is_enabled(known, INTEGRATION)
    refused = is_enabled(known, "KueueDRARejectWorkloadsWhenDRADisabled")
    otherwise = OwnClaims.REFUSED if refused else OwnClaims.IGNORED
    return DeviceGates(
        claims=OwnClaims.COUNTED if on else otherwise,
        extended=on and is_enabled(known, "KueueDRAIntegrationExtendedResource"),
        off={kind: gate for kind, gate in SOURCES.items() if not is_enabled(known, gate)},
    )
