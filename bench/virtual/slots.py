"""Who may write now: so many decisions at a time, and one write per workload at a time."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from queueing.core.names import Key
from queueing.kube.writer import AHEAD, DECISIONS_LEAST, ROOM_LEAST


@dataclass(slots=True)
class Slots:
    """The queue of decisions to be written, and the workloads that are being written."""

    flying: int = 0
    most: int = DECISIONS_LEAST
    """Decisions being written at a time, as many as the product's writer allows."""
    _waiting: deque[tuple[Key, Callable[[], None]]] = field(default_factory=deque)
    _behind: dict[Key, deque[Callable[[], None]]] = field(default_factory=dict)
    """Workloads that are being written, and the decisions on them that wait for that."""

    @property
    def room(self) -> int:
        """How many more decisions could be written soon; 0 while that is only a few."""
        free = self.most + int(self.most * AHEAD) - self.flying - len(self._waiting)
        return free if free >= self.most * ROOM_LEAST else 0

    @property
    def all_taken(self) -> bool:
        """Whether decisions wait for a slot."""
        return bool(self._waiting)

    def submit(self, key: Key, begin: Callable[[], None]) -> None:
        """Begin a write when there is a slot for it; it ends with `end`."""
        self._waiting.append((key, begin))
        self._start_what_may()

    def end(self, key: Key) -> None:
        """End the write of a decision."""
        self.flying -= 1
        self.let_go(key)

    def hold(self, key: Key) -> bool:
        """Take a workload for a write that needs no slot; False if it is being written."""
        if key in self._behind:
            return False
        self._behind[key] = deque()
        return True

    def let_go(self, key: Key) -> None:
        """Let others write a workload that was held."""
        self._waiting.extendleft((key, begin) for begin in reversed(self._behind.pop(key)))
        self._start_what_may()

    def clear(self) -> None:
        """Drop all that has not begun."""
        self._waiting.clear()

    def _start_what_may(self) -> None:
        while self._waiting and self.flying < self.most:
            key, begin = self._waiting.popleft()
            if self.hold(key):
                self.flying += 1
                begin()
            else:
                self._behind[key].append(begin)
