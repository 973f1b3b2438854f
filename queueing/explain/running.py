"""What holds for a workload that has quota: what it uses, and who might preempt it."""

from collections.abc import Iterator

from queueing.core.facts import ClusterQueueFact, PreemptionPolicy
from queueing.core.names import FlavorResource
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.explain.model import HeldQuota, Holding, Threat
from queueing.explain.spelling import told
from queueing.state.answers.excess import is_needed
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge

THREATS = 8
"""How many queues are named from which it may be preempted."""
_BY_PRIORITY = {
    PreemptionPolicy.LOWER_PRIORITY,
    PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY,
}


def run_of(memory: Memory, charge: Charge, now: float) -> Holding:
    """Describe a workload that holds quota."""
    holder = charge.holder
    has_node = memory.tree.has_queue(holder.queue)
    node = memory.tree.queue(holder.queue) if has_node else None
    uses = tuple(
        HeldQuota(
            flavor=one.flavor,
            resource=one.resource,
            amount=quantity(one.resource, amount),
            borrowed=quantity(one.resource, 0 if node is None else borrowed(node, one)),
        )
        for one, amount in sorted(holder.usage.items())
    )
    protected = holder.protected_until if memory.settings.rules.weighs_work else 0.0
    return Holding(
        since=told(holder.started),
        uses=uses,
        threats=() if node is None else tuple(_threats(memory, charge, node)),
        protected_until=told(protected) if protected > now else None,
        spared_until=None if node is None else told(_spared_until(memory, charge, node, now)),
        claims=()
        if holder.pod_sets  # a slice, which shares with others of its job, and by no claim
        else tuple(dict.fromkeys(one.claim for one in holder.parts)),
        promised=is_needed(memory, holder.key),
        credit="" if node is None else _credit(node),
    )


def _spared_until(memory: Memory, charge: Charge, node: QuotaNode, now: float) -> float | None:
    """Return until when a CreditPolicy lets nobody preempt it by shares; None if one may."""
    patience = memory.credits.patience.get(node.root)
    if patience is None or memory.settings.fair_sharing is None:
        return None
    if not patience.protects(charge.holder):
        return None
    until = charge.holder.reserved_at + memory.clock - patience.settled_by
    return until if until > now else None


def borrowed(node: QuotaNode, one: FlavorResource) -> int:
    """Return how much of a flavor-resource a queue borrows, with what is promised."""
    cell = node.cell(one)
    return 0 if node.parent is None else max(0, cell.held - cell.quota)


def _threats(memory: Memory, charge: Charge, node: QuotaNode) -> Iterator[Threat]:
    """Yield the rules by which others may preempt it, those of its own queue first."""
    holder = charge.holder
    if holder.evicted:
        return
    own = memory.objects.queues.get(holder.queue)
    if own is not None:
        policy = own.preemption.within_cluster_queue
        if policy is not PreemptionPolicy.NEVER:
            yield _threat(own, policy, holder.priority, "in its own queue")
    lent = [one for one in holder.usage if node.borrows((one,))]
    if not lent:
        return
    fair = memory.settings.fair_sharing is not None
    named = 0
    for name in memory.queues_of(node.root):
        other = memory.objects.queues[name]
        policy = other.preemption.reclaim_within_cohort
        if name == holder.queue or policy is PreemptionPolicy.NEVER or named >= THREATS:
            continue
        theirs = memory.tree.queue(name)
        has_quota = any(theirs.cell(one).quota for one in lent)
        if (
            not has_quota
            and not fair
            and other.preemption.borrow_within_cohort is (PreemptionPolicy.NEVER)
        ):
            continue
        named += 1
        shown = ", ".join(f"{one.resource} of {one.flavor}" for one in sorted(lent))
        yield _threat(other, policy, holder.priority, f"while {holder.queue} borrows {shown}")


def _threat(queue: ClusterQueueFact, policy: PreemptionPolicy, priority: int, why: str) -> Threat:
    by_priority = policy in _BY_PRIORITY
    older = policy is PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY
    who = f"workloads of ClusterQueue {queue.name}"
    if by_priority:
        who += f" with a priority above {priority}"
        who += ", or of the same if they are older" if older else ""
    return Threat(
        cluster_queue=queue.name,
        above_priority=priority if by_priority else None,
        or_older_equal=older,
        text=f"{who}, {why}",
    )


def _credit(node: QuotaNode) -> str:
    above: QuotaNode | None = node
    while above is not None:
        if above.bend is not None:
            return f"x{float(above.bend):.2f}"
        above = above.parent
    return ""
