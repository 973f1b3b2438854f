"""Turns workload statuses into holdings: which workload holds which quota, from when to when.

Every holding gets a number of its own when it begins, because the same workload may hold quota
several times, and in other amounts. Holdings that a status no longer shows are remembered until
their end has been counted, and recorded as leavers until then.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from queueing.core.credits.holding import Holding, Runs, holding_of, released_at, runs_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.state.credits.agenda import Agenda, HoldingEnd, Ran
from queueing.state.credits.policies import Policies
from queueing.state.usage.charges import Charge

_HOW_IT_ENDS = Holding._fields.index("until")
"""The index of the field `until`: all fields before it stay the same while a holding lasts."""


@dataclass(slots=True)
class Entered:
    """A holding whose begin is planned, under a number of its own (`token`)."""

    token: int
    holding: Holding
    """As the status showed it first, without its end."""
    until: int | None = None
    runs: Runs | None = None

    @property
    def held(self) -> Holding:
        """The holding, with its end and since when its pods run, if these are known."""
        return self.holding._replace(until=self.until, runs=self.runs)


class Presence:
    """The holdings of all workloads; plans their begins and ends in the agenda."""

    def __init__(
        self, agenda: Agenda, policies: Policies, protect: Callable[[float, Key], None]
    ) -> None:
        self._agenda, self._policies = agenda, policies
        self._protect = protect
        """Notes when the longest minimum runtime of any policy is over for a workload."""
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
        self._recalled: dict[tuple[Uid, int], Holding] = {}
        """Leavers of stored accounts that do not count yet."""
        self._ran: dict[tuple[Uid, int], Runs | None] = {}
        """Since when pods ran, if ever, of the leavers of stored accounts."""
        self.altered_at: int | None = None
        """When the amount of a holding, or the terms of ledgers, last changed: no status contains
        that time. None once that is stored."""

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

    def recall(self, leavers: Iterable[Holding]) -> None:
        """Take in the leavers of a stored account: they count if their status no longer shows them.

        If such a workload was deleted, or holds quota again, the time at which it left may be
        unknown. Then it counts only up to the time of that account.
        """
        for left in leavers:
            self._ran[left.life] = left.runs or self._ran.get(left.life)
            if left.life not in self._recalled or left.until is not None:
                self._recalled[left.life] = left

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
            if fact is not None and fact.evicted and not fact.finished:
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
        for key, facts in changed.items():
            for fact in facts:
                charge = charges.get(key) if workloads.get(key) is fact else None
                self._take_change(key, fact, _read(fact, charge), now)
        if self._recalled:
            self._settle_leavers({one.uid: one for one in workloads.values()})

    def _take_change(
        self, key: Key, fact: WorkloadFact | None, found: Holding | None, now: int
    ) -> None:
        """Take in a status that may show another holding than before, or none."""
        known = self._entered.get(key)
        if known is not None and found is not None and _continues(known.holding, found):
            self._hear(known, fact, found.until)
            return
        counts = found
        if known is not None:
            same = found is not None and known.holding.life == found.life
            self._leave(key, known, fact, _end_of(known.holding, fact, found, now), is_told=same)
            if same and found is not None:
                counts = self._from_now(found, now)
        if found is not None and counts is not None:
            entered = self._entered[key] = self._begin(key, counts, now, shown=found)
            self._hear(entered, fact, found.until, begins=counts is found)

    def _leave(
        self, key: Key, known: Entered, fact: WorkloadFact | None, when: int, *, is_told: bool
    ) -> None:
        """End a holding that its status does not show, or with other amounts (`is_told`)."""
        evicted = fact is not None and fact.uid == known.holding.uid and not is_told
        ended = self._end(known, when, is_told=is_told, evicted=evicted)
        del self._entered[key]
        if fact is None:
            self._released.pop(key, None)
        elif ended.until is not None:
            self._released[key] = ended

    def _from_now(self, found: Holding, now: int) -> Holding:
        """Return a holding of which only the amounts changed: they count from now on."""
        since = self.altered_at = max(now, found.since)
        may_last = found.may_last
        if may_last is not None:
            may_last = max(0, may_last - (since - found.since))
        return found._replace(since=since, may_last=may_last, admitted_at=found.since)

    def _begin(self, key: Key, holding: Holding, now: int, *, shown: Holding) -> Entered:
        """Plan the begin of a holding, which its status shows as `shown`."""
        protected_until = holding.since + self._policies.minimum_runtime_s
        if protected_until > max(now, holding.since):
            self._protect(float(protected_until), key)
        return Entered(self._agenda.begin(holding), shown._replace(until=None))

    def _hear(
        self, known: Entered, fact: WorkloadFact | None, until: int | None, *, begins: bool = False
    ) -> None:
        """Take in a status of a holding that goes on: its pods may run, or it may have ended."""
        if self._policies.keeps_usage and fact is not None and known.runs is None:
            self._follow_pods(known, fact, begins=begins)
        if known.until is None and until is not None:
            known.until = until
            self._agenda.plan(max(known.holding.since, until), known.token, HoldingEnd.RELEASED)

    def _follow_pods(self, known: Entered, fact: WorkloadFact, *, begins: bool) -> None:
        """Plan that all pods of a holding run, if its status shows since when.

        The status of an evicted workload no longer shows it. If it is not known from before, pods
        that were ever reported (condition `PodsReady`) are taken to have run from the begin.
        """
        holding, runs = known.holding, runs_of(fact)
        if runs is None and holding.life in self._ran:
            runs = self._ran[holding.life]
        elif runs is None and begins and fact.evicted:
            runs = Runs(holding.since, holding.since) if "PodsReady" in fact.conditions else None
        if runs is not None:
            self._agenda.plan(max(runs.told_at, holding.since), known.token, Ran(runs.since))
            known.runs = runs

    def _settle_leavers(self, workloads: Mapping[Uid, WorkloadFact]) -> None:
        """Let leavers of stored accounts count, unless statuses show them after all."""
        recalled, self._recalled = self._recalled, {}
        for left in recalled.values():
            fact, until = workloads.get(left.uid), left.until
            found = None if fact is None else holding_of(fact)
            if found is not None and found.since == left.since:
                continue
            if until is None and fact is not None and found is None:
                until = released_at(fact)
            counts = left._replace(until=None, runs=None)
            entered = Entered(self._agenda.begin(counts), counts)
            if left.runs is not None and self._policies.keeps_usage:
                told_at = max(left.runs.told_at, left.since)
                self._agenda.plan(told_at, entered.token, Ran(left.runs.since))
            self._end(entered, left.since if until is None else until, evicted=True)

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
        self._agenda.plan(
            until, entered.token, HoldingEnd.EVICTED if evicted else HoldingEnd.RELEASED
        )
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
    return holding_of(fact, holder.whole)


def _continues(known: Holding, found: Holding) -> bool:
    """Say whether a status shows the known holding, perhaps with its end."""
    return known[:_HOW_IT_ENDS] == found[:_HOW_IT_ENDS]


def _end_of(known: Holding, fact: WorkloadFact | None, found: Holding | None, now: int) -> int:
    """Return when a holding ended that its status no longer shows; `now` if that is unknown."""
    if fact is not None and found is None and fact.uid == known.uid:
        return released_at(fact) or now
    if found is not None and found.uid == known.uid and found.since > known.since:
        return found.since
    return now
