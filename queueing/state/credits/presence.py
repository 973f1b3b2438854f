"""Who holds quota, since when and until when, as far as statuses have told.

Every holding gets a number of its own when it begins: the same workload may come again, and with
other terms. What a status no longer tells of is remembered until an account tells of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from queueing.core.credits.facts import LeaverRecord
from queueing.core.credits.holding import Holding, Runs, ended_at, holding_of, released_at, runs_of
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, Uid
from queueing.state.credits.accounts import recalled
from queueing.state.credits.agenda import Agenda, Begin, End, Ran
from queueing.state.credits.shares import Undisturbed

_HOW_IT_ENDS = Holding._fields.index("until")
"""All before it is the same as long as a holding lasts."""
_RECALLED = -1
"""The number of one who was read from an account and does not count yet."""


class Entered(NamedTuple):
    """A holding that was told of, under a number of its own."""

    token: int
    holding: Holding
    told: WorkloadFact | None = None
    """The status that told of it; None where an account did."""


class Presence:
    """Who was told to hold quota, and who left; plans both for the ledgers."""

    __slots__ = (
        "_agenda",
        "_changed",
        "_ends",
        "_entered",
        "_ran",
        "_released",
        "_undisturbed",
        "altered_at",
        "follows_pods",
    )

    def __init__(self, agenda: Agenda, undisturbed: Undisturbed) -> None:
        self._agenda, self._undisturbed = agenda, undisturbed
        self._changed: dict[Key, list[WorkloadFact | None]] = {}
        """What statuses said since the last look, in order."""
        self._entered: dict[Key, Entered] = {}
        self._ends: dict[int, Holding] = {}
        """Who gave quota back without having finished, as long as the books do not count it."""
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
        tells_nothing = fact is None or fact.admission is None
        if tells_nothing and key not in self._entered and key not in self._changed:
            return
        self._changed.setdefault(key, []).append(fact)

    def look_again(self, workloads: Mapping[Key, WorkloadFact]) -> None:
        """Take what all statuses say now as news: so far nobody listened."""
        self._changed.update(
            (key, [fact]) for key, fact in workloads.items() if fact.admission is not None
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
            self._changed[key] = []
            if key not in self._entered or holding.until is not None:
                self._entered[key] = Entered(_RECALLED, holding)

    def was_counted_out(self, token: int) -> None:
        """Note that the books do not count the holding of this number any more."""
        self._ends.pop(token, None)

    # Answers ------------------------------------------------------------------------------------

    def is_unheard(self, key: Key) -> bool:
        """Say whether there is news of a workload that nobody looked at."""
        return key in self._changed

    def held(self, key: Key) -> Holding | None:
        """Return what a workload's status tells of; it may tell of its end, too."""
        entered = self._entered.get(key)
        return None if entered is None else entered.holding

    def held_before(self, key: Key) -> Holding | None:
        """Return what a workload held last of which its status tells no more."""
        return self._released.get(key)

    def leaving(self, workloads: Mapping[Key, WorkloadFact]) -> Iterator[Holding]:
        """Go over those whose status tells no more of what they held, or soon will not."""
        for key, entered in self._entered.items():
            fact = workloads.get(key)
            if fact is not None and fact.is_true("Evicted") and not fact.is_true("Finished"):
                yield entered.holding
        yield from self._ends.values()

    # Beginnings and ends ------------------------------------------------------------------------

    def take_changes(self, workloads: Mapping[Key, WorkloadFact], now: int) -> None:
        """Plan the beginnings and ends of holdings that statuses tell of."""
        for key, facts in list(self._changed.items()):
            known = self._entered.get(key)
            if known is not None and known.token == _RECALLED:
                self._settle_leaver(key, known.holding, workloads)
            for fact in facts:
                self._take_change(key, fact, now)
        self._changed.clear()

    def _take_change(self, key: Key, fact: WorkloadFact | None, now: int) -> None:
        known = self._entered.get(key)
        if fact is not None and known is not None and _tells_the_same(known.told, fact):
            if self.follows_pods:
                known = self._follow_pods(key, known, fact)
            self._hear_of_end(key, known, ended_at(fact))
            return
        found = None if fact is None else holding_of(fact)
        if known is not None and not (found and _continues(known.holding, found)):
            same = found is not None and _is_same_stay(known.holding, found)
            when = _end_of(known.holding, fact, found, now)
            evicted = fact is not None and fact.uid == known.holding.uid and not same
            ended = self._end(known, when, is_told=same, evicted=evicted)
            del self._entered[key]
            self._forget_or_remember(key, fact, ended)
            known = None if found is None else self._changed_terms(known, found, key, now)
        if found is None:
            return
        begins = known is None
        if known is None:
            known = self._begin(key, found)
        self._entered[key] = known = Entered(known.token, known.holding, fact)
        if self.follows_pods and fact is not None:
            known = self._follow_pods(key, known, fact, begins=begins)
        self._hear_of_end(key, known, found.until)

    def _hear_of_end(self, key: Key, known: Entered, until: int | None) -> None:
        """Plan the end of a holding, of which its status tells for the first time."""
        holding = known.holding
        if until is not None and holding.until is None:
            self._agenda.plan(max(until, holding.since), End(known.token))
            self._entered[key] = Entered(known.token, holding._replace(until=until), known.told)

    def _follow_pods(
        self, key: Key, known: Entered, fact: WorkloadFact, *, begins: bool = False
    ) -> Entered:
        """Plan what a status tells of since when all pods run, if it does.

        The status of one that is evicted tells no more of it: where nobody remembers, they ran.
        """
        holding = known.holding
        if holding.runs is not None:
            return known
        runs, life = runs_of(fact), (holding.uid, holding.since)
        if runs is None and life in self._ran:
            runs = self._ran[life]
        elif runs is None and begins and fact.is_true("Evicted"):
            runs = Runs(holding.since, holding.since) if "PodsReady" in fact.conditions else None
        if runs is None:
            return known
        self._agenda.plan(max(runs.told_at, holding.since), Ran(known.token, runs.since))
        followed = self._entered[key] = known._replace(holding=holding._replace(runs=runs))
        return followed

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
        return self._begin(key, found._replace(since=since, may_last=left), told=found)

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
            self._agenda.plan(
                max(left.runs.told_at, left.since), Ran(entered.token, left.runs.since)
            )
        self._end(entered, left.since if until is None else until, evicted=True)

    def _begin(self, key: Key, holding: Holding, *, told: Holding | None = None) -> Entered:
        token = self._agenda.plan(holding.since, Begin(holding))
        known = told or holding
        if known.until is not None:
            known = known._replace(until=None)
        self._undisturbed.began(key, holding.since)
        return Entered(token, known)

    def _end(
        self, entered: Entered, when: int, *, is_told: bool = False, evicted: bool = False
    ) -> Holding:
        """Plan the end of a holding, which the status may tell of later too; return it."""
        if entered.holding.until is not None:
            return entered.holding
        until = max(when, entered.holding.since)
        ended = entered.holding._replace(until=until)
        if not is_told:
            self._ends[entered.token] = ended
        self._agenda.plan(until, End(entered.token, evicted))
        return ended


def _tells_the_same(before: WorkloadFact | None, fact: WorkloadFact) -> bool:
    """Say whether two statuses differ in nothing that a holding is read from, but for its end."""
    return before is not None and _source(before) == _source(fact)


def _source(fact: WorkloadFact) -> tuple[object, ...]:
    """Return what `holding_of` reads, but for the end; tuples compare by identity first."""
    return (
        fact.uid,
        fact.admission,
        fact.conditions.get("QuotaReserved"),
        fact.priority,
        fact.local_queue,
        fact.max_execution_s,
        fact.past_execution_s,
        fact.given,
        fact.beside,
        (fact.reclaimable, fact.pod_sets) if fact.reclaimable else None,
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
