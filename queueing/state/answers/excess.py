"""Whether a reservation would still be granted now. Asked about late ones of an earlier leader."""

from collections.abc import Iterable

from queueing.core.names import Key
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge


def exceeds(memory: Memory, key: Key, aside: Iterable[Key]) -> bool:
    """Say whether a workload holds quota that it could not get now.

    The usage of workloads in `aside`, and of evicted ones, does not count: these have to give way
    to it.
    """
    charge = memory.ledger.charges.get(key)
    if charge is None or not memory.tree.has_queue(charge.holder.queue):
        return False
    if not _lacks(memory, charge, ()):
        return False
    charges = memory.ledger.charges
    others = {one: charges[one] for one in aside if one in charges and one != key}
    others |= {one: found for one, found in charges.items() if found.holder.evicted and one != key}
    return _lacks(memory, charge, others.values())


def _lacks(memory: Memory, charge: Charge, aside: Iterable[Charge]) -> bool:
    tree, holder = memory.tree, charge.holder
    with tree.attempt():
        for one in (charge, *aside):
            if tree.has_queue(one.holder.queue):
                tree.remove_usage(one.holder.queue, one.holder.usage)
        node = tree.queue(holder.queue)
        return any(node.available(one) < amount for one, amount in holder.usage.items())
