"""Who sits where as bars: a part for each workload by its pods, and one for what would still fit.

All bars of a page have the same colours; those with most pods there have one of their own.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queueing.explain.domain_model import Domain, Seat
from queueing.serving.ui.bars import FULL, Segment
from queueing.serving.ui.columns import SERIES


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
    parts = [(one.kind + " leaving" * one.seat.leaving, one.seat.pods) for one in sitting]
    parts.append(("free", domain.fits))
    whole = max(1, sum(many for _, many in parts))
    segments, done = [], 0
    for kind, many in parts:
        if many > 0:
            at = done / whole * FULL
            segments.append(Segment(kind, round(at, 2), round(many / whole * FULL, 2)))
            done += many
    return Seated(domain, tuple(segments), sitting)
