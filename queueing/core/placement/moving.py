"""Whom to move, so that a gang gets a domain of a topology: saved, stopped, and placed elsewhere.

A gang that must be in one domain may have quota, and nodes enough in all, and no single domain with
room. Workloads whose policy allows it then make way, if each has another place once the gang is in
its domain. This is tried on the trees themselves and undone. Nobody loses quota by it, so neither
the preemption policies of queues are asked, nor who borrows; only a higher priority is not moved.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import NamedTuple

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import WorkloadFact
from queueing.core.flavors.assignment import Assignment
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorName, Key, PodSetName, QueueName, Uid
from queueing.core.placement.placing import Placing
from queueing.core.placement.pods import Wanted, used_at, wanted_places
from queueing.core.preemption.query import Target
from queueing.core.preemption.room import needed
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.stakes import Stake
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.nearness import home
from queueing.core.topology.requests import PodSetRequest
from queueing.core.topology.tree import Tree
from queueing.core.topology.usage import placed, places_of

DOMAINS_MAX = 4
"""So many domains are tried, those first that have most room; the cheapest of them is opened."""
TENANTS_MAX = 64
"""Of so many workloads of a domain at most some are moved, so that a judgement stays short."""


class Tenant(NamedTuple):
    """A workload that may be moved, and what its pods ask for."""

    holder: Holder
    fact: WorkloadFact
    wanted: Wanted

    @property
    def pods(self) -> int:
        return sum(one.count for several in self.wanted.values() for one in several)

    @property
    def rank(self) -> tuple[int, float, Uid]:
        """The order in which tenants of a domain go: as victims of preemption do."""
        return self.holder.rank


class Opening(NamedTuple):
    """A domain that can be opened: who is moved, and where the gang goes."""

    price: tuple[int, int]
    """The highest priority that is moved, then how many pods are."""
    targets: list[Target]
    places: Mapping[PodSetName, Placement]


@dataclass(frozen=True, slots=True, kw_only=True)
class Moving:
    """Finds whom to move for one head, on the usage of the tree as it is."""

    node: QuotaNode
    """The head's queue."""
    priority: int
    tree: QuotaTree
    placing: Placing
    holders: Holders
    movable: Callable[[Key], WorkloadFact | None]
    """See `World.movable`."""
    spared: frozenset[Uid]
    now: float

    def targets(self, answer: Assignment) -> list[Target]:
        """Return whom to move for an assignment, which then has its places; empty for nobody.

        The workloads of the head's own tree of cohorts are looked at.
        """
        asked, charged = self.placing.required(answer), answer.charged
        if not asked or any(n > self.node.available(one) for one, n in charged.items()):
            return []
        flavor, pods = asked[0]
        tree = home(self.tree.forest.memories(flavor), pods.topology).tree
        domains, room = self._by_domain(flavor, tree, pods), self.placing.room(flavor, pods)
        place = tree.domains.place
        likely = sorted(domains, key=lambda one: (-room[one], place[one]))
        inhabited = ((one, who) for one in likely if (who := self._tenants(domains[one])))
        tried = (self._opening(answer, *one) for one in islice(inhabited, DOMAINS_MAX))
        best = min((one for one in tried if one), key=lambda one: one.price, default=None)
        if best is None:
            return []
        answer.places = best.places
        return best.targets

    def _by_domain(
        self, flavor: FlavorName, tree: Tree, pods: PodSetRequest
    ) -> Mapping[int, list[Holder]]:
        """Return who has pods in each domain of the level that pods require, and may go."""
        leaf_of, above = tree.domains.leaf_of, tree.domains.above
        level = tree.levels.index(pods.topology.required or "")
        counts = cache(
            lambda flavors, hosts: self.tree.forest.counts_in(flavor, Occupancy(flavors, hosts, {}))
        )
        domain_of = cache(lambda key: above(leaf_of[key], level) if key in leaf_of else None)
        found: defaultdict[int, list[Holder]] = defaultdict(list)
        names = sorted(one.name for one in self.node.root.queues())
        for holder in (one for name in names for one in self.holders.holders(QueueName(name))):
            if holder.stake is None or not self._may_leave(holder, holder.stake):
                continue
            places = [one for one in places_of(holder.usage) if counts(one.flavors, one.hosts)]
            for domain in {domain_of(key) for one in places for key in one.usage}:
                if domain is not None:
                    found[domain].append(holder)
        return found

    def _tenants(self, holders: Iterable[Holder]) -> list[Tenant]:
        """Return those of some whose pods can be placed anew, in the order of `rank`."""
        found: list[Tenant] = []
        for holder in sorted(holders, key=lambda one: one.rank):
            fact = self.movable(holder.key)
            if fact is None or not _stays_itself(fact):
                continue
            wanted, troubles = wanted_places(fact, self.tree.forest, anew=True)
            if wanted and not troubles:
                found.append(Tenant(holder, fact, wanted))
            if len(found) == TENANTS_MAX:
                break
        return found

    def _may_leave(self, holder: Holder, stake: Stake) -> bool:
        """Say whether a workload may go: its policy allows it, and it saves its work before."""
        if not (stake.movable and stake.saves and holder.runs):
            return False
        if holder.priority > self.priority or holder.protected_until > self.now:
            return False
        return not (holder.parts or holder.members or holder.uid in self.spared)

    def _opening(
        self, answer: Assignment, domain: int, tenants: Sequence[Tenant]
    ) -> Opening | None:
        """Return how a domain is opened by moving as few of some tenants as possible.

        They all go, then each, from the last to the first, stays if it may. None if the gang has no
        place though all are gone, or one of them has none beside it.
        """
        asked, condition = self.placing.required(answer), self.placing.condition(answer)
        if condition is None:
            return None

        def has_place() -> bool:  # most answers are clear from the number of pods that fit
            if len(asked) == 1 and not self.placing.may_fit(*asked[0], domain):
                return False  # of several, each may go into another domain
            return condition()

        with self.tree.attempt():
            for one in tenants:
                self._charge(one, -1)
            if not has_place():
                return None
            gone = needed(tenants, self._charge, has_place)
            return self._resettled(answer, gone)

    def _charge(self, one: Tenant, sign: int) -> None:
        self.tree.add_usage(one.holder.queue, one.holder.counted, sign)

    def _resettled(self, answer: Assignment, gone: Sequence[Tenant]) -> Opening | None:
        """Place the gang, then those who went, the largest first; None if one has no place."""
        places = self.placing.find(self.placing.wanted(answer))
        if places is None:
            return None
        before, answer.places = answer.places, places
        gang = placed(answer.charged, answer.occupancies())
        answer.places = before
        self.tree.add_usage(QueueName(self.node.name), gang)
        targets: list[Target] = []
        for one in sorted(gone, key=lambda one: (-one.pods, one.rank)):
            found = self.placing.find(one.wanted)
            if found is None:
                return None
            holder = one.holder
            elsewhere = used_at(one.fact, holder.usage, found)
            self.tree.add_usage(holder.queue, elsewhere)
            targets.append(Target(holder, PreemptionReason.MOVED, elsewhere))
        price = max(one.holder.priority for one in gone), sum(one.pods for one in gone)
        return Opening(price, targets, places)


def _stays_itself(fact: WorkloadFact) -> bool:
    """Say whether a workload that runs is started elsewhere as the same one.

    Checks begin anew with each start, and may have made the nodes that it is on.
    """
    return fact.admitted and not (
        fact.slice_of or fact.variant or fact.is_one_pod or fact.unhealthy or fact.checks
    )
