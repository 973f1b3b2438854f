"""Spreading: pods are dealt to domains in turn, one slice or pod each, most room first.

It is for what would rather lose few of its pods with a rack than all of them. Which pods must be in
one domain stays as it is; of several such domains, the one with most room is taken.
"""

from collections.abc import Iterator
from heapq import heapify, heappop, heapreplace

from queueing.core.topology.counts import Counts, Known
from queueing.core.topology.domains import ROOT
from queueing.core.topology.requests import Search
from queueing.core.topology.taking import Share


def dealt(counts: Counts, search: Search, leaders: int) -> list[Share] | None:
    """Return the shares of leaves; None where pods cannot be dealt, and are packed if they fit.

    These are a leader with its workers, slices of slices, pods that prefer nodes, and pods that no
    single domain of the levels that they prefer has room for.
    """
    if leaders or counts.shape.scored or any(size > 1 for size in search.inner):
        return None
    start = _start(counts, search)
    return (
        None if start is None else list(_below(counts, search, start, search.slices * search.size))
    )


def _start(counts: Counts, search: Search) -> int | None:
    """Return the domain that gets everything: the root, or the one of its level with most room."""
    slices = counts.room.slices
    if search.unconstrained:
        return ROOT if slices[ROOT] >= search.slices else None
    for level in range(search.level, -1, -1):
        first = next(iter(counts.ranking(level, leading=False, ascending=False)), None)
        if first is not None and slices[first] >= search.slices:
            return first
        if search.required:
            break
    return None


def _below(counts: Counts, search: Search, domain: int, pods: int) -> Iterator[Share]:
    """Yield the shares of the leaves of a domain that gets so many pods."""
    domains, room = counts.tree.domains, counts.room
    level = domains.level[domain]
    if level == len(counts.tree.levels) - 1:
        yield Share(domain, pods, 0)
        return
    whole = level < search.slice_level
    unit, fitting = (search.size, room.slices) if whole else (1, room.pods)
    children = sorted(domains.children[domain], key=domains.place.__getitem__)
    for child, units in _in_turn(children, pods // unit, fitting).items():
        yield from _below(counts, search, child, units * unit)


def _in_turn(children: list[int], units: int, fitting: Known) -> dict[int, int]:
    """Deal units to domains that have room for all of them together."""
    turns = [(0, -fitting[one], at, one) for at, one in enumerate(children) if fitting[one]]
    heapify(turns)
    found: dict[int, int] = {}
    for _ in range(units):
        had, room, at, one = turns[0]
        found[one] = had + 1
        if had + 1 < -room:
            heapreplace(turns, (had + 1, room, at, one))
        else:
            heappop(turns)
    return found
