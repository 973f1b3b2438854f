"""Which waiting workloads become READY again after an event.

The events are few, and wake one too many rather than one too few:

- a release of quota, or a promise that is broken, or a new possible victim: all workloads of the
  tree but those on a shelf, for which `heads` looks whether enough of what they lack can be had;
- a change of quotas, cohorts, flavors or checks: all workloads of the queues that it reaches;
- labels of a namespace; pods that became ready; users of a ResourceClaim;
- room on nodes: all workloads of queues with a topology; a place that is left: those of other
  trees that offer such a place and are on no shelf.

Whoever is missed all the same is found by a sweep. In Kueue mode each event of Kueue's list wakes
all waiting workloads of the tree.
"""

from collections.abc import Callable, Iterable

from queueing.core.decisions import Mode, Reason
from queueing.core.names import Key, QueueName, namespace_of
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Peers
from queueing.state.usage.charges import UsageChanges


def wake_waiting(memory: Memory) -> None:
    """Make the workloads READY that the changes since the last call may help; forget the changes.

    Called at the begin of a cycle and after each of its rounds.
    """
    edits = memory.edits
    if edits.reshaped or edits.bent:
        _reshape(memory, forgets=edits.reshaped)
        edits.reshaped = edits.bent = False
    for name in edits.refitted:
        _note_activity(memory, name)
        root = None if memory.settings.rules.waits_for_lacks else memory.root_of(name)
        _wake_all(memory, (name,) if root is None else memory.queues_of(root))
    edits.refitted.clear()
    if edits.roomier:
        edits.roomier = False
        rules, only = memory.objects.rules, memory.settings.rules.waits_for_lacks
        _wake_all(memory, [name for name, one in rules.items() if one.offer.places or not only])
    if edits.relabelled:
        names, none, queues = edits.relabelled, Key(""), memory.queues
        _wake_all(memory, queues, lambda one: namespace_of(one.local_queue or none) in names)
        edits.relabelled.clear()
    if edits.pods_turned_ready:
        edits.pods_turned_ready = False
        if memory.settings.block_admission_until_pods_ready:
            pods = Reason.WAITING_FOR_PODS_READY
            _wake_all(memory, memory.queues, lambda one: one.wait and one.wait.reason is pods)
    changes = memory.ledger.changes
    if changes.released or changes.newcomers or changes.joined or changes.vacated:
        _spread(memory, memory.ledger.take_changes())


def _spread(memory: Memory, changes: UsageChanges) -> None:
    """Wake the workloads that usage changes may help: released quota, new possible victims, places.

    Who waits on a shelf stays there, and who waits for what was promised to it sleeps on. Places
    also help those of other trees that share the nodes, and have the quota.
    """
    used = changes.joined
    _wake_all(memory, used, lambda one: not used[one.queue].isdisjoint(one.demand.claims))
    released = _within_trees(memory, changes.released)
    if not memory.settings.rules.waits_for_lacks:
        _wake_all(memory, sorted(released))
        return
    rules = memory.objects.rules
    near = _within_trees(memory, changes.newcomers)
    reached = released.union(one for one in near if not rules[one].never_preempts)
    for name in memory.objects.rules if changes.vacated else sorted(reached):
        queue = memory.queues.get(name)
        if queue is None or not queue.waiting:
            continue
        if name in reached and queue.shelves:
            memory.ready.add(name)
        if name in reached or not changes.vacated.isdisjoint(rules[name].offer.flavors):
            for peers in list(queue.hopeful):
                if not is_promised(memory, peers):
                    memory.wake(peers)


def _within_trees(memory: Memory, names: Iterable[QueueName]) -> set[QueueName]:
    """Return all queues of the trees of some queues."""
    roots = {root for name in names if (root := memory.root_of(name)) is not None}
    return {QueueName(one.name) for root in roots for one in root.queues()}


def _reshape(memory: Memory, *, forgets: bool) -> None:
    """Wake all workloads of trees that changed.

    Their pairs are forgotten. Balances may bend weights in every second: where that is all, pairs
    of preemptors that still wait are kept.
    """
    trees, objects, tree = memory.trees, memory.objects, memory.tree
    names = sorted(objects.queues)
    for name in names:
        _note_activity(memory, name)
    roots = dict.fromkeys(tree.queue(name).root for name in names)
    known = (node for root in roots for node in root.subtree() if not tree.in_cycle(node))
    limits = ((node, node.fact.preemptions_max) for node in known if node.fact is not None)
    trees.limits = {node: most for node, most in limits if most is not None}
    waiting = {item.fact.uid for item in memory.items.values()} if memory.pairs else ()
    memory.pairs = {name: one for name, one in memory.pairs.items() if name in objects.queues}
    for root in [one for one in roots if one.generation > trees.generation]:
        within = memory.queues_of(root)
        for pairs in [memory.pairs[name] for name in within if name in memory.pairs]:
            pairs.forget_but(() if forgets else waiting)
        memory.doubt_promises(root)
        memory.ready.update(within)
        _wake_all(memory, within, lambda one: not is_promised(memory, one))
    trees.generation = max((one.generation for one in roots), default=0)


def _note_activity(memory: Memory, name: QueueName) -> None:
    """Update whether a ClusterQueue is active: it becomes `ready`, or its workloads are told.

    If that changed, the views of the queue and of its LocalQueues are reported as changed.
    """
    asleep, active = memory.ledger.asleep, memory.objects.is_active(name)
    if active:
        memory.ready.add(name)
    elif name not in asleep:
        _deactivate(memory, name)
    if (name in asleep) != (not active and name in memory.objects.queues):
        asleep ^= {name}
        memory.touch(name, None)
        memory.touched.local_queues.update(memory.objects.local_queues_of.get(name, ()))


def _deactivate(memory: Memory, name: QueueName) -> None:
    """Tell the workloads of a queue that it is inactive; what they were promised is free."""
    for peers in memory.queue(name).peers.values():
        for item in peers.items():
            memory.aside.untold[item.fact.key] = None
            if item.fact.key in memory.ledger.promised:
                memory.ledger.break_promise(item.fact.key, releases=True)
                memory.wake(item.peers)


def _wake_all(
    memory: Memory, names: Iterable[QueueName], helps: Callable[[Peers], object] = bool
) -> None:
    """Wake those that wait in some queues and that it `helps`."""
    queues = [memory.queues[name] for name in names if name in memory.queues]
    for peers in [one for queue in queues for one in queue.waiting if helps(one)]:
        memory.wake(peers)


def is_promised(memory: Memory, peers: Peers) -> bool:
    """Say whether peers wait only for what was promised to them to be given back."""
    wait = peers.wait
    promised = wait is not None and wait.mode in (Mode.PREEMPT, Mode.DEFERRED_FIT)
    first = peers.top() if promised else None
    return first is not None and first.fact.key in memory.ledger.promised
