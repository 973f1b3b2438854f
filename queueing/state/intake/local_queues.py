"""The order of LocalQueues within a ClusterQueue whose namespaces have credit balances."""

from queueing.core.credits.facts import Member
from queueing.core.names import Key, QueueName
from queueing.state.memory.memory import Memory
from queueing.state.usage.ranks import Plain, Rank


def rank_local_queues(memory: Memory) -> None:
    """Update the order of LocalQueues whose balances changed; their queues become `ready`.

    Another order may mean another head. Called at the begin of a cycle.
    """
    ledger, books = memory.ledger, memory.credits.queue_books
    for name in books.moved:
        book = books.by_queue.get(name)
        queue = memory.queues.get(name)
        if book is None:
            ledger.ranks.pop(name, None)
        else:
            rank = ledger.ranks.get(name)
            if rank is None:
                rank = ledger.ranks[name] = Rank(_plain(memory, name))
                rank.count(ledger.rolls.held_in(name))
            rank.plain = _plain(memory, name)
            rank.follow(book.policy.prices, _by_name(book.parts), _by_name(book.exponents))
        if queue is not None:
            memory.divide(queue)
        memory.ready.add(name)
        for key in memory.objects.local_queues_of.get(name, {}):
            memory.touch(None, key)
    books.moved.clear()
    memory.ready.update(ledger.unranked)
    ledger.unranked.clear()


def credited(memory: Memory) -> frozenset[QueueName]:
    """Return the ClusterQueues in which a balance bends the weight of any namespace."""
    ranks = memory.ledger.ranks
    return frozenset(name for name, rank in ranks.items() if rank.bends) if ranks else frozenset()


def _plain(memory: Memory, queue: QueueName) -> Plain:
    return memory.plain_turns(queue) or _none


def _none(_local_queue: Key | None) -> float:
    return 0.0


def _by_name(found: dict[Member, int]) -> dict[str, int]:
    return {member.name: value for member, value in found.items()}
