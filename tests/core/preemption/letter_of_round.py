"""The rules of one round in Kueue mode, for heads that have one flavor to choose from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from queueing.core.decisions import Mode, PreemptionReason
from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource
from queueing.core.preemption.query import Query
from queueing.core.settings import FairSharing
from tests.core.preemption.letter_of_classical import letter_of_classical
from tests.core.preemption.letter_of_fair import letter_of_fair
from tests.core.preemption.plain_tree import Amounts, Knot, Victims, World, fits

OWN = PreemptionReason.IN_CLUSTER_QUEUE
Answer = tuple[str, Mode | None, Victims]
"""The head, what hinders it (None: it is admitted), and whom it preempts."""
NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT = range(5)


@dataclass
class Entry:
    """A nominated head."""

    world: World
    name: str
    uid: str
    grade: int = FIT
    borrow: int = 0
    contested: list[FlavorResource] = field(default_factory=list)
    victims: Victims = field(default_factory=list)

    @property
    def usage(self) -> Amounts:
        return {} if self.grade == NO_FIT else dict(self.world.query.requests)


class Round:
    """Decides heads one after the other."""

    def __init__(self, knots: dict[str, Knot], fair: FairSharing | None) -> None:
        self.knots = knots
        self.fair = fair
        self.gone: dict[str, Holder] = {}

    def decide(self, heads: Sequence[tuple[str, World]]) -> list[Answer]:
        entries = [self.nominate(name, world) for name, world in heads]
        for knot in self.knots.values():
            knot.claimed = {}
        return [self.process(one) for one in self.ordered(entries)]

    def nominate(self, name: str, world: World) -> Entry:
        entry = Entry(world, name, uid=name)
        own = world.own
        grades = []
        for one, amount in world.query.requests.items():
            grade, borrow = self.grade(world, own, one, amount)
            grades.append(grade)
            entry.borrow = max(entry.borrow, borrow)
            if grade != FIT:
                entry.contested.append(one)
        entry.grade = min(grades)
        if entry.grade == NO_FIT:
            entry.borrow = 0
        elif entry.grade != FIT:
            entry.victims = self.victims(world, world.query.requests, entry.contested)
        return entry

    def grade(self, world: World, own: Knot, one: FlavorResource, amount: int) -> tuple[int, int]:
        policies = world.query.preemptor.policies
        if amount <= max(0, own.available(one)):
            return FIT, height_of_fit(own, one, amount)[0]
        if amount > own.potential(one):
            return NO_FIT, 0
        height, may_reclaim = height_of_fit(own, one, amount)
        if not (
            own.limits(one).nominal >= amount
            or may_reclaim
            or self.preempts_while_borrowing(policies)
        ):
            return NO_FIT, 0
        found = self.victims(world, {one: amount}, [one])
        if not found:
            return NO_CANDIDATES, height
        with Without(self.knots, found):
            height = height_of_fit(own, one, amount)[0]
        return (PREEMPT if any(why is OWN for _, why in found) else RECLAIM), height

    def preempts_while_borrowing(self, policies: Preemption) -> bool:
        never = PreemptionPolicy.NEVER
        by_share = self.fair is not None and policies.reclaim_within_cohort is not never
        return policies.borrow_within_cohort is not never or by_share

    def victims(
        self, world: World, requests: Mapping[FlavorResource, int], contested: list[FlavorResource]
    ) -> Victims:
        query = Query(world.query.preemptor, requests, contested)
        asked = replace(world, query=query)
        return letter_of_classical(asked) if self.fair is None else letter_of_fair(asked, self.fair)

    def ordered(self, entries: list[Entry]) -> Iterator[Entry]:
        if self.fair is None:
            yield from sorted(
                entries,
                key=lambda one: (
                    one.borrow,
                    -one.world.query.preemptor.priority,
                    one.world.query.preemptor.timestamp,
                    one.uid,
                ),
            )
            return
        left = list(entries)
        while left:
            root = [left[0].world.own, *left[0].world.own.way_up()][-1]
            winner = self.best(root, left)
            left.remove(winner)
            yield winner

    def best(self, root: Knot, left: list[Entry]) -> Entry:
        def key(child: Knot, one: Entry) -> tuple[object, ...]:
            own = one.world.own
            own.extra = one.usage
            borrows = not child.within(list(one.usage))
            share = child.share()
            own.extra = {}
            me = one.world.query.preemptor
            assert self.fair is not None
            prefers = self.fair.prioritize_non_borrowing
            return prefers and borrows, share, -me.priority, me.timestamp, one.uid

        def winner(knot: Knot) -> Entry | None:
            if knot.is_queue:
                return next((one for one in left if one.world.own is knot), None)
            games = [(child, winner(child)) for child in knot.children]
            playing = [(key(child, one), one) for child, one in games if one is not None]
            return min(playing, key=lambda game: game[0])[1] if playing else None

        found = winner(root)
        assert found is not None
        return found

    def process(self, entry: Entry) -> Answer:
        deferred = False
        gone: Victims = [(key, OWN) for key in self.gone]
        if any(key in self.gone for key, _ in entry.victims):
            with Without(self.knots, gone):
                entry = self.nominate(entry.name, entry.world)
            deferred = entry.grade == FIT
        own, usage = entry.world.own, entry.usage
        if entry.grade == NO_FIT:
            return entry.name, Mode.NO_FIT, []
        if entry.grade != FIT and not entry.victims:
            policies = entry.world.query.preemptor.policies
            if policies.reclaim_within_cohort is not PreemptionPolicy.ANY:
                claim(own, reservation(entry))
            return entry.name, Mode.NO_CANDIDATES, []
        if deferred:
            claim(own, usage)
            return entry.name, Mode.DEFERRED_FIT, []
        with Without(self.knots, [*gone, *entry.victims]):
            enough = fits(entry.world, borrowing=True)
        if not enough:
            return entry.name, Mode.SKIPPED, []
        claim(own, usage)
        if not entry.victims:
            return entry.name, None, []
        holders: dict[str, Holder] = {w.key: w for knot in self.knots.values() for w in knot.held}
        self.gone.update((key, holders[key]) for key, _ in entry.victims)
        return entry.name, Mode.PREEMPT, entry.victims


class Without:
    """The tree without some workloads, while it is entered."""

    def __init__(self, knots: dict[str, Knot], victims: Victims) -> None:
        self.knots = knots
        self.keys = {key for key, _ in victims}
        self.held: dict[str, list[Holder]] = {}

    def __enter__(self) -> None:
        for name, knot in self.knots.items():
            self.held[name] = knot.held
            knot.held = [one for one in knot.held if one.key not in self.keys]

    def __exit__(self, *_: object) -> None:
        for name, knot in self.knots.items():
            knot.held = self.held[name]


def claim(own: Knot, usage: Amounts) -> None:
    for one, amount in usage.items():
        own.claimed[one] = own.claimed.get(one, 0) + amount


def reservation(entry: Entry) -> Amounts:
    own, kept = entry.world.own, {}
    for one, amount in entry.usage.items():
        limits = own.limits(one)
        left = limits.nominal - own.usage(one)
        if entry.borrow and limits.borrowing_limit is None:
            kept[one] = amount
        elif entry.borrow:
            kept[one] = max(0, min(amount, left + (limits.borrowing_limit or 0)))
        else:
            kept[one] = max(0, min(amount, left))
    return kept


def height_of_fit(own: Knot, one: FlavorResource, amount: int) -> tuple[int, bool]:
    if own.quota(one) >= own.usage(one) + amount or own.parent is None:
        return 0, own.parent is not None
    rest = amount - max(0, own.local(one) - own.usage(one))
    top = own
    for above in own.way_up():
        if above.quota(one) >= above.usage(one) + rest:
            return above.height, above.parent is not None
        rest -= max(0, above.local(one) - above.usage(one))
        top = above
    return top.height, False
