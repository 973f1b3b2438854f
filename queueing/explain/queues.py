"""The answer about one queue."""

from collections.abc import Iterator

from queueing.core.names import Key, QueueName, name_of, namespace_of
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.explain.lending import left_to_lend
from queueing.explain.model import Group, QueueExplanation
from queueing.explain.quotas import promised_to, queue_rows
from queueing.reports import queues as reports
from queueing.reports.views import QueueView
from queueing.state.answers.waits import current_wait
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item

GROUPS = 20
LENDERS = 5


def explain_cluster_queue(memory: Memory, name: QueueName) -> QueueExplanation | None:
    """Explain a ClusterQueue; None if there is none of this name."""
    view = reports.cluster_queue(memory, name)
    return None if view is None else _answer(memory, name, None, view)


def explain_local_queue(memory: Memory, key: Key) -> QueueExplanation | None:
    """Explain a LocalQueue; None if there is none of this name."""
    view = reports.local_queue(memory, key)
    if view is None:
        return None
    return _answer(memory, memory.objects.local_queues[key].cluster_queue, key, view)


def _answer(memory: Memory, name: QueueName, only: Key | None, view: QueueView) -> QueueExplanation:
    fact = memory.objects.queues.get(name)
    node = memory.tree.queue(name) if memory.tree.has_queue(name) else None
    groups = _groups(memory, name, only)
    pending = view.pending
    waits = f"{pending} workload{'s' if pending != 1 else ''} wait{'s' if pending == 1 else ''}"
    summary = f"{waits if pending else 'Nobody waits'}, {view.admitted} admitted."
    if not view.active.status:
        summary = f"It is not active: {view.active.message.rstrip('.')}. {summary}"
    return QueueExplanation(
        queue="ClusterQueue" if only is None else "LocalQueue",
        namespace="" if only is None else namespace_of(only),
        name=name if only is None else name_of(only),
        cluster_queue=name,
        cohort="" if fact is None or fact.cohort is None else fact.cohort,
        active=view.active.status,
        summary=summary,
        pending=pending,
        inadmissible=view.pending_inadmissible,
        reserving=view.reserving,
        admitted=view.admitted,
        quotas=() if node is None else tuple(queue_rows(node, promised_to(memory).get(name, {}))),
        groups=groups[:GROUPS],
        groups_omitted=max(0, len(groups) - GROUPS),
        lenders=() if node is None else tuple(_lenders(memory, node)),
    )


def _groups(memory: Memory, name: QueueName, only: Key | None) -> tuple[Group, ...]:
    """Return the workloads that wait, in groups of equal reason, the largest first."""
    found: dict[tuple[str, str], list[Item]] = {}
    counts: dict[tuple[str, str], int] = {}
    firsts: dict[tuple[str, str], str] = {}
    queue = memory.queues.get(name)
    for peers in () if queue is None else queue.peers.values():
        if only not in (None, peers.local_queue):
            continue
        top = peers.line[0][1]
        wait = current_wait(memory, top)
        key = wait.reason.value, wait.message
        counts[key] = counts.get(key, 0) + peers.size
        found.setdefault(key, []).append(top)
    for key, tops in found.items():
        if queue is not None:
            firsts[key] = min(tops, key=queue.place).fact.key
    doors = memory.objects.local_queues_of.get(name, ()) if only is None else (only,)
    for workload, held in memory.aside.held.items():
        if held.local_queue in doors:
            key = held.wait.reason.value, held.wait.message
            counts[key] = counts.get(key, 0) + 1
            firsts.setdefault(key, workload)
    groups = [
        Group(reason=key[0], message=key[1], count=count, first=firsts[key])
        for key, count in counts.items()
    ]
    return tuple(sorted(groups, key=lambda one: (-one.count, one.reason, one.message)))


def _lenders(memory: Memory, node: QuotaNode) -> Iterator[str]:
    """Yield other queues of the tree that have quota to lend of what this one has used up."""
    if node.parent is None:
        return
    wanted = [
        one for one, cell in node.cells.items() if cell.is_listed and cell.usage >= cell.quota
    ]
    named = 0
    for name in memory.queues_of(node.root):
        other = memory.tree.queue(name)
        free = {}
        for one in wanted:
            left = min(left_to_lend(other, one), node.cell(one).available())
            if left > 0:
                free[one] = left
        if other is node or not free:
            continue
        named += 1
        if named > LENDERS:
            return
        shown = ", ".join(
            f"{quantity(one.resource, amount)} {one.resource} of {one.flavor}"
            for one, amount in sorted(free.items())
        )
        yield f"{name}: {shown}"
