"""Decides one entry (a nominated head) of a round, on the tree that the entries before it left.

Called by `rounds`, once per entry of a round, in their order.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from queueing.core.admissibility import applying_checks
from queueing.core.decisions import Admit, Bar, Mode, PreemptionReason, Reason, Wait
from queueing.core.entries import (
    Entry,
    Ruling,
    keep,
    preemptions,
    reservation,
    retry,
    taken_from,
    wait,
)
from queueing.core.facts import CheckPhase, PodSetAssignment, PreemptionPolicy
from queueing.core.holders import Holder
from queueing.core.names import CheckName, FlavorResource, QueueName, Uid
from queueing.core.nomination import World, covers, nominate
from queueing.core.placement.doubts import doubts
from queueing.core.placement.room import has_room, is_taken
from queueing.core.preemption.limits import Departures
from queueing.core.preemption.query import Target
from queueing.core.quota.node import QuotaNode
from queueing.core.reasons import (
    AWAITS_RELEASE,
    DEFERRED,
    GATED,
    NO_LONGER_FITS,
    OVERLAPPING,
    PODS_NOT_READY,
    TOO_MANY_LEAVE,
    passed_over,
    pending_migration,
    pending_move,
    pending_preemption,
)
from queueing.core.settings import Compatibility, Settings


@dataclass(slots=True, eq=False)
class Draft:
    """The quota tree as a round spends it: what entries took so far, and what victims will free.

    To be made within `QuotaTree.attempt`: what is charged here is undone when the round ends, and
    the engine charges it for good. With promises, victims are gone from the usage as soon as they
    are chosen. As Kueue counts, they are gone only where it is asked whether somebody fits.
    """

    world: World
    victims: dict[Uid, None] = field(default_factory=dict)
    """The victims of earlier entries, and those whose promises these took."""
    admitted_in: set[QuotaNode] = field(default_factory=set)
    """Roots of trees in which this round admitted a workload whose pods may be waited for."""
    _departures: Departures = field(init=False)
    _leaving: list[Holder] = field(default_factory=list)
    """Victims that still count as using their quota; none with promises."""
    _admitted: list[tuple[QueueName, Mapping[FlavorResource, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._departures = Departures(self.world.bounds)

    def admit(self, entry: Entry, *, has_checks: bool) -> None:
        """Charge an admission, or a reservation that waits for checks."""
        self.world.tree.add_usage(entry.head.queue, entry.usage)
        self._admitted.append((entry.head.queue, entry.usage))
        settings = self.world.settings
        blocks = settings.block_admission_until_pods_ready
        if blocks and settings.expects_pods(admitted=not has_checks):
            self.admitted_in.add(entry.node.root)

    def free(self, entry: Entry) -> None:
        """Count the victims of an entry as gone for entries that are decided later."""
        victims = [target.holder for target in entry.targets]
        self._departures.note(list(self._new_victims(entry)))
        if self.world.settings.rules.promises:
            for target in entry.targets:
                target.leave(self.world.tree)
        else:
            self._leaving += (one for one in victims if one.uid not in self.victims)
        self.victims.update(dict.fromkeys(holder.uid for holder in victims))

    def may_free(self, entry: Entry) -> bool:
        """Say whether limits on concurrent preemptions let the victims of an entry leave now."""
        return self._departures.allow(self._new_victims(entry))

    def _new_victims(self, entry: Entry) -> Iterator[QuotaNode]:
        for target in entry.targets:
            if target.holder.runs and target.holder.uid not in self.victims:
                yield self.world.tree.queue(target.holder.queue)

    @contextmanager
    def without_victims(self) -> Generator[None]:
        """Show the tree, within the context, as it will be when the victims so far have left."""
        with self.world.tree.attempt():
            for holder in self._leaving:
                self.world.tree.remove_usage(holder.queue, holder.counted)
            yield

    def fits(self, entry: Entry) -> bool:
        """Say whether an entry fits once all victims so far, and its own, have left."""
        if self._leaving or entry.targets:
            return self.holds(entry, self._fits)
        return self._fits(entry) if entry.assignment.places else has_quota(entry)

    def holds(self, entry: Entry, question: Callable[[Entry], bool]) -> bool:
        """Ask a question about the tree as it will be without all victims so far, and its own."""
        with self.without_victims():
            for target in entry.targets:
                target.leave(self.world.tree)
            return question(entry)

    def _fits(self, entry: Entry) -> bool:
        if not has_quota(entry) or not self._has_room(entry):
            return False
        return not is_taken(entry.targets, self.world.tree.forest)

    def _has_room(self, entry: Entry, *, now: bool = False) -> bool:
        as_kueue = self.world.settings.compatibility is Compatibility.KUEUE
        return has_room(entry.usage, self.world.tree.forest, as_kueue=as_kueue, now=now)

    def fits_now(self, entry: Entry) -> bool:
        """Say whether an entry fits into what nobody holds now; True where that is not asked.

        That differs from `fits` only where victims are leaving.
        """
        if not self.world.settings.rules.promises or not (self.world.leaving or self.victims):
            return True
        tree = self.world.tree
        for queue, usage in self._admitted:
            tree.hold(queue, usage)
        fits = entry.node.fits_now(entry.usage) and self._has_room(entry, now=True)
        for queue, usage in self._admitted:
            tree.hold(queue, usage, -1)
        return fits


def process(entry: Entry, draft: Draft) -> Ruling:
    """Decide one entry, and charge what it takes, so that later entries find it taken."""
    victims = draft.victims if entry.targets else ()
    overlaps = bool(victims) and any(one.holder.uid in victims for one in entry.targets)
    if overlaps and draft.world.settings.recompute_overlapping:
        ruling = _rule_anew(entry, draft)
    elif entry.assignment.places and _lost_its_place(entry, draft):
        ruling = _rule(_placed_anew(entry, draft), draft, overlaps=False, deferred=False)
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


def _lost_its_place(entry: Entry, draft: Draft) -> bool:
    """Say whether earlier entries took the places of this one's pods, and nothing else."""
    asks = entry.barred is None and (entry.assignment.fits or entry.assignment.needs_preemption)
    recomputes = draft.world.settings.recompute_placement
    return bool(asks and recomputes) and not draft.fits(entry) and draft.holds(entry, has_quota)


def _placed_anew(entry: Entry, draft: Draft) -> Entry:
    """Nominate an entry again, for the same flavors, with what earlier entries took."""
    head = replace(entry.head, nominated=entry.assignment.choices)
    spared = frozenset(draft.victims)
    return nominate(head, draft.world, draft.world.reach(), spared=spared)


def _rule(entry: Entry, draft: Draft, *, overlaps: bool, deferred: bool) -> Ruling:
    assignment = entry.assignment
    if entry.barred is not None:
        return wait(entry, Mode.NO_FIT, *entry.barred)
    if entry.partners and not entry.partners.isdisjoint(draft.victims):
        # workloads that share a ResourceClaim have to leave together, and the others leave now
        return retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, NO_LONGER_FITS)
    if not assignment.fits:
        if not assignment.needs_preemption:
            return wait(entry, Mode.NO_FIT, *_why(entry, assignment.message))
        if not entry.targets:
            return _without_candidates(entry, draft)
        if entry.head.workload.preemption_gated:
            return wait(entry, Mode.PREEMPT, Reason.ADMISSION_GATED, GATED)
    if deferred:
        return keep(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, DEFERRED)
    if overlaps:
        return retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, OVERLAPPING)
    if not draft.fits(entry):
        return retry(entry, Mode.SKIPPED, Reason.WAITING_FOR_QUOTA, NO_LONGER_FITS)
    if entry.targets and not draft.may_free(entry):
        entry.targets = ()  # it preempts nobody, so it keeps no quota from others
        return retry(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, TOO_MANY_LEAVE)
    if entry.targets and any(not one.holder.promised for one in entry.targets):
        return _preempt(entry, draft)
    return _admit(entry, draft)


def _without_candidates(entry: Entry, draft: Draft) -> Ruling:
    """Return the wait of an entry that found no victims, or must not preempt beyond a budget.

    It keeps quota from later entries unless it could reclaim that at any time.
    """
    words = (entry.assignment.message, entry.demoted)
    message = ". ".join(one for one in words if one)
    ruling = wait(entry, Mode.NO_CANDIDATES, *_why(entry, message))
    reclaim = entry.rules.fact.preemption.reclaim_within_cohort
    is_covered = covers(draft.world.allowance, entry.head, entry.assignment)
    if reclaim is PreemptionPolicy.ANY or entry.demoted or not is_covered:
        return ruling
    return ruling._replace(kept=reservation(entry))


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
    moves = all(target.reason is PreemptionReason.MOVED for target in victims)
    pending = pending_move if moves else pending_preemption
    message = pending(entry.assignment.message, len(victims))
    return _evict(entry, victims, draft, message)


def _migrate(entry: Entry, draft: Draft) -> Ruling:
    """Evict less favorable variants of the same workload. It is admitted when they have left."""
    siblings = entry.head.siblings
    running = [Target(one, PreemptionReason.FLAVOR_MIGRATION) for one in siblings if one.runs]
    entry.targets = [*entry.targets, *running]
    message = pending_migration(entry.assignment.message, len(siblings))
    if not running:  # they are leaving
        ruling = keep(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, message)
        return ruling._replace(taken=taken_from(entry.targets))
    return _evict(entry, running, draft, message)


def _evict(entry: Entry, victims: Sequence[Target], draft: Draft, message: str) -> Ruling:
    ruling = keep(entry, Mode.PREEMPT, Reason.WAITING_FOR_PREEMPTED, message)
    issued = preemptions(entry.head, victims, draft.world.tree)
    return ruling._replace(preemptions=issued, taken=taken_from(entry.targets))


def _admit(entry: Entry, draft: Draft) -> Ruling:
    head, assignment, world = entry.head, entry.assignment, draft.world
    if not draft.fits_now(entry):
        if assignment.borrow and not entry.targets and world.settings.fair_sharing is None:
            # what it would be promised its owners may need first, when they learn of it
            return retry(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, AWAITS_RELEASE)
        ruling = keep(entry, Mode.DEFERRED_FIT, Reason.WAITING_FOR_PREEMPTED, AWAITS_RELEASE)
        return ruling._replace(taken=taken_from(entry.targets))
    if world.settings.block_admission_until_pods_ready and _awaits_pods(entry, draft):
        return keep(entry, Mode.SKIPPED, Reason.WAITING_FOR_PODS_READY, PODS_NOT_READY)
    allowance = world.allowance
    if allowance is not None:
        barred = allowance.bars(head.workload, head.queue, assignment.use)
        if barred is not None:
            return retry(entry, Mode.SKIPPED, *barred)
    pod_sets, forest = assignment.pod_sets(), world.tree.forest
    has_checks = entry.rules.fact.checks or head.workload.checks
    checks = _open_checks(entry, pod_sets, world.settings) if has_checks else ()
    if head.siblings and not (checks and world.settings.rules.reserves_beside):
        return _migrate(entry, draft)
    if allowance is not None:
        demoted = entry.demoted is not None
        allowance.take(head.workload, head.queue, assignment.use, demoted=demoted)
    admit = Admit(
        workload=head.workload.key,
        uid=head.workload.uid,
        cluster_queue=head.queue,
        pod_sets=pod_sets,
        borrowing=assignment.borrow > 0,
        checks=checks,
        note=_note(entry) if assignment.passed_over or entry.demoted else "",
        warnings=tuple(doubts(head.workload.pod_sets, pod_sets, forest)) if forest.offers else (),
    )
    return Ruling(entry, admit, taken=taken_from(entry.targets) if entry.targets else ())


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


def has_quota(entry: Entry) -> bool:
    """Say whether there is enough quota for an entry, as the tree is."""
    for resource, amount in entry.usage.items():  # noqa: SIM110 - hot path, as all() costs more
        if amount > entry.node.available(resource):
            return False
    return True
