"""`python -m bench.virtual`: run loads in virtual time, print a table, write JSON."""

import json
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TypedDict, Unpack

import click

from bench.results import machine
from bench.virtual.loads import LOADS
from bench.virtual.report import table
from bench.virtual.run import run
from bench.virtual.trial import Trial
from queueing.core.settings import Compatibility

UNLESS_TOLD = tuple(name for name in LOADS if not name.endswith("-full"))
MODES = {one.value: one for one in (Compatibility.QUEUEING, Compatibility.KUEUE)}


class Conditions(TypedDict):
    """Fields of a `Trial` that hold for all runs."""

    scale: float
    write_factor: float
    cycle_factor: float
    restart_every_s: float | None


EPILOG = """\b
Examples:
  python -m bench.virtual                      all loads, both modes
  python -m bench.virtual A I --seeds 1 5      medians of five seeds
  python -m bench.virtual A-full               all 15,000 workloads of Kueue's own load
  python -m bench.virtual A --write-factor 2   behind a slower API server
  python -m bench.virtual E --restart-every 20 a new leader every 20 s
"""


@click.command(epilog=EPILOG)
@click.argument("loads", nargs=-1, type=click.Choice(tuple(LOADS)))
@click.option("--mode", "modes", multiple=True, type=click.Choice(tuple(MODES)), help="Only these.")
@click.option(
    "--seeds",
    type=(int, click.IntRange(min=1)),
    default=(1, 1),
    show_default=True,
    help="The first seed, and how many.",
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="How many times as many workloads come.",
)
@click.option(
    "--write-factor",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="How many times as dear writes are.",
)
@click.option(
    "--cycle-factor",
    type=click.FloatRange(0),
    default=1.0,
    show_default=True,
    help="How many times as dear the engine's cycles are in the model.",
)
@click.option(
    "--restart-every",
    "restart_every_s",
    type=click.FloatRange(0, min_open=True),
    help="Seconds between two leaders; unless given, one leads all the time.",
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="How many runs at a time.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("bench-results"),
    show_default=True,
    help="Folder for virtual.json.",
)
def main(
    loads: tuple[str, ...],
    modes: tuple[str, ...],
    seeds: tuple[int, int],
    processes: int,
    out: Path,
    **how: Unpack[Conditions],
) -> None:
    """Run the engine behind a model of the API server, on LOADS or all of them."""
    numbers = range(seeds[0], seeds[0] + seeds[1])
    trials = [
        Trial(load=load, mode=MODES[mode], seed=seed, **how)
        for load, mode, seed in product(loads or UNLESS_TOLD, modes or MODES, numbers)
    ]
    reports = []
    with ProcessPoolExecutor(processes) as pool:
        for found in pool.map(run, trials):
            click.echo(f"{found.load}, {found.mode}, seed {found.seed}: done", err=True)
            reports.append(found)
    click.echo(table(reports))
    out.mkdir(parents=True, exist_ok=True)
    document = {"machine": machine(), "runs": [asdict(one) for one in reports]}
    (out / "virtual.json").write_text(json.dumps(document, indent=2) + "\n")


if __name__ == "__main__":
    main()
