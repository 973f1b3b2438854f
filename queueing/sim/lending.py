"""Who uses whose quota: nominal, used, borrowed and lent amounts of every queue and cohort.

The first three are the quota tree's own, `lent` is what `explain.lending` says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.fair_sharing.shares import weighted_share
from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.explain.lending import borrowed, lent_in


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotaBalance:
    """Amounts of one flavor and resource at one node; a cohort's nominal is its subtree's."""

    nominal: int
    used: int
    borrowed: int
    lent: int


Balances = dict[str, dict[FlavorResource, QuotaBalance]]


@dataclass(frozen=True, slots=True)
class QuotaBalances:
    """Balances of all ClusterQueues and of all cohorts, named or only implied."""

    queues: Balances
    cohorts: Balances
    queue_shares: Mapping[str, int]
    """Weighted shares, as statuses show them with fair sharing: there without it, too."""
    cohort_shares: Mapping[str, int]


def balance(
    queues: Iterable[ClusterQueueFact],
    cohorts: Iterable[CohortFact],
    *,
    usage: Mapping[str, Mapping[FlavorResource, int]],
) -> QuotaBalances:
    """Compute the balances of every node; `usage` is the reserved quota of each ClusterQueue."""
    tree = QuotaTree()
    names: dict[CohortName, None] = {}
    leaves: dict[QueueName, QuotaNode] = {}
    for cohort in sorted(cohorts, key=lambda one: one.name):
        tree.put_cohort(cohort)
        names |= dict.fromkeys(filter(None, (cohort.name, cohort.parent)))
    for queue in sorted(queues, key=lambda one: one.name):
        tree.put_queue(queue)
        tree.add_usage(queue.name, usage.get(queue.name, {}))
        leaves[queue.name] = tree.queue(queue.name)
        names |= dict.fromkeys([queue.cohort] if queue.cohort else [])
    inner = {name: node for name in sorted(names) if (node := tree.cohort(name)) is not None}
    lent = {
        (node, resource): amount
        for root in (*inner.values(), *leaves.values())
        if root.parent is None
        for resource in root.resources()
        for node, amount in lent_in(root, resource).items()
    }
    return QuotaBalances(
        queues={name: _balances(node, lent) for name, node in leaves.items()},
        cohorts={name: _balances(node, lent) for name, node in inner.items()},
        queue_shares={name: weighted_share(node) for name, node in leaves.items()},
        cohort_shares={name: weighted_share(node) for name, node in inner.items()},
    )


def _balances(
    node: QuotaNode, lent: Mapping[tuple[QuotaNode, FlavorResource], int]
) -> dict[FlavorResource, QuotaBalance]:
    return {
        resource: QuotaBalance(
            nominal=node.cell(resource).quota,
            used=node.cell(resource).usage,
            borrowed=borrowed(node, resource),
            lent=lent.get((node, resource), 0),
        )
        for resource in sorted(set(node.resources()) | _declared(node))
    }


def _declared(node: QuotaNode) -> set[FlavorResource]:
    """Return what the object itself gives a quota of, be it 0."""
    return {
        FlavorResource(flavors.flavor, resource)
        for group in (node.fact.groups if node.fact else ())
        for flavors in group.flavors
        for resource, _ in flavors.quotas
    }
