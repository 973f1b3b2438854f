"""`queueing topology`: the racks and nodes of flavors, what fits where, and who sits there."""

from collections.abc import Iterator, Sequence
from typing import Any

import click
import msgspec

from queueing.cli.live import KINDS
from queueing.cli.options import now_option, output_option
from queueing.cli.output import UsageProblem, structured
from queueing.cli.reading import ObjectSource, of_files_or_a_cluster
from queueing.cli.topology.drawing import levels, openings, spaces
from queueing.cli.topology.svg import drawn
from queueing.core.names import FlavorName, ResourceName
from queueing.core.settings import Compatibility
from queueing.core.topology.requests import Requests, in_order
from queueing.core.topology.tree import Tree
from queueing.explain.layout import Layout, flavors_of, layout_of
from queueing.explain.openings import Openings, WantedPods, openings_of
from queueing.sim.intake import read_configuration, read_world
from queueing.sim.world import SimulatedCluster
from queueing.sim.yaml_text import ManifestError
from queueing.state.memory.memory import Memory
from queueing_api.quantity import amount

EPILOG = """\b
Examples:
  queueing topology                              all flavors with a topology
  queueing topology --flavor h100 --pod nvidia.com/gpu=8,cpu=32
                                                 where would pods of this size fit?
  queueing topology --pod nvidia.com/gpu=8 --count 4 --level rack
                                                 who would have to go so that 4 fit into a rack?
  queueing topology -o svg > racks.svg           a picture of who sits where
  queueing topology -f cluster/ -o json          without a cluster
\b
Exit codes: 0, 2 when the input cannot be used, or there is no cluster or no such flavor.
"""


@click.command(epilog=EPILOG)
@of_files_or_a_cluster
@click.option("--flavor", metavar="NAME", help="Only this ResourceFlavor.")
@click.option(
    "--pod",
    metavar="RESOURCE=AMOUNT,…",
    help="What one pod asks for.  [default: one device, or one cpu where there are none]",
)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    help="Show whom it would cost to fit so many pods into one domain.",
)
@click.option("--level", metavar="LABEL", help="With --count: the level.  [default: above nodes]")
@click.option(
    "--below", type=int, metavar="PRIORITY", help="With --count: stop only lower priorities."
)
@click.option("--config", metavar="FILE", help="Configuration, or the ConfigMap that holds it.")
@now_option("Time.  [default: now]")
@output_option(("table", "json", "yaml", "svg"))
def command(source: ObjectSource, output: str, **options: Any) -> None:
    """Show the topologies of flavors: what is free, what fits where, and who sits there.

    Per level it tells how many pods fit in all, how many into the best domain, and which part of
    the room is lost to those that must be together. Nothing is changed anywhere.
    """
    if options["count"] is None and (options["level"] or options["below"] is not None):
        raise click.UsageError("--level and --below say more about --count: give it, too")
    try:
        memory = _memory(source, options)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    found = list(_layouts(memory, options))
    if output == "svg":
        click.echo(drawn([layout for layout, _ in found]))
    elif output != "table":
        click.echo(structured({"flavors": [_plain(*one) for one in found]}, output))
    elif not found:
        click.echo("No flavor has a topology: none names one that exists and has levels.")
    else:
        click.echo("\n\n".join(map(_told, found)))


def _memory(source: ObjectSource, options: dict[str, Any]) -> Memory:
    config = options["config"]
    world = read_world(
        source.documents(KINDS),
        now=options["now"],
        compatibility=Compatibility.QUEUEING,
        configuration=read_configuration(config) if config else None,
    )
    for warning in world.warnings:
        click.echo(f"Warning: {warning}", err=True)
    return SimulatedCluster(world.facts, settings=world.settings).engine.memory


Found = tuple[Layout, Openings | None]


def _layouts(memory: Memory, options: dict[str, Any]) -> Iterator[Found]:
    names = flavors_of(memory)
    chosen = options["flavor"]
    if chosen and chosen not in names:
        known = f"those that have one: {', '.join(names)}" if names else "no flavor has one"
        raise UsageProblem(f"there is no ResourceFlavor {chosen} with a topology; {known}")
    pod, level = _pod(options["pod"]), options["level"]
    asked = [FlavorName(chosen)] if chosen else names
    trees = [(name, one.tree) for name in asked for one in memory.tree.forest.memories(name)]
    having = [(name, tree) for name, tree in trees if level in tree.levels]
    for name, tree in having or trees:  # whoever names a level means the topologies that have it
        count = options["count"]
        yield (
            layout_of(memory, name, pod, tree.topology),
            None if count is None else _openings(memory, name, tree, pod, options),
        )


def _openings(
    memory: Memory, flavor: FlavorName, tree: Tree, pod: Requests, options: dict[str, Any]
) -> Openings:
    known = tree.levels
    level = options["level"] or known[max(0, len(known) - 2)]
    if level not in known:
        raise UsageProblem(
            f"the topology of flavor {flavor} has no level {level}; it has {', '.join(known)}"
        )
    wanted = WantedPods(level=level, count=options["count"], pod=pod, below=options["below"])
    return openings_of(memory, flavor, wanted)


def _pod(text: str | None) -> Requests:
    """Read `nvidia.com/gpu=8,cpu=500m`."""
    found: dict[ResourceName, int] = {}
    for part in text.split(",") if text else ():
        resource, _, value = part.strip().partition("=")
        try:
            found[ResourceName(resource)] = amount(resource, value) if value else 0
        except ValueError as error:
            raise click.BadParameter(f"{part!r}: {error}", param_hint="--pod") from error
        if not resource or found[ResourceName(resource)] <= 0:
            raise click.BadParameter(
                f"{part!r}: write a resource and an amount above zero, like nvidia.com/gpu=8",
                param_hint="--pod",
            )
    return in_order(found)


def _plain(layout: Layout, opened: Openings | None) -> Any:
    value: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(layout))
    if opened is not None:
        value["openings"] = msgspec.json.decode(msgspec.json.encode(opened))
    return value


def _told(found: Found) -> str:
    layout, opened = found
    each = " and ".join(f"{value} {resource}" for resource, value in layout.pod.items())
    head = f"Flavor {layout.flavor}, topology {layout.topology}; pods of {each}"
    parts: Sequence[str] = (
        head,
        levels(layout),
        spaces(layout),
        _aside(layout),
        "" if opened is None else openings(opened),
    )
    return "\n\n".join(part for part in parts if part)


def _aside(layout: Layout) -> str:
    return "\n".join(
        f"Node {name} has no place: it is {why}" for name, why in layout.set_aside.items()
    )
