"""Partial admission: how many pods fewer make a workload fit."""

from collections.abc import Callable
from typing import TypeVar

from queueing.core.usage import Demand

Answer = TypeVar("Answer")


def largest_that_fits(demand: Demand, judge: Callable[[Demand], Answer | None]) -> Answer | None:
    """Return what `judge` says of the largest reduction step that it accepts, None if none is.

    Counts go down together, in equal shares of the way from count to minimum count. The search is
    binary, so `judge` should accept every smaller demand than one it accepts.
    """
    full = [one.count for one in demand.pod_sets]
    room = [
        max(0, one.count - one.pod_set.min_count) if one.pod_set.min_count is not None else 0
        for one in demand.pod_sets
    ]
    total = sum(room)
    low, high = 0, total + 1
    best: Answer | None = None
    while low < high:
        step = (low + high) // 2
        counts = [
            count - (less * step // total if total else 0)
            for count, less in zip(full, room, strict=True)
        ]
        answer = judge(demand.reduced(counts))
        if answer is None:
            low = step + 1
        else:
            best, high = answer, step
    return best
