"""What the demo shows: a live table on a terminal, plain lines elsewhere, and a table of waits."""

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, Self

import click
from rich.console import Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from queueing.cli.local.sightings import JobStage, News, Sight, Sightings, usage_of
from queueing.cli.output import columns

NEWS_SHOWN = 12
TEXT_WIDTH = 110
STYLES = {
    "admitted": "green",
    "borrows": "magenta",
    "preempted": "red",
    "waits": "yellow",
    "done": "dim",
}

Wire = Mapping[str, Any]


class Board(Protocol):
    """Shows how the demo goes on."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def show(
        self, seen: Sightings, news: Sequence[News], *, queues: Iterable[Wire], now: float
    ) -> None:
        """Take in what is new."""


class PlainBoard:
    """One line per event, for pipes and logs."""

    def __enter__(self) -> Self:
        click.echo("Forty Jobs, a JobSet and pods of three teams. Times are seconds from now on.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        click.echo("")

    def show(
        self, seen: Sightings, news: Sequence[News], *, queues: Iterable[Wire], now: float
    ) -> None:
        del seen, queues, now
        for one in news:
            click.echo(line_of(one))


class LiveBoard:
    """A table per queue and the last events, redrawn in place."""

    def __init__(self) -> None:
        self._live = Live(auto_refresh=False, transient=True)
        self._news: deque[News] = deque(maxlen=NEWS_SHOWN)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._live.stop()

    def show(
        self, seen: Sightings, news: Sequence[News], *, queues: Iterable[Wire], now: float
    ) -> None:
        self._news.extend(news)
        lines = [Text(line_of(one), style=_style(one)) for one in self._news]
        title = Text(f"queueing demo, {now:4.1f} s", style="bold")
        self._live.update(Group(title, _teams(seen), _usage(queues), *lines), refresh=True)


def line_of(news: News) -> str:
    """Spell news as one line that is not too long to read."""
    text = f"{news.at:5.1f}  {news.job:<28}  {news.text}"
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 1] + "…"


def _style(news: News) -> str:
    return STYLES.get(news.text.partition(" ")[0].rstrip(":"), "")


def _plain_table(*header: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name, justify="left" if name in {"TEAM", "QUEUE"} else "right")
    return table


def _teams(seen: Sightings) -> Table:
    table = _plain_table("TEAM", "WAITING", "RUNNING", "STOPPING", "DONE", "PREEMPTED")
    for team, jobs in by_team(seen):
        waiting = sum(one.phase in {JobStage.SUBMITTED, JobStage.WAITING} for one in jobs)
        counts = [sum(one.phase is phase for one in jobs) for phase in list(JobStage)[2:]]
        preempted = sum(one.preemptions for one in jobs)
        table.add_row(team, *(str(count) for count in (waiting, *counts, preempted)))
    return table


def _usage(queues: Iterable[Wire]) -> Table:
    table = _plain_table("QUEUE", "FLAVOR", "RESOURCE", "IN USE", "BORROWED")
    for queue in queues:
        for flavor, resource, used, borrowed in usage_of(queue):
            if resource != "memory" and used != "0":
                lent = Text(borrowed, style="" if borrowed == "0" else "magenta")
                table.add_row(queue["metadata"]["name"], flavor, resource, used, lent)
    return table


def by_team(seen: Sightings) -> list[tuple[str, list[Sight]]]:
    """Return the Jobs of each team, teams by name."""
    teams = sorted({one.team for one in seen.jobs.values()})
    return [(team, [one for one in seen.jobs.values() if one.team == team]) for team in teams]


def summary(seen: Sightings) -> str:
    """Return the table of waits: how long each team waited until its Jobs were admitted."""
    rows = [
        (
            team,
            str(len(jobs)),
            str(sum(one.phase is JobStage.DONE for one in jobs)),
            f"{sum(one.waited for one in jobs) / len(jobs):.1f} s",
            f"{max(one.waited for one in jobs):.1f} s",
            max(jobs, key=lambda one: one.waited).job.partition("/")[2],
            str(sum(one.preemptions for one in jobs)),
        )
        for team, jobs in by_team(seen)
    ]
    header = ("TEAM", "JOBS", "DONE", "MEAN WAIT", "LONGEST WAIT", "BY", "PREEMPTED")
    table = columns(header, rows) if rows else "No Job was submitted."
    return "\n\n".join((table, *_seen_on_the_way(seen)))


def _seen_on_the_way(seen: Sightings) -> Iterable[str]:
    borrowed = sorted(
        {f"{queue} ({resource} of {flavor})" for queue, flavor, resource in seen.borrowed}
    )
    if borrowed:
        yield f"Borrowed from the cohort: {', '.join(borrowed)}."
    preempted = [one.job for one in seen.jobs.values() if one.preemptions]
    if preempted:
        yield f"Preempted and run again later: {', '.join(sorted(preempted))}."
    for queue in sorted(seen.strict):
        waited = (one for one in seen.jobs.values() if one.waited_its_turn)
        patient = sorted(one.job for one in waited if one.cluster_queue == queue)
        if patient:
            yield f"Kept in order by {queue}, which is strict: {', '.join(patient)}."
