"""What came of a simulation, for people: side by side where two settings are compared."""

from collections.abc import Iterator

from queueing.cli.output import columns
from queueing.sim.simulation.page import FIGURES
from queueing.sim.simulation.report import Class, Queue, Report, Run, Waits
from queueing.sim.spans import fine_span


def table(report: Report) -> str:
    """Write a report; it ends without a line break."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    names = [one.name for one in report.runs]
    rows = [[name, *(told(run) for run in report.runs)] for name, told in FIGURES]
    yield columns(("", *names), rows)
    for run in report.runs:
        which = f" ({run.name})" if len(names) > 1 else ""
        yield f"\nClasses{which}"
        yield columns(("CLASS", *HEADER), [_row(one) for one in run.classes])
        yield f"\nQueues{which}"
        rows = [[*_row(one), *_shares(one)] for one in run.queues]
        yield columns(("CLUSTERQUEUE", *HEADER, "NOMINAL", "HELD"), rows)
        yield f"\nUtilisation{which}"
        yield columns(("FLAVOR", "RESOURCE", "NOMINAL", "MEAN", "PEAK", "USED"), _uses(run))


HEADER = (
    "WORKLOADS",
    "FINISHED",
    "WAITING",
    "MEAN",
    "P50",
    "P90",
    "LONGEST",
    "PREEMPTED",
    "LOST",
)


def _row(one: Class | Queue) -> list[str]:
    counts = (one.workloads, one.finished, one.waiting)
    return [
        one.name,
        *map(str, counts),
        *_waits(one.waits),
        str(one.preemptions),
        fine_span(one.lost_seconds),
    ]


def _waits(waits: Waits) -> Iterator[str]:
    yield from map(fine_span, (waits.mean, waits.p50, waits.p90, waits.longest))


def _shares(one: Queue) -> Iterator[str]:
    for share in (one.nominal_share, one.used_share):
        yield "" if share is None else f"{share:.1%}"


def _uses(run: Run) -> Iterator[list[str]]:
    for one in run.uses:
        used = "" if one.utilisation is None else f"{one.utilisation:.1%}"
        yield [one.flavor, one.resource, one.nominal, one.mean, one.peak, used]
