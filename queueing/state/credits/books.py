"""The ledgers (`Book`) of all cohorts, and the holdings that they count."""

from collections.abc import Mapping, Sequence

from queueing.core.credits.facts import CreditAccountFact, CreditPolicyFact, Member
from queueing.core.credits.holding import Holding
from queueing.core.names import CohortName, QueueName
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts
from queueing.state.credits.agenda import Event
from queueing.state.credits.book import Book, Way
from queueing.state.credits.policies import Policies


class Books:
    """Every ledger, by the name of its cohort. A holding counts in all cohorts above its queue."""

    __slots__ = ("_accounts", "_policies", "_ways", "by_cohort", "counted")

    def __init__(self, policies: Policies, accounts: Accounts[CreditAccountFact]) -> None:
        self._policies, self._accounts = policies, accounts
        self.by_cohort: dict[CohortName, Book] = {}
        self.counted: dict[int, Holding] = {}
        """The holdings that count now, by number; kept also while there is no book."""
        self._ways: dict[QueueName, list[tuple[Book, Way]]] = {}
        """The books above each queue, with its way there, as of the last `reshape`."""

    def advance(self, at: int) -> None:
        """Bring all ledgers up to a time."""
        for book in self.by_cohort.values():
            book.advance(at)

    # Holdings -----------------------------------------------------------------------------------

    def count_in(self, token: int, holding: Holding, when: int) -> None:
        """Begin to count a holding, under a number that is new."""
        self.counted[token] = holding
        for book, way in self._ways.get(holding.queue, ()):
            if when > book.group.at:
                book.advance(when)
            book.count(way, holding, 1)

    def count_out(self, token: int, when: int) -> None:
        """End the holding with this number."""
        holding = self.counted.pop(token, None)
        if holding is None:
            return
        for book, way in self._ways.get(holding.queue, ()):
            if when > book.group.at:
                book.advance(when)
            book.count(way, holding, -1)

    def follow(self, events: Sequence[tuple[int, Event]], when: int) -> list[tuple[int, Event]]:
        """Count all holdings that begin or end in one second; return the other events.

        It does the same as `count_in` and `count_out` for each, but faster: most cohorts need
        nothing but the usage of a holding, in the rows of its queue (docs/decisions/0041).
        """
        counted, ways = self.counted, self._ways
        others: list[tuple[int, Event]] = []
        for token, event in events:
            if event is None:
                holding, sign = counted.pop(token, None), -1
                if holding is None:
                    continue
            elif type(event) is Holding:
                holding, sign = event, 1
                counted[token] = event
            else:
                others.append((token, event))
                continue
            for book, way in ways.get(holding.queue, ()):
                if when > book.group.at:
                    book.advance(when)
                if book.asks_more or way.below:
                    book.count(way, holding, sign)
                    continue
                rows, moved = way.rows, book.moved
                for resource, amount in holding.usage.items():
                    row = rows.get(resource)
                    if row is not None:
                        row.usage += sign * amount
                        moved[row.post] = None
        return others

    def lose(self, holding: Holding, when: int, saved: int | None) -> None:
        """Note in every ledger above a holding that it ends by an eviction."""
        for book, way in self._ways.get(holding.queue, ()):
            book.lose(way, holding, when, saved)

    def above(self, queue: QueueName, tree: QuotaTree) -> list[CohortName]:
        """Return the cohorts above a queue that have a ledger; none if there is no such queue."""
        if not tree.has_queue(queue):
            return []
        names = (CohortName(node.name) for node in tree.queue(queue).ancestors())
        return [one for one in names if one in self.by_cohort]

    def _find_ways(self, tree: QuotaTree) -> None:
        """Find the books above each queue, and its way there, in the present tree.

        Holdings of a queue that is not there yet count from the next `reshape` on.
        """
        self._ways = {}
        for root, _ in self._policies.trees(tree):
            for node in tree.queues_of(root):
                above = (self.by_cohort.get(CohortName(one.name)) for one in node.ancestors())
                self._ways[QueueName(node.name)] = [
                    (book, book.way_of(node)) for book in above if book is not None
                ]

    # Structure ----------------------------------------------------------------------------------

    def reshape(self, tree: QuotaTree, at: int, *, started: bool) -> list[CreditAccountFact]:
        """Open and close ledgers; all use the present quotas from `at` on.

        If the ledgers have not `started`, return the stored accounts that some went on from: these
        are not at `at` yet, and their leavers are to be recalled.
        """
        wanted = {
            CohortName(node.name): (node, policy) for node, policy in self._policies.cohorts(tree)
        }
        self.advance(at)
        before, self.by_cohort = self.by_cohort, {}
        read: list[CreditAccountFact] = []
        for name, (node, policy) in sorted(wanted.items()):
            known, stored = before.get(name), self._accounts.stored(name)
            if known is not None:
                self.by_cohort[name] = _under_terms(known, node, policy)
            elif stored is None or stored.as_of is None:
                self.by_cohort[name] = Book(node, policy, at)
            else:
                book = self.by_cohort[name] = _resumed(stored, node, policy, stored.as_of)
                if started:
                    book.advance(at)
                else:
                    read.append(stored)
        for book in before.values():
            for child in book.children.values():
                tree.bend(child, None)
            book.exponents = {}  # all weights have just been reset
        present = {name: book.group.present() for name, book in self.by_cohort.items()}
        for book in self.by_cohort.values():
            book.reshape()
        self._find_ways(tree)
        self._count_again()
        came = {
            member: book
            for name, book in self.by_cohort.items()
            for member in book.children
            if member not in present[name]
        }
        self._take_debts_along(came, before)
        return read

    def _count_again(self) -> None:
        """Count all holdings in ledgers that have just taken over the present tree."""
        ways = self._ways
        for _, holding in sorted(self.counted.items()):
            for book, way in ways.get(holding.queue, ()):
                book.count(way, holding, 1)
        for book in self.by_cohort.values():
            book.take_positions()

    def _take_debts_along(
        self, came: Mapping[Member, Book], before: Mapping[CohortName, Book]
    ) -> None:
        """Move the debts of children that came from other cohorts to their new ledgers.

        `came` has the new children with their ledgers, `before` all ledgers of before.
        """
        for name, other in {**before, **self.by_cohort}.items():
            for member in other.group.accounts:
                book = came.get(member)
                if book is None or book is other:
                    continue
                if name not in self.by_cohort or member not in other.children:
                    book.group.take_over(member, other.group.hand_over(member))


def _under_terms(known: Book, node: Node, policy: CreditPolicyFact) -> Book:
    """Return a ledger that goes on: a new book if its cohort's node or its policy changed."""
    if known.node is node and known.policy == policy:
        return known
    book = Book(node, policy, known.group.at)
    book.group.resume(known.group.records({}, {}), known.group.sinks)
    book.grants.update(known.grants)
    book.read_at = known.read_at
    return book


def _resumed(stored: CreditAccountFact, node: Node, policy: CreditPolicyFact, as_of: int) -> Book:
    """Return a ledger that goes on from a stored account."""
    book = Book(node, policy, as_of)
    book.read_at = as_of
    book.group.resume(stored.children, stored.sinks)
    book.grants.update(stored.grants)
    return book
