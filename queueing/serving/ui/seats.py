"""Who sits where as bars: what is free of a domain, and of the rest a part for each workload.

All bars of a page have the same colours; those with most pods there have one of their own.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from queueing.explain.domain_model import Domain, Seat
from queueing.serving.ui.bars import FULL, Segment
from queueing.serving.ui.columns import SERIES
from queueing_api.quantity import approximate


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
        if length > 0:
            segments.append(Segment(kind, round(at, 2), round(length, 2)))
            at += length
    return Seated(domain, tuple(segments), sitting)


def _parts(domain: Domain, sitting: Sequence[Sitting]) -> Iterator[tuple[str, float]]:
    """Yield the parts of a bar and how long they are: what is used is shared by numbers of pods."""
    free = _free(domain)
    pods = sum(one.seat.pods for one in sitting) or 1
    for one in sitting:
        kind = one.kind + " leaving" * one.seat.leaving
        yield kind, (1 - free) * FULL * one.seat.pods / pods
    yield "free", free * FULL


def _free(domain: Domain) -> float:
    """Return the part of a domain's room that is free, of the resource that pods ask for."""
    for resource, room in domain.room.items():
        whole = approximate(room)
        if whole > 0:
            return min(1.0, approximate(domain.free[resource]) / whole)
    return 0.0
