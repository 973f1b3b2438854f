"""A line of a report about usage."""

from dataclasses import dataclass

from queueing.core.names import FlavorResource


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageLine:
    """What one payer used of one flavor-resource, in amounts times seconds."""

    payer: str
    resource: FlavorResource
    used: float
    borrowed: float
    idle: float = 0.0
    """What was held before all pods were ready."""
    cost: float = 0.0
    """Micro-credits."""
    lent: float | None = None
    """What siblings used of the payer's quota; None if it is unknown."""
    wasted: float | None = None
    """What was used for work that evictions lost; None if it is unknown."""

    @property
    def within_quota(self) -> float:
        """What was not borrowed."""
        return self.used - self.borrowed
