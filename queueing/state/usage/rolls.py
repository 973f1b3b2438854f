"""The workloads that hold quota of one ClusterQueue, with their sums."""

from queueing.core.holders import ByPriority, Holder, Ranked
from queueing.core.names import Key
from queueing.state.usage.charges import Charge, Tally


class Roll:
    """The workloads that hold quota of one ClusterQueue, and memos of what follows from them.

    Invariant: a LocalQueue has a tally exactly while one of its workloads holds quota.
    """

    __slots__ = ("charges", "exposed", "ranked", "tallies", "victims")

    def __init__(self) -> None:
        self.charges: dict[Key, Charge] = {}
        self.victims: dict[Key, Holder] = {}
        """Holders that may be preempted. Only in Kueue mode these include assumed admissions."""
        self.tallies: dict[Key | None, Tally] = {}
        """By LocalQueue; None is for workloads whose LocalQueue is unknown."""
        self.exposed: ByPriority | None = None
        """A memo: what possible victims hold; None until it is computed."""
        self.ranked: Ranked | None = None
        """A memo: the possible victims as `rank` orders them; None until it is computed."""

    def forget_sums(self) -> None:
        """Forget the memos, because the possible victims changed."""
        self.exposed = self.ranked = None
