"""Whom to stop, or to move, so that pods fit into one domain of a topology: on paper only.

In each domain of the level workloads are taken away in the order in which preemption would: those
that are leaving, then lower priorities, then the latest started, until the pods fit. Those without
whom they fit all the same are put back. Quota, and who may preempt whom, are not asked.
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass

from queueing.core.names import FlavorName
from queueing.core.preemption.room import needed
from queueing.core.topology.forest import Forest
from queueing.core.topology.nearness import home
from queueing.core.topology.requests import Requests, TopologyRequest
from queueing.core.topology.tree import Tree
from queueing.explain.layout import Tenant, counted, tenants_of, usual_pod
from queueing.explain.part import AnswerPart
from queueing.explain.spelling import told
from queueing.state.memory.memory import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPods:
    """Pods that are to fit into one domain of a level."""

    level: str
    count: int
    pod: Requests = ()
    """What each asks for; by default one device or cpu."""
    below: int | None = None
    """Only workloads of a lower priority may go; None for all."""


TOLD = 3
"""How many domains are told of, the cheapest first."""


class Stopped(AnswerPart, frozen=True, kw_only=True):
    """A workload that would have to go."""

    workload: str
    """`namespace/name`."""
    cluster_queue: str
    priority: int
    pods: int
    """How many pods it has in all; all of them would stop."""
    since: str | None
    leaving: bool
    """Whether it is evicted: it is going anyway, and its place is not free yet."""
    movable: bool
    """Whether its CheckpointPolicy lets it go on at another place instead."""


class Opening(AnswerPart, frozen=True, kw_only=True):
    """A domain, and who would have to go."""

    domain: str
    """Its name, with those of the domains that it is in."""
    fits: int
    """How many pods would fit."""
    stopped: tuple[Stopped, ...]
    """Nobody where the pods fit now."""


class Openings(AnswerPart, frozen=True, kw_only=True):
    """The cheapest domains of a level for a number of pods."""

    flavor: str
    level: str
    count: int
    below: int | None
    """Only workloads of a lower priority are looked at; null for all."""
    openings: tuple[Opening, ...]
    """None where even an empty domain would not do, or those in it are of too high a priority."""


def openings_of(memory: Memory, flavor: FlavorName, wanted: WantedPods) -> Openings:
    """Return the domains of a level that could hold some pods, and at what price.

    The price is the highest priority that is stopped, then the number of pods that are. Raises
    KeyError where the flavor has no topology, ValueError where none that it has has such a level.
    """
    tree = home(memory.tree.forest.memories(flavor), TopologyRequest(required=wanted.level)).tree
    number = tree.levels.index(wanted.level)
    found = _Search(memory, flavor, tree, wanted)
    tried = []
    for domain in tree.domains.in_order(number):
        who = found.who_must_go(domain)
        if who is not None:
            place = "/".join(tree.domains.path[domain])
            tried.append((found.price(who), place, who, found.fits_without(domain, who)))
    return Openings(
        flavor=flavor,
        level=wanted.level,
        count=wanted.count,
        below=wanted.below,
        openings=tuple(
            Opening(domain=place, fits=fits, stopped=tuple(map(_stopped, who)))
            for _, place, who, fits in sorted(tried, key=lambda one: one[:2])[:TOLD]
        ),
    )


def _stopped(one: Tenant) -> Stopped:
    holder = one.holder
    return Stopped(
        workload=holder.key,
        cluster_queue=holder.queue,
        priority=holder.priority,
        pods=one.pods(),
        since=told(holder.started),
        leaving=holder.evicted,
        movable=holder.stake is not None and holder.stake.movable,
    )


class _Search:
    """Tries who must go, on the forest itself, and undoes it."""

    def __init__(self, memory: Memory, flavor: FlavorName, tree: Tree, wanted: WantedPods) -> None:
        self._memory, self._flavor, self._count = memory, flavor, wanted.count
        self._tree = tree
        self._pod = wanted.pod or usual_pod(memory, flavor)
        self._forest: Forest = memory.tree.forest
        below = wanted.below
        self._tenants = [
            one
            for one in sorted(tenants_of(memory, flavor), key=_order)
            if below is None or one.holder.priority < below or one.holder.evicted
        ]
        leaving = [one for one in self._tenants if one.holder.evicted]
        self._not_counted = leaving if memory.ledger.promises else []
        """Who is still there and not in the forest, which has room for others when they have left.
        """
        self._at: dict[str, list[int]] = {}
        """Leaf → which tenants have pods there, in their order."""
        for number, one in enumerate(self._tenants):
            for key in one.leaves():
                self._at.setdefault(key, []).append(number)

    def price(self, who: tuple[Tenant, ...]) -> tuple[float, int]:
        running = [one for one in who if not one.holder.evicted]
        highest = max((one.holder.priority for one in running), default=float("-inf"))
        return highest, sum(one.pods() for one in running)

    def who_must_go(self, domain: int) -> tuple[Tenant, ...] | None:
        """Return who must go so that pods fit into a domain; None if all of them is not enough."""
        tree = self._tree
        leaves = tree.domains.below(domain, len(tree.levels) - 1)
        numbers = {one for leaf in leaves for one in self._at.get(tree.key_at(leaf), ())}
        there = [self._tenants[one] for one in sorted(numbers)]
        gone: list[Tenant] = []
        with self._all_there():
            while not self._suffices(domain):
                if len(gone) == len(there):
                    return None
                gone.append(there[len(gone)])
                self._charge(gone[-1], -1)
            return tuple(needed(gone, self._charge, lambda: self._suffices(domain)))

    def fits_without(self, domain: int, who: tuple[Tenant, ...]) -> int:
        """Return how many pods fit into a domain when some have gone."""
        with self._all_there():
            for one in who:
                self._charge(one, -1)
            return self._fits(domain)

    def _suffices(self, domain: int) -> bool:
        return self._fits(domain) >= self._count

    @contextmanager
    def _all_there(self) -> Generator[None]:
        """Show the forest, within the context, as it is now: who is leaving has not left."""
        with self._forest.attempt():
            for one in self._not_counted:
                self._charge(one, 1)
            yield

    def _fits(self, domain: int) -> int:
        counts = counted(self._memory, self._flavor, self._pod, self._tree.topology)
        return counts.pods[domain]

    def _charge(self, one: Tenant, sign: int) -> None:
        for place in one.places:
            self._forest.charge(place, sign)


def _order(one: Tenant) -> tuple[bool, int, float, str]:
    holder = one.holder
    return not holder.evicted, holder.priority, -holder.started, holder.key
