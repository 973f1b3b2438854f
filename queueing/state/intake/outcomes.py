"""What happens to an assumed decision when its write is done, refused or unknown."""

from queueing.core.decisions import Admit, Outcome, Place, Strand, Verdict
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key
from queueing.state.intake.joining import enqueue, heed_siblings
from queueing.state.intake.workloads import charge, give_back, take_back_eviction
from queueing.state.memory.memory import Memory

REFUSED_S = 1.0
"""Seconds until a workload is placed again whose places were refused."""
RETRY_DELAY_S_MAX = 60.0
"""The longest time for which a workload is held back whose decisions are refused repeatedly."""


def take_outcome(memory: Memory, outcome: Outcome) -> None:
    """Take in how the write of a decision ended.

    A refused admission is taken back and its workload queued again; after a refused eviction the
    victim keeps its quota and its preemptors are woken. Outcomes of older decisions are ignored.
    """
    decision = outcome.decision
    key = decision.workload
    fact = memory.workloads.get(key)
    if fact is None or fact.uid != decision.uid:
        return
    if isinstance(decision, Place | Strand):
        _take_second_pass(memory, decision, outcome.verdict, fact)
    elif isinstance(decision, Admit):
        if not memory.stands_by(decision):
            return
        if outcome.verdict is Verdict.UNKNOWN:
            memory.writes.unknown.add(key)
        elif outcome.verdict is Verdict.REFUSED:
            give_back(memory, key)
            heed_siblings(memory, fact)
            enqueue(memory, fact)
            _count_refusal(memory, key, key)
    elif outcome.verdict is Verdict.REFUSED:
        take_back_eviction(memory, fact)
        _count_refusal(memory, key, decision.preemptor)
    elif outcome.verdict is Verdict.WITHDRAWN:
        if memory.ledger.evicting.get(key) == decision.preemptor_uid:
            take_back_eviction(memory, fact)
    elif outcome.verdict is Verdict.UNKNOWN and key in memory.ledger.evicting:
        memory.writes.unknown.add(key)


def _take_second_pass(
    memory: Memory, decision: Place | Strand, verdict: Verdict, fact: WorkloadFact
) -> None:
    """Take in how the write of a second pass ended; one that was refused is due again after 1 s."""
    if not memory.stands_by(decision):
        return
    if verdict is Verdict.UNKNOWN:
        memory.writes.unknown.add(fact.key)
    elif verdict is Verdict.REFUSED:
        pending = memory.places.passes[fact.key]
        pending.decision, pending.due = None, memory.clock + REFUSED_S
        pending.failures = 0
        charge(memory, fact)


def _count_refusal(memory: Memory, refused: Key, retried: Key) -> None:
    """Count a refusal on `refused`; from the second in a row on, hold `retried` back.

    The delay is 1 s, doubled with each further refusal up to `RETRY_DELAY_S_MAX`.
    """
    count = memory.writes.refusals.get(refused, 0) + 1
    memory.writes.refusals[refused] = count
    if count > 1:
        memory.writes.delays[retried] = min(2.0 ** (count - 2), RETRY_DELAY_S_MAX)
    item = memory.items.get(retried)
    if item is not None:
        memory.wake(item.peers)
