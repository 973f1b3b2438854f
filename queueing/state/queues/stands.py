"""The state of pending workloads since their last judgement, and which events end their waiting."""

from enum import Enum, IntEnum, auto


class Stand(Enum):
    """The state of peers since they were last judged."""

    READY = auto()
    """To be judged when their turn comes."""
    BLOCKING = auto()
    """Judged; still the head of the queue, and no workload behind it is tried."""
    ASIDE = auto()
    """Judged; lets the workloads behind it pass, and is tried again after them."""
    PARKED = auto()
    """Judged; inadmissible until something that blocks it changes."""


READY, BLOCKING, PARKED = Stand.READY, Stand.BLOCKING, Stand.PARKED
"""For hot paths: up to Python 3.11, reading a member of an enumeration from its class costs as much
as several function calls."""


class Expects(IntEnum):
    """Which events make hopeful peers READY again; each value includes those before it."""

    RELEASE = auto()
    """Quota of a flavor-resource that they could use is released."""
    VICTIM = auto()
    """A workload that they may preempt holds quota now, or may be preempted more easily."""
    CHANGE = auto()
    """Any workload of their tree holds quota now: it changes shares, and the quota that is kept
    for standing workloads."""
    ADMISSION = auto()
    """Any workload of their tree is admitted, even in the same cycle: a pod set whose flavor is
    taken may choose another, and so leave its part of that flavor to the other pod sets."""


RELEASE = Expects.RELEASE
"""For hot paths, as above."""


class Count:
    """How many workloads are pending, and how many of them are inadmissible."""

    __slots__ = ("inadmissible", "size")

    def __init__(self) -> None:
        self.size = 0
        self.inadmissible = 0
