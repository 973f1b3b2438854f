"""Decides one entry (a nominated head) of a round, on the tree that the entries before it left.

Called by `rounds`, once per entry of a round, in their order.
"""

from dataclasses import replace

from queueing.core.admissibility import applying_checks
from queueing.core.decisions import Admit, Bar, Mode, Preempt, Reason, Requeue, Wait
from queueing.core.draft import Draft
from queueing.core.entries import Entry, Ruling
from queueing.core.facts import CheckPhase, PodSetAssignment, PreemptionPolicy, Strategy
from queueing.core.names import CheckName, FlavorResource, Key
from queueing.core.nomination import nominate
from queueing.core.preemption.query import Target
from queueing.core.reasons import (
    AWAITS_RELEASE,
    DEFERRED,
    GATED,
    NO_LONGER_FITS,
    OVERLAPPING,
    PODS_NOT_READY,
    TOO_MANY_LEAVE,
    passed_over,
    pending_preemption,
)
from queueing.core.settings import Settings


def process(entry: Entry, draft: Draft) -> Ruling:
    """Decide one entry, and charge what it takes, so that later entries find it taken."""
    victims = draft.victims if entry.targets else ()
    overlaps = bool(victims) and any(one.holder.uid in victims for one in entry.targets)
    if overlaps and draft.world.settings.recompute_overlapping:
        ruling = _rule_anew(entry, draft)
    else:
        ruling = _rule(entry, draft, overlaps=overlaps, deferred=False)
    if ruling.preemptions or ruling.taken:
        draft.free(ruling.entry)
    if ruling.kept:
        draft.world.tree.add_usage(ruling.head.queue, ruling.kept)
    if isinstance(ruling.decision, Admit):
        draft.admit(ruling.entry, has_checks=bool(ruling.decision.checks))
    return ruling


def _rule_anew(entry: Entry, draft: Draft) -> Ruling:
    """Decide an entry of which earlier ones took victims, by another nomination."""
    with draft.without_victims():
        taken, head = frozenset(draft.victims), entry.head
        if not draft.world.settings.rules.nominates_anew:
            head = replace(head, nominated=entry.assignment.choices)
        entry = nominate(head, draft.world, draft.world.reach(), spared=taken)
    promises = draft.world.settings.rules.promises
    ruling = _rule(entry, draft, overlaps=False, deferred=entry.assignment.fits and not promises)
    if isinstance(ruling.decision, Wait):
        return ruling._replace(decision=replace(ruling.decision, recomputed=True))
    return ruling


def _rule(entry: Entry, draft: Draft, *, overlaps: bool, deferred: bool) -> Ruling:
    assignment = entry.assignment
    if entry.barred is not None:
        return _wait(entry, Mode.NO_FIT, *entry.barred)
    if entry.partners and not entry.partners.isdisjoint(draft.victims):
        # workloads that share a ResourceClaim have to leave together, and the others leave now
        return _retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, NO_LONGER_FITS)
    if not assignment.fits:
        if not assignment.needs_preemption:
            return _wait(entry, Mode.NO_FIT, *_why(entry, assignment.message))
        if not entry.targets:
            return _without_candidates(entry, draft)
        if entry.head.workload.preemption_gated:
            return _wait(entry, Mode.PREEMPT, Reason.WAITING_FOR_QUOTA, GATED)
    if deferred:
        return _keep(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, DEFERRED)
    if overlaps:
        return _retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, OVERLAPPING)
    if not draft.fits(entry):
        return _retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, NO_LONGER_FITS)
    if entry.targets and not draft.may_free(entry):
        entry.targets = []  # it preempts nobody, so it keeps no quota from others
        return _retry(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, TOO_MANY_LEAVE)
    if entry.targets and any(not one.holder.promised for one in entry.targets):
        return _preempt(entry, draft)
    return _admit(entry, draft)


def _would_be_barred(entry: Entry, draft: Draft) -> bool:
    """Say whether budgets or rules would bar an entry even if there was quota for it."""
    head, allowance = entry.head, draft.world.allowance
    if allowance is None:
        return False
    barred = allowance.bars(head.workload, head.queue, entry.assignment.use) is not None
    entry.is_limited |= barred
    return barred


def _without_candidates(entry: Entry, draft: Draft) -> Ruling:
    """Return the wait of an entry that found no victims, or must not preempt beyond a budget.

    It keeps quota from later entries unless it could reclaim that at any time.
    """
    words = (entry.assignment.message, entry.demoted)
    message = ". ".join(one for one in words if one)
    ruling = _wait(entry, Mode.NO_CANDIDATES, *_why(entry, message))
    reclaim = entry.rules.fact.preemption.reclaim_within_cohort
    if reclaim is PreemptionPolicy.ANY or entry.demoted or _would_be_barred(entry, draft):
        return ruling
    return ruling._replace(kept=_reservation(entry))


def _why(entry: Entry, message: str) -> Bar:
    """Return why an entry gets nothing.

    If it fitted in flavors tried before but was barred there, that reason comes first.
    """
    barred = entry.barred_before
    if barred is None:
        return Bar(entry.assignment.reason, message)
    return Bar(barred.reason, f"{barred.message}; {message}")


def _preempt(entry: Entry, draft: Draft) -> Ruling:
    victims = [target for target in entry.targets if not target.holder.promised]
    message = pending_preemption(entry.assignment.message, len(victims))
    ruling = _keep(entry, Mode.PREEMPT, Reason.WAITING_FOR_PREEMPTED, message)
    tree = draft.world.tree
    queues = dict.fromkeys(target.holder.queue for target in victims)
    paths = {queue: tree.queue(queue).path() for queue in queues}
    own = entry.node.path()
    issued = tuple(_issue(entry, target, (own, paths[target.holder.queue])) for target in victims)
    return ruling._replace(preemptions=issued, taken=_promised(entry))


def _promised(entry: Entry) -> tuple[Key, ...]:
    """Return the workloads whose promises an entry takes."""
    return tuple(target.holder.key for target in entry.targets if target.holder.promised)


def _issue(entry: Entry, target: Target, paths: tuple[str, str]) -> Preempt:
    head, victim = entry.head, target.holder
    return Preempt(
        workload=victim.key,
        uid=victim.uid,
        cluster_queue=victim.queue,
        preemptor=head.workload.key,
        preemptor_uid=head.workload.uid,
        preemptor_queue=head.queue,
        reason=target.reason,
        preemptor_path=paths[0],
        victim_path=paths[1],
        already_evicted=victim.evicted,
    )


def _admit(entry: Entry, draft: Draft) -> Ruling:
    head, assignment, world = entry.head, entry.assignment, draft.world
    if not draft.fits_now(entry):
        if assignment.borrow and not entry.targets:
            # what it would be promised others may need first, when they learn that it gets free
            return _retry(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, AWAITS_RELEASE)
        ruling = _keep(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, AWAITS_RELEASE)
        return ruling._replace(taken=_promised(entry))
    if world.settings.block_admission_until_pods_ready and _awaits_pods(entry, draft):
        return _keep(entry, Mode.SKIPPED, Reason.WAITING_FOR_PODS_READY, PODS_NOT_READY)
    allowance = world.allowance
    if allowance is not None:
        barred = allowance.bars(head.workload, head.queue, assignment.use)
        if barred is not None:
            return _retry(entry, Mode.SKIPPED, *barred)
        demoted = entry.demoted is not None
        allowance.take(head.workload, head.queue, assignment.use, demoted=demoted)
    pod_sets = assignment.pod_sets()
    has_checks = entry.rules.fact.checks or head.workload.checks
    admit = Admit(
        workload=head.workload.key,
        uid=head.workload.uid,
        cluster_queue=head.queue,
        pod_sets=pod_sets,
        borrowing=assignment.borrow > 0,
        checks=_open_checks(entry, pod_sets, world.settings) if has_checks else (),
        note=_note(entry) if assignment.passed_over or entry.demoted else "",
    )
    return Ruling(entry, admit, taken=_promised(entry) if entry.targets else ())


def _note(entry: Entry) -> str:
    """Return the note of an admission: flavors passed over, and that it runs beyond a budget."""
    found = (passed_over(entry.assignment.passed_over), entry.demoted)
    return ". ".join(one for one in found if one)


def _awaits_pods(entry: Entry, draft: Draft) -> bool:
    """Say whether admission must wait until the pods of admitted workloads are ready.

    In Kueue mode those of all workloads count, otherwise only those of the entry's tree.
    """
    waited_for = draft.world.unready | draft.admitted_in
    if draft.world.settings.rules.waits_for_own_tree:
        return entry.node.root in waited_for
    return bool(waited_for)


def _open_checks(
    entry: Entry, pod_sets: tuple[PodSetAssignment, ...], settings: Settings
) -> tuple[CheckName, ...]:
    """Return the admission checks that are not Ready yet, of the queue and of the status.

    In Kueue mode those that are only in the workload's status count: there they are dropped once
    the workload has a reservation, and only then is it admitted.
    """
    states, names = entry.head.workload.checks, applying_checks(entry.rules.fact, pod_sets)
    heeds_all = not settings.rules.drops_stale_checks
    ready = {one.name for one in states if one.state is CheckPhase.READY}
    asked = (*names, *(one.name for one in states)) if heeds_all else names
    return tuple(name for name in dict.fromkeys(asked) if name not in ready)


def _wait(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that gets nothing.

    It is inadmissible, unless its queue is StrictFIFO or flavors are left to try.
    """
    strict = entry.rules.fact.strategy is Strategy.STRICT_FIFO
    again = strict or entry.assignment.progress is not None
    requeue = Requeue.IMMEDIATE if again else Requeue.INADMISSIBLE
    return _rule_wait(entry, mode, (reason, message), requeue)


def _retry(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that is judged again in the next round."""
    return _rule_wait(entry, mode, (reason, message), Requeue.IMMEDIATE)


def _keep(entry: Entry, mode: Mode, reason: Reason, message: str) -> Ruling:
    """Return the wait of a head that is judged again, and keeps its usage from later entries."""
    return _retry(entry, mode, reason, message)._replace(kept=entry.usage)


def _rule_wait(entry: Entry, mode: Mode, why: tuple[Reason, str], requeue: Requeue) -> Ruling:
    head = entry.head
    wait = Wait(
        workload=head.workload.key,
        uid=head.workload.uid,
        cluster_queue=head.queue,
        requeue=requeue,
        reason=why[0],
        message=why[1],
        mode=mode,
        nominated=entry.assignment.pod_sets(),
        targets=tuple(one.holder.key for one in entry.targets if not one.holder.promised)
        if entry.targets
        else (),
    )
    return Ruling(entry, wait)


def _reservation(entry: Entry) -> dict[FlavorResource, int]:
    """Return the quota that a head without candidates keeps from later entries.

    Otherwise smaller workloads would starve it. As in Kueue it is the request, but at most what is
    left of the nominal quota; if it borrows, of nominal quota plus borrowing limit.
    """
    borrows = entry.assignment.borrow > 0
    kept: dict[FlavorResource, int] = {}
    for resource, amount in entry.usage.items():
        cell = entry.node.cell(resource)
        left = cell.limits.nominal - cell.usage
        if not borrows:
            kept[resource] = max(0, min(amount, left))
        elif cell.limits.borrowing_limit is None:
            kept[resource] = amount
        else:
            kept[resource] = max(0, min(amount, left + cell.limits.borrowing_limit))
    return kept
