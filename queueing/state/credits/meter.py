"""What the workloads of one tree used, hour by hour: rows for reports (`usageRecords`).

Invariants: rows are sums of amounts times whole seconds, and do not depend on when they are read.
All rows of a tree are of the same stretch of time, so that one UsageRecord can hold them.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

from typing_extensions import override

from queueing.core.credits.facts import (
    HOUR,
    CreditKind,
    Member,
    Record,
    RowName,
    UsageRecordFact,
    UsageRow,
    name_of_tree,
)
from queueing.core.credits.folding import bounded
from queueing.core.credits.holding import Holding
from queueing.core.credits.market import Pot, Share
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.state.credits.account import Account, Numbered, Wanted, remaining
from queueing.state.credits.ledger import member_of
from queueing.state.credits.policies import Policies

Payer = tuple[QueueName, Key | None, str]
"""A ClusterQueue, a LocalQueue of it and a user."""


@dataclass(slots=True)
class MeterRow:
    """One row of the present hour, for a user of a LocalQueue and one flavor-resource."""

    name: RowName
    share: Share
    """That of the queue."""
    at: int
    mark: int
    amount: int = 0
    rate: int = 0
    """Micro-credits per second that `amount` costs."""
    used: int = 0
    borrowed: int = 0
    idle: int = 0
    wasted: int = 0
    cost: int = 0

    def settle(self, to: int) -> None:
        """Bring the sums up to a time."""
        self.share.settle(to)
        seconds = to - self.at
        self.used += self.amount * seconds
        self.cost += self.rate * seconds
        self.borrowed += self.amount * (self.share.borrowed_so_far - self.mark)
        self.at, self.mark = to, self.share.borrowed_so_far

    def row(self) -> UsageRow:
        """Return its sums."""
        return UsageRow(
            name=self.name,
            used=self.used,
            borrowed=self.borrowed,
            idle=self.idle,
            wasted=self.wasted,
            cost=self.cost,
        )


class MeterTerms(NamedTuple):
    """By what a meter counts: the quotas of these nodes, and prices."""

    root: Member
    nodes: tuple[QuotaNode, ...]
    prices: Prices
    unit: str
    unready: dict[int, None]
    """Numbers of the holdings of which it is not known yet that all pods run. All meters share it,
    since queues move from one tree to another."""


class Meter(Account[MeterTerms]):
    """The rows of one tree, up to the time `at`."""

    def __init__(self, terms: MeterTerms, at: int, stored: UsageRecordFact | None) -> None:
        self._terms = terms
        self.at = at
        self.start = hour_of(at)
        self._closed: list[UsageRecordFact] = []
        """Hours that are over and not stored yet."""
        self._stored = stored
        """The newest record that was stored."""
        self._lines: dict[Payer, dict[FlavorResource, MeterRow]] = {}
        self._shares: dict[tuple[Member, FlavorResource], Share] = {}
        self._sums: dict[RowName, UsageRow] = {}
        """The rows of this hour up to the last `reshape`, and those of an earlier leader."""
        if stored is not None:
            self.read_at = at
            if stored.start == self.start:
                self._sums = {one.name: one for one in stored.rows}

    # Time and holdings --------------------------------------------------------------------------

    @override
    def advance(self, to: int) -> None:
        """Let time pass up to `to`. Hours that are over are closed; an hour includes its end."""
        while self.at < to:
            end = self.start + HOUR
            if to <= end:
                self.at = to
                return
            self.at = end
            hour = self._record()
            if any(not _is_quota_only(one) for one in hour.rows):
                self._closed.append(hour)
            self._begin_hour(to)

    def _begin_hour(self, to: int) -> None:
        """Begin the next hour, or if nothing is used, that of `to`; forget what is not used now."""
        going_on: dict[Payer, dict[FlavorResource, MeterRow]] = {}
        for payer, lines in self._lines.items():
            for resource, line in lines.items():
                if line.amount:
                    anew = replace(line, used=0, borrowed=0, idle=0, wasted=0, cost=0)
                    going_on.setdefault(payer, {})[resource] = anew
        self._lines = going_on
        self._sums.clear()
        if not going_on:
            self.at = hour_of(to)
        self.start = self.at
        for share in self._shares.values():
            share.settle(self.at)
            share.lent = share.granted = 0

    @override
    def count(self, token: int, holding: Holding, when: int, sign: int) -> None:
        if sign > 0:
            self._terms.unready[token] = None
        else:
            self.ran(token, holding, when, when)
        self._use(holding, sign)

    @override
    def ran(self, token: int, holding: Holding, since: int, when: int) -> None:
        """Note, at `when`, since when all pods of a holding run; its quota was idle until then."""
        if token in self._terms.unready:
            del self._terms.unready[token]
            seconds = since - holding.since
            if when > self.read_at and seconds > 0:
                for resource, amount in holding.usage.items():
                    self._line(holding, resource).idle += amount * seconds

    @override
    def lose(self, holding: Holding, seconds: int, *, was_saved: bool) -> None:
        for resource, amount in holding.usage.items():
            self._line(holding, resource).wasted += amount * seconds

    def _use(self, holding: Holding, sign: int) -> None:
        rates = self._terms.prices.by_resource(holding.usage)
        for resource, amount in holding.usage.items():
            line = self._line(holding, resource)
            line.settle(self.at)
            line.amount += sign * amount
            line.rate += sign * rates.get(resource, 0)
            line.share.use(sign * amount, self.at)

    # Structure ----------------------------------------------------------------------------------

    @override
    def reshape(self, terms: MeterTerms, holdings: Iterable[Numbered]) -> None:
        self._sums = {one.name: one for one in self._record().rows}
        self._terms = terms
        self._lines.clear()
        self._shares.clear()
        pots: dict[tuple[QuotaNode, FlavorResource], Pot] = {}
        for node in terms.nodes:  # parents first
            for resource, cell in sorted(node.cells.items()):
                member, pot, above = member_of(node), None, None
                if node.parent is not None:
                    pot = pots.setdefault((node.parent, resource), Pot(at=self.at))
                    above = self._shares.get((member_of(node.parent), resource))
                self._shares[member, resource] = Share(
                    RowName(member, "", "", resource),
                    self.at,
                    cell.limits.nominal,
                    cell.quota,
                    cell.local,
                    pot,
                    above,
                )
        for _, holding in holdings:
            self._use(holding, 1)

    @override
    def close(self) -> None:
        self.reshape(self._terms._replace(nodes=(), prices=Prices({})), ())

    @override
    def outlives(self, stored: Record | None) -> bool:
        """Say whether something that it counted is not stored yet."""
        return stored is None or stored.as_of is None or stored.as_of < self.at

    # What is stored -----------------------------------------------------------------------------

    @override
    def told(self, stored: Record) -> None:
        """Note what was stored: hours that are over by then are forgotten."""
        if isinstance(stored, UsageRecordFact):
            self._stored = stored
            self._closed = [one for one in self._closed if one.as_of > stored.as_of]

    @override
    def records(self, leavers: Iterable[Holding]) -> Iterator[UsageRecordFact]:
        """Yield the hours that are not stored, and the present one so far, older ones first."""
        known = {one.life: one for one in leavers} if self._terms.nodes else {}
        if self._closed and self._stored is not None:
            for one in self._stored.leavers:  # an hour that is over may have to name them
                known.setdefault(one.life, one)
        for hour in (*self._closed, self._record()):
            yield replace(hour, leavers=remaining(known.values(), hour.as_of))

    def _record(self) -> UsageRecordFact:
        return UsageRecordFact(
            root=self._terms.root,
            start=self.start,
            as_of=self.at,
            unit=self._terms.unit,
            rows=tuple(
                one for one in bounded(self._rows()) if one.quota or not _is_quota_only(one)
            ),
        )

    def _rows(self) -> Iterator[UsageRow]:
        """Yield the rows of the present hour so far; several may have one name."""
        yield from self._sums.values()
        for line in (line for lines in self._lines.values() for line in lines.values()):
            line.settle(self.at)
            yield line.row()
        for share in self._shares.values():
            share.settle(self.at)
            yield UsageRow(name=share.name, quota=share.granted, lent=share.lent)

    def _line(self, holding: Holding, resource: FlavorResource) -> MeterRow:
        payer = holding.queue, holding.local_queue, holding.user
        lines = self._lines.get(payer)
        if lines is None:
            lines = self._lines[payer] = {}
        found = lines.get(resource)
        if found is None:
            queue = Member("ClusterQueue", holding.queue)
            share = self._shares.get((queue, resource))
            name = RowName(queue, "", "", resource)
            if share is None:
                share = self._shares[queue, resource] = Share(name, self.at)
            share.settle(self.at)
            name = name._replace(local_queue=holding.local_queue or "", user=holding.user)
            found = lines[resource] = MeterRow(name, share, self.at, share.borrowed_so_far)
        return found


def hour_of(at: int) -> int:
    """Return the begin of the hour that a time is in. An hour includes its end, not its begin."""
    return (at - 1) // HOUR * HOUR


def _is_quota_only(row: UsageRow) -> bool:
    return not (row.used or row.borrowed or row.idle or row.wasted or row.cost or row.lent)


def meters(policies: Policies, unready: dict[int, None]) -> Iterator[Wanted[MeterTerms]]:
    """Yield the meters that there should be, by name."""
    for root, policy in sorted(policies.recorded(), key=lambda one: member_of(one[0])):
        member = member_of(root)
        terms = MeterTerms(member, tuple(root.subtree()), policy.prices, policy.unit, unready)
        yield Wanted(Meter, (CreditKind.USAGE, name_of_tree(member)), member, terms)
