"""The state of pending workloads since their last judgement."""

from enum import Enum, auto


class Stand(Enum):
    """The state of equivalent workloads since they were last judged."""

    READY = auto()
    """To be judged when their turn comes."""
    BLOCKING = auto()
    """Judged; still the head of the queue, and no workload behind it is tried."""
    ASIDE = auto()
    """Judged, and promised quota that others have not given back yet; those behind may pass."""
    PARKED = auto()
    """Judged; inadmissible until something that blocks it changes."""


READY, BLOCKING, ASIDE, PARKED = Stand.READY, Stand.BLOCKING, Stand.ASIDE, Stand.PARKED
"""For hot paths: up to Python 3.11, reading a member of an enumeration from its class costs as much
as several function calls."""
