"""Rounds of Kueue, one sentence of the rules after the other, on plain values.

Nothing of what is under test is called: facts are read as data, numbers are computed anew whenever
they are needed.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from math import ceil, inf
from typing import NamedTuple

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import PodSet, Preemption, PreemptionPolicy, Strategy, WorkloadFact
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, QueueName, ResourceName
from queueing.core.preemption.query import Preemptor, Query
from queueing.core.quota.node import QuotaNode
from queueing.core.settings import QuotaCheck, Settings
from queueing.testing.arena import Arena
from tests.core.preemption.letter_of_classical import letter_of_classical
from tests.core.preemption.letter_of_fair import letter_of_fair
from tests.core.preemption.letter_of_round import Without, claim
from tests.core.preemption.plain_tree import Amounts, Knot, Victims, World, fits, plain
from tests.core.rounds.letter_of_doors import (
    given_back,
    is_inactive,
    kept_out,
    only_reserves,
    queued_since,
    remaining,
    sent_away,
    taken_in,
    turned_away,
)
from tests.core.rounds.letter_of_flavors import FIT, NO_FIT, REASONS, Assigned, Chooser
from tests.core.rounds.random_cases import NOW, Case

MOST = 2**63 - 1
"""The share of who borrows with a weight of zero."""
BY = PreemptionReason.IN_CLUSTER_QUEUE
Flavors = tuple[tuple[str, int, tuple[tuple[str, str], ...]], ...]


class Answer(NamedTuple):
    """What became of a head."""

    workload: str
    mode: str
    """Empty: it is admitted."""
    requeue: str = ""
    flavors: Flavors = ()
    victims: tuple[tuple[str, str], ...] = ()
    message: str = ""
    borrowing: bool = False
    only_reserves: bool = False
    reason: str = ""
    """Of what does not fit."""


@dataclass
class Entry:
    """A nominated head."""

    head: WorkloadFact
    found: Assigned
    victims: Victims = field(default_factory=list)
    overlaps: bool = False
    """Whether it is skipped, as others before it have the same victims."""

    @property
    def needs_preemption(self) -> bool:
        return NO_FIT < self.found.mode < FIT


class Cycles:
    """The state between rounds."""

    def __init__(self, case: Case) -> None:
        self.settings = case.settings
        self.facts = {one.name: one for one in case.queues}
        self.flavors = {str(one.name): one for one in case.flavors}
        self.queue_of = {str(one.key): one.cluster_queue for one in case.doors}
        self.doors = {str(one.key): one for one in case.doors}
        self.ahead: dict[str, dict[str, int]] = {key: {} for key in self.doors}
        held = [_holder(one, case.settings) for one in case.running]
        self.knots = plain([*case.cohorts, *case.queues], held)
        for queue in case.queues:
            if is_inactive(case, queue):
                knot = self.knots[queue.name]
                knot.held, knot.sheltered = [], knot.held
        self.case = case
        self.known = {one.key: one for one in case.running}
        self.reserved: dict[str, Amounts] = {}
        """What those were charged ahead who were given quota, but wait for checks."""
        self.out: dict[str, str] = {}
        self.waiting: list[WorkloadFact] = []
        for one in case.pending:
            self._queue_up(one)
        self.set_aside: set[str] = set()
        self.tried: dict[str, list[dict[ResourceName, int]]] = {}
        self.tried_in: dict[str, int] = {}
        self.outdated: set[str] = set()
        self.number = 0
        self.preempting: dict[str, str] = {}
        """By queue, who had victims leave in its last try."""

    # A round.

    def round(self) -> tuple[list[Answer], list[tuple[str, str]]]:
        """Decide the head of every queue; return the answers, and where all others stand."""
        for name in self.facts:
            doors = [key for key, queue in self.queue_of.items() if queue == name]
            taking_turns = self._takes_turns(name)
            self.knots[name].turns = {key: self._turn(key) for key in doors if taking_turns}
        heads = [head for name in sorted(self.facts) for head in self._heads(name)]
        refused = {head.key: word for head in heads if (word := self._refused(head))}
        heads = [head for head in heads if head.key not in refused]
        self.number += 1
        entries = [self._nominate(head) for head in heads]
        gone: dict[str, Holder] = {}
        done = [self._process(entry, gone) for entry in self._ordered(entries)]
        for knot in self.knots.values():
            knot.claimed = {}
        for entry, answer in done:
            self._settle(entry, answer)
        self.set_aside |= {key for key, word in refused.items() if word == "Inadmissible"}
        keys = {head.key for head in heads}
        others = {
            str(one.key): "Inadmissible" if one.key in self.set_aside else "NotHead"
            for one in self.waiting
            if one.key not in keys
        }
        others |= {str(key): word for key, word in [*self.out.items(), *refused.items()] if word}
        return sorted(answer for _, answer in done), sorted(others.items())

    def _refused(self, head: WorkloadFact) -> str:
        return turned_away(self.facts[self._queue(head)], head)

    def _queue_up(self, one: WorkloadFact) -> None:
        word = kept_out(self.case, one)
        if word:
            self.out[one.key] = word
        else:
            self.waiting.append(one)

    def drain(self) -> None:
        """Let all who are evicted give their quota back; look again at all in their trees.

        How far a search came is outdated where the own queue got quota back.
        """
        for knot in self.knots.values():
            leaving = [one for one in (*knot.held, *knot.sheltered) if one.evicted]
            knot.held = [one for one in knot.held if not one.evicted]
            knot.sheltered = [one for one in knot.sheltered if not one.evicted]
            for one in leaving:
                fact = self.known.pop(one.key)
                self._charge_ahead(fact, self.reserved.pop(one.key, {}), -1)
                self._queue_up(given_back(fact, NOW))
            tree = {one.name for one in knot.root().queues()} if leaving else set()
            self.set_aside -= {one.key for one in self.waiting if self._queue(one) in tree}
            for fact in self.waiting if leaving else ():
                if self._queue(fact) == knot.name:
                    self.outdated.add(fact.key)

    def _heads(self, name: QueueName) -> Iterator[WorkloadFact]:
        ready = [
            one
            for one in self.waiting
            if self._queue(one) == name and one.key not in self.set_aside
        ]
        strict = self.facts[name].strategy is Strategy.STRICT_FIFO
        sticky = "" if strict else self.preempting.get(name, "")
        turns = self.knots[name].turns
        if ready:
            yield min(
                ready,
                key=lambda one: (
                    turns.get(one.local_queue or "", 0.0),
                    one.key != sticky,
                    -one.priority,
                    queued_since(one, self.settings),
                    one.uid,
                ),
            )

    def _takes_turns(self, name: QueueName) -> bool:
        scoped = self.facts[name].admission_fair_sharing
        return scoped and self.settings.admission_fair_sharing is not None

    def _turn(self, door: str) -> float:
        rules, fact = self.settings.admission_fair_sharing, self.doors[door]
        assert rules is not None
        if fact.fair_weight <= 0:
            return inf
        alpha = 0.0
        if rules.half_life_s:
            alpha = 1.0 - 0.5 ** (rules.sampling_interval_s / rules.half_life_s)
        sums = {str(name): amount for name, amount in fact.consumed}
        for name, amount in self.ahead[door].items():
            sums[name] = sums.get(name, 0.0) + alpha * amount
        weights = {str(name): weight for name, weight in rules.weights.items()}
        total = sum(weights.get(name, 1.0) * sums[name] for name in sorted(sums))
        return total / float(fact.fair_weight)

    def _queue(self, one: WorkloadFact) -> QueueName:
        return self.queue_of[one.local_queue or ""]

    # Nomination.

    def _nominate(self, head: WorkloadFact, kept: Assigned | None = None) -> Entry:
        counts = remaining(head)
        whole = self._try(head, counts, kept)
        least = [one.min_count for one in head.pod_sets]
        room = [0 if few is None else most - few for most, few in zip(counts, least, strict=True)]
        if whole.found.mode == FIT or whole.victims:
            return whole
        if not self.settings.partial_admission or not any(room):
            return whole
        low, high, best = 0, sum(room) + 1, whole
        while low < high:
            step = (low + high) // 2
            fewer = [
                most - less * step // sum(room) for most, less in zip(counts, room, strict=True)
            ]
            entry = self._try(head, fewer, kept)
            if entry.found.mode == FIT or entry.victims:
                best, high = entry, step
            else:
                low = step + 1
        return best

    def _try(self, head: WorkloadFact, counts: list[int], kept: Assigned | None) -> Entry:
        name = self._queue(head)
        chooser = Chooser(
            self.facts[name],
            self.knots[name],
            self.knots,
            self.flavors,
            lambda requests, contested: self._hunt(head, requests, contested),
            fair=self.settings.fair_sharing is not None,
            ignores_undeclared=self.settings.quota_check is QuotaCheck.IGNORE_UNDECLARED,
            fungible=self.settings.flavor_fungibility,
            kept=kept,
        )
        entry = Entry(head, chooser.assign(head.pod_sets, counts, self._came_so_far(head)))
        if entry.needs_preemption:
            entry.victims = self._hunt(head, entry.found.usage, entry.found.contested)
        return entry

    def _came_so_far(self, head: WorkloadFact) -> list[dict[ResourceName, int]]:
        """Return the flavors tried in the round before, or earlier if nothing came back since."""
        preserved = self.settings.preserve_scan_progress
        if preserved and self.tried_in.get(head.key) == self.number - 1:
            return self.tried[head.key]
        return [] if head.key in self.outdated else self.tried.get(head.key, [])

    def _hunt(
        self, head: WorkloadFact, requests: Amounts, contested: list[FlavorResource]
    ) -> Victims:
        name = self._queue(head)
        preemptor = Preemptor(
            priority=head.priority,
            timestamp=queued_since(head, self.settings),
            node=QuotaNode(name, is_queue=True),
            policies=self.facts[name].preemption,
        )
        asked = World(Arena(), Query(preemptor, requests, contested), self.knots)
        fair = self.settings.fair_sharing
        return letter_of_classical(asked) if fair is None else letter_of_fair(asked, fair)

    def usage(self) -> dict[str, Amounts]:
        """Sum what the workloads of each queue hold."""
        everything = sorted({one for knot in self.knots.values() for one in knot.quotas})
        return {
            name: {one: amount for one in everything if (amount := knot.held_amount(one))}
            for name, knot in self.knots.items()
            if knot.is_queue
        }

    def shares(self) -> dict[str, int]:
        """Spell the share of every queue."""
        found = {name: self.knots[name].share() for name in self.facts}
        return {
            name: MOST if infinite else ceil(share) for name, (infinite, share) in found.items()
        }

    # Order.

    def _ordered(self, entries: list[Entry]) -> Iterator[Entry]:
        left = list(entries)
        while left:
            if self.settings.fair_sharing is None:
                first = min(left, key=self._place)
            else:
                first = self._winner(self.knots[self._queue(left[0].head)].root(), left)
            left.remove(first)
            yield first

    def _place(self, entry: Entry) -> tuple[object, ...]:
        return *self._first(entry), entry.found.borrow, *self._age(entry)

    def _first(self, entry: Entry) -> tuple[bool]:
        waits = self.preempting.get(self._queue(entry.head)) == entry.head.key
        return (not (self.settings.prioritize_preemptors and waits),)

    def _age(self, entry: Entry) -> tuple[int, float, str]:
        counts = self.settings.priority_sorting_within_cohort
        head = entry.head
        return (-head.priority if counts else 0), queued_since(head, self.settings), head.uid

    def _winner(self, knot: Knot, left: list[Entry]) -> Entry:
        """Play the tournament of a subtree, one winner per cohort."""
        if knot.is_queue:
            return next(one for one in left if self._queue(one.head) == knot.name)
        named = {self._queue(one.head) for one in left}
        playing = [child for child in knot.children if named & {one.name for one in child.queues()}]
        winners = [(child, self._winner(child, left)) for child in playing]
        return min(winners, key=lambda game: self._score(*game))[1]

    def _score(self, child: Knot, entry: Entry) -> tuple[object, ...]:
        assert self.settings.fair_sharing is not None
        own = self.knots[self._queue(entry.head)]
        own.extra = entry.found.usage
        borrows = not child.within(list(entry.found.usage))
        share = child.share()
        own.extra = {}
        prefers = self.settings.fair_sharing.prioritize_non_borrowing
        return *self._first(entry), prefers and borrows, share, *self._age(entry)

    # Decision.

    def _process(self, entry: Entry, gone: dict[str, Holder]) -> tuple[Entry, Answer]:
        deferred, head = False, entry.head
        before: Victims = [(key, BY) for key in gone]
        overlaps = any(key in gone for key, _ in entry.victims)
        if overlaps and self.settings.recompute_overlapping:
            with Without(self.knots, before):
                entry = self._nominate(head, entry.found)
            overlaps, deferred = False, entry.found.mode == FIT
        own, found = self.knots[self._queue(head)], entry.found
        rules = self.facts[self._queue(head)]
        strict = rules.strategy is Strategy.STRICT_FIFO
        wait = "Immediate" if strict or found.is_unfinished else "Inadmissible"
        if found.mode == NO_FIT:
            return entry, self._answer(entry, "NoFit", wait)
        if entry.needs_preemption and not entry.victims:
            if rules.preemption.reclaim_within_cohort is not PreemptionPolicy.ANY:
                claim(own, _reservation(own, found))
            return entry, self._answer(entry, "NoCandidates", wait)
        if entry.victims and head.preemption_gated:
            return entry, self._answer(entry, "Preempt", wait, gated=True)
        if deferred:
            claim(own, found.usage)
            return entry, self._answer(entry, "DeferredFit", "Immediate")
        query = Query(_nobody(own), found.usage, [])
        with Without(self.knots, [*before, *entry.victims]):
            entry.overlaps = overlaps
            enough = not overlaps and fits(World(Arena(), query, self.knots), borrowing=True)
        if not enough:
            return entry, self._answer(entry, "Skipped", "Immediate")
        if entry.victims:
            holders = {w.key: w for knot in self.knots.values() for w in knot.held}
            gone.update((key, holders[Key(key)]) for key, _ in entry.victims)
        claim(own, found.usage)
        if entry.victims:
            return entry, self._answer(entry, "Preempt", "Immediate")
        return entry, self._answer(entry, "", "")

    def _answer(self, entry: Entry, mode: str, requeue: str, *, gated: bool = False) -> Answer:
        found = entry.found
        message = found.message if mode in {"NoFit", "NoCandidates", "Preempt"} else ""
        if mode == "Preempt":
            message += f". Pending the preemption of {len(entry.victims)} workload(s)"
        if gated:
            message = "Workload requires preemption, but it's gated"
        chosen = {str(one) for given in found.pod_sets for one in given.flavors.values()}
        rules = self.facts[self._queue(entry.head)]
        flavors: Flavors = ()
        if mode != "NoFit":
            flavors = tuple(
                (
                    one.name,
                    one.count,
                    tuple(sorted((str(a), str(b)) for a, b in one.flavors.items())),
                )
                for one in found.pod_sets
            )
        victims = tuple(sorted((key, str(why)) for key, why in entry.victims))
        return Answer(
            workload=str(entry.head.key),
            mode=mode,
            requeue=requeue,
            flavors=flavors,
            victims=victims if mode == "Preempt" and not gated else (),
            message=message,
            borrowing=mode == "" and found.borrow > 0,
            only_reserves=mode == "" and only_reserves(rules, entry.head, chosen),
            reason=REASONS[found.severity] if mode == "NoFit" else "",
        )

    # Afterwards.

    def _settle(self, entry: Entry, answer: Answer) -> None:
        head, name = entry.head, self._queue(entry.head)
        knot = self.knots[name]
        self.tried[head.key] = entry.found.tried
        self.tried_in[head.key] = self.number
        self.outdated.discard(head.key)
        skipped = answer.mode == "Skipped"
        goes_on = self.settings.preserve_scan_progress and not entry.overlaps
        if answer.victims or answer.mode == "DeferredFit" or (skipped and not goes_on):
            self.tried[head.key] = []
        if answer.victims:
            self.preempting[name] = head.key
        elif self.preempting.get(name) == head.key:
            del self.preempting[name]
        if not answer.mode:
            self.waiting.remove(head)
            head = self.known[head.key] = taken_in(head)
            usage = entry.found.usage
            knot.held.append(
                replace(_holder(head, self.settings), queue=name, usage=usage, reserved_at=NOW)
            )
            self._charge_ahead(head, usage, 1)
            if answer.only_reserves:
                self.reserved[head.key] = usage
        for key, why in answer.victims:
            self.known[Key(key)] = sent_away(self.known[Key(key)], why, NOW)
            for one in self.knots.values():
                one.held = [self._evicted(w, why) if w.key == key else w for w in one.held]
        if answer.requeue == "Inadmissible":
            self._set_aside(head)

    def _charge_ahead(self, one: WorkloadFact, usage: Amounts, sign: int) -> None:
        ahead = self.ahead[one.local_queue or ""]
        for (_, resource), amount in usage.items():
            ahead[resource] = ahead.get(resource, 0) + sign * amount

    def _evicted(self, holder: Holder, why: str) -> Holder:
        since = holder.timestamp
        borrowed = why == PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
        if borrowed and not holder.evicted and not self.settings.priority_sorting_within_cohort:
            since = NOW + 0.001
        return replace(holder, evicted=True, timestamp=since)

    def _set_aside(self, head: WorkloadFact) -> None:
        """Set a head aside and, unless its queue is strict, all that ask the same."""
        self.set_aside.add(head.key)
        name = self._queue(head)
        strict = self.facts[name].strategy is Strategy.STRICT_FIFO
        if strict or not self.settings.equivalence_hashing:
            return
        for one in self.waiting:
            same = one.priority == head.priority and _shape(one) == _shape(head)
            if same and self._queue(one) == name:
                self.set_aside.add(one.key)


def _reservation(own: Knot, found: Assigned) -> Amounts:
    kept: Amounts = {}
    for one, amount in found.usage.items():
        limits = own.limits(one)
        left = limits.nominal - own.usage(one)
        if found.borrow and limits.borrowing_limit is None:
            kept[one] = amount
        else:
            left += (limits.borrowing_limit or 0) if found.borrow else 0
            kept[one] = max(0, min(amount, left))
    return kept


def _shape(one: WorkloadFact) -> list[PodSet]:
    counted = zip(one.pod_sets, remaining(one), strict=True)
    return [replace(pod_set, count=count) for pod_set, count in counted]


def _nobody(own: Knot) -> Preemptor:
    return Preemptor(
        priority=0,
        timestamp=0.0,
        node=QuotaNode(own.name, is_queue=True),
        policies=Preemption(),
    )


def _holder(fact: WorkloadFact, settings: Settings) -> Holder:
    usage: Amounts = {}
    queue = QueueName("")
    if fact.admission is not None:
        queue = fact.admission.cluster_queue
        for one, left in zip(fact.admission.pod_sets, remaining(fact), strict=True):
            for resource, amount in one.usage.items():
                usage[FlavorResource(one.flavors[resource], resource)] = (
                    amount if left >= one.count else amount // one.count * left
                )
    reserved = fact.conditions.get("QuotaReserved")
    evicted = fact.conditions.get("Evicted")
    return Holder(
        key=fact.key,
        uid=fact.uid,
        queue=queue,
        local_queue=fact.local_queue,
        priority=fact.priority,
        timestamp=queued_since(fact, settings),
        reserved_at=0.0 if reserved is None else reserved.changed,
        evicted=evicted is not None and evicted.status,
        usage=usage,
    )
