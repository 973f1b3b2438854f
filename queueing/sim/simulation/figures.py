"""The figures of a report as people read them, the same in a terminal and on a page."""

from collections.abc import Callable, Sequence

from queueing.sim.simulation.report import Class, Queue, QuotaUse, Run
from queueing.sim.spans import fine_span

FIGURES: Sequence[tuple[str, Callable[[Run], str]]] = (
    ("Workloads", lambda run: f"{run.workloads:,}"),
    ("Finished", lambda run: f"{run.finished:,}"),
    ("Still waiting", lambda run: f"{run.waiting:,}"),
    ("Mean wait", lambda run: fine_span(run.waits.mean)),
    ("Half waited less than", lambda run: fine_span(run.waits.p50)),
    ("9 of 10 waited less than", lambda run: fine_span(run.waits.p90)),
    ("Longest wait", lambda run: fine_span(run.waits.longest)),
    ("Preemptions", lambda run: f"{run.preemptions:,}"),
    ("Most of one workload", lambda run: f"{run.most_preemptions:,}"),
    ("Lost run time", lambda run: fine_span(run.lost_seconds)),
    ("Fairness (Jain's index)", lambda run: "" if run.fairness is None else f"{run.fairness:.3f}"),
    ("Simulated", lambda run: fine_span(run.seconds)),
)
"""What is told of a run first: name, and how it is written."""
WAITED = ("workloads", "finished", "waiting", "mean", "p50", "p90", "longest", "preempted")
"""What `waited` tells after the name."""


def waited(one: Class | Queue) -> tuple[str, ...]:
    """Return the name of a class or queue, how many workloads it had, and how long they waited."""
    waits = one.waits
    return (
        one.name,
        *map(str, (one.workloads, one.finished, one.waiting)),
        *map(fine_span, (waits.mean, waits.p50, waits.p90, waits.longest)),
        str(one.preemptions),
    )


def used(one: QuotaUse) -> tuple[str, ...]:
    """Return nominal quota, what was held of it in the mean and at most, and the part used."""
    return one.nominal, one.mean, one.peak, percent(one.utilisation)


def percent(part: float | None) -> str:
    """Write a part of 1; nothing where there is none."""
    return "" if part is None else f"{part:.1%}"
