"""What is held in one queue: all that an event about one of its holders has to look up at once."""

from queueing.core.holders import Holder, Ranked
from queueing.core.names import FlavorResource, Key
from queueing.state.usage.charges import Charge, Tally

ByPriority = dict[FlavorResource, dict[int, int]]
"""What is held of a flavor-resource, by the priority of those who hold it."""


class Roll:
    """Who holds quota of one queue, and what is worked out of that when somebody asks.

    Invariant: a LocalQueue has a tally exactly while something is held through it.
    """

    __slots__ = ("charges", "exposed", "ranked", "tallies", "victims")

    def __init__(self) -> None:
        self.charges: dict[Key, Charge] = {}
        self.victims: dict[Key, Holder] = {}
        """Those who may be preempted: in Kueue mode also who was only assumed to be admitted."""
        self.tallies: dict[Key | None, Tally] = {}
        """By LocalQueue; None for those whose LocalQueue is not known."""
        self.exposed: ByPriority | None = None
        """What those hold who may be preempted; None until it is asked for."""
        self.ranked: Ranked | None = None
        """The victims in the order in which equals by all else are taken; None until asked for."""

    def forget_sums(self) -> None:
        """Note that others may be preempted than before."""
        self.exposed = self.ranked = None
