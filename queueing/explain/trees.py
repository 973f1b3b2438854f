"""The answer about cohorts: the tree of those below, each with its quota."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from queueing.core.names import CohortName, FlavorResource, QueueName
from queueing.core.quota.node import QuotaNode
from queueing.explain.model import CohortExplanation, TreeNode
from queueing.explain.quotas import Lending, matters, promised_to, quota_row
from queueing.state.memory.memory import Memory

NODES = 200
"""How many nodes one answer holds at most: what is deeper is asked for by the name of a cohort."""


@dataclass(slots=True)
class _Sums:
    """What the queues below a node add up to."""

    pending: int = 0
    holding: int = 0
    amounts: dict[FlavorResource, tuple[int, int, int]] = field(default_factory=dict)
    """Nominal quota, used, promised."""

    def add(self, one: FlavorResource, nominal: int, used: int, promised: int) -> None:
        before = self.amounts.get(one, (0, 0, 0))
        self.amounts[one] = before[0] + nominal, before[1] + used, before[2] + promised

    def take(self, other: "_Sums") -> None:
        self.pending += other.pending
        self.holding += other.holding
        for one, amounts in other.amounts.items():
            self.add(one, *amounts)


def explain_cohort(memory: Memory, name: CohortName | None) -> CohortExplanation | None:
    """Explain a cohort, or all trees without a name; None if there is no such cohort."""
    if name is None:
        tops = sorted(memory.tree.roots(), key=_order)
    else:
        found = memory.tree.cohort(name)
        if found is None:
            return None
        tops = [found]
    sums = _sums(memory, tops)
    shown = set(_nearest(tops))
    lending = Lending()
    nodes = tuple(
        _told(memory, node, depth, sums[node], lending)
        for node, depth in _walk(tops, 0)
        if node in shown
    )
    return CohortExplanation(name=name or "", nodes=nodes, omitted=len(sums) - len(nodes))


def _order(node: QuotaNode) -> tuple[bool, str]:
    return node.is_queue, node.name


def _walk(nodes: list[QuotaNode], depth: int) -> Iterator[tuple[QuotaNode, int]]:
    """Yield nodes with all below them, parents first, cohorts before queues, by name."""
    for node in nodes:
        yield node, depth
        yield from _walk(sorted(node.children(), key=_order), depth + 1)


def _nearest(tops: list[QuotaNode]) -> Iterator[QuotaNode]:
    """Yield at most `NODES` nodes, level by level."""
    level, left = tops, NODES
    while level and left > 0:
        yield from level[:left]
        left -= len(level)
        level = [one for node in level for one in sorted(node.children(), key=_order)]


def _sums(memory: Memory, tops: list[QuotaNode]) -> dict[QuotaNode, _Sums]:
    """Return the sums of each node of some trees."""
    promised = promised_to(memory)
    found: dict[QuotaNode, _Sums] = {}
    for node, _ in reversed(list(_walk(tops, 0))):
        mine = found.setdefault(node, _Sums())
        for one in [one for one in node.cells if matters(node, one)]:
            cell = node.cells[one]
            kept = promised.get(node.name, {}).get(one, 0) if node.is_queue else 0
            mine.add(one, cell.limits.nominal, cell.held if node.is_queue else 0, kept)
        if node.is_queue:
            name = QueueName(node.name)
            mine.pending = _pending(memory, name)
            mine.holding = sum(1 for _ in memory.ledger.charges_of(name))
        if node.parent is not None and node not in tops:
            found.setdefault(node.parent, _Sums()).take(mine)
    return found


def _pending(memory: Memory, name: QueueName) -> int:
    queue = memory.queues.get(name)
    here = 0 if queue is None else sum(queue.pending())
    doors = memory.objects.local_queues_of.get(name, ())
    return here + sum(memory.aside.counted[key] for key in doors)


def _told(memory: Memory, node: QuotaNode, depth: int, sums: _Sums, lending: Lending) -> TreeNode:
    activity = memory.objects.activity(QueueName(node.name)) if node.is_queue else None
    return TreeNode(
        kind="ClusterQueue" if node.is_queue else "Cohort",
        name=node.name,
        parent="" if node.parent is None else node.parent.name,
        depth=depth,
        active=activity is None or activity.status,
        pending=sums.pending,
        holding=sums.holding,
        quotas=tuple(
            quota_row(node, one, amounts, lending.of)
            for one, amounts in sorted(sums.amounts.items())
        ),
    )
