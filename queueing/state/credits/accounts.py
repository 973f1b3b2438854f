"""All accounts, the holdings that they count, and what was stored of each last.

A *leaver* is a holding that a status no longer shows, or soon will not: records name it until they
include its end. A workload is deleted, or reserves quota again, only when what is stored of every
account over it includes what it held before, or names it. Otherwise a restart would count too
little.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from queueing.core.credits.facts import CreditKind, Member, Record, UsageRecordFact
from queueing.core.credits.holding import Holding
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.account import Account, Name, Numbered, Wanted
from queueing.state.credits.ledger import CreditLedger, member_of, take_debts_along

Kept = TypeVar("Kept", bound=Account[Any])
Place = tuple[QueueName, Key | None]
"""A ClusterQueue, and the LocalQueue by which a workload came to it."""


class Accounts:
    """Every account. A holding counts in all whose holder is above it in the quota tree."""

    __slots__ = ("_closed", "_holders", "_open", "_over", "_paths", "_stored", "counted")

    def __init__(self) -> None:
        self.counted: dict[int, Holding] = {}
        """The holdings that count now, by number; kept also while there is no account."""
        self._open: dict[Name, Account[Any]] = {}
        self._closed: dict[Name, Account[Any]] = {}
        """Accounts that should no longer be, but may come back, or are not stored yet."""
        self._stored: dict[Name, Record] = {}
        self._paths: dict[QueueName, tuple[Member, ...]] = {}
        """ClusterQueue → itself and the cohorts above it, as of the last `reshape`."""
        self._holders: dict[Member, list[Account[Any]]] = {}
        self._over: dict[Place, tuple[Account[Any], ...]] = {}
        """A memo of `over`."""

    def __bool__(self) -> bool:
        """Say whether there is any."""
        return bool(self._open)

    def all(self, kind: type[Kept]) -> list[Kept]:
        """Return the accounts of one kind, by name."""
        return [one for one in self._open.values() if isinstance(one, kind)]

    def over(self, queue: QueueName, local_queue: Key | None) -> tuple[Account[Any], ...]:
        """Return the accounts in which holdings of a place count, by name."""
        found = self._over.get((queue, local_queue))
        if found is None:
            path = self._path(queue, local_queue)
            above = (one for holder in path for one in self._holders.get(holder, ()))
            found = tuple(sorted(above, key=lambda one: one.name))
            self._over[queue, local_queue] = found
        return found

    # Time and holdings --------------------------------------------------------------------------

    def advance(self, at: int) -> None:
        """Bring all accounts up to a time; called before all that happens then."""
        for account in self._open.values():
            account.advance(at)

    def begin(self, token: int, holding: Holding, when: int) -> None:
        """Count a holding, which begins at `when`, under a number that is new."""
        self.counted[token] = holding
        for account in self.over(holding.queue, holding.local_queue):
            account.count(token, holding, when, 1)

    def end(self, token: int, when: int) -> None:
        """End the holding with this number."""
        holding = self.counted.pop(token, None)
        if holding is not None:
            for account in self.over(holding.queue, holding.local_queue):
                account.count(token, holding, when, -1)

    def ran(self, token: int, since: int, when: int) -> None:
        """Note, at `when`, since when all pods of the holding with this number run."""
        holding = self.counted.get(token)
        if holding is not None:
            for account in self.over(holding.queue, holding.local_queue):
                account.ran(token, holding, since, when)

    def lose(self, holding: Holding, when: int, saved: int | None) -> None:
        """Note an eviction at `when`: the work since it was `saved`, or all of it, is lost."""
        for account in self.over(holding.queue, holding.local_queue):
            if when > account.read_at:
                account.lose(holding, holding.lost_s(when, saved), was_saved=saved is not None)

    # Structure ----------------------------------------------------------------------------------

    def reshape(
        self, tree: QuotaTree, wanted: Sequence[Wanted[Any]], at: int, *, started: bool
    ) -> list[Holding]:
        """Open and close accounts; all count by the present tree and terms from `at` on.

        If counting has not `started`, those that go on from what was stored are not at `at` yet;
        return the leavers that are to be recalled for them.
        """
        self.advance(at)
        before, self._open = {**self._closed, **self._open}, {}
        leavers: list[Holding] = []
        for one in wanted:
            account, stored = before.pop(one.name, None), self._stored.get(one.name)
            if account is None and stored is not None and stored.as_of is not None:
                account = one.made(one.terms, stored.as_of, stored)
                leavers += () if started else stored.leavers
            elif account is None:
                begin = max(one.created, at) if started else one.created or at
                account = one.made(one.terms, begin, None)
            if started:
                account.advance(at)
            account.name, account.holder = one.name, one.holder
            self._open[one.name] = account
        for gone in before.values():
            gone.close()
        self._closed = {
            name: gone for name, gone in before.items() if gone.outlives(self._stored.get(name))
        }
        self._find_holders(tree)
        mine: dict[Name, list[Numbered]] = {one.name: [] for one in wanted}
        for token, holding in sorted(self.counted.items()):
            for account in self.over(holding.queue, holding.local_queue):
                mine[account.name].append((token, holding))
        for one in wanted:
            self._open[one.name].reshape(one.terms, mine[one.name])
        known = (*before.values(), *self._open.values())
        take_debts_along([one for one in known if isinstance(one, CreditLedger)])
        return leavers

    def _find_holders(self, tree: QuotaTree) -> None:
        self._over.clear()
        self._paths = {
            QueueName(node.name): tuple(member_of(one) for one in (node, *node.ancestors()))
            for root in tree.roots()
            for node in tree.queues_of(root)
        }
        self._holders = {}
        for account in self._open.values():
            self._holders.setdefault(account.holder, []).append(account)

    def _path(self, queue: QueueName, local_queue: Key | None) -> tuple[Member, ...]:
        """Return all possible holders of the accounts in which holdings of a place count."""
        path = self._paths.get(queue, (Member("ClusterQueue", queue),))
        return path if local_queue is None else (Member("LocalQueue", local_queue), *path)

    # What is stored -----------------------------------------------------------------------------

    def put(self, record: Record) -> None:
        """Take in what was stored of an account; of rows of usage only the newest counts."""
        name = record.kind, record.name
        known = self._stored.get(name)
        if isinstance(record, UsageRecordFact) and isinstance(known, UsageRecordFact):
            record = max(record, known, key=lambda one: one.as_of)
        self._stored[name] = record
        account = self._open.get(name) or self._closed.get(name)
        if account is not None:
            account.told(record)
        if name in self._closed and not self._closed[name].outlives(record):
            del self._closed[name]

    def drop(self, name: Name) -> None:
        """Forget a deleted record."""
        self._stored.pop(name, None)

    def reaches(self, account: Account[Any], until: int) -> bool:
        """Say whether an account is stored up to at least the time `until`."""
        known = self._stored.get(account.name)
        return known is not None and known.as_of is not None and known.as_of >= until

    def tells_of(self, account: Account[Any], holding: Holding) -> bool:
        """Say whether what is stored includes the end of a holding, or names it as it is."""
        if holding.until is not None and self.reaches(account, holding.until):
            return True
        known = self._stored.get(account.name)
        leavers = () if known is None else known.leavers
        return any((one.life, one.until) == (holding.life, holding.until) for one in leavers)

    def records(self, kind: CreditKind, leaving: Iterable[Holding]) -> Iterator[Record]:
        """Yield what is to be stored of all accounts of one kind: of cohorts, then of others.

        `leaving` are the holdings that statuses no longer show, or soon will not.
        """
        leavers: dict[Member, list[Holding]] = {}
        for one in sorted(leaving, key=lambda each: each.life):
            for holder in self._path(one.queue, one.local_queue):
                leavers.setdefault(holder, []).append(one)
        known = (one for one in {**self._closed, **self._open}.values() if one.name[0] is kind)
        for account in sorted(known, key=lambda one: (one.holder.kind != "Cohort", one.name)):
            yield from account.records(leavers.get(account.holder, ()))
