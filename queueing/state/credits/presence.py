"""Who holds quota, since when and until when, as far as statuses have told.

Every holding gets a number of its own when it begins: the same workload may come again, and with
other terms. What a status no longer tells of is remembered until an account tells of it.
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
"""All before it is the same as long as a holding lasts."""
_RECALLED = -1
"""The number of one who was read from an account and does not count yet."""


@dataclass(slots=True)
class Entered:
    """A holding that was told of, under a number of its own."""

    token: int
    holding: Holding
    """As it began; of one that an account told of also how it ended."""
    told: WorkloadFact | None = None
    """The status that told of it; None where an account did."""
    until: int | None = None
    runs: Runs | None = None

    @property
    def held(self) -> Holding:
        """The holding, with its end, and since when its pods run, if these are known."""
        known = self.holding
        if self.until == known.until and self.runs == known.runs:
            return known
        return known._replace(until=self.until, runs=self.runs)


class Presence:
    """Who was told to hold quota, and who left; plans both for the ledgers."""

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
        """What statuses said since the last look, in order."""
        self._entered: dict[Key, Entered] = {}
        self.ends: dict[int, Holding] = {}
        """Who gave quota back without having finished, by number; whoever carries out the end
        takes it out."""
        self._released: dict[Key, Holding] = {}
        """The last of these of each workload."""
        self._ran: dict[tuple[Uid, int], Runs | None] = {}
        """Since when pods ran, if ever, of those of whom an account told."""
        self.follows_pods = False
        """Whether anybody asks since when pods run."""
        self.altered_at: int | None = None
        """When a workload last came to hold something else, of which no status tells the time."""

    # News ---------------------------------------------------------------------------------------

    def note(self, key: Key, fact: WorkloadFact | None) -> None:
        """Note what a workload's status says now; None when it is gone."""
        known = self._changed.get(key)
        if known is not None:
            self._changed[key] = (*known, fact)
        elif (fact is not None and fact.admission is not None) or key in self._entered:
            self._changed[key] = (fact,)

    def look_again(self, workloads: Mapping[Key, WorkloadFact]) -> None:
        """Take what all statuses say now as news: so far nobody listened."""
        self._changed.update(
            (key, (fact,)) for key, fact in workloads.items() if fact.admission is not None
        )

    def recall(self, leavers: Iterable[LeaverRecord]) -> None:
        """Count workloads that were about to leave when this was stored, if they have since left.

        Whoever still holds the same quota is known by its status. Nobody can tell when one left
        that has gone altogether, or holds quota again: it counts up to what was stored.
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
        """Say whether there is news of a workload that nobody looked at."""
        return key in self._changed

    def held(self, key: Key) -> Holding | None:
        """Return what a workload's status tells of; it may tell of its end, too."""
        entered = self._entered.get(key)
        return None if entered is None else entered.held

    def held_before(self, key: Key) -> Holding | None:
        """Return what a workload held last of which its status tells no more."""
        return self._released.get(key)

    def leaving(self, workloads: Mapping[Key, WorkloadFact]) -> Iterator[Holding]:
        """Go over those whose status tells no more of what they held, or soon will not."""
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
        """Plan the beginnings and ends of holdings that statuses tell of.

        `charges` are those of the newest statuses: what they hold need not be read again.
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
                    known.told = fact  # so that the one before it can be forgotten
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
        """Plan that a holding ends, or goes on with other terms."""
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
        """Plan that a holding begins."""
        self._undisturbed.began(key, found.since)
        held = found if found.until is None else found._replace(until=None)
        known = self._entered[key] = Entered(self._agenda.begin(found), held, fact)
        if self.follows_pods and fact is not None:
            self._follow_pods(known, fact, begins=True)
        if found.until is not None:
            self._hear_of_end(known, found.until)
        return known

    def _told(self, known: Entered, found: Holding, fact: WorkloadFact | None) -> None:
        """Plan what a status tells of a holding that goes on: that its pods run, and its end."""
        known.told = fact
        if self.follows_pods and fact is not None:
            self._follow_pods(known, fact)
        if known.until is None and found.until is not None:
            self._hear_of_end(known, found.until)

    def _hear_of_end(self, known: Entered, until: int | None) -> None:
        """Plan the end of a holding, of which its status tells for the first time."""
        if until is not None:
            since = known.holding.since
            self._agenda.plan(max(since, until), known.token)
            known.until = until

    def _follow_pods(self, known: Entered, fact: WorkloadFact, *, begins: bool = False) -> None:
        """Plan what a status tells of since when all pods run, if it does.

        The status of one that is evicted tells no more of it: where nobody remembers, they ran.
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
        """Remember what a workload held that lives on without telling of it."""
        if fact is None:
            self._released.pop(key, None)
        elif ended.until is not None:
            self._released[key] = ended

    def _changed_terms(self, old: Entered, found: Holding, key: Key, now: int) -> Entered | None:
        """Begin anew, from now on, a holding of which only what it holds changed."""
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
    """Return the holding that a status tells of; `charge` is what it charges, if it does.

    What is charged by no decision is charged by the newest status, which so holds quota.
    """
    if fact is None:
        return None
    if charge is None or charge.decision is not None:
        return holding_of(fact)
    holder = charge.holder
    return holding_of(fact, holder.usage if holder.own is None else holder.whole)


def _tells_the_same(before: WorkloadFact | None, fact: WorkloadFact) -> bool:
    """Say whether two statuses differ in nothing that a holding is read from, but for its end."""
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
    """Say whether a status tells of the holding that is known, perhaps of its end."""
    return known[:_HOW_IT_ENDS] == found[:_HOW_IT_ENDS]


def _is_same_stay(known: Holding, found: Holding) -> bool:
    """Say whether only what a workload holds may have changed."""
    return (known.uid, known.since) == (found.uid, found.since)


def _end_of(known: Holding, fact: WorkloadFact | None, found: Holding | None, now: int) -> int:
    """Return when a holding ended that a status no longer tells of."""
    if fact is not None and found is None and fact.uid == known.uid:
        return released_at(fact) or now
    if found is not None and found.uid == known.uid and found.since > known.since:
        return found.since
    return now


def _leaver_key(holding: Holding) -> Key:
    """Name somebody who left and may be back under its own key."""
    return Key(f"/{holding.uid}/{holding.since}")
