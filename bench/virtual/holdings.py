"""How much quota is held and how much lies idle although somebody who waits could use it."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from bench.virtual.loads import Load, Queue


@dataclass(slots=True)
class Tree:
    """One cohort with all below it: nothing is kept from being lent, so only the sum binds."""

    nominal: int
    held: int = 0
    idle: float = 0.0
    """Core seconds that lay idle while somebody waited who would have fitted beside all others."""
    used: float = 0.0
    """Core seconds that were held."""
    _since: float = 0.0
    _idles: int = 0

    def pass_time(self, now: float) -> None:
        """Count what was idle until now."""
        self.idle += self._idles * (now - self._since)
        self.used += self.held * (now - self._since)
        self._since = now

    def look(self, desks: "list[Desk]") -> None:
        """Find out how much is idle from now on."""
        free = max(0, self.nominal - self.held)
        wanted = sum(desk.fitting(free) for desk in desks) if free else 0
        self._idles = min(free, wanted)


@dataclass(slots=True)
class Desk:
    """One queue: what it may hold at most, what it holds, and who waits for how much."""

    queue: Queue
    most: int
    held: int = 0
    waiting: Counter[int] = field(default_factory=Counter)

    def fitting(self, free: int) -> int:
        """Sum up what those ask for who would fit into what is free, taken one by one."""
        free = min(free, self.most - self.held)
        return sum(cpu * count for cpu, count in self.waiting.items() if cpu <= free)


class Holdings:
    """All queues of a load, and the trees they are in, in whole cores."""

    excess: int = 0
    """Most cores that were held beyond what a queue may hold or its tree has."""

    def __init__(self, load: Load) -> None:
        nominal: Counter[str] = Counter()
        for queue in load.queues:
            nominal[load.root(queue)] += queue.nominal
        self.trees = {name: Tree(sum_) for name, sum_ in nominal.items()}
        self._root_of: Mapping[str, str] = {one.name: load.root(one) for one in load.queues}
        self._desks = {one.name: Desk(one, self._most(one)) for one in load.queues}
        self._desks_of = {
            name: [desk for desk in self._desks.values() if self._root_of[desk.queue.name] == name]
            for name in self.trees
        }

    def _most(self, queue: Queue) -> int:
        whole = self.trees[self._root_of[queue.name]].nominal
        return whole if queue.borrowing is None else min(whole, queue.nominal + queue.borrowing)

    def pass_time(self, now: float) -> None:
        """Count what was idle and held until now."""
        for tree in self.trees.values():
            tree.pass_time(now)

    @property
    def idle(self) -> float:
        """Core seconds that lay idle while somebody waited who would have fitted."""
        return sum(one.idle for one in self.trees.values())

    @property
    def used(self) -> float:
        """Core seconds that were held."""
        return sum(one.used for one in self.trees.values())

    @property
    def nominal(self) -> int:
        """Cores that there are."""
        return sum(one.nominal for one in self.trees.values())

    def fits_ever(self, queue: str, cpu: int) -> bool:
        """Say whether a queue could hold so much if nobody else held anything."""
        return cpu <= self._desks[queue].most

    def move(
        self, queue: str, cpu: int, was: tuple[int, int], stands: tuple[int, int], now: float
    ) -> None:
        """Let a workload of so many cores stand otherwise: does it hold them, does it wait."""
        desk, tree = self._desks[queue], self.trees[self._root_of[queue]]
        tree.pass_time(now)
        desk.held += (stands[0] - was[0]) * cpu
        tree.held += (stands[0] - was[0]) * cpu
        desk.waiting[cpu] += stands[1] - was[1]
        tree.look(self._desks_of[self._root_of[queue]])
        self.excess = max(self.excess, desk.held - desk.most, tree.held - tree.nominal)
