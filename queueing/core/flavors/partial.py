"""Partial admission: the smallest reduction of pods that makes a workload fit."""

from collections.abc import Callable
from typing import TypeVar

from queueing.core.usage import Demand

Answer = TypeVar("Answer")


def largest_that_fits(demand: Demand, judge: Callable[[Demand], Answer | None]) -> Answer | None:
    """Return the answer of `judge` for the smallest reduction that it accepts; None if none is.

    The counts of all pod sets are reduced together, in proportion to count - minCount of each. The
    search is binary, so `judge` should accept every demand smaller than one that it accepts.
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
