"""Whether the stored accounts include what a workload held, so that its status may change."""

from queueing.core.credits.facts import CreditAccountFact
from queueing.core.credits.holding import Holding
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.books import Books
from queueing.state.credits.budgets import Budgets
from queueing.state.credits.presence import Presence
from queueing.state.credits.queue_books import QueueBooks
from queueing.state.credits.usages import Usages


class Stored:
    """Compares holdings with what is stored of ledgers, budgets and rows of usage.

    A restart begins from what is stored. So a workload may be deleted, release its quota or reserve
    again only when what it held is included there, or recorded as a leaver.
    """

    __slots__ = ("_accounts", "_books", "_budgets", "_presence", "_queue_books", "_usages")

    def __init__(
        self,
        presence: Presence,
        accounts: Accounts[CreditAccountFact],
        *,
        books: Books,
        queue_books: QueueBooks,
        also: tuple[Budgets, Usages],
    ) -> None:
        self._presence, self._accounts = presence, accounts
        self._books, self._queue_books = books, queue_books
        self._budgets, self._usages = also

    def covers(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the stored accounts include the end of a workload."""
        held = self._presence.held(key)
        if held is None or held.until is None:
            return not self._presence.is_unheard(key)
        until = held.until
        above, over = self._above(held.queue, tree), self._budgets.over(tree, held)
        return (
            all(self._accounts.reaches(until, one) for one in above)
            and all(self._budgets.accounts.reaches(until, one) for one in over)
            and all(
                self._usages.records.reaches(until, one) for one in self._usages.over(held.queue)
            )
        )

    def recorded(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the stored accounts record an evicted workload that still holds quota."""
        held = self._presence.held(key)
        return not self._presence.is_unheard(key) and (held is None or self._names(held, tree))

    def behind(self, key: Key, tree: QuotaTree, since: int) -> tuple[str, ...]:
        """Return the accounts and budgets above a holding that are stored up to before `since`.

        Asked before what a workload holds is changed: a restart counts the change from the time of
        the stored account on.
        """
        held = self._presence.held(key)
        if held is None:
            return ()
        above = self._above(held.queue, tree)
        late = [one for one in above if not self._accounts.reaches(since, one)]
        over = self._budgets.over(tree, held)
        return (*late, *(one for one in over if not self._budgets.accounts.reaches(since, one)))

    def settled(self, key: Key, tree: QuotaTree) -> bool:
        """Say whether the stored accounts include, or record, what a workload held before."""
        left = self._presence.held_before(key)
        return not self._presence.is_unheard(key) and (left is None or self._names(left, tree))

    def _above(self, queue: QueueName, tree: QuotaTree) -> tuple[str, ...]:
        """Return the names of the accounts in which holdings of a ClusterQueue count."""
        return (*self._queue_books.above(queue), *self._books.above(queue, tree))

    def _names(self, holding: Holding, tree: QuotaTree) -> bool:
        """Say whether every stored account above a holding includes or records it as it is."""
        above = self._above(holding.queue, tree)
        over = self._budgets.over(tree, holding)
        return (
            all(self._accounts.tells_of(holding, one) for one in above)
            and all(self._budgets.accounts.tells_of(holding, one) for one in over)
            and all(
                self._usages.records.tells_of(holding, one)
                for one in self._usages.over(holding.queue)
            )
        )
