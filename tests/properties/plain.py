"""The quota tree by its formulas, written down once more without any shortcut.

Everything is computed from scratch whenever it is asked for.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from queueing.core.facts import ClusterQueueFact, CohortFact, Fact, WorkloadFact
from queueing.core.flavor_quotas import Quota, ResourceGroup
from queueing.core.names import FlavorResource
from queueing.core.usage import held_parts

UNBOUND = 10**9
NOTHING = Quota(nominal=0)


@dataclass(eq=False)
class Plain:
    """A node of the tree of one flavor-resource; `held` is what a queue's workloads hold."""

    name: str
    limits: Quota
    parent: "Plain | None" = None
    children: list["Plain"] = field(default_factory=list)
    held: int = 0

    def subtree(self) -> int:
        lent = sum(child.subtree() - child.local() for child in self.children)
        return self.limits.nominal + lent

    def local(self) -> int:
        limit = self.limits.lending_limit
        return 0 if limit is None else max(0, self.subtree() - limit)

    def usage(self) -> int:
        return self.held + sum(max(0, one.usage() - one.local()) for one in self.children)

    def local_available(self) -> int:
        return max(0, self.local() - self.usage())

    def available(self) -> int:
        if self.parent is None:
            return self.subtree() - self.usage()
        limit = self.limits.borrowing_limit
        most = UNBOUND
        if limit is not None:
            stored = self.subtree() - self.local()
            most = stored - max(0, self.usage() - self.local()) + limit
        return self.local_available() + min(self.parent.available(), most)

    def potential(self) -> int:
        if self.parent is None:
            return self.subtree()
        limit = self.limits.borrowing_limit
        most = UNBOUND if limit is None else self.subtree() + limit
        return min(self.local() + self.parent.potential(), most)

    def height(self) -> int:
        return max((child.height() + 1 for child in self.children), default=0)

    def height_of_fit(self, amount: int) -> tuple[int, bool]:
        if self.parent is None or self.subtree() >= self.usage() + amount:
            return 0, self.parent is not None
        amount -= self.local_available()
        node = self.parent
        while node.subtree() < node.usage() + amount and node.parent is not None:
            amount -= node.local_available()
            node = node.parent
        return node.height(), node.parent is not None


class Forest:
    """All queues and cohorts of some facts, one flavor-resource at a time.

    Of the cohorts of a ring, and what is below, there are no numbers but what queues hold.
    """

    def __init__(self, facts: Iterable[Fact]) -> None:
        known = list(facts)
        self.queues = {str(one.name): one for one in known if isinstance(one, ClusterQueueFact)}
        self.cohorts = {str(one.name): one for one in known if isinstance(one, CohortFact)}
        self.held: dict[tuple[str, FlavorResource], int] = {}
        self._nodes: dict[FlavorResource, dict[str, Plain]] = {}

    def resources(self) -> list[FlavorResource]:
        """Return every flavor-resource that has quota or is held, sorted."""
        named = {one for queue in self.queues.values() for one in quotas_of(queue.groups)}
        named |= {one for cohort in self.cohorts.values() for one in quotas_of(cohort.groups)}
        return sorted(named | {resource for _, resource in self.held})

    def hold(self, queue: str, usage: Mapping[FlavorResource, int], sign: int = 1) -> None:
        """Let a queue hold more, or with sign -1 less; one that does not exist holds nothing."""
        if queue not in self.queues:
            return
        for resource, amount in usage.items():
            self.held[queue, resource] = self.held.get((queue, resource), 0) + sign * amount
            if resource in self._nodes:
                self.queue(queue, resource).held += sign * amount

    def queue(self, name: str, resource: FlavorResource) -> Plain:
        return self.nodes(resource)[f"queue {name}"]

    def cohort(self, name: str, resource: FlavorResource) -> Plain:
        return self.nodes(resource)[f"cohort {name}"]

    def nodes(self, resource: FlavorResource) -> dict[str, Plain]:
        """Return all nodes of one flavor-resource, by kind and name."""
        known = self._nodes.get(resource)
        if known is None:
            known = self._nodes[resource] = {}
            for queue in self.queues.values():
                limits = quotas_of(queue.groups).get(resource, NOTHING)
                node = known[f"queue {queue.name}"] = Plain(queue.name, limits)
                node.held = self.held.get((queue.name, resource), 0)
                _hang(node, self._above(known, queue.cohort, resource))
            for name in self.cohorts:
                self._above(known, name, resource)
        return known

    def in_a_ring(self, name: str) -> bool:
        """Say whether a cohort is above itself, so that there is no sum of what it holds."""
        passed: set[str] = set()
        at: str | None = name
        while at is not None and at not in passed:
            passed.add(at)
            fact = self.cohorts.get(at)
            at = None if fact is None else fact.parent
        return at == name

    def _above(
        self, known: dict[str, Plain], name: str | None, resource: FlavorResource
    ) -> Plain | None:
        if name is None:
            return None
        found = known.get(f"cohort {name}")
        if found is None:
            fact = self.cohorts.get(name)
            limits = NOTHING if fact is None else quotas_of(fact.groups).get(resource, NOTHING)
            found = known[f"cohort {name}"] = Plain(name, limits)
            _hang(found, None if fact is None else self._above(known, fact.parent, resource))
        return found


def _hang(node: Plain, above: Plain | None) -> None:
    node.parent = above
    if above is not None:
        above.children.append(node)


def quotas_of(groups: tuple[ResourceGroup, ...]) -> dict[FlavorResource, Quota]:
    return {
        FlavorResource(flavor.flavor, name): quota
        for group in groups
        for flavor in group.flavors
        for name, quota in flavor.quotas
    }


def held_together(held: Iterable[WorkloadFact]) -> dict[FlavorResource, int]:
    """Count what workloads of one queue hold: what each has alone, each claim at its largest."""
    total: dict[FlavorResource, int] = {}
    largest: dict[tuple[str, FlavorResource], int] = {}
    for fact in held:
        own, parts = held_parts(fact)
        for resource, amount in own.items():
            total[resource] = total.get(resource, 0) + amount
        for claim, resource, amount in parts:
            largest[claim, resource] = max(amount, largest.get((claim, resource), 0))
    for (_, resource), amount in largest.items():
        total[resource] = total.get(resource, 0) + amount
    return {one: amount for one, amount in total.items() if amount}
