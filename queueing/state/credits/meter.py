"""What the workloads of one tree used, hour by hour: rows for reports.

Invariants: rows are sums of amounts times whole seconds, and do not depend on when they are read.
All rows of a tree are of the same stretch of time, so that one UsageRecord can hold them.
"""

from collections.abc import Iterable, Iterator, Mapping
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
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.quota.node import Node
from queueing.state.credits.book import member_of


@dataclass(slots=True)
class _Cell:
    """One flavor-resource of one ClusterQueue."""

    nominal: int
    at: int
    usage: int = 0
    borrowed_so_far: int = 0
    """The integral over time of the borrowed fraction of its usage, in `PART`s."""

    def pass_time(self, to: int) -> None:
        if self.usage > self.nominal:
            rate = PART * (self.usage - self.nominal) // self.usage
            self.borrowed_so_far += rate * (to - self.at)
        self.at = to


@dataclass(slots=True)
class _Line:
    """One row of the present hour, for a user of a LocalQueue and one flavor-resource."""

    name: RowName
    cell: _Cell
    at: int
    price: int
    per: int
    """With `price`: what the resource costs for a holding of no other one; see `Prices.rate`."""
    amount: int = 0
    rate: int = 0
    """Micro-credits per second that `amount` costs."""
    used: int = 0
    borrowed: int = 0
    idle: int = 0
    wasted: int = 0
    cost: int = 0
    mark: int = 0

    def settle(self, to: int) -> None:
        """Bring the sums up to a time."""
        self.cell.pass_time(to)
        seconds = to - self.at
        self.used += self.amount * seconds
        self.cost += self.rate * seconds
        self.borrowed += self.amount * (self.cell.borrowed_so_far - self.mark)
        self.at, self.mark = to, self.cell.borrowed_so_far

    def clear(self) -> None:
        self.used = self.borrowed = self.idle = self.wasted = self.cost = 0


Payer = tuple[QueueName, Key | None, str]
"""A ClusterQueue, a LocalQueue of it and a user."""
RATES_MAX = 4096
"""How many different usages the memo of costs holds; it is emptied when it is full."""


class Meter:
    """The rows of one tree, up to the time `at`.

    `closed` are hours that are over and not stored yet.
    """

    __slots__ = (
        "_above",
        "_cells",
        "_lines",
        "_prices",
        "_rates",
        "_read",
        "_shares",
        "_sums",
        "_used",
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
        """The time of the stored record that this was resumed from: it includes all until then."""
        self._cells: dict[tuple[str, FlavorResource], _Cell] = {}
        self._lines: dict[Payer, dict[FlavorResource, _Line]] = {}
        self._shares: dict[tuple[Member, FlavorResource], Share] = {}
        self._above: dict[QueueName, tuple[Member, ...]] = {}
        """The path from each queue up to the root."""
        self._used: dict[QueueName, dict[FlavorResource, int]] = {}
        """By how much the usage of each queue changed since time last passed; see `_use`."""
        self._rates: dict[tuple[tuple[FlavorResource, int], ...], Mapping[FlavorResource, int]] = {}
        self._sums: dict[RowName, UsageRow] = {}
        """The rows of this hour up to the last `reshape`, and those of an earlier leader."""
        if stored is not None and stored.start == self.start:
            self._sums = {one.name: one for one in stored.rows}

    # Time ---------------------------------------------------------------------------------------

    def advance(self, to: int) -> None:
        """Let time pass up to `to`. Hours that are over are closed; an hour includes its end."""
        if self._used and self.at < to:
            self._use()
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
            self._drop_lines()
            self._begin(end if self._lines else hour_of(to))

    def _begin(self, hour: int) -> None:
        self.at = self.start = hour
        for lines in self._lines.values():
            for line in lines.values():
                line.clear()
        for share in self._shares.values():
            share.settle(hour)
            share.lent = share.granted = 0

    def _drop_lines(self) -> None:
        """Forget lines that use nothing now."""
        for payer, lines in list(self._lines.items()):
            kept = {resource: line for resource, line in lines.items() if line.amount}
            if kept:
                self._lines[payer] = kept
            else:
                del self._lines[payer]

    def closed_until(self, as_of: int) -> None:
        """Forget closed hours that are stored: those up to `as_of`."""
        self.closed = [one for one in self.closed if one.as_of > as_of]

    # What workloads do --------------------------------------------------------------------------

    def count(self, holding: Holding, when: int, sign: int) -> None:
        """Add a holding at a time, or with sign -1 remove it."""
        if self.at < when:
            self.advance(when)
        usage, lines = holding.usage, self._lines_of(holding)
        rates = None if len(usage) == 1 else self._rates_of(usage)
        used = self._used.get(holding.queue)
        if used is None:
            used = self._used[holding.queue] = {}
        at = self.at
        for resource, amount in usage.items():
            line = lines.get(resource) or self._line(holding, resource)
            more = sign * amount
            cell = line.cell
            if line.at != at or cell.at != at:
                line.settle(at)
            cell.usage += more
            line.amount += more
            if rates is None:
                line.rate += sign * (line.price * amount // line.per)
            else:
                line.rate += sign * rates.get(resource, 0)
            used[resource] = used.get(resource, 0) + more

    def _use(self) -> None:
        """Apply the changes of one second to the shares of queues and cohorts, from `at` on."""
        for queue, used in self._used.items():
            for resource, amount in used.items():
                more = amount
                for member in self._above.get(queue, ()):
                    share = self._shares.get((member, resource))
                    if share is None or not more:
                        break
                    more = share.use(more, self.at)
        self._used.clear()

    def wait(self, holding: Holding, seconds: int, when: int) -> None:
        """Note, at `when`, that the pods of a holding did not all run for so many seconds."""
        if when > self._read and seconds > 0:
            self.advance(when)
            for resource, amount in holding.usage.items():
                self._line(holding, resource).idle += amount * seconds

    def lose(self, holding: Holding, seconds: int, when: int) -> None:
        """Note, at `when`, that an eviction lost the work of so many seconds."""
        if when > self._read:
            self.advance(when)
            for resource, amount in holding.usage.items():
                self._line(holding, resource).wasted += amount * max(0, seconds)

    # Structure ----------------------------------------------------------------------------------

    def reshape(self, nodes: Iterable[Node], prices: Prices, unit: str) -> None:
        """Take over the quotas of these nodes, and these prices.

        The caller counts all holdings anew afterwards.
        """
        self._sums = {one.name: one for one in self.rows()}
        self._prices, self.unit = prices, unit
        self._cells.clear()
        self._lines.clear()
        self._shares.clear()
        self._above.clear()
        self._used.clear()
        self._rates.clear()
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
            if node.is_queue:
                up = (node, *node.ancestors())
                self._above[QueueName(node.name)] = tuple(member_of(one) for one in up)

    # Reading ------------------------------------------------------------------------------------

    def record(self) -> UsageRecordFact:
        """Return the record of the present hour so far."""
        return self._record(self.rows())

    def rows(self) -> tuple[UsageRow, ...]:
        """Return the rows of the present hour so far, sorted by name."""
        found = dict(self._sums)
        for row in self._grown():
            known = found.get(row.name)
            found[row.name] = row if known is None else plus(known, row)
        return tuple(bounded(found.values()))

    def _grown(self) -> Iterator[UsageRow]:
        for line in (line for lines in self._lines.values() for line in lines.values()):
            line.settle(self.at)
            row = UsageRow(
                name=line.name,
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

    def _lines_of(self, holding: Holding) -> dict[FlavorResource, _Line]:
        payer = holding.queue, holding.local_queue, holding.user
        found = self._lines.get(payer)
        if found is None:
            found = self._lines[payer] = {}
        return found

    def _line(self, holding: Holding, resource: FlavorResource) -> _Line:
        lines = self._lines_of(holding)
        found = lines.get(resource)
        if found is None:
            cell = self._cells.get((holding.queue, resource))
            if cell is None:
                cell = self._cells[holding.queue, resource] = _Cell(0, self.at)
            cell.pass_time(self.at)
            queue = Member("ClusterQueue", holding.queue)
            name = RowName(queue, holding.local_queue or "", holding.user, resource)
            price, per = self._prices.rate(*resource)
            found = lines[resource] = _Line(
                name, cell, self.at, price, per, mark=cell.borrowed_so_far
            )
        return found

    def _rates_of(self, usage: Mapping[FlavorResource, int]) -> Mapping[FlavorResource, int]:
        """Return what usage costs per flavor-resource, in micro-credits per second; memoized."""
        key = tuple(usage.items())
        found = self._rates.get(key)
        if found is None:
            if len(self._rates) >= RATES_MAX:
                self._rates.clear()
            found = self._rates[key] = rates_of(usage, self._prices)
        return found


def hour_of(at: int) -> int:
    """Return the begin of the hour that a time is in. An hour includes its end, not its begin."""
    return (at - 1) // HOUR * HOUR


def _is_quota_only(row: UsageRow) -> bool:
    return not (row.used or row.borrowed or row.idle or row.wasted or row.cost or row.lent)
