"""An answer as a few lines for people."""

from collections.abc import Iterable, Iterator

from queueing.explain.model import (
    Blocker,
    Estimate,
    Explanation,
    Holding,
    Outcome,
    QueueExplanation,
    QuotaRow,
    Remedy,
    WorkloadExplanation,
)
from queueing.explain.spelling import listed

INDENT = "  "


def written(answer: Explanation) -> str:
    """Write an answer; it ends without a line break."""
    lines = _workload(answer) if isinstance(answer, WorkloadExplanation) else _queue(answer)
    return "\n".join(lines)


def _workload(answer: WorkloadExplanation) -> Iterator[str]:
    queue = f"LocalQueue {answer.local_queue}" if answer.local_queue else "no LocalQueue"
    if answer.cluster_queue:
        queue += f", ClusterQueue {answer.cluster_queue}"
    if answer.cohort:
        queue += f", cohort {answer.cohort}"
    yield f"Workload {answer.namespace}/{answer.name}: {answer.state}"
    yield f"{INDENT}{queue}, priority {answer.priority}, created {answer.created}"
    yield ""
    yield answer.summary
    if len(answer.blockers) > 1:
        yield from _section("What blocks it", map(_blocker, answer.blockers))
    yield from _section(_held_by(answer), _holders(answer))
    yield from _section("Its place", _place(answer))
    if answer.if_first is not None:
        yield from _section(title_of_first(answer), _outcome(answer.if_first))
    yield from _section("It is tried again when", awaited(answer))
    if answer.estimate is not None:
        yield from _section("When", estimated(answer.estimate))
    if answer.state == "Waiting":
        yield from _remedies(answer)
    if answer.run is not None:
        yield from _run(answer.run, leaving=answer.state == "Leaving")
    if answer.page:
        yield from ("", f"On the page: {answer.page}")


def awaited(answer: WorkloadExplanation) -> Iterator[str]:
    """Say what will have it tried again, and when where that is known."""
    for one in answer.wakes:
        yield f"{one.text}{f' ({one.at})' if one.at else ''}"


def title_of_first(answer: WorkloadExplanation) -> str:
    """Say under which condition the engine was asked what it would decide."""
    kinds = {one.kind for one in answer.blockers}
    if kinds & {"Stopped", "Inactive"}:
        return "If its queue were active"
    return (
        "If it were queued" if answer.place is None or "Namespace" in kinds else "If it went first"
    )


def estimated(one: Estimate) -> Iterator[str]:
    """Say when a workload will be admitted, and what that rests on."""
    yield one.text
    yield from one.basis


def _blocker(one: Blocker) -> str:
    whose = f"pod set {one.pod_set}: " if one.pod_set else ""
    limit = f" [{one.limit}]" if one.limit else ""
    since = f" (since {one.since})" if one.since else ""
    return f"{whose}{one.text}{limit}{since}"


def _held_by(answer: WorkloadExplanation) -> str:
    more = answer.holders_in_all - len(dict.fromkeys(one.workload for one in answer.holders))
    return f"Who holds it (and {more} more)" if more > 0 else "Who holds it"


def _holders(answer: WorkloadExplanation) -> Iterator[str]:
    for one in answer.holders:
        since = f" since {one.since}" if one.since else ""
        since = f", kept for it{since} while it waits" * one.waits or since
        marks = [f"priority {one.priority}"]
        marks += ["its queue borrows"] * one.borrows + ["leaving"] * one.leaving
        yield (
            f"{one.workload} ({one.cluster_queue}): {one.amount} {one.resource} of {one.flavor}"
            f"{since}, {', '.join(marks)}"
        )


def _place(answer: WorkloadExplanation) -> Iterator[str]:
    place = answer.place
    if place is None:
        return
    if not place.position_in_cluster_queue:
        only = "the only one that waits" if place.pending == 1 else f"first of {place.pending}"
        yield f"{only} in ClusterQueue {answer.cluster_queue}"
        return
    strict = ", which is StrictFIFO" if place.strict else ""
    yield (
        f"{place.position_in_cluster_queue} of {place.pending} are before it in ClusterQueue "
        f"{answer.cluster_queue}{strict}; {place.position_in_local_queue} of its LocalQueue"
    )
    yield f"just before it: {', '.join(place.ahead)}"
    if place.first not in place.ahead:
        yield f"first: {place.first}"


def _outcome(one: Outcome) -> Iterator[str]:
    yield one.text
    for each in one.pod_sets:
        if each.flavors:
            flavors = ", ".join(
                f"{each.usage.get(resource, '')} {resource} of {flavor}"
                for resource, flavor in each.flavors.items()
            )
            pods = "1 pod" if each.count == 1 else f"{each.count} pods"
            yield f"pod set {each.pod_set}, {pods}: {flavors}"


def _remedies(answer: WorkloadExplanation) -> Iterator[str]:
    yield from _section("What would have it admitted", _each_remedy(answer))
    if not answer.remedies and not answer.remedies_note and _helpless(answer):
        yield ""
        yield "No single change of its requests, priority, queue or quotas would have it admitted."


def _helpless(answer: WorkloadExplanation) -> bool:
    return any(one.kind in {"Quota", "Capacity", "Flavor", "Turn"} for one in answer.blockers)


def _each_remedy(answer: WorkloadExplanation) -> Iterator[str]:
    for one in answer.remedies:
        yield f"{'you' if one.who == 'Team' else 'an admin'}: {_remedy(one)}"
    if answer.remedies_note:
        yield f"({answer.remedies_note})"


def _remedy(one: Remedy) -> str:
    text = f"{one.text[:1].lower()}{one.text[1:]}"
    if one.victims:
        text += f"; it preempts {listed(one.victims)}"
    return text


def _run(run: Holding, *, leaving: bool) -> Iterator[str]:
    uses = []
    for one in run.uses:
        borrowed = "" if one.borrowed == "0" else f" (its queue borrows {one.borrowed})"
        uses.append(f"{one.amount} {one.resource} of {one.flavor}{borrowed}")
    since = f", since {run.since}" if run.since else ""
    yield from _section(f"It holds{since}", uses)
    threats = [one.text for one in run.threats] or ["nobody, by the policies as they are"]
    if run.protected_until:
        threats.append(f"in its own queue nobody before {run.protected_until} (minimum runtime)")
    if run.spared_until:
        threats.append(f"by shares nobody before {run.spared_until} (minimum runtime of credits)")
    if not leaving:
        yield from _section("Who might preempt it", threats)
    more = [f"ResourceClaim {one}" for one in run.claims]
    more += [f"credits bend the weight of its queue by {run.credit}"] * bool(run.credit)
    more += ["what it gives back is promised to others"] * run.promised
    yield from _section("Besides", more)


def _queue(answer: QueueExplanation) -> Iterator[str]:
    name = f"{answer.namespace}/{answer.name}" if answer.namespace else answer.name
    behind = f" of ClusterQueue {answer.cluster_queue}" if answer.queue == "LocalQueue" else ""
    cohort = f", cohort {answer.cohort}" if answer.cohort else ""
    state = "active" if answer.active else "not active"
    yield f"{answer.queue} {name}{behind}{cohort}: {state}"
    yield ""
    yield answer.summary
    yield from _section(f"Quota of ClusterQueue {answer.cluster_queue}", _quotas(answer))
    yield from _section("It could borrow from", answer.lenders)
    groups = [
        f"{one.count} x {one.reason}: {one.message} (first: {one.first})" for one in answer.groups
    ]
    if answer.groups_omitted:
        groups.append(f"and {answer.groups_omitted} more reasons")
    yield from _section("Who waits, and why", groups)


def _quotas(answer: QueueExplanation) -> Iterator[str]:
    for one in answer.quotas:
        told = [*use_of(one), f"{one.available} more can be had"]
        limits = [f"may borrow {one.borrowing_limit}"] * (one.borrowing_limit is not None)
        limits += [f"lends up to {one.lending_limit}"] * (one.lending_limit is not None)
        shown = f" [{', '.join(limits)}]" if limits else ""
        yield f"{one.resource} of {one.flavor}: {', '.join(told)}{shown}"


def use_of(one: QuotaRow) -> Iterator[str]:
    """Say how much of a quota is used, and, where it is, borrowed, lent and promised."""
    yield f"{one.used} of {one.nominal} used"
    if one.borrowed != "0":
        yield f"{one.borrowed} borrowed"
    if one.lent != "0":
        yield f"{one.lent} lent"
    if one.promised != "0":
        yield f"{one.promised} promised"


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = list(lines)
    if told:
        yield ""
        yield f"{title}:"
        for one in told:
            yield f"{INDENT}- {one}"
