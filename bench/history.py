"""What happened to the workloads of a run, event by event, and what that says of the decisions.

Times are seconds since the start of the run, as a client saw the events; their order is the API
server's. CPUs are whole.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from bench.load import Item, Load, queue_name


class What(StrEnum):
    """One change in the life of a workload."""

    CREATED = "created"
    ADMITTED = "admitted"
    """It holds quota and runs."""
    EVICTED = "evicted"
    """It runs no more, and holds its quota still."""
    RELEASED = "released"
    """It holds no quota any more, and is pending again."""
    FINISHED = "finished"


@dataclass(frozen=True, slots=True)
class Event:
    """A change, when it was seen, and for an eviction the name of the preemptor.

    `decided` is when an admission was decided, as the controller's log says; None if not known.
    """

    at: float
    what: What
    name: str
    preemptor: str = ""
    decided: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Eviction:
    """A workload lost its quota for another."""

    victim: str
    preemptor: str
    ran_s: float
    """For how long it had been admitted."""
    ahead_s: float | None
    """How long the preemptor had been pending when its victim was admitted; None if it was not."""
    known: bool = False
    """Whether the preemptor had been seen as pending, by a client, when the admission of its victim
    was decided: the engine knew of it, but for the time that a watch event takes."""
    late: bool = False
    """It was written when the victim had finished: nothing is lost but the writes."""

    @property
    def avoidable(self) -> bool:
        """Say whether the victim was admitted while its preemptor was pending already."""
        return self.ahead_s is not None


@dataclass(slots=True)
class _Wait:
    """A time in which a workload is pending, by the number of the event; in seconds its begin."""

    since: int
    since_s: float
    until: int | None = None

    def covers(self, position: int) -> bool:
        return self.since < position and (self.until is None or position < self.until)


def evictions(events: Sequence[Event]) -> list[Eviction]:
    """Return all evictions in their order."""
    found: list[Eviction] = []
    finished: set[str] = set()
    waits: defaultdict[str, list[_Wait]] = defaultdict(list)
    admitted: dict[str, int] = {}
    for position, event in enumerate(events):
        match event.what:
            case What.CREATED | What.RELEASED:
                waits[event.name].append(_Wait(position, event.at))
            case What.ADMITTED:
                waits[event.name][-1].until = position
                admitted[event.name] = position
            case What.EVICTED:
                late = event.name in finished
                start = admitted.get(event.name)
                if start is None:  # in Kueue mode also who is about to be admitted may be chosen
                    found.append(_unstarted(event, late=late))
                    continue
                started_s, decided = events[start].at, events[start].decided
                pending = [one.since_s for one in waits[event.preemptor] if one.covers(start)]
                known = decided is not None and any(since_s <= decided for since_s in pending)
                found.append(
                    Eviction(
                        victim=event.name,
                        preemptor=event.preemptor,
                        ran_s=0.0 if late else event.at - started_s,
                        ahead_s=started_s - pending[0] if pending else None,
                        known=known,
                        late=late,
                    )
                )
            case What.FINISHED:
                finished.add(event.name)
    return found


def _unstarted(event: Event, *, late: bool) -> Eviction:
    """Return the eviction of a workload that was never admitted."""
    return Eviction(
        victim=event.name, preemptor=event.preemptor, ran_s=0.0, ahead_s=None, late=late
    )


def with_decisions(events: Iterable[Event], decided: Mapping[str, Sequence[float]]) -> list[Event]:
    """Return the events with the times at which the admissions of each workload were decided.

    Those are given in the order of the admissions. They are not known where they are not as many.
    """
    events = list(events)
    seen = Counter(one.name for one in events if one.what is What.ADMITTED)
    times = {name: iter(one) for name, one in decided.items() if len(one) == seen[name]}
    return [
        replace(event, decided=next(times[event.name]))
        if event.what is What.ADMITTED and event.name in times
        else event
        for event in events
    ]


@dataclass(frozen=True, slots=True)
class Waits:
    """Seconds from the creation of each workload to its first and to its last admission."""

    first: Mapping[str, float]
    last: Mapping[str, float]


def waits(events: Sequence[Event]) -> Waits:
    """Return how long each workload waited that was admitted at all."""
    created: dict[str, float] = {}
    first: dict[str, float] = {}
    last: dict[str, float] = {}
    for event in events:
        if event.what is What.CREATED:
            created[event.name] = event.at
        elif event.what is What.ADMITTED:
            last[event.name] = event.at - created[event.name]
            first.setdefault(event.name, last[event.name])
    return Waits(first, last)


def last_admissions(events: Sequence[Event]) -> list[float]:
    """Return when each workload was admitted for the last time, in order."""
    last = {event.name: event.at for event in events if event.what is What.ADMITTED}
    return sorted(last.values())


@dataclass(frozen=True, slots=True)
class Quota:
    """Integrals over a run, in CPU seconds."""

    held: float
    idle: float
    """What was free while pending workloads would have fitted: as much as these could have held."""


def quota(load: Load, items: Sequence[Item], events: Sequence[Event]) -> Quota:
    """Replay the events on the quota of a load."""
    by_name = {item.name: item for item in items}
    cohort_of = {queue_name(number): load.cohort_of(number) for number in range(load.queues)}
    cohorts = {name: _Cohort(load) for name in cohort_of.values()}
    for event in events:
        item = by_name[event.name]
        cohorts[cohort_of[item.queue]].take(event, item)
    end = events[-1].at if events else 0.0
    for cohort in cohorts.values():
        cohort.pass_to(end)
    return Quota(
        held=sum(one.held_s for one in cohorts.values()),
        idle=sum(one.idle_s for one in cohorts.values()),
    )


@dataclass(slots=True)
class _Cohort:
    """The quota of one cohort at a moment, and its integrals until then."""

    load: Load
    held: Counter[str] = field(default_factory=Counter)
    """CPUs, by queue."""
    pending: Counter[tuple[int, str]] = field(default_factory=Counter)
    """How many wait, by CPUs and queue."""
    now: float = 0.0
    held_s: float = 0.0
    idle_s: float = 0.0

    def pass_to(self, at: float) -> None:
        """Let time pass in which nothing changes."""
        seconds, self.now = at - self.now, at
        if seconds > 0:
            self.held_s += seconds * self.held.total()
            self.idle_s += seconds * self._could_be_held()

    def take(self, event: Event, item: Item) -> None:
        """Take in what happened to one of its workloads."""
        self.pass_to(event.at)
        waits = (item.cpu, item.queue)
        match event.what:
            case What.CREATED:
                self.pending[waits] += 1
            case What.ADMITTED:
                self.pending[waits] -= 1
                self.held[item.queue] += item.cpu
            case What.RELEASED:
                self.held[item.queue] -= item.cpu
                self.pending[waits] += 1
            case What.FINISHED:
                self.held[item.queue] -= item.cpu
            case What.EVICTED:
                pass

    def _could_be_held(self) -> int:
        """Return the CPUs that pending workloads could take beside each other, largest first.

        Where each size is a multiple of the next smaller one, no other choice takes more.
        """
        load = self.load
        free = load.per_cohort * load.nominal - self.held.total()
        taken: Counter[str] = Counter()
        for (cpu, queue), count in sorted(self.pending.items(), reverse=True):
            own = load.nominal + load.borrowing - self.held[queue] - taken[queue]
            fit = min(count, free // cpu, own // cpu)
            if fit > 0:
                taken[queue] += fit * cpu
                free -= fit * cpu
        return taken.total()
