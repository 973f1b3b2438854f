"""When the work of each workload was last saved: an eviction loses what was done since then."""

from queueing.core.credits.facts import SavedFact
from queueing.core.names import Uid


class Saves:
    """The times of Checkpoints, by the uid of their workload."""

    __slots__ = ("_by_name", "_by_uid")

    def __init__(self) -> None:
        self._by_name: dict[str, SavedFact] = {}
        self._by_uid: dict[Uid, dict[str, int]] = {}

    def put(self, fact: SavedFact) -> None:
        """Take in a Checkpoint that was saved."""
        self.drop(fact.name)
        self._by_name[fact.name] = fact
        self._by_uid.setdefault(fact.uid, {})[fact.name] = fact.at

    def drop(self, name: str) -> None:
        """Forget a deleted Checkpoint."""
        known = self._by_name.pop(name, None)
        if known is None:
            return
        times = self._by_uid[known.uid]
        del times[name]
        if not times:
            del self._by_uid[known.uid]

    def last(self, uid: Uid, since: int, until: int) -> int | None:
        """Return the last time from `since` to `until` at which work was saved; None for never."""
        times = self._by_uid.get(uid, {}).values()
        return max((one for one in times if since <= one <= until), default=None)
