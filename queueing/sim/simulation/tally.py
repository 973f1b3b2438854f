"""Watches a simulation: when each workload waited, ran and was evicted, and what queues held."""

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorResource, Key, QueueName
from queueing.core.usage import assigned_usage
from queueing.sim.simulation.arrivals import name_of_class

POINTS_MAX = 4_000
"""Points of a line that are kept; of twice as many every other is forgotten."""


@dataclass(slots=True)
class Past:
    """What became of one workload. Times are None until they come."""

    name: str
    """Its class."""
    key: Key
    queue: QueueName | None
    came: float
    first_admitted: float | None = None
    admitted: float | None = None
    """When its last run began."""
    ended: float | None = None
    evictions: int = 0
    lost_s: float = 0.0
    """Run time that evictions threw away."""
    waits: bool = True
    """Whether it waits for quota now."""
    was_there: bool = False
    """Whether it held quota when the simulation began, so that its wait is not told."""


@dataclass(slots=True)
class Curve:
    """A value over time, as the mean of stretches of equal length."""

    began: float
    value: float = 0.0
    peak: float = 0.0
    integral: float = 0.0
    """The value times seconds, from the beginning."""
    points: list[tuple[float, float]] = field(default_factory=list)
    """Moments, and the integral up to each."""
    _since: float = 0.0
    _skip: int = 0
    _every: int = 1

    def __post_init__(self) -> None:
        self._since = self.began
        self.points.append((self.began, 0.0))

    def pass_time(self, now: float) -> None:
        """Count what the value was until now."""
        self.integral += self.value * (now - self._since)
        self._since = now

    def add(self, change: float, now: float) -> None:
        """Let the value change now."""
        self.pass_time(now)
        self.value += change
        self.peak = max(self.peak, self.value)
        self._skip += 1
        if self._skip >= self._every:
            self._skip = 0
            self.points.append((now, self.integral))
            if len(self.points) > 2 * POINTS_MAX:
                self.points = self.points[::2]
                self._every *= 2

    def means(self, ends: float, number: int) -> list[float]:
        """Return the mean of each of a number of equal stretches from the beginning to an end."""
        self.pass_time(ends)
        points = [*self.points, (max(ends, self.points[-1][0]), self.integral)]
        width = (ends - self.began) / number
        if width <= 0:
            return [self.value] * number
        at, sums = 0, [0.0]
        for edge in range(1, number + 1):
            moment = self.began + edge * width
            while at + 1 < len(points) - 1 and points[at + 1][0] <= moment:
                at += 1
            (left, below), (right, above) = points[at], points[at + 1]
            part = (moment - left) / (right - left) if right > left else 1.0
            sums.append(below + (above - below) * min(1.0, part))
        return [(after - before) / width for before, after in pairwise(sums)]


@dataclass(slots=True)
class Tally:
    """Counts over one simulation."""

    began: float
    queue_of: Callable[[WorkloadFact], QueueName | None]
    classes: dict[Key, str] = field(default_factory=dict)
    """Workload → its class; of others it is the name of their LocalQueue."""
    pasts: dict[Key, Past] = field(default_factory=dict)
    held: dict[QueueName, dict[FlavorResource, Curve]] = field(default_factory=dict)
    waiting: dict[QueueName | None, Curve] = field(default_factory=dict)
    _holds: dict[Key, tuple[QueueName, dict[FlavorResource, int]]] = field(default_factory=dict)

    def came(self, fact: WorkloadFact, now: float) -> None:
        """Take in a workload that was created, or was there from the beginning."""
        queue = self.queue_of(fact)
        name = self.classes.get(fact.key) or name_of_class(fact)
        came = min(now, fact.created)
        self.pasts[fact.key] = Past(name, fact.key, queue, came, was_there=fact.holds_quota)
        self._wait(queue, 1, now)

    def admitted(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload got quota."""
        past = self.pasts[fact.key]
        past.admitted, past.waits = now, False
        past.first_admitted = now if past.first_admitted is None else past.first_admitted
        self._wait(past.queue, -1, now)
        if fact.admission is not None:
            queue, usage = fact.admission.cluster_queue, assigned_usage(fact.admission.pod_sets)
            self._holds[fact.key] = queue, usage
            self._hold(queue, usage, 1, now)

    def evicted(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload was told to leave.

        What it did since its run began is lost, unless it saves before it stops.
        """
        past = self.pasts[fact.key]
        past.evictions += 1
        saves = fact.stake is not None and fact.stake.saves
        past.lost_s += 0.0 if past.admitted is None or saves else now - past.admitted

    def left(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload gave back its quota and waits again."""
        self._release(fact.key, now)
        past = self.pasts[fact.key]
        past.waits = True
        self._wait(past.queue, 1, now)

    def ended(self, fact: WorkloadFact, now: float) -> None:
        """Take in that a workload has finished."""
        self.pasts[fact.key].ended = now
        self._release(fact.key, now)

    def _release(self, key: Key, now: float) -> None:
        queue, usage = self._holds.pop(key)
        self._hold(queue, usage, -1, now)

    def _hold(
        self, queue: QueueName, usage: dict[FlavorResource, int], sign: int, now: float
    ) -> None:
        lines = self.held.setdefault(queue, {})
        for one, amount in usage.items():
            if one not in lines:
                lines[one] = Curve(self.began)
            lines[one].add(sign * amount, now)

    def _wait(self, queue: QueueName | None, change: int, now: float) -> None:
        if queue not in self.waiting:
            self.waiting[queue] = Curve(self.began)
        self.waiting[queue].add(change, now)
