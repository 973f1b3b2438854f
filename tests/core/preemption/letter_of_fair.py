"""The rules of preemption by shares, one sentence after the other."""

from collections.abc import Sequence

from queueing.core.decisions import PreemptionReason
from queueing.core.holders import Holder
from queueing.core.settings import FairSharing
from tests.core.preemption.plain_tree import (
    Knot,
    Share,
    Taken,
    Victims,
    World,
    allowed,
    filled_back,
    fits,
    lined_up,
    place,
    restore,
)

FINAL = "LessThanOrEqualToFinalShare"
OWN = PreemptionReason.IN_CLUSTER_QUEUE
RECLAIM = PreemptionReason.IN_COHORT_RECLAMATION
BY_SHARE = PreemptionReason.IN_COHORT_FAIR_SHARING


def letter_of_fair(world: World, fair: FairSharing) -> Victims:
    own, policies = world.own, world.query.preemptor.policies
    root = [own, *own.way_up()][-1]
    found = [w for w in own.held if allowed(policies.within_cluster_queue, world, w)]
    for queue in root.queues():
        if queue is not own and not queue.within(world.query.contested):
            found += [w for w in queue.held if allowed(policies.reclaim_within_cohort, world, w)]
    found = lined_up(found, world)
    own.extra = dict(world.query.requests)
    taken: Taken = []
    try:
        done, spared = _first_rule(world, found, taken, fair)
        if not done and len(fair.strategies) > 1:
            done = _second_rule(world, spared, taken)
        own.extra = {}
        return filled_back(world, taken, borrowing=True) if done else []
    finally:
        own.extra = {}
        restore(world, taken)


def _first_rule(
    world: World,
    found: list[Holder],
    taken: Taken,
    fair: FairSharing,
) -> tuple[bool, list[Holder]]:
    own, spared, left = world.own, [], list(found)
    by_right = fair.preempt_within_nominal and own.within(world.query.contested)
    while (queue := _next(world, left)) is not None:
        mine = [w for w in left if w.queue == queue.name]
        if queue is own or by_right:
            left.remove(mine[0])
            if _take(world, mine[0], OWN if queue is own else RECLAIM, taken):
                return True, []
            continue
        my_side, their_side = _sides(own, queue)
        new, before = my_side.share(), their_side.share()
        for holder in mine:
            left.remove(holder)
            queue.held.remove(holder)
            after = their_side.share()
            queue.held.append(holder)
            if new <= after if fair.strategies[0] == FINAL else new < before:
                if _take(world, holder, BY_SHARE, taken):
                    return True, []
                break
            spared.append(holder)
    return False, spared


def _second_rule(world: World, spared: list[Holder], taken: Taken) -> bool:
    left = list(spared)
    while (queue := _next(world, left)) is not None:
        mine = [w for w in left if w.queue == queue.name]
        my_side, their_side = _sides(world.own, queue)
        if my_side.share() < their_side.share() and _take(world, mine[0], BY_SHARE, taken):
            return True
        left = [w for w in left if w.queue != queue.name]
    return False


def _take(
    world: World,
    holder: Holder,
    reason: PreemptionReason,
    taken: Taken,
) -> bool:
    world.knots[holder.queue].held.remove(holder)
    taken.append((holder, reason))
    charged, world.own.extra = world.own.extra, {}
    enough = fits(world, borrowing=True)
    world.own.extra = charged
    return enough


def _next(world: World, left: Sequence[Holder]) -> Knot | None:
    """Go down from the root to the highest share, turning back where nobody has candidates."""
    own = world.own
    dead: set[str] = set()
    root = [own, *own.way_up()][-1]
    while root.name not in dead:
        knot = root
        while not knot.is_queue:
            best: Knot | None = None
            for child in sorted(knot.children, key=lambda one: one.name):
                if child.name in dead or _is_useless(world, child, left):
                    continue
                if best is None or _rank(child, left, own) > _rank(best, left, own):
                    best = child
            if best is None:
                dead.add(knot.name)
                break
            knot = best
        else:
            return knot if any(w.queue == knot.name for w in left) else None
    return None


def _is_useless(world: World, child: Knot, left: Sequence[Holder]) -> bool:
    if child.is_queue and not any(w.queue == child.name for w in left):
        return True
    return child.share() == (0, 0) and child not in (world.own, *world.own.way_up())


def _rank(child: Knot, left: Sequence[Holder], own: Knot) -> tuple[Share, bool, int]:
    first = min((at for at, w in enumerate(left) if w.queue == child.name), default=0)
    order = sorted(left, key=lambda one: place(one, own))
    if child.is_queue:
        first = order.index(next(w for w in left if w.queue == child.name))
    return child.share(), not child.is_queue, -first if child.is_queue else 0


def _sides(own: Knot, other: Knot) -> tuple[Knot, Knot]:
    mine, theirs = [own, *own.way_up()], [other, *other.way_up()]
    while mine[-2] is theirs[-2]:
        mine.pop()
        theirs.pop()
    return mine[-2], theirs[-2]
