"""The rules of preemption without fair sharing, one sentence after the other."""

from collections.abc import Sequence

from queueing.core.decisions import PreemptionReason
from queueing.core.holders import Holder
from tests.core.preemption.plain_tree import (
    NEVER,
    Amounts,
    Knot,
    Taken,
    Victims,
    World,
    allowed,
    filled_back,
    fits,
    lined_up,
    restore,
)

OWN = PreemptionReason.IN_CLUSTER_QUEUE
RECLAIM = PreemptionReason.IN_COHORT_RECLAMATION
BORROWING = PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
Item = tuple[Holder, str, Knot | None]
"""A candidate, its class, and the lowest cohort above it and the preemptor."""


def letter_of_classical(world: World) -> Victims:
    policies, contested = world.query.preemptor.policies, world.query.contested
    classes = _classes(world)
    ordered: list[Item] = []
    for evicted in (True, False):
        for one in classes:
            part = {item[0].key: item for item in one if item[0].evicted is evicted}
            in_order = lined_up([holder for holder, _, _ in part.values()], world)
            ordered += [part[holder.key] for holder in in_order]
    forbidden = policies.borrow_within_cohort is NEVER
    under = all(world.own.usage(one) < world.own.limits(one).nominal for one in contested)
    if not (classes[0] or classes[1]) or (forbidden and not under):
        attempts: tuple[bool, ...] = (True,)
    elif forbidden and not classes[0]:
        attempts = (False, True)
    else:
        attempts = (True, False)
    for borrowing in attempts:
        found = _attempt(world, ordered, borrowing=borrowing)
        if found:
            return found
    return []


def _classes(world: World) -> tuple[list[Item], ...]:
    query, own = world.query, world.own
    policies, me = query.preemptor.policies, query.preemptor
    hierarchical: list[Item] = []
    by_priority: list[Item] = []
    same: list[Item] = [
        (w, "same", None) for w in own.held if allowed(policies.within_cluster_queue, world, w)
    ]
    advantage, rest = _covers(own, dict(query.requests))
    below = own
    for cohort_above in own.way_up():
        for queue in cohort_above.queues():
            path = [queue, *queue.way_up()]
            path = path[: path.index(cohort_above)]
            if below in path or any(one.within(query.contested) for one in path):
                continue
            for w in queue.held:
                if not allowed(policies.reclaim_within_cohort, world, w):
                    continue
                threshold = policies.max_priority_threshold
                lesser = w.priority < me.priority and (threshold is None or w.priority <= threshold)
                if advantage:
                    hierarchical.append((w, "hierarchical", cohort_above))
                elif policies.borrow_within_cohort is not NEVER and lesser:
                    by_priority.append((w, "borrowing", cohort_above))
                else:
                    by_priority.append((w, "not borrowing", cohort_above))
        covers, rest = _covers(cohort_above, rest)
        advantage = advantage or covers
        below = cohort_above
    return hierarchical, by_priority, same


def _covers(knot: Knot, requests: Amounts) -> tuple[bool, Amounts]:
    covers = all(knot.quota(one) >= knot.usage(one) + v for one, v in requests.items())
    free = {one: max(0, knot.local(one) - knot.usage(one)) for one in requests}
    return covers, {one: max(0, v - free[one]) for one, v in requests.items()}


def _attempt(world: World, ordered: Sequence[Item], *, borrowing: bool) -> Victims:
    contested = world.query.contested
    taken: Taken = []
    reasons = {"hierarchical": RECLAIM, "borrowing": BORROWING, "not borrowing": RECLAIM}
    try:
        for holder, kind, common in ordered:
            knot = world.knots[holder.queue]
            if common is not None:
                path = [knot, *knot.way_up()]
                path = path[: path.index(common)]
                if (borrowing and kind == "not borrowing") or any(
                    one.within(contested) for one in path
                ):
                    continue
            knot.held.remove(holder)
            taken.append((holder, reasons.get(kind, OWN)))
            if fits(world, borrowing=borrowing):
                return filled_back(world, taken, borrowing=borrowing)
        return []
    finally:
        restore(world, taken)
