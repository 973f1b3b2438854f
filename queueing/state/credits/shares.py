"""What credits do to fair sharing: bent weights, and when shares may preempt which workloads."""

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
    """Bends fair-sharing weights by balances, at fixed points in time."""

    __slots__ = ("_policies", "is_any", "next_tick")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self.next_tick: int | None = None
        """When weights are bent next, in the time of the ledgers; None before the first time."""
        self.is_any = False
        """Whether any weight is bent now."""

    def is_due(self, at: int) -> bool:
        """Say whether the next fixed point is reached."""
        return self.next_tick is None or at >= self.next_tick

    def bend(self, books: Iterable[Book], tree: QuotaTree, at: int) -> bool:
        """Bend all weights by balances; say whether any weight changed."""
        step = self._policies.tick_s
        self.next_tick = (at // step + 1) * step
        known = list(books)
        return self._follow(known, known, tree)

    def bend_held(self, books: Iterable[Book], tree: QuotaTree) -> bool:
        """Bend the weights of cohorts in which a hold began or ended; say whether any changed."""
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
    """Which workloads preemption by shares must not take yet: minimum runtime and hysteresis."""

    __slots__ = ("_policies", "_runtimes", "_trees", "patience")

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self._trees: list[tuple[Node, CreditPolicyFact]] | None = None
        """The root of each tree with its policy; None if these may have changed."""
        self._runtimes: list[tuple[float, Key]] = []
        """A heap of (time, workload): when the longest minimum runtime of any policy is over."""
        self.patience: dict[Node, Patience] = {}
        """Root of a tree → hysteresis and minimum runtime as of this cycle."""

    def began(self, key: Key, since: int) -> None:
        """Note that a workload holds quota since a time."""
        longest = self._policies.minimum_runtime_s
        if longest:
            heappush(self._runtimes, (float(since + longest), key))

    def reshape(self) -> None:
        """Note that policies or trees changed."""
        self._trees = None

    def look(self, tree: QuotaTree, now: float) -> None:
        """Compute `patience` for a time; time alone changes it only with a minimum runtime."""
        if self._trees is not None and not self._policies.minimum_runtime_s:
            return
        if self._trees is None:
            self._trees = list(self._policies.trees(tree))
        self.patience = {root: _patience(policy, now) for root, policy in self._trees}

    def wakes(self, now: float) -> list[Key]:
        """Return the workloads whose minimum runtime is over since the last call."""
        found = []
        while self._runtimes and self._runtimes[0][0] <= now:
            found.append(heappop(self._runtimes)[1])
        return found

    @property
    def next_at(self) -> float | None:
        """When the next minimum runtime is over; None if none is running."""
        return self._runtimes[0][0] if self._runtimes else None


def _patience(policy: CreditPolicyFact, now: float) -> Patience:
    if not policy.minimum_runtime_s:
        return Patience(policy.hysteresis)
    return Patience(policy.hysteresis, now - policy.minimum_runtime_s)
