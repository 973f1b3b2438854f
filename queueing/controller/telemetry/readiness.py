"""Where the process stands, for probes and for the serving process."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Readiness:
    """What the process has come to, and whether that makes it ready."""

    elected: bool = False
    """It holds the lease."""
    leading: bool = False
    """It leads, and its memory is complete."""
    policies: bool = False
    """The API server suspends Jobs at creation as our rules say, or does not have to."""
    injects: bool = False
    """The API server was seen to give pods their claims at creation; it may not be ours to see."""
    other_leads: Callable[[], bool] = lambda: False

    @property
    def ready(self) -> bool:
        """Whether the work is being done: by us, or by another while we stand by."""
        return self.other_leads() or (self.leading and self.policies)
