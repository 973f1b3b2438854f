"""Who sits where as bars: a part for each workload that is named, one for others, what is free.

All bars of a page have the same colours; those with most pods there have one of their own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from queueing.explain.domain_model import Domain, Seat
from queueing.serving.ui.bars import FULL, Segment
from queueing.serving.ui.columns import SERIES
from queueing_api.quantity import approximate

OTHERS = "others"


@dataclass(frozen=True, slots=True)
class Sitting:
    """A workload in a domain, and the class of its colour."""

    seat: Seat
    kind: str


@dataclass(frozen=True, slots=True)
class Seated:
    """One domain with its bar."""

    domain: Domain
    segments: tuple[Segment, ...]
    sitting: tuple[Sitting, ...]

    @property
    def more(self) -> int:
        """How many workloads there are not named."""
        return self.domain.seats_in_all - len(self.sitting)

    @property
    def has_others(self) -> bool:
        """Whether a part of the bar is of none that is named."""
        return any(one.kind == OTHERS for one in self.segments)


def seated(domains: Sequence[Domain]) -> list[Seated]:
    """Return the domains of a page with their bars."""
    pods = Counter[str]()
    for domain in domains:
        for seat in domain.seats:
            pods[seat.workload] += seat.pods
    by_pods = sorted(pods, key=lambda name: (-pods[name], name))
    number = {name: min(at, SERIES) for at, name in enumerate(by_pods)}
    return [_seated(one, number) for one in domains]


def _seated(domain: Domain, number: Mapping[str, int]) -> Seated:
    sitting = tuple(Sitting(one, f"series{number[one.workload]}") for one in domain.seats)
    segments, at = [], 0.0
    for kind, length in _parts(domain, sitting):
        if round(length, 2) > 0:
            segments.append(Segment(kind, round(at, 2), round(length, 2)))
            at += length
    return Seated(domain, tuple(segments), sitting)


def _parts(domain: Domain, sitting: Sequence[Sitting]) -> Iterator[tuple[str, float]]:
    """Yield the parts of a bar and how long they are, of the resource that pods ask for."""
    resource = next((one for one, room in domain.room.items() if approximate(room) > 0), None)
    if resource is None:
        return
    whole = approximate(domain.room[resource])
    free = min(max(approximate(domain.free[resource]) / whole, 0.0), 1.0)
    uses = [approximate(one.seat.uses.get(resource, "0")) / whole for one in sitting]
    taken, used = 1 - free, sum(uses)
    scale = min(1.0, taken / used) if used else 0.0  # a node that shrank may hold more than it has
    for one, part in zip(sitting, uses, strict=True):
        yield one.kind + " leaving" * one.seat.leaving, part * scale * FULL
    yield OTHERS, (taken - used * scale) * FULL
    yield "free", free * FULL
