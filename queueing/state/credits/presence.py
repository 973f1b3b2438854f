"""Turns workload statuses into holdings: which workload holds which quota, from when to when.

Every holding gets a number of its own when it begins, because the same workload may hold quota
several times, and in other amounts. Holdings that a status no longer shows are remembered until
their end has been counted, and recorded as leavers until then.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from queueing.core.credits.facts import LeaverRecord
from queueing.core.credits.holding import Holding, Runs, ended_at, holding_of, released_at, runs_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.state.credits.accounts import recalled
from queueing.state.credits.agenda import Agenda, Ran
from queueing.state.credits.shares import Undisturbed
from queueing.state.usage.charges import Charge

_HOW_IT_ENDS = Holding._fields.index("until")
"""The index of the field `until`: all fields before it stay the same while a holding lasts."""
_RECALLED = -1
"""The number of a holding that was read from a stored account and does not count yet."""


@dataclass(slots=True)
class Entered:
    """A holding whose begin is planned, under a number of its own (`token`)."""

    token: int
    holding: Holding
    """As it began; if it was read from an account, also how it ended."""
    told: WorkloadFact | None = None
    """The newest status that shows it; None if it was read from an account."""
    until: int | None = None
    runs: Runs | None = None

    @property
    def held(self) -> Holding:
        """The holding, with its end and since when its pods run, if these are known."""
        known = self.holding
        if self.until == known.until and self.runs == known.runs:
            return known
        return known._replace(until=self.until, runs=self.runs)


class Presence:
    """The holdings of all workloads; plans their begins and ends in the agenda."""

    __slots__ = (
        "_agenda",
        "_changed",
        "_entered",
        "_ran",
        "_released",
        "_undisturbed",
        "altered_at",
        "ends",
        "follows_pods",
    )

    def __init__(self, agenda: Agenda, undisturbed: Undisturbed) -> None:
        self._agenda, self._undisturbed = agenda, undisturbed
        self._changed: dict[Key, tuple[WorkloadFact | None, ...]] = {}
        """The statuses of workloads since the last `take_changes`, in order; None for a deletion.
        """
        self._entered: dict[Key, Entered] = {}
        """The present holding of each workload, as its status shows it."""
        self.ends: dict[int, Holding] = {}
        """Holdings whose planned end no status shows, by number. The end's execution removes them.
        """
        self._released: dict[Key, Holding] = {}
        """The last such holding of each workload."""
        self._ran: dict[tuple[Uid, int], Runs | None] = {}
        """Since when pods ran, if ever, of the leavers of stored accounts."""
        self.follows_pods = False
        """Whether it matters since when pods run: rows of usage are kept."""
        self.altered_at: int | None = None
        """When the amount of a holding last changed, since no status contains that time."""

    # News ---------------------------------------------------------------------------------------

    def note(self, key: Key, fact: WorkloadFact | None) -> None:
        """Note the new status of a workload; None if the workload was deleted."""
        known = self._changed.get(key)
        if known is not None:
            self._changed[key] = (*known, fact)
        elif (fact is not None and fact.admission is not None) or key in self._entered:
            self._changed[key] = (fact,)

    def look_again(self, workloads: Mapping[Key, WorkloadFact]) -> None:
        """Note all present statuses, because statuses were not noted before."""
        self._changed.update(
            (key, (fact,)) for key, fact in workloads.items() if fact.admission is not None
        )

    def recall(self, leavers: Iterable[LeaverRecord]) -> None:
        """Take in the leavers of a stored account: they count if their status no longer shows them.

        If such a workload was deleted, or holds quota again, the time at which it left may be
        unknown. Then it counts only up to the time of that account.
        """
        for one in leavers:
            holding = recalled(one)
            life = holding.uid, holding.since
            self._ran[life] = holding.runs or self._ran.get(life)
            key = _leaver_key(holding)
            self._changed[key] = ()
            if key not in self._entered or holding.until is not None:
                self._entered[key] = Entered(_RECALLED, holding, None, holding.until, holding.runs)

    # Answers ------------------------------------------------------------------------------------

    def is_unheard(self, key: Key) -> bool:
        """Say whether a workload has a status that `take_changes` has not processed yet."""
        return key in self._changed

    def held(self, key: Key) -> Holding | None:
        """Return the holding that a workload's status shows; it may have ended."""
        entered = self._entered.get(key)
        return None if entered is None else entered.held

    def held_before(self, key: Key) -> Holding | None:
        """Return the last holding of a workload that its status no longer shows."""
        return self._released.get(key)

    def leaving(self, workloads: Mapping[Key, WorkloadFact]) -> Iterator[Holding]:
        """Yield the holdings that statuses no longer show, or soon will not: those of leavers."""
        for key, entered in self._entered.items():
            fact = workloads.get(key)
            if fact is not None and fact.is_true("Evicted") and not fact.is_true("Finished"):
                yield entered.held
        yield from self.ends.values()

    # Beginnings and ends ------------------------------------------------------------------------

    def take_changes(
        self,
        workloads: Mapping[Key, WorkloadFact],
        charges: Mapping[Key, Charge],
        now: int,
    ) -> None:
        """Plan the begins and ends of holdings, by the statuses since the last call.

        `charges` are those of the newest statuses, so that usage need not be computed again.
        """
        changed, self._changed = self._changed, {}
        entered = self._entered
        for key, facts in changed.items():
            known = entered.get(key)
            if known is not None and known.token == _RECALLED:
                self._settle_leaver(key, known.holding, workloads)
                known = entered.get(key)
            for fact in facts:
                if known is not None and fact is not None and _tells_the_same(known.told, fact):
                    known.told = fact  # keeps no older status in memory
                    if self.follows_pods:
                        self._follow_pods(known, fact)
                    if known.until is None and "Finished" in fact.conditions:
                        self._hear_of_end(known, ended_at(fact))
                    continue
                charge = charges.get(key) if workloads.get(key) is fact else None
                found = _read(fact, charge)
                if known is not None:
                    self._take_change(key, known, fact, found, now=now)
                    known = entered.get(key)
                elif found is not None:
                    known = self._enter(key, found, fact)

    def _take_change(
        self,
        key: Key,
        known: Entered,
        fact: WorkloadFact | None,
        found: Holding | None,
        *,
        now: int,
    ) -> None:
        """Take in a status that shows another holding than before, or none."""
        if found is not None and _continues(known.holding, found):
            self._told(known, found, fact)
            return
        same = found is not None and _is_same_stay(known.holding, found)
        when = _end_of(known.holding, fact, found, now)
        evicted = fact is not None and fact.uid == known.holding.uid and not same
        ended = self._end(known, when, is_told=same, evicted=evicted)
        del self._entered[key]
        self._forget_or_remember(key, fact, ended)
        if found is None:
            return
        changed = self._changed_terms(known, found, key, now)
        if changed is None:
            self._enter(key, found, fact)
        else:
            self._entered[key] = changed
            self._told(changed, found, fact)

    def _enter(self, key: Key, found: Holding, fact: WorkloadFact | None) -> Entered:
        """Plan the begin of a holding."""
        self._undisturbed.began(key, found.since)
        held = found if found.until is None else found._replace(until=None)
        known = self._entered[key] = Entered(self._agenda.begin(found), held, fact)
        if self.follows_pods and fact is not None:
            self._follow_pods(known, fact, begins=True)
        if found.until is not None:
            self._hear_of_end(known, found.until)
        return known

    def _told(self, known: Entered, found: Holding, fact: WorkloadFact | None) -> None:
        """Take in a status of a holding that goes on: its pods may run, or it may have ended."""
        known.told = fact
        if self.follows_pods and fact is not None:
            self._follow_pods(known, fact)
        if known.until is None and found.until is not None:
            self._hear_of_end(known, found.until)

    def _hear_of_end(self, known: Entered, until: int | None) -> None:
        """Plan the end of a holding that its status shows for the first time."""
        if until is not None:
            since = known.holding.since
            self._agenda.plan(max(since, until), known.token)
            known.until = until

    def _follow_pods(self, known: Entered, fact: WorkloadFact, *, begins: bool = False) -> None:
        """Plan that all pods of a holding run, if its status shows since when.

        The status of an evicted workload no longer shows it. If it is not known from before, pods
        that were ever reported (condition `PodsReady`) are taken to have run from the begin.
        """
        if known.runs is not None:
            return
        holding, runs = known.holding, runs_of(fact)
        life = holding.uid, holding.since
        if runs is None and life in self._ran:
            runs = self._ran[life]
        elif runs is None and begins and fact.is_true("Evicted"):
            runs = Runs(holding.since, holding.since) if "PodsReady" in fact.conditions else None
        if runs is None:
            return
        self._agenda.plan(max(runs.told_at, holding.since), known.token, Ran(runs.since))
        known.runs = runs

    def _forget_or_remember(self, key: Key, fact: WorkloadFact | None, ended: Holding) -> None:
        """Remember the ended holding of a workload that still exists; forget it with a deletion."""
        if fact is None:
            self._released.pop(key, None)
        elif ended.until is not None:
            self._released[key] = ended

    def _changed_terms(self, old: Entered, found: Holding, key: Key, now: int) -> Entered | None:
        """Plan a new holding from now on, if only the amounts of a holding changed; else None."""
        if not _is_same_stay(old.holding, found):
            return None
        since = self.altered_at = max(now, found.since)
        left = None if found.may_last is None else max(0, found.may_last - (since - found.since))
        changed = found._replace(since=since, may_last=left, admitted_at=found.since)
        return self._begin(key, changed, told=found)

    def _settle_leaver(
        self, key: Key, left: Holding, workloads: Mapping[Key, WorkloadFact]
    ) -> None:
        del self._entered[key]
        fact = next((one for one in workloads.values() if one.uid == left.uid), None)
        found = None if fact is None else holding_of(fact)
        if found is not None and found.since == left.since:
            return
        until = left.until
        if until is None and fact is not None and found is None:
            until = released_at(fact)
        entered = self._begin(key, left._replace(until=None, runs=None))
        if left.runs is not None and self.follows_pods:
            told_at = max(left.runs.told_at, left.since)
            self._agenda.plan(told_at, entered.token, Ran(left.runs.since))
        self._end(entered, left.since if until is None else until, evicted=True)

    def _begin(self, key: Key, holding: Holding, *, told: Holding | None = None) -> Entered:
        known = told or holding
        if known.until is not None:
            known = known._replace(until=None)
        self._undisturbed.began(key, holding.since)
        return Entered(self._agenda.begin(holding), known)

    def _end(
        self, entered: Entered, when: int, *, is_told: bool = False, evicted: bool = False
    ) -> Holding:
        """Plan the end of a holding, which the status may tell of later too; return it."""
        if entered.until is not None:
            return entered.held
        until = max(when, entered.holding.since)
        ended = entered.holding._replace(until=until, runs=entered.runs)
        if not is_told:
            self.ends[entered.token] = ended
        if evicted:
            self._agenda.evict(until, entered.token)
        else:
            self._agenda.plan(until, entered.token)
        return ended


def _read(fact: WorkloadFact | None, charge: Charge | None) -> Holding | None:
    """Return the holding that a status shows. `charge` is the workload's charge, if it is charged.

    A charge that is not assumed was made by the newest status, so its usage is taken over.
    """
    if fact is None:
        return None
    if charge is None or charge.decision is not None:
        return holding_of(fact)
    holder = charge.holder
    return holding_of(fact, holder.usage if holder.own is None else holder.whole)


def _tells_the_same(before: WorkloadFact | None, fact: WorkloadFact) -> bool:
    """Say whether two statuses show the same holding, disregarding its end."""
    if before is None or before.uid != fact.uid:
        return False
    reserved, was_reserved = (
        fact.conditions.get("QuotaReserved"),
        before.conditions.get("QuotaReserved"),
    )
    return (
        (before.admission is fact.admission or before.admission == fact.admission)
        and (was_reserved is reserved or was_reserved == reserved)
        and before.priority == fact.priority
        and before.local_queue == fact.local_queue
        and before.max_execution_s == fact.max_execution_s
        and before.past_execution_s == fact.past_execution_s
        and before.given == fact.given
        and before.beside == fact.beside
        and before.reclaimable == fact.reclaimable
        and (not fact.reclaimable or before.pod_sets == fact.pod_sets)
    )


def _continues(known: Holding, found: Holding) -> bool:
    """Say whether a status shows the known holding, perhaps with its end."""
    return known[:_HOW_IT_ENDS] == found[:_HOW_IT_ENDS]


def _is_same_stay(known: Holding, found: Holding) -> bool:
    """Say whether two holdings are of one reservation: only the amounts may differ."""
    return (known.uid, known.since) == (found.uid, found.since)


def _end_of(known: Holding, fact: WorkloadFact | None, found: Holding | None, now: int) -> int:
    """Return when a holding ended that its status no longer shows; `now` if that is unknown."""
    if fact is not None and found is None and fact.uid == known.uid:
        return released_at(fact) or now
    if found is not None and found.uid == known.uid and found.since > known.since:
        return found.since
    return now


def _leaver_key(holding: Holding) -> Key:
    """Return a key for a leaver, apart from its workload's, which may hold quota again."""
    return Key(f"/{holding.uid}/{holding.since}")
