"""Usage by payer, from holdings: for showback and chargeback reports.

Usage of a queue beyond its nominal quota is borrowed. Each of its workloads has borrowed in
proportion to what it uses.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.credits.holding import Holding
from queueing.core.names import FlavorResource, QueueName

Quotas = Mapping[QueueName, Mapping[FlavorResource, int]]
"""Nominal quota by queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """What one payer used of one flavor-resource, in amounts times seconds."""

    payer: str
    resource: FlavorResource
    used: float
    borrowed: float
    idle: float = 0.0
    """What was held before all pods were ready."""
    cost: float = 0.0
    """Micro-credits."""
    lent: float | None = None
    """What siblings used of the payer's quota; None if it is unknown."""
    wasted: float | None = None
    """What was used for work that evictions lost; None if it is unknown."""

    @property
    def within_quota(self) -> float:
        """What was not borrowed."""
        return self.used - self.borrowed


@dataclass(slots=True)
class _Cell:
    """One flavor-resource of one queue while time passes."""

    nominal: int
    usage: int = 0
    at: int = 0
    borrowed_part: float = 0.0
    """The integral over time of the borrowed fraction of its usage."""

    def pass_time(self, to: int) -> None:
        if self.usage > self.nominal:
            self.borrowed_part += (1 - self.nominal / self.usage) * (to - self.at)
        self.at = to


@dataclass(slots=True)
class _Sums:
    used: dict[tuple[str, FlavorResource], float] = field(default_factory=dict)
    borrowed: dict[tuple[str, FlavorResource], float] = field(default_factory=dict)
    idle: dict[tuple[str, FlavorResource], float] = field(default_factory=dict)
    cost: dict[tuple[str, FlavorResource], float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Billing:
    """Functions of a holding that a report needs."""

    payer: Callable[[Holding], str]
    running_since: Callable[[Holding], int | None]
    """Returns since when all its pods run; None if they do not."""
    rates: Callable[[Holding], Mapping[FlavorResource, int]]
    """Returns what it costs, in micro-credits per second."""


def usage_lines(
    holdings: Sequence[Holding], quotas: Quotas, billing: Billing, *, between: tuple[int, int]
) -> tuple[Line, ...]:
    """Return the usage of each payer in a period, sorted by payer, flavor and resource."""
    begin, end = between
    cells: dict[tuple[QueueName, FlavorResource], _Cell] = {}
    marks: dict[tuple[int, FlavorResource], float] = {}
    sums = _Sums()
    for when, sign, number in _moments(holdings, begin, end):
        holding = holdings[number]
        for resource, amount in holding.usage.items():
            place = (holding.queue, resource)
            cell = cells.get(place)
            if cell is None:
                nominal = quotas.get(holding.queue, {}).get(resource, 0)
                cell = cells[place] = _Cell(nominal, at=begin)
            cell.pass_time(when)
            cell.usage += sign * amount
            if sign > 0:
                marks[number, resource] = cell.borrowed_part
                continue
            key = billing.payer(holding), resource
            lasted = when - max(holding.since, begin)
            part = cell.borrowed_part - marks[number, resource]
            sums.used[key] = sums.used.get(key, 0.0) + amount * lasted
            sums.borrowed[key] = sums.borrowed.get(key, 0.0) + amount * part
            sums.cost[key] = (
                sums.cost.get(key, 0.0) + billing.rates(holding).get(resource, 0) * lasted
            )
            runs = billing.running_since(holding)
            waited = (when if runs is None else min(runs, when)) - max(holding.since, begin)
            sums.idle[key] = sums.idle.get(key, 0.0) + amount * max(0, waited)
    return tuple(
        Line(
            payer=name,
            resource=resource,
            used=used,
            borrowed=sums.borrowed[name, resource],
            idle=sums.idle[name, resource],
            cost=sums.cost[name, resource],
        )
        for (name, resource), used in sorted(sums.used.items())
        if used
    )


def _moments(holdings: Iterable[Holding], begin: int, end: int) -> list[tuple[int, int, int]]:
    """Return begins (+1) and ends (-1) within a period: (time, sign, number), in order of time."""
    found = []
    for number, one in enumerate(holdings):
        since, until = max(one.since, begin), min(end if one.until is None else one.until, end)
        if since < until:
            found += [(since, 1, number), (until, -1, number)]
    return sorted(found)
