"""The answer about one workload."""

from collections.abc import Iterable
from typing import Any

from queueing.core.decisions import Admit, Mode, Wait
from queueing.core.entries import Ruling
from queueing.core.facts import PodSetAssignment, WorkloadFact
from queueing.core.names import Key, QueueName, name_of, namespace_of
from queueing.core.quantities import quantity
from queueing.explain import blockers, wakes
from queueing.explain.holders import holders_of
from queueing.explain.model import Blocker, Flavored, Held, Outcome, Wake, WorkloadExplanation
from queueing.explain.place import place_of
from queueing.explain.probe import judge, lacking
from queueing.explain.remedies import Enough, find
from queueing.explain.running import run_of
from queueing.explain.spelling import listed, told
from queueing.state.answers.waits import wait_of
from queueing.state.memory.memory import Memory
from queueing.state.usage.charges import Charge

FIRST = ("Capacity", "Quota", "Turn")
"""Kinds of blockers that a summary names before others."""


def explain_workload(
    memory: Memory, key: Key, enough: Enough, now: float
) -> WorkloadExplanation | None:
    """Explain a workload; None if there is none of this name."""
    fact = memory.workloads.get(key)
    if fact is None:
        return None
    charge = memory.ledger.charges.get(key)
    if fact.is_true("Finished"):
        return _answer(memory, fact, "Finished", summary=_finished(fact))
    if charge is not None:
        return _holding(memory, fact, charge, now)
    wait = wait_of(memory, key)
    if wait is None:
        return _answer(memory, fact, "Finished", summary="It is being deleted.")
    return _waiting(memory, fact, wait, enough)


def _waiting(memory: Memory, fact: WorkloadFact, wait: Wait, enough: Enough) -> WorkloadExplanation:
    item, held = memory.items.get(fact.key), memory.aside.held.get(fact.key)
    name = wait.cluster_queue
    ruling = None if name is None else judge(memory, fact, name)
    short = {} if ruling is None else lacking(ruling)
    found: tuple[Blocker, ...] = ()
    if held is not None:
        found = tuple(blockers.of_held(memory, fact, held))
    elif item is not None:
        found = tuple(blockers.of_queued(memory, fact, wait, ruling, enough))
        hopeless = _hopeless(found)
        found = tuple(sorted(found, key=lambda one: (one.pod_set, one.flavor) in hopeless))
        hopeful = {one.flavor for one in found if (one.pod_set, one.flavor) not in hopeless}
        short = {one: missing for one, missing in short.items() if one.flavor in hopeful}
    is_promised = any(one.kind == "Victims" for one in found)
    proposals, note = ([], "") if is_promised else find(memory, fact, ruling, enough)
    holders: tuple[Held, ...] = ()
    in_all = 0
    if ruling is not None and short and not is_promised:
        holders, in_all = holders_of(memory, ruling.entry.node, short, fact.key)
    awaited: tuple[Wake, ...] = ()
    if held is not None:
        awaited = tuple(wakes.of_held(fact, held))
    elif item is not None:
        is_short = any(one.kind == "Quota" for one in found)
        awaited = tuple(wakes.of_item(memory, item, wait, short=short if is_short else ()))
    return _answer(
        memory,
        fact,
        "Waiting",
        summary=_summary(found, wait),
        reason=wait.reason.value,
        message=wait.message,
        cluster_queue=name or "",
        blockers=found,
        holders=holders,
        holders_in_all=in_all,
        wakes=awaited,
        place=None if item is None else place_of(memory, item),
        if_first=None if ruling is None or is_promised else outcome_of(ruling),
        remedies=tuple(remedy for _, remedy in proposals),
        remedies_note=note,
    )


def _holding(memory: Memory, fact: WorkloadFact, charge: Charge, now: float) -> WorkloadExplanation:
    """Explain a workload that has quota."""
    found: tuple[Blocker, ...] = ()
    awaited: tuple[Wake, ...] = ()
    if charge.holder.evicted:
        state, summary = "Leaving", _leaving(fact)
    elif charge.admitted or (charge.decision is not None and not charge.decision.checks):
        state, summary = "Admitted", f"It is admitted by ClusterQueue {charge.holder.queue}."
        if charge.decision is not None:
            summary = f"It is being admitted by ClusterQueue {charge.holder.queue}."
        found = tuple(blockers.of_nodes(memory, fact, charge))
        if found:
            summary = f"{summary.removesuffix('.')}, but {'; '.join(one.text for one in found)}."
    else:
        found = tuple(blockers.of_checks(memory, fact))
        awaited = (Wake(event="Checks", text="its admission checks are Ready"),)
        state = "Reserved"
        open_checks = "; ".join(one.text for one in found) or "admission checks are open"
        summary = f"It has quota and waits for its admission checks: {open_checks}."
    return _answer(
        memory,
        fact,
        state,
        summary=summary,
        cluster_queue=charge.holder.queue,
        blockers=found,
        wakes=awaited,
        run=run_of(memory, charge, now),
    )


def outcome_of(ruling: Ruling) -> Outcome:
    """Describe what would be decided about a workload that went first."""
    decision = ruling.decision
    if isinstance(decision, Admit):
        borrows = ", borrowing" if decision.borrowing else ""
        return Outcome(
            result="Admit",
            text=f"it would be admitted{borrows}",
            borrows=decision.borrowing,
            pod_sets=tuple(map(_flavored, decision.pod_sets)),
        )
    victims = tuple(one.workload for one in ruling.preemptions)
    if victims:
        return Outcome(
            result="Preempt",
            text=f"it would preempt {listed(victims)}",
            borrows=ruling.entry.assignment.borrow > 0,
            pod_sets=tuple(map(_flavored, decision.nominated)),
            victims=victims,
        )
    text = "it would wait all the same"
    if decision.mode is Mode.NO_CANDIDATES:
        text += ", and there is nobody whom it may preempt"
    return Outcome(result="Wait", text=text)


def _flavored(one: PodSetAssignment) -> Flavored:
    return Flavored(
        pod_set=one.name,
        count=one.count,
        flavors={str(resource): str(flavor) for resource, flavor in sorted(one.flavors.items())},
        usage={
            str(resource): quantity(resource, amount)
            for resource, amount in sorted(one.usage.items())
        },
    )


def _summary(found: tuple[Blocker, ...], wait: Wait) -> str:
    """Say in one sentence what blocks it most."""
    hopeless = _hopeless(found)
    hopeful = [one for one in found if (one.pod_set, one.flavor) not in hopeless]
    ranked = sorted(hopeful, key=lambda one: FIRST.index(one.kind) if one.kind in FIRST else 9)
    turn = next((one for one in found if one.kind == "Turn"), None)
    if turn is not None:
        return f"It waits: {turn.text}."
    if not ranked:
        return f"It waits: {wait.message[:1].lower()}{wait.message[1:]}."
    return f"It waits: {ranked[0].text}{_beside(len(found) - 1)}."


def _hopeless(found: Iterable[Blocker]) -> set[tuple[str, str]]:
    """Return pod sets with flavors that could never serve them, though others could."""
    never = {(one.pod_set, one.flavor) for one in found if one.kind == "Capacity"}
    could = {
        (one.pod_set, one.resource)
        for one in found
        if one.kind == "Quota" and (one.pod_set, one.flavor) not in never
    }
    return {
        (one.pod_set, one.flavor)
        for one in found
        if one.kind == "Capacity" and (one.pod_set, one.resource) in could
    }


def _beside(more: int) -> str:
    return f" (and {more} more reason{'s' if more > 1 else ''})" if more else ""


def _leaving(fact: WorkloadFact) -> str:
    evicted = fact.conditions.get("Evicted")
    why = "" if evicted is None or not evicted.reason else f" ({evicted.reason})"
    saves = fact.stake is not None and fact.stake.saves
    until = "have saved their work and ended" if saves else "have ended"
    return f"It is evicted{why}, and holds its quota until its pods {until}."


def _finished(fact: WorkloadFact) -> str:
    done = fact.conditions["Finished"]
    return f"It is finished{f' ({done.reason})' if done.reason else ''}, and holds no quota."


def _answer(
    memory: Memory, fact: WorkloadFact, state: str, *, summary: str, **rest: Any
) -> WorkloadExplanation:
    door = memory.objects.local_queues.get(fact.local_queue or Key(""))
    name = rest.pop("cluster_queue", None) or ("" if door is None else door.cluster_queue)
    queue = memory.objects.queues.get(QueueName(name))
    return WorkloadExplanation(
        namespace=namespace_of(fact.key),
        name=name_of(fact.key),
        state=state,
        summary=summary,
        reason=rest.pop("reason", ""),
        message=rest.pop("message", ""),
        local_queue="" if fact.local_queue is None else name_of(fact.local_queue),
        cluster_queue=name,
        cohort="" if queue is None or queue.cohort is None else queue.cohort,
        priority=fact.priority,
        created=told(fact.created) or "",
        **rest,
    )
