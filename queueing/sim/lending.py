"""Who uses whose quota: nominal, used, borrowed and lent amounts of every queue and cohort.

The first three are the quota tree's own. `lent` is what others use of a node's quota. What the
members of a cohort borrow is charged first to the quota that is unused inside the cohort: to its
members, and to the cohort's own, in proportion to what each has left to lend (what does not divide
goes to the largest remainders). The rest the cohort has borrowed from its own parent.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.fair_sharing.shares import weighted_share
from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.node import Node
from queueing.core.quota.tree import QuotaTree


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
    leaves: dict[QueueName, Node] = {}
    for cohort in sorted(cohorts, key=lambda one: one.name):
        tree.put_cohort(cohort)
        names |= dict.fromkeys(filter(None, (cohort.name, cohort.parent)))
    for queue in sorted(queues, key=lambda one: one.name):
        tree.put_queue(queue)
        tree.add_usage(queue.name, usage.get(queue.name, {}))
        leaves[queue.name] = tree.queue(queue.name)
        names |= dict.fromkeys([queue.cohort] if queue.cohort else [])
    inner = {name: node for name in sorted(names) if (node := tree.cohort(name)) is not None}
    lent: dict[tuple[Node, FlavorResource], int] = {}
    for root in (node for node in (*inner.values(), *leaves.values()) if node.parent is None):
        for resource in sorted(root.resources()):
            _charge(root, resource, lent)
    return QuotaBalances(
        queues={name: _balances(node, lent) for name, node in leaves.items()},
        cohorts={name: _balances(node, lent) for name, node in inner.items()},
        queue_shares={name: weighted_share(node) for name, node in leaves.items()},
        cohort_shares={name: weighted_share(node) for name, node in inner.items()},
    )


def _balances(
    node: Node, lent: Mapping[tuple[Node, FlavorResource], int]
) -> dict[FlavorResource, QuotaBalance]:
    return {
        resource: QuotaBalance(
            nominal=node.cell(resource).quota,
            used=node.cell(resource).usage,
            borrowed=_borrowed(node, resource),
            lent=lent.get((node, resource), 0),
        )
        for resource in sorted(set(node.resources()) | _declared(node))
    }


def _borrowed(node: Node, resource: FlavorResource) -> int:
    """Return the usage above the subtree's quota; 0 for a root, which cannot borrow."""
    cell = node.cell(resource)
    return 0 if node.parent is None else max(0, cell.usage - cell.quota)


def _declared(node: Node) -> set[FlavorResource]:
    """Return what the object itself gives a quota of, be it 0."""
    return {
        FlavorResource(flavors.flavor, resource)
        for group in (node.fact.groups if node.fact else ())
        for flavors in group.flavors
        for resource, _ in flavors.quotas
    }


def _charge(
    node: Node, resource: FlavorResource, lent: dict[tuple[Node, FlavorResource], int]
) -> None:
    """Charge what members borrow, and what was taken from above, to who has something left."""
    children = list(_in_order(node))
    wanted = sum(_borrowed(child, resource) for child in children)
    wanted += lent.get((node, resource), 0)
    left = [child.cell(resource) for child in children]
    supply = [max(0, cell.quota - max(cell.usage, cell.local)) for cell in left]
    supply.append(node.nominal(resource))
    shares = _in_proportion(min(wanted, sum(supply)), supply)
    for child, share in zip(children, shares, strict=False):
        lent[child, resource] = share
        _charge(child, resource, lent)


def _in_order(node: Node) -> Iterator[Node]:
    return iter(sorted(node.children(), key=lambda child: (child.is_queue, child.name)))


def _in_proportion(amount: int, supply: list[int]) -> list[int]:
    """Split an amount by largest remainder; equal remainders in the order given."""
    total = sum(supply)
    if total == 0:
        return [0] * len(supply)
    shares = [amount * one // total for one in supply]
    by_remainder = sorted(range(len(supply)), key=lambda index: -(amount * supply[index] % total))
    for index in by_remainder[: amount - sum(shares)]:
        shares[index] += 1
    return shares
