"""How far a simulation is, on one line of a terminal."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

from queueing.sim.simulation.study import Progress as Told
from queueing.sim.spans import fine_span


@contextmanager
def told(name: str) -> Iterator[Told | None]:
    """Show a line for as long as the block runs; nothing where standard error is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    parts = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[where]}"))
    with Progress(*parts, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, where="")

        def tell(ended: int, of: int, seconds: float) -> None:
            where = f"{ended:,} of {of:,} workloads, {fine_span(seconds)} simulated"
            progress.update(task, completed=ended, total=of, where=where)

        yield tell
