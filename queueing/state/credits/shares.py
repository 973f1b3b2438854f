"""What balances do to shares: weights bent at fixed times, and whom shares may take and when."""

from collections.abc import Iterable
from heapq import heappop, heappush

from queueing.core.credits import bend
from queueing.core.credits.facts import CreditPolicyFact
from queueing.core.fair_sharing.patience import Patience
from queueing.core.names import Key
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.book import Book
from queueing.state.credits.policies import Policies


class Bending:
    """The times at which weights follow balances."""

    __slots__ = ("_policies", "is_any", "next_tick")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self.next_tick: int | None = None
        """When balances are measured next, in the time of the ledgers; None before the first."""
        self.is_any = False
        """Whether any weight is bent now."""

    def is_due(self, at: int) -> bool:
        """Say whether balances are to be measured, though nothing else changed."""
        return self.next_tick is None or at >= self.next_tick

    def bend(self, books: Iterable[Book], tree: QuotaTree, at: int) -> bool:
        """Bend weights by balances; say whether any changed."""
        step = self._policies.tick_s
        self.next_tick = (at // step + 1) * step
        known = list(books)
        return self._follow(known, known, tree)

    def bend_held(self, books: Iterable[Book], tree: QuotaTree) -> bool:
        """Bend at once what depends on who came or went, as holds do; say whether any changed."""
        known = list(books)
        return self._follow(known, [one for one in known if one.stirred], tree)

    def _follow(self, books: Iterable[Book], due: Iterable[Book], tree: QuotaTree) -> bool:
        changed = False
        for book in due:
            before = book.exponents
            if book.measure() == before:
                continue
            changed = True
            for member, steps in book.exponents.items():
                tree.bend(book.children[member], bend.factor(steps) if steps else None)
        self.is_any = any(any(book.exponents.values()) for book in books)
        return changed


class Undisturbed:
    """Who runs undisturbed by shares for a while yet, and what protects them."""

    __slots__ = ("_policies", "_runtimes", "_trees", "patience")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._trees: list[tuple[Node, CreditPolicyFact]] | None = None
        """The trees and their policies; None when they may be others than at the last look."""
        self._runtimes: list[tuple[float, Key]] = []
        """When each will have run long enough."""
        self.patience: dict[Node, Patience] = {}
        """What holds now in each tree, by its root."""

    def began(self, key: Key, since: int) -> None:
        """Note that a workload got quota."""
        longest = self._policies.minimum_runtime_s
        if longest:
            heappush(self._runtimes, (float(since + longest), key))

    def reshape(self) -> None:
        """Note that policies or trees changed."""
        self._trees = None

    def look(self, tree: QuotaTree, now: float) -> None:
        """Work out what holds now; time alone changes it only under a minimum runtime."""
        if self._trees is not None and not self._policies.minimum_runtime_s:
            return
        if self._trees is None:
            self._trees = list(self._policies.trees(tree))
        self.patience = {root: _patience(policy, now) for root, policy in self._trees}

    def wakes(self, now: float) -> list[Key]:
        """Return who has run long enough by now to be a victim for the sake of shares."""
        found = []
        while self._runtimes and self._runtimes[0][0] <= now:
            found.append(heappop(self._runtimes)[1])
        return found

    @property
    def next_at(self) -> float | None:
        """When the next one has run long enough; None for nobody."""
        return self._runtimes[0][0] if self._runtimes else None


def _patience(policy: CreditPolicyFact, now: float) -> Patience:
    if not policy.minimum_runtime_s:
        return Patience(policy.hysteresis)
    return Patience(policy.hysteresis, now - policy.minimum_runtime_s)
