"""What becomes of an assumption when the write of its decision is done, refused or unknown."""

from queueing.core.decisions import Admit, Outcome, Verdict
from queueing.core.names import Key
from queueing.state.intake.holding import give_back, take_back_eviction
from queueing.state.intake.joining import enqueue
from queueing.state.memory.memory import Memory

UNKNOWN, REFUSED = Verdict.UNKNOWN, Verdict.REFUSED
"""Every write is asked for both; see `stands` for why the class is not."""
RETRY_DELAY_S_MAX = 60.0
"""Longest time for which a workload is held back whose decisions are refused over and over."""


def take_outcome(memory: Memory, outcome: Outcome) -> None:
    """Carry an outcome over to what was assumed."""
    decision = outcome.decision
    key = decision.workload
    fact = memory.workloads.get(key)
    memory.stories.add(key, memory.clock, outcome)
    if fact is None or fact.uid != decision.uid:
        return
    if isinstance(decision, Admit):
        charge = memory.ledger.charges.get(key)
        if charge is None or (charge.decision is not decision and charge.decision != decision):
            return
        if outcome.verdict is UNKNOWN:
            memory.unknown.add(key)
        elif outcome.verdict is REFUSED:
            give_back(memory, key)
            enqueue(memory, fact)
            _count_refusal(memory, key, key)
    elif outcome.verdict is REFUSED:
        take_back_eviction(memory, fact)
        _count_refusal(memory, key, decision.preemptor)
    elif outcome.verdict is UNKNOWN and key in memory.ledger.evicting:
        memory.unknown.add(key)


def _count_refusal(memory: Memory, refused: Key, retried: Key) -> None:
    """Count a refusal; from the second in a row on, hold `retried` back, longer each time."""
    count = memory.refusals.get(refused, 0) + 1
    memory.refusals[refused] = count
    if count > 1:
        memory.delays[retried] = min(2.0 ** (count - 2), RETRY_DELAY_S_MAX)
    item = memory.items.get(retried)
    if item is not None:
        memory.wake(item)
