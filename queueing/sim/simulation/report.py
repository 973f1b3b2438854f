"""What a simulation found, as values whose JSON is stable: camelCase, seconds, no rounding.

Fields may be added; none is taken away or gets another meaning within a version.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from typing import Any, TypedDict

import msgspec

from queueing.core.flavor_quotas import ResourceGroup
from queueing.core.names import FlavorResource, QueueName
from queueing.core.quantities import quantity
from queueing.sim.simulation.tally import Past, Tally
from queueing.sim.world import SimulatedCluster
from queueing.translate.times import timestamp

API_VERSION = "simulation.queueing.dev/v1alpha1"
STRETCHES = 240
"""Into how many equal stretches lines over time are divided."""


class ReportPart(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """The base of all parts of a report."""


class Waits(ReportPart, frozen=True, kw_only=True):
    """How long workloads waited for their first admission, in seconds.

    Who still waits in the end has waited until then, and counts as well.
    """

    count: int
    mean: float
    p50: float
    p90: float
    longest: float


class Class(ReportPart, frozen=True, kw_only=True):
    """The workloads of one class."""

    name: str
    workloads: int
    finished: int
    waiting: int
    """How many still waited in the end."""
    waits: Waits
    preemptions: int
    lost_seconds: float
    """Run time that evictions threw away."""


class QuotaUse(ReportPart, frozen=True, kw_only=True):
    """One flavor and resource of a queue, or of all queues together. Amounts as Kubernetes'."""

    flavor: str
    resource: str
    nominal: str
    mean: str
    """What was held in the mean over time."""
    peak: str
    utilisation: float | None
    """The mean as a part of nominal quota; null without any."""


class Queue(ReportPart, frozen=True, kw_only=True):
    """One ClusterQueue."""

    name: str
    cohort: str
    workloads: int
    finished: int
    waiting: int
    waits: Waits
    preemptions: int
    lost_seconds: float
    uses: tuple[QuotaUse, ...]
    nominal_share: float | None
    """Its part of the nominal quota of all queues, of the resource of which it has the most."""
    used_share: float | None
    """Its part of what all queues held over time, of the same resource."""


class Lines(ReportPart, frozen=True, kw_only=True):
    """Means over equal stretches of time, from the beginning to the end."""

    used: dict[str, tuple[float, ...]]
    """ClusterQueue → what it held, as a part of the nominal quota of all queues, of the flavor and
    resource that `of` names."""
    waiting: dict[str, tuple[float, ...]]
    """ClusterQueue → how many waited."""
    of: str


class Run(ReportPart, frozen=True, kw_only=True):
    """One simulation with one setting."""

    name: str
    begins: str
    ends: str
    seconds: float
    workloads: int
    finished: int
    running: int
    waiting: int
    waits: Waits
    preemptions: int
    most_preemptions: int
    """Of one workload."""
    lost_seconds: float
    fairness: float | None
    """Jain's index of what queues held for each unit of nominal quota: 1 if all got the same part,
    1/n if one of n got everything; null with fewer than two queues with quota."""
    uses: tuple[QuotaUse, ...]
    queues: tuple[Queue, ...]
    classes: tuple[Class, ...]
    lines: Lines


class Report(ReportPart, frozen=True, kw_only=True, tag_field="kind", tag="SimulationReport"):
    """The whole answer: one run, or two that are compared."""

    api_version: str = API_VERSION
    runs: tuple[Run, ...]


def run_report(name: str, tally: Tally, cluster: SimulatedCluster, ends: float) -> Run:
    """Sum up a simulation that ended at a time."""
    return _Summary(tally, cluster, ends).run(name)


Amounts = dict[FlavorResource, float]


class _Counts(TypedDict):
    """What is told alike of a run, a class and a queue."""

    workloads: int
    finished: int
    waiting: int
    waits: Waits
    preemptions: int
    lost_seconds: float


def _counts(pasts: Sequence[Past], ends: float) -> _Counts:
    return _Counts(
        workloads=len(pasts),
        finished=sum(one.ended is not None for one in pasts),
        waiting=sum(one.waits for one in pasts),
        waits=waits(pasts, ends),
        preemptions=sum(one.evictions for one in pasts),
        lost_seconds=sum(one.lost_s for one in pasts),
    )


class _Summary:
    """The parts of a report of one simulation."""

    def __init__(self, tally: Tally, cluster: SimulatedCluster, ends: float) -> None:
        self._tally, self._ends, self._queues = tally, ends, dict(sorted(cluster.queues.items()))
        self._pasts = list(tally.pasts.values())
        self._of_classes: dict[str, list[Past]] = {}
        self._of_queues: dict[QueueName | None, list[Past]] = {}
        for one in self._pasts:
            self._of_classes.setdefault(one.name, []).append(one)
            self._of_queues.setdefault(one.queue, []).append(one)
        self._nominal = {name: nominal(one.groups) for name, one in self._queues.items()}
        whole = [
            *self._nominal.values(),
            *(nominal(one.groups) for one in cluster.cohorts.values()),
        ]
        self._all = _sum(whole)
        for lines in tally.held.values():
            for line in lines.values():
                line.pass_time(ends)
        self._held = {
            name: {one: line.integral for one, line in lines.items()}
            for name, lines in tally.held.items()
        }
        self._used = _sum(self._held.values())
        self._main = max(self._all, key=self._part_used, default=None)
        """The flavor and resource of which the largest part was used: it is what shares are of."""

    @property
    def _seconds(self) -> float:
        return self._ends - self._tally.began

    def _part_used(self, one: FlavorResource) -> tuple[float, str]:
        most = self._all[one] * self._seconds
        return (self._used.get(one, 0.0) / most if most else 0.0), "/".join(one)

    def run(self, name: str) -> Run:
        pasts = self._pasts
        return Run(
            name=name,
            begins=timestamp(self._tally.began),
            ends=timestamp(self._ends),
            seconds=self._seconds,
            running=sum(one.ended is None and not one.waits for one in pasts),
            most_preemptions=max((one.evictions for one in pasts), default=0),
            **_counts(pasts, self._ends),
            fairness=self._fairness(),
            uses=self._uses(self._all, self._used, self._peaks()),
            queues=tuple(map(self._queue, self._queues)),
            classes=tuple(
                Class(name=name, **_counts(some, self._ends))
                for name, some in self._of_classes.items()
            ),
            lines=self._lines(),
        )

    def _queue(self, name: QueueName) -> Queue:
        pasts = self._of_queues.get(name, [])
        held, main = self._held.get(name, {}), self._main
        lines = self._tally.held.get(name, {})
        peaks = {one: line.peak for one, line in lines.items()}
        return Queue(
            name=name,
            cohort=self._queues[name].cohort or "",
            **_counts(pasts, self._ends),
            uses=self._uses(self._nominal[name], held, peaks),
            nominal_share=None if main is None else _part(self._nominal[name], self._all, main),
            used_share=None if main is None else _part(held, self._used, main),
        )

    def _uses(self, nominal: Amounts, held: Amounts, peaks: Amounts) -> tuple[QuotaUse, ...]:
        seconds = self._seconds or 1.0
        return tuple(
            QuotaUse(
                flavor=one.flavor,
                resource=one.resource,
                nominal=quantity(one.resource, round(nominal.get(one, 0))),
                mean=quantity(one.resource, round(held.get(one, 0.0) / seconds)),
                peak=quantity(one.resource, round(peaks.get(one, 0.0))),
                utilisation=_ratio(held.get(one, 0.0) / seconds, nominal.get(one, 0)),
            )
            for one in sorted({*nominal, *held})
        )

    def _peaks(self) -> Amounts:
        """Return the highest means over a stretch, as the peaks of queues may not coincide."""
        found: Amounts = {}
        for one in self._used:
            rows = [
                lines[one].means(self._ends, STRETCHES)
                for lines in self._tally.held.values()
                if one in lines
            ]
            found[one] = max(map(sum, zip(*rows, strict=True)), default=0.0)
        return found

    def _fairness(self) -> float | None:
        main = self._main
        if main is None:
            return None
        parts = [
            self._held.get(name, {}).get(main, 0.0) / own[main]
            for name, own in self._nominal.items()
            if own.get(main)
        ]
        squares = sum(one * one for one in parts)
        if len(parts) < 2 or not squares:  # noqa: PLR2004 - one alone has nobody to share with
            return None
        return sum(parts) ** 2 / (len(parts) * squares)

    def _lines(self) -> Lines:
        main, ends = self._main, self._ends
        whole = 0.0 if main is None else self._all[main]
        used = {}
        for name in self._queues:
            line = self._tally.held.get(name, {}).get(main) if main is not None else None
            if line is not None and whole:
                used[str(name)] = tuple(one / whole for one in line.means(ends, STRETCHES))
        waiting = {
            str(name): tuple(line.means(ends, STRETCHES))
            for name, line in self._tally.waiting.items()
            if name is not None
        }
        told = "" if main is None else f"{main.flavor}/{main.resource}"
        return Lines(used=used, waiting=waiting, of=told)


def nominal(groups: Iterable[ResourceGroup]) -> Amounts:
    """Return the nominal quotas of a queue or cohort."""
    return {
        FlavorResource(flavor.flavor, resource): float(quota.nominal)
        for group in groups
        for flavor in group.flavors
        for resource, quota in flavor.quotas
    }


def waits(pasts: Iterable[Past], ends: float) -> Waits:
    """Sum up how long workloads waited for their first admission, or still wait."""
    found = sorted(
        (ends if one.first_admitted is None else one.first_admitted) - one.came
        for one in pasts
        if not one.was_there
    )
    return Waits(
        count=len(found),
        mean=sum(found) / len(found) if found else 0.0,
        p50=_quantile(found, 0.5),
        p90=_quantile(found, 0.9),
        longest=found[-1] if found else 0.0,
    )


def _quantile(ordered: Sequence[float], part: float) -> float:
    """Return the least value that at least so much of all does not exceed."""
    return ordered[max(0, ceil(part * len(ordered)) - 1)] if ordered else 0.0


def _sum(amounts: Iterable[Mapping[FlavorResource, float]]) -> Amounts:
    found: Amounts = {}
    for one in amounts:
        for name, amount in one.items():
            found[name] = found.get(name, 0.0) + amount
    return found


def _part(own: Amounts, whole: Amounts, of: FlavorResource) -> float | None:
    return _ratio(own.get(of, 0.0), whole.get(of, 0.0))


def _ratio(amount: float, of: float) -> float | None:
    return amount / of if of else None


def plain(report: Report) -> Any:
    """Return a report as plain values."""
    return msgspec.to_builtins(report)
