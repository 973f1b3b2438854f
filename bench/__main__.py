"""`python -m bench`: measure, print a table, write JSON and plots."""

from pathlib import Path

import click

from bench import core_alone
from bench.results import Result, machine, table, write
from queueing.core.settings import FairSharing, Settings
from queueing.testing.worlds import Deep

SCENARIOS = ("a", "b", "c", "d", "e")
UNLESS_TOLD = ("a", "d", "e")
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))

EPILOG = """\b
Examples:
  python -m bench                        a, d and e, at the size of --scale
  python -m bench b c                    a thousand queues; one queue, mostly hopeless
  python -m bench e --scale 1            100,000 pending in the core alone
  python -m bench a --scale 0.02         a short look
"""


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, type=click.Choice(SCENARIOS))
@click.option(
    "--scale",
    type=click.FloatRange(0, 1, min_open=True),
    default=0.1,
    show_default=True,
    help="Part of the full size: workloads per queue in all but (d).",
)
@click.option("--jobs", type=int, default=200, show_default=True, help="Jobs in (d).")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("bench-results"),
    show_default=True,
    help="Folder for results.json and the plots.",
)
def main(scenarios: tuple[str, ...], scale: float, jobs: int, out: Path) -> None:
    """Measure admissions beside their floor.

    On the real API server: (a) 30 queues, (b) 1,000 queues, (c) one deep queue of which 60 % never
    fit, (d) Jobs with pods on KWOK nodes. (e) is the core alone.
    """
    results: list[Result] = []
    for name in scenarios or UNLESS_TOLD:
        if name == "e":
            results += _core(scale)
        else:
            from bench import on_a_cluster  # noqa: PLC0415 - needs the control plane

            results.append(on_a_cluster.run(name, scale=scale, jobs=jobs))
    click.echo(table(results))
    click.echo(f"machine: {machine()}")
    write(results, out)
    click.echo(f"written to {out}/results.json")


def _core(scale: float) -> list[Result]:
    world = Deep(each=max(1, round(100 * scale)))
    return [
        core_alone.run(world, Settings(), name="e, classical"),
        core_alone.run(world, Settings(fair_sharing=FAIR), name="e, fair sharing"),
    ]


if __name__ == "__main__":
    main()
