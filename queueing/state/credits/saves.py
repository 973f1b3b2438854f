"""When work was saved last: what an eviction loses is counted from there."""

from queueing.core.credits.facts import SavedFact
from queueing.core.names import Uid


class Saves:
    """What Checkpoints tell, by the life of the workload."""

    __slots__ = ("_by_name", "_by_uid")

    def __init__(self) -> None:
        self._by_name: dict[str, SavedFact] = {}
        self._by_uid: dict[Uid, dict[str, int]] = {}

    def put(self, fact: SavedFact) -> None:
        """Take in that work was saved."""
        self.drop(fact.name)
        self._by_name[fact.name] = fact
        self._by_uid.setdefault(fact.uid, {})[fact.name] = fact.at

    def drop(self, name: str) -> None:
        """Forget a Checkpoint."""
        known = self._by_name.pop(name, None)
        if known is None:
            return
        times = self._by_uid[known.uid]
        del times[name]
        if not times:
            del self._by_uid[known.uid]

    def last(self, uid: Uid, since: int, until: int) -> int | None:
        """Return when the work of one stay was saved last; None for never."""
        times = self._by_uid.get(uid, {}).values()
        return max((one for one in times if since <= one <= until), default=None)
