"""Changes of queues and cohorts that may help a workload; each needs a `trial`."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial

from queueing.core.entries import Ruling
from queueing.core.facts import (
    ClusterQueueFact,
    CohortFact,
    Preemption,
    PreemptionPolicy,
    StopPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.flavor_quotas import FlavorQuotas, Quota, ResourceGroup
from queueing.core.names import FlavorResource, Key, QueueName, name_of, namespace_of
from queueing.core.nomination import refusal
from queueing.core.quantities import quantity
from queueing.core.quota.node import QuotaNode
from queueing.core.selectors import Selector
from queueing.explain.lending import left_to_lend
from queueing.explain.model import Edit
from queueing.explain.place import before
from queueing.explain.probe import lacking
from queueing.explain.proposals import Proposal
from queueing.explain.spelling import listed
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Peers

LENDERS = 3
"""How many queues are tried that do not lend what they could."""


def resumed(memory: Memory, fact: WorkloadFact) -> Iterator[Proposal]:
    """Propose to resume the stopped queues that it is in."""
    door = memory.objects.local_queues.get(fact.local_queue or Key(""))
    if door is None:
        return
    if door.stop_policy is not StopPolicy.NONE:
        name = name_of(door.key)
        edit = Edit(
            object=f"LocalQueue {door.key}",
            field="spec.stopPolicy",
            before=door.stop_policy.value,
            after="None",
        )
        text = f"Resume LocalQueue {name}: set its stopPolicy to None"
        opened = replace(door, stop_policy=StopPolicy.NONE)
        yield Proposal("ResumeQueue", "Admin", text, (edit,), opened)
    queue = memory.objects.queues.get(door.cluster_queue)
    if queue is not None and queue.stop_policy is not StopPolicy.NONE:
        edit = _edit(queue, "spec.stopPolicy", queue.stop_policy.value, "None")
        text = f"Resume ClusterQueue {queue.name}: set its stopPolicy to None"
        made = replace(queue, stop_policy=StopPolicy.NONE)
        yield Proposal("ResumeQueue", "Admin", text, (edit,), made)


def opened(memory: Memory, fact: WorkloadFact, name: QueueName) -> Iterator[Proposal]:
    """Propose that a queue takes workloads of every namespace, if it does not take this one."""
    queue = memory.objects.queues[name]
    if refusal(fact, queue, memory.objects.namespaces) is None:
        return
    made = replace(queue, namespace_selector=Selector())
    edit = _edit(queue, "spec.namespaceSelector", "", "{}")
    home = namespace_of(fact.key)
    text = f"Let ClusterQueue {name} take workloads of namespace {home} (namespaceSelector)"
    yield Proposal("OpenQueue", "Admin", text, (edit,), made)


def passing(memory: Memory, name: QueueName) -> Iterator[Proposal]:
    """Propose that those behind the head of a StrictFIFO queue may pass it."""
    queue = memory.objects.queues[name]
    if queue.strategy is Strategy.STRICT_FIFO:
        edit = _edit(queue, "spec.queueingStrategy", "StrictFIFO", "BestEffortFIFO")
        text = f"Let others pass the head of ClusterQueue {name}: BestEffortFIFO"
        made = replace(queue, strategy=Strategy.BEST_EFFORT_FIFO)
        yield Proposal("LetOthersPass", "Admin", text, (edit,), made)


def more_quota(memory: Memory, ruling: Ruling) -> Iterator[Proposal]:
    """Propose larger quotas and limits, for this workload alone, then for all that wait."""
    lacked, node = lacking(ruling), ruling.entry.node
    # a flavor that has none of a resource in the whole tree is not given some, if another would do
    some = {one: amount for one, amount in lacked.items() if node.cell(one).potential()}
    short = some or lacked
    queue = memory.objects.queues[ruling.head.queue]
    for resource, missing in short.items():
        for more in _amounts(memory, ruling, resource, missing):
            made = _with_quota(queue, resource, partial(_raised, more=more))
            if made is None:
                break
            yield _quota_proposal("RaiseQuota", queue, made, resource, "nominalQuota")
        yield from _wider_limits(memory, node, queue, resource, missing)


def reclaiming(queue: ClusterQueueFact) -> Iterator[Proposal]:
    """Propose that a queue takes back what others borrow of its nominal quota."""
    policies = queue.preemption
    if policies.reclaim_within_cohort is PreemptionPolicy.ANY or queue.cohort is None:
        return
    edit = _edit(
        queue,
        "spec.preemption.reclaimWithinCohort",
        policies.reclaim_within_cohort.value,
        "Any",
    )
    made = replace(
        queue,
        preemption=Preemption(
            within_cluster_queue=policies.within_cluster_queue,
            reclaim_within_cohort=PreemptionPolicy.ANY,
            borrow_within_cohort=policies.borrow_within_cohort,
            max_priority_threshold=policies.max_priority_threshold,
        ),
    )
    text = f"Let ClusterQueue {queue.name} take back what others borrow of it"
    yield Proposal("AllowReclaim", "Admin", text, (edit,), made)


def _amounts(memory: Memory, ruling: Ruling, resource: FlavorResource, missing: int) -> list[int]:
    """Return by how much quota is raised, the least first.

    What the workload itself lacks, what it does with those before it in its queue, and what all
    that wait in the tree do. What is free, or kept for them already, they use first.
    """
    node, item = ruling.entry.node, memory.items.get(ruling.head.workload.key)
    names = memory.queues_of(node.root)
    lines = [memory.queues[name] for name in names if name in memory.queues]
    kept = [
        one.usage.get(resource, 0)
        for one in memory.ledger.promised.values()
        if memory.root_of(one.queue) is node.root
    ]
    free = node.cell(resource).available()
    own = missing + max(0, -free)
    found = {own}
    if item is not None:
        mine = item.peers.demand.shape.requests.get(resource.resource, 0)
        ahead = before(memory.queues[item.peers.queue], item)
        found.add(mine + _asked(ahead, resource) - free - sum(kept))
    everybody = ((one, one.size) for line in lines for one in line.peers.values())
    found.add(_asked(everybody, resource) - free - sum(kept))
    return sorted(one for one in found if one >= own)


def _asked(waiting: Iterable[tuple[Peers, int]], resource: FlavorResource) -> int:
    """Return what waiting workloads ask for: groups, and how many of each."""
    return sum(
        peers.demand.shape.requests.get(resource.resource, 0) * number for peers, number in waiting
    )


def _raised(old: Quota, more: int) -> Quota:
    return replace(old, nominal=old.nominal + more)


def _lending(old: Quota, limit: int) -> Quota:
    return replace(old, lending_limit=limit)


def _wider_limits(
    memory: Memory, node: QuotaNode, queue: ClusterQueueFact, resource: FlavorResource, missing: int
) -> Iterator[Proposal]:
    cell = node.cells.get(resource)
    limit = None if cell is None else cell.limits.borrowing_limit
    if limit is not None:
        made = _with_quota(
            queue, resource, lambda old: replace(old, borrowing_limit=limit + missing)
        )
        if made is not None:
            wider = _quota_proposal("RaiseBorrowingLimit", queue, made, resource, "borrowingLimit")
            lenders = [
                other.name
                for other in memory.tree.queues_of(node.root)
                if other is not node and left_to_lend(other, resource)
            ]
            lends = f", to borrow from {listed(lenders)}" if lenders else ""
            yield replace(wider, text=f"{wider.text}{lends}")
    found = 0
    for other in memory.tree.queues_of(node.root):
        theirs = other.cells.get(resource)
        fact = memory.objects.queues.get(QueueName(other.name))
        if other is node or theirs is None or fact is None or found >= LENDERS:
            continue
        most = theirs.limits.lending_limit
        if most is None or theirs.local_available() < missing:
            continue
        found += 1
        made = _with_quota(
            fact,
            resource,
            partial(_lending, limit=most + missing),
        )
        if made is not None:
            yield _quota_proposal("RaiseLendingLimit", fact, made, resource, "lendingLimit")


def _quota_proposal(
    kind: str,
    queue: ClusterQueueFact,
    made: ClusterQueueFact,
    resource: FlavorResource,
    field: str,
) -> Proposal:
    flavor, name = resource
    pick: Callable[[Quota], int | None] = {
        "nominalQuota": lambda one: one.nominal,
        "borrowingLimit": lambda one: one.borrowing_limit,
        "lendingLimit": lambda one: one.lending_limit,
    }[field]
    before, after = (pick(_quota_of(one, resource)) or 0 for one in (queue, made))
    old, new = quantity(name, before), quantity(name, after)
    edit = _edit(queue, f"{field} of {name} in flavor {flavor}", old, new)
    text = (
        f"Raise the {field} of {name} in flavor {flavor} of ClusterQueue {queue.name}"
        f" from {old} to {new}"
    )
    return Proposal(kind, "Admin", text, (edit,), made)


def _quota_of(queue: ClusterQueueFact, resource: FlavorResource) -> Quota:
    found = (
        quota
        for group in queue.groups
        for one in group.flavors
        if one.flavor == resource.flavor
        for name, quota in one.quotas
        if name == resource.resource
    )
    return next(found, Quota(nominal=0))


def _with_quota(
    queue: ClusterQueueFact, resource: FlavorResource, change: Callable[[Quota], Quota]
) -> ClusterQueueFact | None:
    """Return a queue with another quota; None if it does not list this flavor and resource."""
    if not any(
        one.flavor == resource.flavor and resource.resource in dict(one.quotas)
        for group in queue.groups
        for one in group.flavors
    ):
        return None

    def quotas(one: FlavorQuotas) -> FlavorQuotas:
        if one.flavor != resource.flavor:
            return one
        changed = tuple(
            (name, change(quota) if name == resource.resource else quota)
            for name, quota in one.quotas
        )
        return replace(one, quotas=changed)

    groups = tuple(
        ResourceGroup(covered=group.covered, flavors=tuple(map(quotas, group.flavors)))
        for group in queue.groups
    )
    return replace(queue, groups=groups)


def _edit(fact: ClusterQueueFact | CohortFact, field: str, before: str, after: str) -> Edit:
    kind = "ClusterQueue" if isinstance(fact, ClusterQueueFact) else "Cohort"
    return Edit(object=f"{kind} {fact.name}", field=field, before=before, after=after)
