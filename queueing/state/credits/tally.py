"""What the workloads of one tree used, hour by hour: rows for reports.

Invariants: rows are sums of amounts times whole seconds, the same whoever looked at them and when;
all rows of a tree are of the same stretch of time, so that one object can hold them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queueing.core.credits.allowance import rates_of
from queueing.core.credits.facts import (
    HOUR,
    PART,
    Member,
    RowName,
    UsageRecordFact,
    UsageRow,
)
from queueing.core.credits.folding import bounded, plus
from queueing.core.credits.holding import Holding
from queueing.core.credits.pot import Pot, Share
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorResource
from queueing.core.quota.node import Node
from queueing.state.credits.book import member_of


@dataclass(slots=True)
class _Cell:
    """One resource of one queue."""

    nominal: int
    at: int
    usage: int = 0
    borrowed_so_far: int = 0
    """Integral over time of the part of its usage that is borrowed, in parts."""

    def pass_time(self, to: int) -> None:
        if self.usage > self.nominal:
            rate = PART * (self.usage - self.nominal) // self.usage
            self.borrowed_so_far += rate * (to - self.at)
        self.at = to


@dataclass(slots=True)
class _Line:
    """One row that grows."""

    cell: _Cell
    at: int
    amount: int = 0
    rate: int = 0
    """Micro-credits per second."""
    used: int = 0
    borrowed: int = 0
    idle: int = 0
    wasted: int = 0
    cost: int = 0
    mark: int = 0

    def settle(self, to: int) -> None:
        self.cell.pass_time(to)
        seconds = to - self.at
        self.used += self.amount * seconds
        self.cost += self.rate * seconds
        self.borrowed += self.amount * (self.cell.borrowed_so_far - self.mark)
        self.at, self.mark = to, self.cell.borrowed_so_far

    def clear(self) -> None:
        self.used = self.borrowed = self.idle = self.wasted = self.cost = 0


class Tally:
    """One tree, up to the time `at`; `closed` are hours that are over and not stored yet."""

    __slots__ = (
        "_cells",
        "_lines",
        "_prices",
        "_read",
        "_shares",
        "_sums",
        "at",
        "closed",
        "root",
        "start",
        "unit",
    )

    def __init__(self, root: Member, at: int, stored: UsageRecordFact | None = None) -> None:
        self.root, self.at = root, at if stored is None else stored.as_of
        self.start = hour_of(self.at)
        self.closed: list[UsageRecordFact] = []
        self.unit = ""
        self._prices = Prices({})
        self._read = -1 if stored is None else stored.as_of
        """Up to when what was read holds all that happened."""
        self._cells: dict[tuple[str, FlavorResource], _Cell] = {}
        self._lines: dict[RowName, _Line] = {}
        self._shares: dict[tuple[Member, FlavorResource], Share] = {}
        self._sums: dict[RowName, UsageRow] = {}
        """What lines and shares that are gone, or an earlier leader, have counted in this hour."""
        if stored is not None and stored.start == self.start:
            self._sums = {one.name: one for one in stored.rows}

    # Time ---------------------------------------------------------------------------------------

    def advance(self, to: int) -> None:
        """Let time pass; every hour that is over is closed, with all that happened at its end."""
        while self.at < to:
            end = self.start + HOUR
            if to <= end:
                self.at = to
                return
            self.at = end
            rows = self.rows()
            if any(not _is_quota_only(one) for one in rows):
                self.closed.append(self._record(rows))
            self._sums.clear()
            self._lines = {name: line for name, line in self._lines.items() if line.amount}
            self._begin(end if self._lines else hour_of(to))

    def _begin(self, hour: int) -> None:
        self.at = self.start = hour
        for line in self._lines.values():
            line.clear()
        for share in self._shares.values():
            share.settle(hour)
            share.lent = share.granted = 0

    def closed_until(self, as_of: int) -> None:
        """Forget hours that are stored."""
        self.closed = [one for one in self.closed if one.as_of > as_of]

    # What workloads do --------------------------------------------------------------------------

    def count(self, holding: Holding, way: Iterable[Member], when: int, sign: int) -> None:
        """Count a holding in, or with sign -1 out; `way` goes from its queue to the root."""
        self.advance(when)
        rates = rates_of(holding.usage, self._prices)
        members = tuple(way)
        for resource, amount in holding.usage.items():
            line = self._line(holding, resource)
            line.settle(self.at)
            line.cell.usage += sign * amount
            line.amount += sign * amount
            line.rate += sign * rates.get(resource, 0)
            more = sign * amount
            for member in members:
                share = self._shares.get((member, resource))
                if share is None or not more:
                    break
                more = share.use(more, self.at)

    def wait(self, holding: Holding, seconds: int, when: int) -> None:
        """Note that a holding's pods did not all run for so many seconds, as is known since."""
        if when > self._read:
            self.advance(when)
            for resource, amount in holding.usage.items():
                self._line(holding, resource).idle += amount * max(0, seconds)

    def lose(self, holding: Holding, seconds: int, when: int) -> None:
        """Note that an eviction lost the work of so many seconds."""
        if when > self._read:
            self.advance(when)
            for resource, amount in holding.usage.items():
                self._line(holding, resource).wasted += amount * max(0, seconds)

    # Structure ----------------------------------------------------------------------------------

    def reshape(self, nodes: Iterable[Node], prices: Prices, unit: str) -> None:
        """Go by these nodes' quotas and these prices; holdings are to be counted in again."""
        self._sums = {one.name: one for one in self.rows()}
        self._prices, self.unit = prices, unit
        self._cells.clear()
        self._lines.clear()
        self._shares.clear()
        pots: dict[tuple[Node, FlavorResource], Pot] = {}
        for node in sorted(nodes, key=member_of):
            for resource, cell in sorted(node.cells.items()):
                pot = None
                if node.parent is not None:
                    pot = pots.setdefault((node.parent, resource), Pot(self.at))
                share = Share(pot, cell.limits.nominal, cell.quota, cell.local, self.at)
                self._shares[member_of(node), resource] = share
                if node.is_queue:
                    self._cells[node.name, resource] = _Cell(cell.limits.nominal, self.at)

    # Reading ------------------------------------------------------------------------------------

    def record(self) -> UsageRecordFact:
        """Return the hour that runs, so far."""
        return self._record(self.rows())

    def rows(self) -> tuple[UsageRow, ...]:
        """Return the rows of this hour, by name."""
        found = dict(self._sums)
        for row in self._grown():
            known = found.get(row.name)
            found[row.name] = row if known is None else plus(known, row)
        return tuple(bounded(found.values()))

    def _grown(self) -> Iterator[UsageRow]:
        for name, line in self._lines.items():
            line.settle(self.at)
            row = UsageRow(
                name=name,
                used=line.used,
                borrowed=line.borrowed,
                idle=line.idle,
                wasted=line.wasted,
                cost=line.cost,
            )
            if not _is_quota_only(row):
                yield row
        for (member, resource), share in self._shares.items():
            share.settle(self.at)
            if share.granted or share.lent:
                name = RowName(member, "", "", resource)
                yield UsageRow(name=name, quota=share.granted, lent=share.lent)

    def _record(self, rows: tuple[UsageRow, ...]) -> UsageRecordFact:
        return UsageRecordFact(
            root=self.root, start=self.start, as_of=self.at, unit=self.unit, rows=rows
        )

    def _line(self, holding: Holding, resource: FlavorResource) -> _Line:
        queue = Member("ClusterQueue", holding.queue)
        name = RowName(queue, holding.local_queue or "", holding.user, resource)
        found = self._lines.get(name)
        if found is None:
            cell = self._cells.get((holding.queue, resource))
            if cell is None:
                cell = self._cells[holding.queue, resource] = _Cell(0, self.at)
            cell.pass_time(self.at)
            found = self._lines[name] = _Line(cell, self.at, mark=cell.borrowed_so_far)
        return found


def hour_of(at: int) -> int:
    """Return when the hour began that a time is in; its end belongs to it, its beginning not."""
    return (at - 1) // HOUR * HOUR


def _is_quota_only(row: UsageRow) -> bool:
    return not (row.used or row.borrowed or row.idle or row.wasted or row.cost or row.lent)
