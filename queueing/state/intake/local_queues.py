"""The order of LocalQueues within a ClusterQueue whose namespaces have credit balances."""

from queueing.core.credits.facts import Member
from queueing.state.memory.memory import Memory
from queueing.state.usage.ranks import Rank


def rank_local_queues(memory: Memory) -> None:
    """Update the order of LocalQueues whose balances changed; their queues become `ready`.

    Another order may mean another head. Called at the begin of a cycle.
    """
    ledger, books = memory.ledger, memory.credits.queue_books
    for name in books.moved:
        book = books.by_queue.get(name)
        if book is None:
            ledger.ranks.pop(name, None)
        else:
            rank = ledger.ranks.get(name)
            if rank is None:
                rank = ledger.ranks[name] = Rank()
                rank.count(one.holder for one in ledger.charges_of(name))
            rank.plain = memory.plain_turns(name)
            rank.follow(book.policy.prices, _by_name(book.parts), _by_name(book.exponents))
        memory.divide(memory.queue(name))
        memory.ready.add(name)
        memory.touched.local_queues.update(memory.objects.local_queues_of.get(name, ()))
    books.moved.clear()
    memory.ready.update(ledger.unranked)
    ledger.unranked.clear()


def _by_name(found: dict[Member, int]) -> dict[str, int]:
    return {member.name: value for member, value in found.items()}
