"""How pods are handed out to a list of domains, one after the other."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

from queueing.core.topology.counts import Known


@dataclass(frozen=True, slots=True)
class Share:
    """What a domain gets: pods, and 1 or 0 leaders."""

    domain: int
    pods: int
    leaders: int


@dataclass(frozen=True, slots=True)
class Units:
    """What is handed out, and what of it fits into each domain: slices of `size` pods, or pods."""

    size: int
    fitting: Known
    with_leader: Known
    leader: Known
    score: Known
    best_fit: bool
    """Whether a domain that has just enough is preferred to the first that has enough."""


def tightest(tail: Iterable[int], need: int, leaders: int, units: Units) -> int:
    """Return the first domain with the fewest units that are enough, else the first of all.

    Only the leading domains of one score are looked at.
    """
    tail = list(tail)
    score = units.score[tail[0]]
    fitting = units.with_leader if leaders else units.fitting
    enough = [
        one
        for one in takewhile(lambda one: units.score[one] == score, tail)
        if fitting[one] >= need and units.leader[one] >= leaders
    ]
    return min(enough, key=fitting.__getitem__, default=tail[0])


def leader_first(
    order: Sequence[int], need: int, leaders: int, available: int, units: Units
) -> Sequence[int]:
    """Put the first domain in front that can hold the leader and leaves enough for all units."""
    spare = available - need
    if not leaders or len(order) < 2 or spare < 0:  # noqa: PLR2004
        return order
    for at, one in enumerate(order):
        if units.leader[one] >= leaders and units.fitting[one] - units.with_leader[one] <= spare:
            return [one, *islice(order, at), *islice(order, at + 1, None)]
    return order


def take(order: Sequence[int], count: int, leaders: int, units: Units) -> list[Share]:
    """Hand out pods and a leader in order; empty if they do not all find room."""
    need, size = count // units.size, units.size
    if leaders:
        order = leader_first(order, need, leaders, sum(units.fitting[one] for one in order), units)
    shares: list[Share] = []
    for at, one in enumerate(order):
        fitting = units.with_leader if leaders else units.fitting
        if fitting[one] >= need and units.leader[one] >= leaders:
            if units.best_fit:
                one = tightest(islice(order, at, None), need, leaders, units)
            return [*shares, Share(one, need * size, leaders)]
        mine = min(fitting[one], need)
        led = min(units.leader[one], leaders)
        shares.append(Share(one, mine * size, led))
        need -= mine
        leaders -= led
    return shares if not need and not leaders else []
