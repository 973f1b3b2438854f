"""A quota tree without memory of usage: that is computed anew whenever it is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import ClusterQueueFact, CohortFact, PreemptionPolicy
from queueing.core.flavor_quotas import Quota
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from queueing.core.preemption.query import Query
from queueing.core.quota.tree import quotas_of
from queueing.testing.arena import Arena

NEVER, ANY = PreemptionPolicy.NEVER, PreemptionPolicy.ANY
RESOURCES = tuple(
    FlavorResource(FlavorName(flavor), ResourceName(name))
    for flavor, name in (("one", "cpu"), ("two", "cpu"), ("one", "gpu"), ("two", "gpu"))
)
Amounts = dict[FlavorResource, int]
Share = tuple[int, Fraction | int]
Victims = list[tuple[str, PreemptionReason]]
Taken = list[tuple[Holder, PreemptionReason]]


@dataclass(eq=False)
class Knot:
    """A queue or cohort, its limits, and the workloads of a queue."""

    name: str
    quotas: dict[FlavorResource, Quota]
    weight: Fraction
    parent: "Knot | None" = None
    children: list["Knot"] = field(default_factory=list)
    held: list[Holder] = field(default_factory=list)
    extra: Amounts = field(default_factory=dict)
    """What the preemptor of a search asks."""
    claimed: Amounts = field(default_factory=dict)
    """What earlier heads of a round took."""
    sheltered: list[Holder] = field(default_factory=list)
    """Workloads that nobody may preempt."""
    is_queue: bool = False
    quota_of: Amounts = field(default_factory=dict)
    """Quota of the subtree, which is the same as long as the tree stands."""
    turns: dict[str, float] = field(default_factory=dict)
    """Usage histories by LocalQueue, where these take turns in a queue."""

    @property
    def height(self) -> int:
        return max((child.height + 1 for child in self.children), default=0)

    def limits(self, one: FlavorResource) -> Quota:
        return self.quotas.get(one, Quota(nominal=0))

    def quota(self, one: FlavorResource) -> int:
        if one not in self.quota_of:
            lent = sum(child.quota(one) - child.local(one) for child in self.children)
            self.quota_of[one] = self.limits(one).nominal + lent
        return self.quota_of[one]

    def local(self, one: FlavorResource) -> int:
        lending = self.limits(one).lending_limit
        return 0 if lending is None else max(0, self.quota(one) - lending)

    def usage(self, one: FlavorResource) -> int:
        spilled = sum(max(0, child.usage(one) - child.local(one)) for child in self.children)
        return spilled + self.held_amount(one) + self.extra.get(one, 0) + self.claimed.get(one, 0)

    def held_amount(self, one: FlavorResource) -> int:
        return sum(w.usage.get(one, 0) for w in (*self.held, *self.sheltered))

    def available(self, one: FlavorResource) -> int:
        if self.parent is None:
            return self.quota(one) - self.usage(one)
        quota, local, usage = self.quota(one), self.local(one), self.usage(one)
        above = self.parent.available(one)
        limit = self.limits(one).borrowing_limit
        if limit is not None:
            above = min(above, quota - local - max(0, usage - local) + limit)
        return max(0, local - usage) + above

    def potential(self, one: FlavorResource) -> int:
        if self.parent is None:
            return self.quota(one)
        most = self.local(one) + self.parent.potential(one)
        limit = self.limits(one).borrowing_limit
        return most if limit is None else min(most, self.quota(one) + limit)

    def way_up(self) -> Iterator["Knot"]:
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def root(self) -> "Knot":
        return self if self.parent is None else self.parent.root()

    def everything(self) -> set[FlavorResource]:
        """Return the flavor-resources that anybody below has a quota of."""
        return set(self.quotas).union(*(child.everything() for child in self.children))

    def queues(self) -> Iterator["Knot"]:
        if self.is_queue:
            yield self
        for child in self.children:
            yield from child.queues()

    def within(self, contested: Sequence[FlavorResource]) -> bool:
        return all(self.usage(one) <= self.quota(one) for one in contested)

    def share(self) -> Share:
        if self.parent is None:
            return 0, 0
        ratio = Fraction(0)
        everything = self.root().everything()
        counted = self.everything()
        for name in sorted({one.resource for one in everything}):
            mine = [one for one in everything if one.resource == name]
            borrowed = sum(
                max(0, self.usage(one) - self.quota(one)) for one in mine if one in counted
            )
            lendable = sum(self.parent.potential(one) for one in mine)
            if lendable > 0:
                ratio = max(ratio, Fraction(borrowed * 1000, lendable))
        if not self.weight:
            return (1, ratio) if ratio else (0, 0)
        return 0, ratio / self.weight


@dataclass(frozen=True, slots=True)
class World:
    """The same facts twice, and a question."""

    arena: Arena
    query: Query
    knots: dict[str, Knot]

    @property
    def own(self) -> Knot:
        return self.knots[self.query.preemptor.node.name]


def plain(
    facts: Sequence[ClusterQueueFact | CohortFact], held: Sequence[Holder]
) -> dict[str, Knot]:
    knots: dict[str, Knot] = {"top": Knot("top", {}, Fraction(1))}
    for one in facts:
        knots[one.name] = Knot(one.name, quotas_of(one.groups), one.fair_weight)
    for one in facts:
        above = one.cohort if isinstance(one, ClusterQueueFact) else one.parent
        knot = knots[one.name]
        knot.is_queue = isinstance(one, ClusterQueueFact)
        knot.held = [holder for holder in held if knot.is_queue and holder.queue == one.name]
        if above is not None:
            knot.parent = knots[above]
            knots[above].children.append(knot)
    return knots


def fits(world: World, *, borrowing: bool) -> bool:
    own = world.own
    return all(
        amount <= max(0, own.available(one))
        and (borrowing or own.quota(one) >= own.usage(one) + amount)
        for one, amount in world.query.requests.items()
    )


def allowed(policy: PreemptionPolicy, world: World, holder: Holder) -> bool:
    me = world.query.preemptor
    if not any(one in holder.usage for one in world.query.contested) or policy is NEVER:
        return False
    newer = holder.priority == me.priority and me.timestamp < holder.timestamp
    return (
        policy is ANY
        or holder.priority < me.priority
        or (policy is PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY and newer)
    )


def place(holder: Holder, own: Knot) -> tuple[bool, bool, int, float, str]:
    """Return the place among workloads of other queues."""
    order = holder.priority, -holder.reserved_at, holder.uid
    return not holder.evicted, holder.queue == own.name, *order


def lined_up(found: Sequence[Holder], world: World) -> list[Holder]:
    """Sort each queue, the larger usage of a LocalQueue first; take the best of the firsts."""
    lines: dict[str, list[Holder]] = {}
    for one in sorted(found, key=lambda one: place(one, world.own)):
        lines.setdefault(one.queue, []).append(one)
    for name, line in lines.items():
        turns = world.knots[name].turns
        line.sort(key=lambda one: (not one.evicted, -turns.get(one.local_queue or "", 0.0)))
    ordered: list[Holder] = []
    while any(lines.values()):
        firsts = [line[0] for line in lines.values() if line]
        ordered.append(min(firsts, key=lambda one: place(one, world.own)))
        lines[ordered[-1].queue].pop(0)
    return ordered


def filled_back(world: World, taken: Taken, *, borrowing: bool) -> Victims:
    kept = list(taken)
    for one in reversed(taken[:-1]):
        held = world.knots[one[0].queue].held
        held.append(one[0])
        if fits(world, borrowing=borrowing):
            kept.remove(one)
        else:
            held.remove(one[0])
    return [(holder.key, reason) for holder, reason in kept]


def restore(world: World, taken: Taken) -> None:
    for holder, _ in taken:
        held = world.knots[holder.queue].held
        if holder not in held:
            held.append(holder)
