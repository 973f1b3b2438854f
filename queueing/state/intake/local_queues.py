"""The order of LocalQueues within a ClusterQueue whose namespaces have credit balances."""

from queueing.state.memory.memory import Memory
from queueing.state.usage.ranks import Rank


def rank_local_queues(memory: Memory) -> None:
    """Update the order of LocalQueues whose balances changed; their queues become `ready`.

    Another order may mean another head. Called at the begin of a cycle.
    """
    ledger, credit = memory.ledger, memory.credits
    for name in credit.reordered:
        book = credit.queues.get(name)
        if book is None:
            ledger.ranks.pop(name, None)
        else:
            rank = ledger.ranks.get(name)
            if rank is None:
                rank = ledger.ranks[name] = Rank()
                rank.count(one.holder for one in ledger.charges_of(name))
            rank.plain = memory.plain_turns(name)
            exponents = {member.name: steps for member, steps in book.exponents.items()}
            rank.follow(book.policy.prices, book.parts, exponents)
        memory.divide(memory.queue(name))
        memory.ready.add(name)
        memory.touched.local_queues.update(memory.objects.local_queues_of.get(name, ()))
    credit.reordered.clear()
    memory.ready.update(ledger.unranked)
    ledger.unranked.clear()
