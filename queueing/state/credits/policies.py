"""Which CreditPolicy applies to which tree, and the settings of all of them together."""

from collections.abc import Iterator

from queueing.core.credits.facts import CreditPolicyFact, Mode
from queueing.core.names import CohortName, QueueName
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree

TICKS_PER_HORIZON = 256


class Policies:
    """All CreditPolicies, by name."""

    __slots__ = (
        "_policies",
        "any",
        "holds",
        "minimum_runtime_s",
        "orders_local_queues",
        "restrains",
    )

    def __init__(self) -> None:
        self._policies: dict[str, CreditPolicyFact] = {}
        self.any = False
        """Whether there is any policy."""
        self.minimum_runtime_s = 0
        """The longest `minimumRuntime` of any policy, in seconds."""
        self.holds = False
        """Whether any policy has an `admissionHold`."""
        self.restrains = False
        """Whether any policy has a `nonBorrowingMinPriority`."""
        self.orders_local_queues = False
        """Whether any policy has ledgers within ClusterQueues (`localQueues: Order`)."""

    def put(self, fact: CreditPolicyFact) -> bool:
        """Take in a policy; say whether it is new or changed."""
        if self._policies.get(fact.name) == fact:
            return False
        self._policies[fact.name] = fact
        self._measure()
        return True

    def drop(self, name: str) -> bool:
        """Forget a policy; say whether it was known."""
        known = self._policies.pop(name, None) is not None
        self._measure()
        return known

    def _measure(self) -> None:
        self.any = bool(self._policies)
        runtimes = (one.minimum_runtime_s for one in self._policies.values())
        self.minimum_runtime_s = max(runtimes, default=0)
        self.holds = any(one.admission_hold_s for one in self._policies.values())
        rules = (one.non_borrowing_min_priority for one in self._policies.values())
        self.restrains = any(one is not None for one in rules)
        self.orders_local_queues = any(one.orders_local_queues for one in self._policies.values())

    # Of all policies ----------------------------------------------------------------------------

    @property
    def lag_s(self) -> int:
        """How many seconds the ledgers stay behind the clock."""
        return max((one.lag_s for one in self._policies.values()), default=0)

    @property
    def tick_s(self) -> int:
        """Seconds between two points at which weights are bent."""
        horizons = (one.horizon_s for one in self._policies.values())
        return min((max(1, one // TICKS_PER_HORIZON) for one in horizons), default=1)

    @property
    def keeps_usage(self) -> bool:
        """Whether any policy keeps rows of usage (`usageRecords`)."""
        return any(one.keeps_usage for one in self._policies.values())

    @property
    def unit(self) -> str:
        """The name of 3600 credits, for answers that concern no particular policy."""
        return next((one.unit for _, one in sorted(self._policies.items())), "credits")

    # By tree ------------------------------------------------------------------------------------

    def trees(self, tree: QuotaTree) -> Iterator[tuple[Node, CreditPolicyFact]]:
        """Yield the root of each tree to which a policy applies, with that policy.

        A policy that names the root cohort comes before one that names none; then by name.
        """
        policies = [self._policies[name] for name in sorted(self._policies)]
        for root in tree.root_cohorts():
            named = (one for one in policies if root.name in one.root_cohorts)
            general = (one for one in policies if not one.root_cohorts)
            policy = next(named, None) or next(general, None)
            if policy is not None and policy.mode is not Mode.OFF:
                yield root, policy

    def policy_of(self, tree: QuotaTree, queue: QueueName) -> CreditPolicyFact | None:
        """Return the policy that applies to a ClusterQueue, if any; it may be in no cohort."""
        if not tree.has_queue(queue):
            return None
        root = tree.queue(queue).root()
        if root.is_queue:
            return self._general()
        return next((policy for one, policy in self.trees(tree) if one is root), None)

    def recorded(self, tree: QuotaTree) -> Iterator[tuple[Node, CreditPolicyFact]]:
        """Yield the roots of trees whose rows of usage are kept, with their policy.

        A ClusterQueue without a cohort is a tree, too.
        """
        if not self.keeps_usage:
            return
        yield from (one for one in self.trees(tree) if one[1].keeps_usage)
        general = self._general()
        if general is not None and general.keeps_usage:
            yield from ((root, general) for root in tree.roots() if root.is_queue)

    def divided(self, tree: QuotaTree) -> Iterator[tuple[Node, CreditPolicyFact]]:
        """Yield the ClusterQueues whose policy orders LocalQueues, with that policy.

        Those of them that use admission fair sharing have a ledger of their own.
        """
        if not self.orders_local_queues:
            return
        for root, policy in self.trees(tree):
            if policy.orders_local_queues:
                yield from ((queue, policy) for queue in tree.queues_of(root))
        general = self._general()
        if general is not None and general.orders_local_queues:
            yield from ((root, general) for root in tree.roots() if root.is_queue)

    def _general(self) -> CreditPolicyFact | None:
        """Return the policy of ClusterQueues that are in no cohort; None if there is none."""
        general = (one for _, one in sorted(self._policies.items()) if not one.root_cohorts)
        found = next(general, None)
        return None if found is None or found.mode is Mode.OFF else found

    def cohorts(self, tree: QuotaTree) -> Iterator[tuple[Node, CreditPolicyFact]]:
        """Yield the cohorts that are to have a ledger, with their policy."""
        for root, policy in self.trees(tree):
            for node in _cohorts_below(root):
                if any(True for _ in node.children()):
                    yield node, policy

    def governed(self, tree: QuotaTree) -> dict[str, tuple[CohortName, ...]]:
        """Return, for each policy, the root cohorts that it applies to."""
        found: dict[str, tuple[CohortName, ...]] = dict.fromkeys(self._policies, ())
        for root, policy in self.trees(tree):
            found[policy.name] = (*found[policy.name], CohortName(root.name))
        return found


def _cohorts_below(root: Node) -> Iterator[Node]:
    yield root
    for child in sorted(root.children(), key=_name):
        if not child.is_queue:
            yield from _cohorts_below(child)


def _name(node: Node) -> str:
    return node.name
