"""Which CreditBudgets cover the workloads of a queue, and which policy prices them.

Answers are computed at the first call, and kept until budgets, policies or the quota tree change.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from queueing.core.credits.facts import BudgetFact, CreditPolicyFact, HolderKind
from queueing.core.credits.prices import Prices
from queueing.core.names import Key, QueueName
from queueing.core.quota.tree import QuotaTree
from queueing.state.credits.policies import Policies

Place = tuple[QueueName, Key | None]
"""A ClusterQueue, and the LocalQueue by which a workload came to it."""


def _leads_nowhere(_local_queue: Key) -> QueueName | None:
    return None


@dataclass(slots=True)
class Coverage:
    """Budgets by what they cover."""

    policies: Policies
    queue_of: Callable[[Key], QueueName | None] = _leads_nowhere
    """Returns the present ClusterQueue of a LocalQueue."""
    _budgets: tuple[BudgetFact, ...] = ()
    _over: dict[Place, tuple[str, ...]] = field(default_factory=dict)
    _of_queues: dict[QueueName, CreditPolicyFact | None] = field(default_factory=dict)
    _of_cohorts: dict[str, CreditPolicyFact | None] = field(default_factory=dict)

    def renew(self, budgets: Iterable[BudgetFact]) -> None:
        """Set the budgets, and forget all answers."""
        self._budgets = tuple(sorted(budgets, key=lambda one: one.name))
        self._over.clear()
        self._of_queues.clear()
        self._of_cohorts.clear()

    def over(self, tree: QuotaTree, place: Place) -> tuple[str, ...]:
        """Return the budgets that workloads of a place fall under, sorted by name."""
        found = self._over.get(place)
        if found is None:
            queue, local_queue = place
            holders = {(HolderKind.CLUSTER_QUEUE, str(queue))}
            if local_queue is not None:
                holders.add((HolderKind.LOCAL_QUEUE, str(local_queue)))
            if tree.has_queue(queue):
                above = tree.queue(queue).ancestors()
                holders |= {(HolderKind.COHORT, node.name) for node in above}
            found = tuple(one.name for one in self._budgets if (one.kind, one.holder) in holders)
            self._over[place] = found
        return found

    def prices_of(self, tree: QuotaTree, queue: QueueName) -> Prices | None:
        """Return the prices that apply to a queue; None if no policy does."""
        policy = self._policy_of(tree, queue)
        return None if policy is None else policy.prices

    def is_priced(self, tree: QuotaTree, budget: BudgetFact) -> bool:
        """Say whether the holder of a budget exists and has prices."""
        return self._policy_over(tree, budget) is not None

    def unit_of(self, tree: QuotaTree, budget: BudgetFact) -> str:
        """Return the unit that a budget counts in: that of the policy that prices its holder."""
        policy = self._policy_over(tree, budget)
        return self.policies.unit if policy is None else policy.unit

    def _policy_of(self, tree: QuotaTree, queue: QueueName) -> CreditPolicyFact | None:
        if queue not in self._of_queues:
            self._of_queues[queue] = self.policies.policy_of(tree, queue)
        return self._of_queues[queue]

    def _policy_over(self, tree: QuotaTree, budget: BudgetFact) -> CreditPolicyFact | None:
        """Return the policy that applies to a budget's holder; None without one, or no holder."""
        match budget.kind:
            case HolderKind.COHORT:
                if budget.holder not in self._of_cohorts:
                    found = self.policies.cohorts(tree)
                    over = (policy for node, policy in found if node.name == budget.holder)
                    self._of_cohorts[budget.holder] = next(over, None)
                return self._of_cohorts[budget.holder]
            case HolderKind.CLUSTER_QUEUE:
                return self._policy_of(tree, QueueName(budget.holder))
            case HolderKind.LOCAL_QUEUE:
                queue = self.queue_of(Key(budget.holder))
                return None if queue is None else self._policy_of(tree, queue)
