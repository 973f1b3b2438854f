"""Parts of a queue's line: who waits, and who holds quota, a page at a time.

To find the first fifty of 50,000 the groups of equal workloads, which are sorted, are merged: no
more is looked at than comes before the last of the page.
"""

from collections.abc import Iterable, Iterator
from heapq import merge, nsmallest
from itertools import islice

from msgspec.structs import replace

from queueing.core.decisions import Wait
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName, name_of, namespace_of
from queueing.core.quantities import quantity
from queueing.explain.model import Line, LineRow
from queueing.explain.spelling import told
from queueing.state.answers.waits import current_wait
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item, Peers
from queueing.state.queues.pending import PendingQueue
from queueing.state.usage.charges import Charge

ROWS_MAX = 500
"""How many rows one answer holds at most."""


def waiting_in(
    memory: Memory, name: QueueName, only: Key | None, window: tuple[int, int]
) -> Line | None:
    """Return who waits in a ClusterQueue, or in `only` one LocalQueue of it, in its order.

    Those who must not be tried yet have no place; they come after the others. `window` is the
    first row and the number of rows. None if there is no such queue.
    """
    if _is_absent(memory, name, only):
        return None
    offset, limit = window[0], min(window[1], ROWS_MAX)
    queue = memory.queues.get(name)
    groups = [] if queue is None else [one for one in queue.peers.values() if _is_of(one, only)]
    in_line = sum(one.size for one in groups)
    doors = memory.objects.local_queues_of.get(name, ()) if only is None else (only,)
    beside = sum(memory.aside.counted[key] for key in doors)
    rows: list[LineRow] = []
    if queue is not None:
        part = islice(_in_order(queue, groups), offset, offset + limit)
        rows = [_waits(memory, item, at) for at, item in enumerate(part, offset)]
    if beside and len(rows) < limit:
        held = [key for key, one in memory.aside.held.items() if one.counts_in in doors]
        begin = max(0, offset - in_line)
        rows += [_held(memory, key) for key in held[begin : begin + limit - len(rows)]]
    return Line(
        cluster_queue=name,
        local_queue=only or "",
        holding=False,
        offset=offset,
        in_all=in_line + beside,
        rows=tuple(rows),
    )


def holding_in(
    memory: Memory, name: QueueName, only: Key | None, window: tuple[int, int]
) -> Line | None:
    """Return who holds quota of a queue, those for longest first; None if there is no such queue.

    What a LocalQueue holds is looked for in its ClusterQueue.
    """
    if _is_absent(memory, name, only):
        return None
    offset, limit = window[0], min(window[1], ROWS_MAX)
    found = [
        one for one in memory.ledger.charges_of(name) if only in (None, one.holder.local_queue)
    ]
    first = nsmallest(offset + limit, found, key=_since)[offset:]
    return Line(
        cluster_queue=name,
        local_queue=only or "",
        holding=True,
        offset=offset,
        in_all=len(found),
        rows=tuple(_holds(memory, one) for one in first),
    )


def _is_absent(memory: Memory, name: QueueName, only: Key | None) -> bool:
    """Say whether there is no such queue."""
    if only is not None:
        return only not in memory.objects.local_queues
    return memory.objects.activity(name) is None


def _is_of(peers: Peers, only: Key | None) -> bool:
    return only in (None, peers.local_queue)


def _in_order(queue: PendingQueue, groups: Iterable[Peers]) -> Iterator[Item]:
    """Yield the items of some groups in the order of their queue: see `PendingQueue.place`."""
    by_usage: dict[float, list[Peers]] = {}
    for peers in groups:
        by_usage.setdefault(queue.place(peers.line[0][1])[0], []).append(peers)
    for _, equals in sorted(by_usage.items()):
        for _, item in merge(*(peers.line for peers in equals)):
            yield item


def _since(charge: Charge) -> tuple[float, Key]:
    return charge.holder.reserved_at, charge.holder.key


def _waits(memory: Memory, item: Item, position: int) -> LineRow:
    row = _row(item.fact, "Waiting", item.timestamp)
    return _with_reason(row, current_wait(memory, item), position)


def _held(memory: Memory, key: Key) -> LineRow:
    fact = memory.workloads[key]
    return _with_reason(_row(fact, "Waiting", fact.created), memory.aside.held[key].wait, None)


def _with_reason(row: LineRow, wait: Wait, position: int | None) -> LineRow:
    return replace(row, reason=wait.reason.value, message=wait.message, position=position)


def _holds(memory: Memory, charge: Charge) -> LineRow:
    holder = charge.holder
    state = "Leaving" if holder.evicted else "Admitted" if charge.admitted else "Reserved"
    uses = {
        f"{one.resource} of {one.flavor}": quantity(one.resource, amount)
        for one, amount in sorted(holder.usage.items())
    }
    return replace(_row(memory.workloads[holder.key], state, holder.reserved_at), uses=uses)


def _row(fact: WorkloadFact, state: str, since: float) -> LineRow:
    return LineRow(
        namespace=namespace_of(fact.key),
        name=name_of(fact.key),
        local_queue="" if fact.local_queue is None else name_of(fact.local_queue),
        priority=fact.priority,
        position=None,
        state=state,
        reason="",
        message="",
        since=told(since),
        uses={},
    )
