"""The ledgers within ClusterQueues, between the namespaces of their LocalQueues.

ClusterQueues with admission fair sharing have one if their policy orders LocalQueues. They follow
the same time, events and terms as those of cohorts, and exponents are measured at the same fixed
points. `usage.ranks` makes the order of LocalQueues from them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from queueing.core.credits.facts import (
    CreditAccountFact,
    CreditPolicyFact,
    Member,
    account_of_queue,
)
from queueing.core.credits.holding import Holding
from queueing.core.names import QueueName
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.accounts import Accounts, leaver_record
from queueing.state.credits.policies import Policies
from queueing.state.credits.queue_book import QueueBook

Sharers = Mapping[QueueName, Mapping[str, int]]
"""ClusterQueue with admission fair sharing → namespace → weight in millionths."""


class QueueBooks:
    """Every ledger within a ClusterQueue, by its name."""

    __slots__ = (
        "_accounts",
        "_closed",
        "_policies",
        "by_queue",
        "moved",
        "next_tick",
        "sharers",
        "stale",
    )

    def __init__(self, policies: Policies, accounts: Accounts[CreditAccountFact]) -> None:
        self._policies, self._accounts = policies, accounts
        self.by_queue: dict[QueueName, QueueBook] = {}
        self._closed: dict[QueueName, QueueBook] = {}
        """Ledgers of queues that no longer exist or no longer share: they may come back."""
        self.moved: dict[QueueName, None] = {}
        """Queues whose order of LocalQueues may have changed; `rank_local_queues` empties this."""
        self.next_tick: int | None = None
        """When balances are measured next, in the time of the ledgers; None before the first."""
        self.sharers: Callable[[], Sharers] = dict
        """Returns the present namespaces of all such queues."""
        self.stale = False
        """Whether LocalQueues changed since the last `reshape` or `refit`."""

    # Time and holdings --------------------------------------------------------------------------

    def advance(self, at: int) -> None:
        """Bring all ledgers up to a time."""
        for book in self.by_queue.values():
            book.advance(at)

    def count(self, holding: Holding | None, when: int, sign: int) -> None:
        """Add a holding, or with sign -1 remove it."""
        book = None if holding is None else self.by_queue.get(holding.queue)
        if holding is not None and book is not None:
            book.advance(when)
            book.count(holding, sign)

    def lose(self, holding: Holding, when: int, saved: int | None) -> None:
        """Note in the ledger of its queue that a holding ends by an eviction."""
        book = self.by_queue.get(holding.queue)
        if book is not None:
            book.lose(holding, when, saved)

    def measure(self, at: int, *, anyhow: bool) -> None:
        """Measure exponents, at the fixed points or `anyhow`; note queues where they changed."""
        if not self.by_queue or not (anyhow or self.next_tick is None or at >= self.next_tick):
            return
        step = self._policies.tick_s
        self.next_tick = (at // step + 1) * step
        for name, book in self.by_queue.items():
            before = book.exponents
            if book.measure() != before:
                self.moved[name] = None

    # Structure ----------------------------------------------------------------------------------

    @property
    def counts(self) -> bool:
        """Whether there is any ledger, or any policy that asks for one."""
        return bool(self.by_queue or self._policies.orders_local_queues)

    def note_change(self) -> None:
        """Note that LocalQueues changed, and so perhaps the namespaces of a queue."""
        self.stale = self.counts

    def reshape(
        self,
        tree: QuotaTree,
        counted: Mapping[int, Holding],
        *,
        at: int,
        started: bool,
    ) -> list[CreditAccountFact]:
        """Open and close ledgers; all use the present quotas and namespaces from `at` on.

        If the ledgers have not `started`, return the stored accounts that some went on from: these
        are not at `at` yet, and their leavers are to be recalled.
        """
        self.stale = False
        if not self.counts:
            return []
        self.advance(at)
        weights = self.sharers()
        before, self.by_queue = {**self._closed, **self.by_queue}, {}
        self.moved.update(dict.fromkeys(before))
        read: list[CreditAccountFact] = []
        for node, policy in self._policies.divided(tree):
            name = QueueName(node.name)
            if name not in weights:
                continue
            known, stored = before.get(name), self._accounts.stored(account_of_queue(name))
            if known is not None:
                self.by_queue[name] = book = _under_terms(known, node, policy)
                book.advance(at)
            elif stored is None or stored.as_of is None:
                self.by_queue[name] = QueueBook(node, policy, at)
            else:
                self.by_queue[name] = book = _resumed(stored, node, policy, stored.as_of)
                if started:
                    book.advance(at)
                else:
                    read.append(stored)
        self._closed = {name: book for name, book in before.items() if name not in self.by_queue}
        self._share_out({name: weights[name] for name in self.by_queue}, counted)
        return read

    def refit(self, counted: Mapping[int, Holding], at: int) -> None:
        """Update ledgers whose namespaces or weights changed, from `at` on."""
        self.stale = False
        found = self.sharers()
        others = {
            name: found[name] for name, book in self.by_queue.items() if not book.has(found[name])
        }
        if others:
            self.advance(at)
            self._share_out(others, counted)

    def _share_out(self, weights: Sharers, counted: Mapping[int, Holding]) -> None:
        """Reshape the ledgers of these queues, and count their holdings anew."""
        here: dict[QueueName, list[Holding]] = {name: [] for name in weights}
        for _, holding in sorted(counted.items()):
            if holding.queue in here:
                here[holding.queue].append(holding)
        came: list[tuple[Member, QueueBook]] = []
        for name, mine in sorted(weights.items()):
            book = self.by_queue[name]
            present = book.group.present()
            book.reshape(mine, here[name])
            came += ((member, book) for member in sorted(book.weights.keys() - present))
        self.moved.update(dict.fromkeys(weights))
        for member, book in came:
            self._take_debt_along(member, book)

    def _take_debt_along(self, member: Member, book: QueueBook) -> None:
        """Move the debt of a namespace that came from another queue to the ledger of this one."""
        for _, other in sorted({**self._closed, **self.by_queue}.items()):
            stays = member in other.weights and self.by_queue.get(QueueName(other.node.name))
            if other is not book and not stays and member in other.group.accounts:
                book.group.take_over(member, other.group.hand_over(member))

    # What is written down -----------------------------------------------------------------------

    def above(self, queue: QueueName) -> tuple[str, ...]:
        """Return the name of a queue's own account, if it has one."""
        return (account_of_queue(queue),) if queue in self.by_queue else ()

    def records(self, leaving: Sequence[Holding]) -> Iterator[CreditAccountFact]:
        """Yield every ledger as it is to be stored, by name of the queue."""
        for name, book in sorted({**self._closed, **self.by_queue}.items()):
            left = (one for one in leaving if one.queue == name)
            yield CreditAccountFact(
                queue=name,
                as_of=book.group.at,
                policy=book.policy.name,
                unit=book.policy.unit,
                children=book.group.records(book.exponents, {}),
                sinks=dict(book.group.sinks),
                leavers=tuple(
                    leaver_record(one)
                    for one in sorted(left, key=lambda each: (each.uid, each.since))
                    if one.until is None or one.until > book.group.at
                ),
            )


def _under_terms(known: QueueBook, node: Node, policy: CreditPolicyFact) -> QueueBook:
    """Return a ledger that goes on: a new book if its queue's node or its policy changed."""
    if known.node is node and known.policy == policy:
        return known
    book = QueueBook(node, policy, known.group.at)
    book.group.resume(known.group.records({}, {}), known.group.sinks)
    book.read_at = known.read_at
    return book


def _resumed(
    stored: CreditAccountFact, node: Node, policy: CreditPolicyFact, as_of: int
) -> QueueBook:
    """Return a ledger that goes on from a stored account."""
    book = QueueBook(node, policy, as_of)
    book.read_at = as_of
    book.group.resume(stored.children, stored.sinks)
    return book
