"""The tournament against its rules: every game played anew before every place is given."""

from collections.abc import Iterator
from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.entries import Entry
from queueing.core.facts import ClusterQueueFact, CohortFact
from queueing.core.fair_sharing.order import fair_order
from queueing.core.fair_sharing.shares import Shares
from queueing.core.flavors.assignment import Assignment
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.settings import FairSharing, Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import cluster_queue, cohort, quota, workload
from tests.lengths import lengths

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
GPU = FlavorResource(FlavorName("default"), ResourceName("gpu"))
PARENTS = {"left": "top", "right": "top", "deep": "left"}
QUEUES = "abcdef"
FEW = settings(max_examples=50, deadline=None, derandomize=True)
MANY = settings(max_examples=1_000, deadline=None)
weights = st.sampled_from([Fraction(1), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(0)])
amounts = st.fixed_dictionaries({CPU: st.integers(0, 4)}, optional={GPU: st.integers(1, 3)})


@st.composite
def worlds(draw: st.DrawFn) -> tuple[Arena, list[Entry]]:
    """Draw a forest in use, and at most two entries per queue."""
    facts: list[ClusterQueueFact | CohortFact] = [
        cohort(name, parent, fair_weight=draw(weights)) for name, parent in PARENTS.items()
    ]
    for name in QUEUES:
        table = {one: quota(draw(st.integers(0, 4))) for one in ("cpu", "gpu")}
        parent = draw(st.sampled_from(["top", "other", *PARENTS, None]))
        facts.append(
            cluster_queue(name, {"default": table}, cohort=parent, fair_weight=draw(weights))
        )
    arena = Arena(*facts)
    for name in QUEUES:
        arena.tree.add_usage(QueueName(name), draw(amounts))
    names = draw(st.lists(st.sampled_from(QUEUES * 2), max_size=8, unique=False))
    entries = []
    for number, name in enumerate(names):
        usage = draw(amounts)
        fact = workload(
            f"w{number}",
            {one.resource: amount for one, amount in usage.items()},
            local_queue=f"team/{name}",
            priority=draw(st.integers(0, 1)),
            created=float(draw(st.integers(0, 2))),
        )
        head, queue = arena.head(fact), QueueName(name)
        rules, node = arena.rules[queue], arena.tree.queue(queue)
        outline = rules.offer.outline(head.demand, arena.settings.quota_check)
        assigned = Assignment(demand=head.demand, outline=outline, usage=usage)
        entries.append(Entry(head, rules, node, assigned, assigned.usage))
    return arena, entries


def letter(left: list[Entry], tree: QuotaTree, *, prefers: bool) -> Iterator[Entry]:
    """Give place after place; roots in order of their names, cohorts before lone queues."""

    def key(child: QuotaNode, one: Entry) -> tuple[object, ...]:
        with tree.attempt():
            tree.add_usage(one.head.queue, one.usage)
            borrows = prefers and child.borrows(one.usage)
            share = Shares().of(child)
        fact = one.head.workload
        return borrows, share, -fact.priority, fact.created, fact.uid

    def best(node: QuotaNode) -> Entry | None:
        if node.is_queue:
            games = [(key(node, one), one) for one in left if one.node is node]
        else:
            winners = [(child, best(child)) for child in node.children()]
            games = [(key(child, one), one) for child, one in winners if one is not None]
        return min(games, key=lambda game: game[0])[1] if games else None

    roots = {one.node.root for one in left}
    for root in sorted(roots, key=lambda node: (node.is_queue, node.name)):
        while (winner := best(root)) is not None:
            left.remove(winner)
            yield winner


def check_order(world: tuple[Arena, list[Entry]], *, prefers: bool) -> None:
    arena, entries = world
    tree = arena.tree
    fair = FairSharing(strategies=(), prioritize_non_borrowing=prefers)
    orders: list[list[str]] = []
    for give in (
        fair_order(entries, tree, Settings(fair_sharing=fair)),
        letter(list(entries), tree, prefers=prefers),
    ):
        with tree.attempt():
            order: list[str] = []
            for one in give:
                order.append(one.head.workload.uid)
                tree.add_usage(one.head.queue, one.usage)
        orders.append(order)
    assert orders[0] == orders[1]


@lengths("tries", FEW, MANY)
def test_the_order_of_heads(tries: settings) -> None:
    tries(given(world=worlds(), prefers=st.booleans())(check_order))()
