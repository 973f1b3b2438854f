"""How far the process has come, for probes and for the serving process."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Readiness:
    """How far the process has come, and whether that makes it ready."""

    elected: bool = False
    """It holds the Lease, or needs none."""
    leading: bool = False
    """It leads, and has listed all objects."""
    policies: bool = False
    """The API server suspends Jobs at creation as our policies say, or needs none."""
    injects: bool = False
    """The API server was seen to add claims to pods at creation, or had the time to begin with it
    where that cannot be tried."""
    other_leads: Callable[[], bool] = lambda: False
    """Says whether another replica holds the Lease."""

    @property
    def ready(self) -> bool:
        """Whether this process leads with everything in place, or stands by for another leader."""
        return self.other_leads() or (self.leading and self.policies)
