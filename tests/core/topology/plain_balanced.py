"""Balanced placement as the text of the reference says; see `plain`."""

from __future__ import annotations

from copy import deepcopy
from math import log2
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.core.topology.plain import Dom, Plain


def balanced(plain: Plain) -> list[Dom] | None:
    """Return the leaves with their shares; None for the ordinary search."""
    best: tuple[int, int, list[Dom]] | None = None
    if plain.level == 0:
        sets = [plain.top]
    else:
        above = sorted(plain.at(plain.level - 1), key=lambda one: one.path)
        sets = [one.children for one in above]
    for members in sets:
        low = lower(plain, members)
        greedy = spend(plain, low)
        if greedy is None or greedy[0] == 0:
            continue
        for threshold in thresholds(plain, *greedy):
            if threshold <= 0 or (best is not None and threshold < best[0]):
                continue
            copy = deepcopy(members)
            prune(plain, copy, threshold)
            fits = spend(plain, copy)
            if fits is None:
                continue
            if best is None or threshold > best[0] or fits[0] < best[1]:
                best = (threshold, fits[0], copy)
            break
    if best is None:
        return None
    threshold, _, members = best
    level = plain.level
    if level < plain.slice_level:
        chosen = fewest(plain, members, by_entropy=True)
        if chosen is None:
            return None
        members = [child for one in chosen for child in one.children]
        level += 1
    chosen = fewest(plain, members, by_entropy=False)
    if chosen is None or not hand_out(plain, chosen, threshold):
        return None
    return plain.per_parent(chosen, level)


def thresholds(
    plain: Plain, used: int, last_leader: Dom | None, last_worker: Dom | None
) -> list[int]:
    bounds = [plain.wanted // used]
    if last_leader is not None:
        bounds.append(last_leader.slices_wl)
    if last_worker is not None:
        bounds.append(last_worker.slices)
    first = min(bounds)
    if plain.leaders and last_worker is not None:
        second = min(first, last_worker.slices_wl)
        if 0 < second < first:
            return [first, second]
    return [first]


def lower(plain: Plain, members: list[Dom]) -> list[Dom]:
    if plain.level < plain.slice_level:
        return [child for one in members for child in one.children]
    return members


def spend(plain: Plain, doms: list[Dom]) -> tuple[int, Dom | None, Dom | None] | None:
    left, leaders, used = plain.wanted, plain.leaders, 0
    last_leader = last_worker = None
    rest = list(doms)
    for one in plain.order_l(doms):
        if leaders > 0 and one.leader > 0:
            leaders -= one.leader
            left -= one.slices_wl
            last_leader, used = one, used + 1
            rest.remove(one)
    for one in plain.order_a(rest):
        if left > 0:
            left -= one.slices
            last_worker, used = one, used + 1
    return (used, last_leader, last_worker) if left <= 0 and leaders <= 0 else None


def prune(plain: Plain, members: list[Dom], threshold: int) -> None:
    for one in members:
        for child in one.children:
            close(plain, child, threshold)
        recount(plain, one, plain.level)
        close(plain, one, threshold)


def close(plain: Plain, one: Dom, threshold: int) -> None:
    if one.slices < threshold:
        clear(one, all_=True)
    elif plain.leaders and one.leader and one.slices_wl < threshold:
        clear(one, all_=False)


def clear(one: Dom, *, all_: bool) -> None:
    one.leader = one.pods_wl = one.slices_wl = 0
    if all_:
        one.pods = one.slices = one.score = 0
    for child in one.children:
        clear(child, all_=all_)


def recount(plain: Plain, one: Dom, level: int) -> None:
    for child in one.children:
        recount(plain, child, level + 1)
    if one.children:
        plain.sum(one, level, {})


def fewest(plain: Plain, doms: list[Dom], *, by_entropy: bool) -> list[Dom] | None:
    greedy = spend(plain, doms)
    if greedy is None:
        return None

    def key(one: Dom) -> tuple[object, ...]:
        if not by_entropy:
            return (one.path,)
        pods = [child.pods for child in one.children]
        entropy = -sum(some / sum(pods) * log2(some / sum(pods)) for some in pods if some)
        return (-one.leader, -one.slices_wl, -round(entropy, 9), one.path)

    states: dict[tuple[int, int, int], list[Dom]] = {(0, plain.leaders, plain.count): []}
    for one in sorted(doms, key=key):
        for (used, leaders, left), taken in list(states.items()):
            if used < greedy[0]:
                if leaders and one.leader:
                    state = (used + 1, leaders - 1, left - one.pods_wl)
                    states.setdefault(state, [*taken, one])
                states.setdefault((used + 1, leaders, left - one.pods), [*taken, one])
    best = None
    for (used, leaders, left), taken in states.items():
        if used == greedy[0] and not leaders and left <= 0 and (best is None or left > best[0]):
            best = (left, taken)
    return best[1] if best else None


def hand_out(plain: Plain, chosen: list[Dom], threshold: int) -> bool:
    extra, leaders = plain.wanted - len(chosen) * threshold, plain.leaders
    if extra < 0:
        return False
    for one in plain.order_l(chosen):
        led = min(leaders, one.leader)
        more = min(extra, (one.slices_wl if led else one.slices) - threshold)
        one.slices, one.leader = threshold + more, led
        one.pods = one.slices * plain.size
        extra -= more
        leaders -= led
    return not extra and not leaders
