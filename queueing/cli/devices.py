"""`queueing devices`: a flavor's devices, node by node, and who holds them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

import click

from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, columns, structured
from queueing.cli.reading import ObjectSource, of_files_or_a_cluster
from queueing.sim.fleet import KINDS, DeviceStatus, amount, standings
from queueing.sim.yaml_text import ManifestError

EPILOG = """\b
Examples:
  queueing devices                      nodes of all flavors, a sign per device
  queueing devices --flavor h100 --list a line per device: what it is, who holds it
  queueing devices -f slices.yaml -o json
"""
SIGNS = {"Free": ".", "Held": "#", "Shared": "%", "Blocked": "x"}
LEGEND = ". free   # held   % shared   x free, but others hold what it is made of"
WIDTH_MAX = 64
"""Signs in one cell; a node may have hundreds of partitions."""


@click.command(epilog=EPILOG)
@of_files_or_a_cluster
@click.option("--flavor", metavar="NAME", help="Only the devices of this ResourceFlavor.")
@click.option("--list", "listed", is_flag=True, help="Print one line per device.")
@output_option()
def command(source: ObjectSource, output: str, **options: Any) -> None:
    """Show the devices of flavors, which of them are in use, and who holds them."""
    try:
        found, told = standings(source.documents(KINDS))
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    for line in told:
        click.echo(f"Warning: {line}", err=True)
    if options["flavor"]:
        found = [one for one in found if one.flavor == options["flavor"]]
    if output != "table":
        click.echo(structured({"devices": [one.as_json() for one in found]}, output))
    elif not found:
        click.echo("No devices: no ResourceSlice is published, or none that the flavor reaches.")
    else:
        click.echo(_list(found) if options["listed"] else _drawing(found))


def _drawing(found: Sequence[DeviceStatus]) -> str:
    rows = []
    for (flavor, node), group in groupby(found, key=lambda one: (one.flavor, _node(one))):
        devices = list(group)
        signs = "".join(SIGNS[one.state] for one in devices)
        shown = signs if len(signs) <= WIDTH_MAX else f"{signs[: WIDTH_MAX - 1]}…"
        free = sum(one.state == "Free" for one in devices)
        rows.append((flavor, node, f"{free}/{len(devices)}", shown, _users(devices)))
    header = ("FLAVOR", "NODE", "FREE", "DEVICES", "HELD BY")
    return f"{columns(header, rows)}\n\n{LEGEND}"


def _node(one: DeviceStatus) -> str:
    return one.device.node or f"(pool {one.device.name.pool})"


def _users(devices: Iterable[DeviceStatus]) -> str:
    """Name who holds some devices, the largest holders first, and how many: Workloads, or claims.

    Parts of one device that a Workload holds by several claims count each.
    """
    counted = Counter(holder.work or holder.claim for one in devices for holder in one.holders)
    named = sorted(counted, key=lambda name: (-counted[name], name))
    shown = [f"{name} ({counted[name]})" for name in named[:3]]
    more = [f"{len(named) - 3} more"] if len(named) > 3 else []  # noqa: PLR2004 - what fits
    return ", ".join(shown + more) or "-"


def _list(found: Iterable[DeviceStatus]) -> str:
    rows = [
        (
            one.flavor,
            _node(one),
            one.device.name.device,
            one.state,
            ",".join(f"{name}={amount(it.value)}" for name, it in one.device.capacity.items())
            or "-",
            "; ".join(_holder(one, at) for at in range(len(one.holders))) or "-",
        )
        for one in found
    ]
    return columns(("FLAVOR", "NODE", "DEVICE", "STATE", "CAPACITY", "HELD BY"), rows)


def _holder(one: DeviceStatus, at: int) -> str:
    holder = one.holders[at]
    taken = ",".join(f"{name}={amount(size)}" for name, size in (holder.consumed or {}).items())
    pods = f" for {', '.join(holder.users)}" if holder.users else ""
    return f"{holder.claim}{f' {taken}' if taken else ''}{pods}"
