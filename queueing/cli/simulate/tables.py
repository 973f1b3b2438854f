"""What came of a simulation, for people: side by side where two settings are compared."""

from collections.abc import Iterator

from queueing.cli.output import columns
from queueing.sim.simulation.figures import FIGURES, WAITED, percent, used, waited
from queueing.sim.simulation.report import Class, Queue, Report, Run
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


HEADER = (*map(str.upper, WAITED), "LOST")


def _row(one: Class | Queue) -> list[str]:
    return [*waited(one), fine_span(one.lost_seconds)]


def _shares(one: Queue) -> Iterator[str]:
    return map(percent, (one.nominal_share, one.used_share))


def _uses(run: Run) -> Iterator[list[str]]:
    return ([one.flavor, one.resource, *used(one)] for one in run.uses)
