"""Which CreditPolicy applies to which tree of quota, and the settings of all of them together."""

from collections.abc import Iterator, Mapping

from queueing.core.credits.facts import CreditMode, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree

TICKS_PER_HORIZON = 256
Governed = tuple[QuotaNode, CreditPolicyFact]
"""A node of the quota tree, with the policy that applies to it."""


class Policies:
    """All CreditPolicies, by name.

    What applies where is as of the last `match`, so that what happens before a change is noticed
    counts by the earlier terms.
    """

    def __init__(self, tree: QuotaTree) -> None:
        self._tree = tree
        self._policies: dict[str, CreditPolicyFact] = {}
        self.by_root: dict[QuotaNode, CreditPolicyFact] = {}
        """The policy of each tree that has one. A ClusterQueue without a cohort is a tree, too."""
        self.any = False
        """Whether there is any policy."""
        self.minimum_runtime_s = 0
        """The longest `minimumRuntime` of any policy, in seconds."""
        self.holds = False
        """Whether any policy has an `admissionHold`."""
        self.keeps_usage = False
        """Whether any policy keeps rows of usage (`usageRecords`)."""
        self.orders_local_queues = False
        """Whether any policy has ledgers within ClusterQueues (`localQueues: Order`)."""
        self.lag_s = 0
        """How many seconds the ledgers stay behind the clock."""
        self.tick_s = 1
        """Seconds between two points at which balances are measured."""

    def put(self, fact: CreditPolicyFact) -> bool:
        """Take in a policy; say whether it is new or changed."""
        if self._policies.get(fact.name) == fact:
            return False
        self._policies[fact.name] = fact
        self._sum_up()
        return True

    def drop(self, name: str) -> bool:
        """Forget a policy; say whether it was known."""
        known = self._policies.pop(name, None) is not None
        self._sum_up()
        return known

    def _sum_up(self) -> None:
        known = self._policies.values()
        self.any = bool(known)
        self.minimum_runtime_s = max((one.minimum_runtime_s for one in known), default=0)
        self.holds = any(one.admission_hold_s for one in known)
        self.keeps_usage = any(one.keeps_usage for one in known)
        self.orders_local_queues = any(one.orders_local_queues for one in known)
        self.lag_s = max((one.lag_s for one in known), default=0)
        horizons = (one.horizon_s for one in known)
        self.tick_s = min((max(1, one // TICKS_PER_HORIZON) for one in horizons), default=1)

    @property
    def unit(self) -> str:
        """The name of 3600 credits, for answers that concern no particular policy."""
        return next((one.unit for _, one in sorted(self._policies.items())), "credits")

    # By tree ------------------------------------------------------------------------------------

    def match(self) -> None:
        """Find out anew which policy applies to which tree."""
        self.by_root = dict(self._matched())

    def governed(self) -> dict[str, tuple[CohortName, ...]]:
        """Return, for each policy, the root cohorts that it applies to now."""
        found: dict[str, tuple[CohortName, ...]] = dict.fromkeys(self._policies, ())
        for root, policy in self._matched():
            if not root.is_queue:
                found[policy.name] = (*found[policy.name], CohortName(root.name))
        return found

    def _matched(self) -> Iterator[Governed]:
        """Yield the root of each tree to which a policy applies, with that policy.

        A policy that names the root cohort comes before one that names none; then by name.
        """
        policies = [one for _, one in sorted(self._policies.items())]
        general = next((one for one in policies if not one.root_cohorts), None)
        for root in self._tree.roots():
            named = (one for one in policies if not root.is_queue and root.name in one.root_cohorts)
            policy = next(named, general)
            if policy is not None and policy.mode is not CreditMode.OFF:
                yield root, policy

    def trees(self) -> Iterator[Governed]:
        """Yield the root cohorts to which a policy applies."""
        return (one for one in self.by_root.items() if not one[0].is_queue)

    def cohorts(self) -> Iterator[Governed]:
        """Yield the cohorts that are to have a ledger."""
        for root, policy in self.trees():
            for node in root.subtree():
                if not node.is_queue and any(True for _ in node.children()):
                    yield node, policy

    def divided(self) -> Iterator[Governed]:
        """Yield the ClusterQueues whose policy orders LocalQueues.

        Those of them that use admission fair sharing have a ledger of their own.
        """
        for root, policy in self.by_root.items():
            if policy.orders_local_queues:
                yield from ((queue, policy) for queue in self._tree.queues_of(root))

    def restrained(self) -> Iterator[tuple[QuotaNode, int]]:
        """Yield the ClusterQueues with a rule about who may not borrow: the lowest priority."""
        for root, policy in self.trees():
            lowest = policy.non_borrowing_min_priority
            if lowest is not None:
                yield from ((queue, lowest) for queue in self._tree.queues_of(root))

    def recorded(self) -> Iterator[Governed]:
        """Yield the roots of the trees whose rows of usage are kept."""
        return (one for one in self.by_root.items() if one[1].keeps_usage)

    def of_queue(self, queue: QueueName | None) -> CreditPolicyFact | None:
        """Return the policy that applies to a ClusterQueue; None if none does, or there is none."""
        if queue is None or not self._tree.has_queue(queue):
            return None
        return self.by_root.get(self._tree.queue(queue).root)

    def of_cohort(self, cohort: CohortName) -> CreditPolicyFact | None:
        """Return the policy that applies to a cohort with children; None if there is none."""
        node = self._tree.cohort(cohort)
        has_children = node is not None and any(True for _ in node.children())
        return self.by_root.get(node.root) if node is not None and has_children else None

    def prices_of(self, queue: QueueName) -> Prices | None:
        """Return the prices that apply to a ClusterQueue; None if no policy does."""
        policy = self.of_queue(queue)
        return None if policy is None else policy.prices

    def cost(self, queue: QueueName, usage: Mapping[FlavorResource, int]) -> int:
        """Return what usage of a ClusterQueue costs, in micro-credits per second."""
        prices = self.prices_of(queue)
        return 0 if prices is None else prices.total(usage)
