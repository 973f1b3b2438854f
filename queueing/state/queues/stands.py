"""The state of pending workloads since their last judgement, and which events end their waiting."""

from enum import Enum, IntEnum, auto


class Stand(Enum):
    """The state of peers since they were last judged."""

    READY = auto()
    """To be judged when their turn comes."""
    BLOCKING = auto()
    """Judged; still the head, and nobody behind is tried."""
    ASIDE = auto()
    """Judged; wants another try when others are done, and lets those behind pass."""
    PARKED = auto()
    """Judged; inadmissible until something that blocks it changes."""


READY, BLOCKING, PARKED = Stand.READY, Stand.BLOCKING, Stand.PARKED
"""For hot paths: up to Python 3.11 to ask the class of an enumeration for a member costs as much as
to call several functions."""


class Expects(IntEnum):
    """Which events make hopeful peers READY again; each value includes those before it."""

    RELEASE = auto()
    """Quota of a flavor-resource that it could use is given back."""
    VICTIM = auto()
    """Somebody whom it may preempt holds quota now, or is worth less than before."""
    CHANGE = auto()
    """Anybody of its tree holds quota now: that moves shares, and what others keep back."""
    ADMISSION = auto()
    """Anybody of its tree is admitted, even in the same cycle: a pod set that finds its flavor
    taken may leave to another one what that needs."""


RELEASE = Expects.RELEASE
"""For hot paths, as above."""


class Count:
    """How many wait, and how many of them are inadmissible."""

    __slots__ = ("inadmissible", "size")

    def __init__(self) -> None:
        self.size = 0
        self.inadmissible = 0
