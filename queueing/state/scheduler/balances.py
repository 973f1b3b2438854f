"""What the time that has passed changes of the order of LocalQueues, of shares and of budgets.

Called by `schedule` at the begin of a cycle, where there are usage histories or credits. Histories
and balances decay, periods of budgets end. Each is noted with its consequences, so that the rounds
of the cycle need not ask for the time.
"""

from queueing.state.credits.ranks import Rank
from queueing.state.intake.joining import rejoin
from queueing.state.intake.workloads import place
from queueing.state.memory.memory import Memory
from queueing.state.usage.turns import Turns


def take_credits(memory: Memory) -> None:
    """Bring the credit ledgers and budgets up to date, and note what may be decided differently.

    Balances change weighted shares, and with them the order of entries and the possible victims.
    """
    credit, fair = memory.credits, memory.settings.fair_sharing is not None
    memory.edits.bent |= credit.advance(memory.clock, bends=fair, started=memory.cycles > 1)
    _rank_local_queues(memory)
    _take_budgets(memory)


def _rank_local_queues(memory: Memory) -> None:
    """Update the order of LocalQueues whose balances changed; their queues become `ready`.

    Another order may mean another head.
    """
    ledger, credit = memory.ledger, memory.credits
    for name in credit.reordered:
        book = credit.queues.get(name)
        if book is None:
            credit.ranks.pop(name, None)
        else:
            rank = credit.ranks.get(name)
            if rank is None:
                rank = credit.ranks[name] = Rank()
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


def _take_budgets(memory: Memory) -> None:
    """Work out what budgets leave; if they allow more, that counts as a release in every queue.

    Workloads whose class changed are charged anew; if budgets now group workloads differently, all
    pending ones are queued anew.
    """
    news = memory.credits.allow()
    for key in news.reclassified:
        fact = memory.workloads.get(key)
        if fact is not None and fact.holds_quota:
            place(memory, fact)
    if news.regrouped:
        rejoin(memory, memory.items)
    if memory.credits.restrain() or news.loosened:
        memory.ledger.changes.released.update(memory.queues)
        for queue in memory.queues.values():
            # A search in progress has passed over the barred flavors: this makes it begin anew.
            queue.releases += 1


def take_turns(memory: Memory, turns: Turns) -> None:
    """Bring the usage histories of LocalQueues up to date (admission fair sharing).

    Queues whose order of LocalQueues may have changed become `ready`: they may have other heads.
    """
    for key in turns.advance(memory.clock):
        local_queue = memory.objects.local_queues.get(key)
        if local_queue is not None:
            memory.ready.add(local_queue.cluster_queue)
            memory.touch(None, key)
