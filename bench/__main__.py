"""`python -m bench`: measure, print a table, write JSON and plots."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import click

from bench import (
    core_alone,
    credits_cost,
    credits_page,
    growth,
    topology,
    topology_preemption,
    worst_cases,
)
from bench.results import Result, beside, machine, table, write
from queueing.controller.decisions.cycles import BUDGET
from queueing.core.settings import FairSharing, Settings
from queueing.testing.worlds import Deep

SCENARIOS = (
    *("a", "a-watched", "b", "c", "d", "d-claims", "h", "i"),
    *("pods", "pod-groups", "pods-of-others"),
    *("e", "e-sizes", "e-worst", "e-credits", "credits", "topology", "topology-preemption"),
)
UNLESS_TOLD = ("a", "d", "e")
COLUMNS = frozenset({"i"})
"""Scenarios whose results are to be compared with each other."""
FAIR = FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
MODES = (("classical", Settings()), ("fair sharing", Settings(fair_sharing=FAIR)))

EPILOG = """\b
Examples:
  python -m bench                        a, d and e, at the size of --scale
  python -m bench b c                    a thousand queues; one queue, mostly hopeless
  python -m bench d-claims --jobs 1000   Jobs whose pods get a device each by a claim
  python -m bench pods --jobs 2000       pods by themselves; pod-groups: in groups of 8
  python -m bench pods-of-others         memory beside five times as many pods of others
  python -m bench h                      (a), with pods placed on 640 nodes in 40 racks
  python -m bench i --turns 3            Kueue's own load, preempting, three times in each mode
  python -m bench e --scale 1            100,000 pending in the core alone
  python -m bench e-sizes --scale 1      cost per decision, 1,000 to 100,000 pending
  python -m bench e-worst                many candidates for one head, many queues in a tree
  python -m bench a --scale 0.02         a short look
  python -m bench a-watched --turns 3    (a), alone and while people and Prometheus look on
  python -m bench e-credits              what a credit policy costs, in pairs
  python -m bench credits                tenants that come in bursts, with and without credits
  python -m bench topology --scale 1     placement on 640, 5,000 and 50,000 nodes
  python -m bench topology-preemption    a rack of 100, all full, for a head
"""


@click.command(epilog=EPILOG)
@click.argument("scenarios", nargs=-1, type=click.Choice(SCENARIOS))
@click.option(
    "--scale",
    type=click.FloatRange(0, 1, min_open=True),
    default=None,
    help="Part of the full size: workloads per queue in all but (d).  [default: 0.1; (i): a third]",
)
@click.option(
    "--jobs",
    type=click.IntRange(min=2),
    default=200,
    show_default=True,
    help="Jobs in (d) and (d-claims), half of them in each of two turns; pods in those of pods.",
)
@click.option(
    "--turns",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Runs of each mode in (i), and of each way in (a-watched), the two in turns.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("bench-results"),
    show_default=True,
    help="Folder for results.json and the plots.",
)
def main(scenarios: tuple[str, ...], scale: float | None, jobs: int, turns: int, out: Path) -> None:
    """Measure admissions beside their floor.

    On the real API server: (a) 30 queues, (b) 1,000 queues, (c) one deep queue of which 60 % never
    fit, (d) Jobs with pods on KWOK nodes, (d-claims) with a device for each pod, (h) as (a), with
    pods placed on racks, (i) the load of Kueue's own runner, (a) with priorities and preemption, in
    both modes; pods, pod-groups and pods-of-others are about pods without Jobs. (e) is the core
    alone; e-sizes draws what a decision costs against the number pending, e-worst measures what may
    take longest, e-credits what a credit policy costs; credits simulates who is served how well;
    topology is the placement of gangs on racks, alone, and topology-preemption what it costs to
    find victims for it.

    Each scenario is told and written when it ends, so that an interrupt loses one at most.
    """
    results: list[Result] = []
    for name in scenarios or UNLESS_TOLD:
        click.echo(f"{name}: being measured ...", err=True)
        found = _measured(name, scale, jobs, turns, out)
        click.echo(beside(found) if name in COLUMNS else table(found))
        results += found
        write(results, out)
    click.echo(f"machine: {machine()}")
    click.echo(f"written to {out}/results.json")


def _measured(name: str, scale: float | None, jobs: int, turns: int, out: Path) -> list[Result]:
    if name in ALONE:
        return ALONE[name](scale or 0.1, out)
    from bench import on_a_cluster  # noqa: PLC0415 - needs the control plane

    return on_a_cluster.run(name, on_a_cluster.Size(scale=scale, jobs=jobs, turns=turns))


def _core(scale: float, _: Path) -> list[Result]:
    world = Deep(each=max(1, round(100 * scale)), queues_per_cohort=core_alone.COHORTS_OF)
    whole = [core_alone.run(world, settings, name=f"e, {mode}") for mode, settings in MODES]
    part = replace(world, each=max(1, world.each // 10))
    return whole + [
        core_alone.run(part, settings, name=f"e, in portions, {mode}", portion=BUDGET)
        for mode, settings in MODES
    ]


def _sizes(scale: float, out: Path) -> list[Result]:
    results = growth.measure(MODES, most=round(max(growth.SIZES) * scale))
    growth.plot(results, out / "e-sizes.png")
    return results


def _worst(_: float, __: Path) -> list[Result]:
    return [
        measure(settings, name=f"{what}, {mode}")
        for what, measure in (
            ("one head, many candidates", worst_cases.one_head),
            ("1,000 queues in one tree", worst_cases.wide_tree),
            ("10,000 hopeless heads", worst_cases.hopeless_heads),
            ("100 heads that find victims", worst_cases.many_preemptors),
        )
        for mode, settings in MODES
    ]


def _policies(scale: float, _: Path) -> list[Result]:
    each = max(1, round(100 * scale))
    return credits_cost.measure(MODES, Deep(each=each, queues_per_cohort=core_alone.COHORTS_OF))


def _topology(scale: float, _: Path) -> list[Result]:
    return topology.sizes(round(50_000 * scale))


def _topology_preemption(_: float, __: Path) -> list[Result]:
    return [
        one for mode, settings in MODES for one in topology_preemption.heads(settings, name=mode)
    ]


ALONE = MappingProxyType(
    {
        "e": _core,
        "e-sizes": _sizes,
        "e-worst": _worst,
        "e-credits": _policies,
        "credits": credits_page.run,
        "topology": _topology,
        "topology-preemption": _topology_preemption,
    }
)
"""What needs no API server: functions of the scale and of the folder for pictures."""


if __name__ == "__main__":
    main()
