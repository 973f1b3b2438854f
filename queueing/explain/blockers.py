"""What blocks a workload, one by one."""

from collections.abc import Iterator
from itertools import chain

from msgspec.structs import replace

from queueing.core.decisions import BARRED, Mode, Reason, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import CheckPhase, StopPolicy, WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.nomination import refusal
from queueing.core.placement.doubts import doubts
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.core.reasons import (
    TOO_MANY_LEAVE,
    Excess,
    NoLevel,
    NoPlace,
    Obstacle,
    Shortage,
    Uncovered,
)
from queueing.explain.model import Blocker
from queueing.explain.place import blocking_front
from queueing.explain.probe import Lack, lack_of, obstacles
from queueing.explain.remedies import Enough
from queueing.explain.scattered import scattered
from queueing.explain.spelling import listed, told
from queueing.state.memory.memory import Held, Memory
from queueing.state.usage.charges import Charge

CANNOT = "Can't admit new workloads: "


def of_held(memory: Memory, fact: WorkloadFact, held: Held) -> Iterator[Blocker]:
    """Yield what keeps a workload out of every queue."""
    wait = held.wait
    local = fact.local_queue or Key("")
    door = memory.objects.local_queues.get(local)
    match wait.reason:
        case Reason.DEACTIVATED:
            evicted = fact.conditions.get("Evicted")
            why = evicted.reason if evicted is not None and evicted.status else ""
            told_of = "" if why in {"", "Deactivated"} else f" ({why})"
            yield _blocker("Deactivated", f"Workload {fact.key}", f"it is deactivated{told_of}")
            yield from (one for one in of_checks(memory, fact) if "Rejected" in one.text)
        case Reason.ADMISSION_GATED:
            for gate in fact.admission_gates:
                yield _blocker("Gate", f"gate {gate}", f"the admission gate {gate} is closed")
        case Reason.ON_HOLD:
            policy = "" if door is None else f" (stopPolicy {door.stop_policy})"
            text = f"LocalQueue {local} is stopped{policy}"
            yield _blocker("Stopped", f"LocalQueue {local}", text)
        case Reason.MISCONFIGURED if door is None:
            yield _blocker("Queue", f"LocalQueue {local}", f"LocalQueue {local} does not exist")
        case Reason.MISCONFIGURED if wait.cluster_queue not in memory.objects.queues:
            text = f"ClusterQueue {wait.cluster_queue} does not exist"
            yield _blocker("Queue", f"ClusterQueue {wait.cluster_queue}", text)
        case Reason.PENDING_EVALUATION if held.until is not None:
            text = f"it is tried again at {told(held.until)}"
            evicted = fact.conditions.get("Evicted")
            if evicted is not None and evicted.status:
                text += f", after an eviction ({evicted.reason})"
            yield _blocker("Backoff", "", text)
        case Reason.PENDING_EVALUATION if fact.requeue_at is not None:
            evicted = fact.conditions.get("Evicted")
            why = f" ({evicted.reason})" if evicted is not None else ""
            text = f"it was evicted{why}, and is queued again at {told(fact.requeue_at)}"
            yield _blocker("Backoff", "", text)
        case _:
            yield _blocker("Other", "", _lowered(wait.message))


def of_queued(
    memory: Memory, fact: WorkloadFact, wait: Wait, ruling: Ruling | None, enough: Enough
) -> Iterator[Blocker]:
    """Yield what keeps a workload waiting that is in a queue.

    `enough` ends the search for others without whom there would be a place.
    """
    name = wait.cluster_queue
    if name is None:
        return
    queue = memory.objects.queues[name]
    if not memory.objects.is_active(name):
        active = memory.objects.activity(name)
        why = "" if active is None else active.message
        stopped = queue.stop_policy is not StopPolicy.NONE
        policy = f" (stopPolicy {queue.stop_policy})" if stopped else ""
        text = f"ClusterQueue {name} is {'stopped' if stopped else 'inactive'}{policy}"
        if not stopped:
            text += f": {_lowered(why.removeprefix(CANNOT).rstrip('.'))}"
        yield _blocker("Stopped" if stopped else "Inactive", f"ClusterQueue {name}", text)
        return
    refused = refusal(fact, queue, memory.objects.namespaces)
    if refused is not None:
        yield from _refused(memory, fact, name, refused.message)
        return
    if fact.key in memory.ledger.promised and wait.mode in {Mode.PREEMPT, Mode.DEFERRED_FIT}:
        yield _promised(memory, name, wait)
        return
    front = blocking_front(memory, fact, name)
    if front is not None:
        strict = memory.objects.is_strict(name)
        why = " and the queue is StrictFIFO" if strict else ""
        text = f"it is not its turn: {front} comes before it{why}"
        yield _blocker("Turn", f"Workload {front}", text)
    if wait.reason in BARRED:
        yield _blocker("Budget", "", _lowered(wait.message))
    elif wait.reason is Reason.WAITING_FOR_PODS_READY:
        yield _pods(memory, name)
    elif wait.message == TOO_MANY_LEAVE:
        text = "it would preempt others, and as many as allowed are leaving already"
        yield _blocker("Victims", "", text)
    elif ruling is not None:
        yield from _of_ruling(memory, ruling, enough)
        if fact.preemption_gated:
            text = "a gate forbids it to preempt others (spec.preemptionGates)"
            yield _blocker("Gate", "preemption gate", text)


def of_checks(memory: Memory, fact: WorkloadFact) -> Iterator[Blocker]:
    """Yield the admission checks of a workload with quota that are not Ready."""
    for one in fact.checks:
        if one.state is not CheckPhase.READY:
            known = memory.objects.checks.get(one.name)
            whose = "" if known is None else f" (its controller is {known.controller})"
            more = f": {one.message}" if one.message else ""
            text = f"admission check {one.name} is {one.state}{more}{whose}"
            yield _blocker("Check", f"AdmissionCheck {one.name}", text, since=one.changed)


def of_nodes(memory: Memory, fact: WorkloadFact, charge: Charge) -> Iterator[Blocker]:
    """Yield for which pods of an admitted workload there are no nodes, where that is known."""
    admission = charge.decision or fact.admission
    if admission is not None:
        for told_of in doubts(fact.pod_sets, admission.pod_sets, memory.tree.forest):
            yield _blocker("Place", f"Workload {fact.key}", told_of)


def _refused(
    memory: Memory, fact: WorkloadFact, name: QueueName, message: str
) -> Iterator[Blocker]:
    if any(one.state in {CheckPhase.RETRY, CheckPhase.REJECTED} for one in fact.checks):
        yield from of_checks(memory, fact)
    elif "namespace" in message:
        text = f"ClusterQueue {name} does not take workloads of this namespace (namespaceSelector)"
        yield _blocker("Namespace", f"ClusterQueue {name}", text)
    else:
        yield _blocker("Other", f"Workload {fact.key}", _lowered(message))


def _promised(memory: Memory, name: QueueName, wait: Wait) -> Blocker:
    """Say that others have to leave first."""
    root = memory.root_of(name)
    leaving = [key for key, queue in memory.ledger.leaving.items() if memory.root_of(queue) is root]
    victims = [one for one in wait.targets if one in memory.ledger.leaving] or sorted(leaving)
    shown = listed(victims)
    text = f"what it needs is promised to it, once {shown or 'others'} has ended"
    if len(victims) > 1:
        text = text.replace("has ended", "have ended")
    return _blocker("Victims", f"Workload {victims[0]}" if victims else "", text)


def _pods(memory: Memory, name: QueueName) -> Blocker:
    root = memory.root_of(name)
    waited = [
        key
        for key in sorted(memory.unready)
        if (charge := memory.ledger.charges.get(key)) is not None
        and memory.root_of(charge.holder.queue) is root
    ]
    shown = ", ".join(waited[:3]) or "others"
    text = f"admission waits until the pods of {shown} are ready (waitForPodsReady)"
    return _blocker("Pods", f"Workload {waited[0]}" if waited else "", text)


def _of_ruling(memory: Memory, ruling: Ruling, enough: Enough) -> Iterator[Blocker]:
    """Yield what is in the way in each flavor, shortages first."""
    found = obstacles(ruling)
    seen: dict[tuple[str, str], None] = {}
    shortages = [one for one in found if isinstance(one[1], Shortage | Excess)]
    for name, one in chain(shortages, (one for one in found if one not in shortages)):
        if (name, one.text) not in seen:
            seen[name, one.text] = None
            blocker = _obstacle(ruling, name, one)
            more = ""
            if isinstance(one, NoPlace):
                more = scattered(memory, ruling.entry, name, enough)
            yield replace(blocker, text=f"{blocker.text}; {more}") if more else blocker


def _obstacle(ruling: Ruling, pod_set: str, one: Obstacle) -> Blocker:
    node = ruling.entry.node
    lack = lack_of(one)
    if lack is None:
        text = _lowered(one.text).replace(" <nil>}", "}")
        if isinstance(one, NoLevel):
            text += f": it has {', '.join(one.levels)}"
        if isinstance(one, Uncovered):
            has = listed(
                sorted({each.resource for each, cell in node.cells.items() if cell.is_listed})
            )
            text += f" {node.name}, which has {f'quota of {has}' if has else 'no quota'}"
        kind = "Place" if isinstance(one, NoPlace) else "Flavor"
        return _blocker(kind, "", text, pod_set=pod_set)
    flavor, name = lack.resource
    cell = node.cell(lack.resource)
    if lack.capacity:
        most = cell.potential()
        limit, where = _capacity(node, lack.resource)
        text = (
            f"{quantity(name, lack.asked)} {name} is more than ClusterQueue {node.name} can ever "
            f"have of flavor {flavor} ({quantity(name, most)})"
        )
        kind, free = "Capacity", most
    else:
        free = lack.asked - lack.missing  # also what is kept for it already
        limit, where = _binding(node, lack.resource)
        text = (
            f"{quantity(name, lack.missing)} {name} more must be free in flavor {flavor}: it asks "
            f"for {quantity(name, lack.asked)}, and {quantity(name, free)} is free for "
            f"ClusterQueue {node.name}{_when(ruling, lack, free)}"
        )
        kind = "Quota"
    return Blocker(
        kind=kind,
        object=where,
        text=text,
        flavor=flavor,
        resource=name,
        pod_set=pod_set,
        requested=quantity(name, lack.asked),
        available=quantity(name, free),
        missing=quantity(name, lack.missing),
        limit=limit,
    )


def _when(ruling: Ruling, lack: Lack, free: int) -> str:
    """Say what of that is not free now."""
    now = max(0, ruling.entry.node.cell(lack.resource).available_now())
    return " once those who leave have ended" if free > now else ""


def _binding(node: QuotaNode, resource: FlavorResource) -> tuple[str, str]:
    """Return the limit that makes no more available, and its object.

    From the queue upwards: the first borrowing limit that leaves least, else the quota of the root.
    """
    own = node.cell(resource)
    least, found = own.available(), node
    limit = "nominalQuota"
    above: QuotaNode | None = node
    while above is not None:
        cell = above.cell(resource)
        if cell.parent is not None and cell.limits.borrowing_limit is not None:
            most = cell.quota + cell.limits.borrowing_limit - max(cell.usage, cell.local)
            if most + cell.local_available() <= least:
                return f"borrowingLimit of {_spelled(above)}", _spelled(above)
        if above.parent is None:
            found = above
        above = above.parent
    return f"{limit} of {_spelled(found)}", _spelled(found)


def _capacity(node: QuotaNode, resource: FlavorResource) -> tuple[str, str]:
    above: QuotaNode | None = node
    while above is not None:
        cell = above.cell(resource)
        limit = cell.limits.borrowing_limit
        binds = cell.parent is not None and limit is not None
        if binds and cell.potential() == cell.quota + (limit or 0):
            return f"borrowingLimit of {_spelled(above)}", _spelled(above)
        if above.parent is None:
            return f"nominalQuota of {_spelled(above)}", _spelled(above)
        above = above.parent
    return "", ""


def _spelled(node: QuotaNode) -> str:
    return f"{'ClusterQueue' if node.is_queue else 'Cohort'} {node.name}"


def _lowered(message: str) -> str:
    """Return a message as the part of a sentence."""
    first, _, _ = message.partition(" ")
    return message[:1].lower() + message[1:] if first[1:].islower() else message


def _blocker(
    kind: str, of: str, text: str, *, pod_set: str = "", since: float | None = None
) -> Blocker:
    return Blocker(kind=kind, object=of, text=text, pod_set=pod_set, since=told(since or None))
