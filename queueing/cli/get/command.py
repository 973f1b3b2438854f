"""`queueing get`: workloads, queues, cohorts and flavors."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

from queueing.cli.get.kinds import KINDS, SPELLINGS, Column, Listed, ListedKind
from queueing.cli.get.matching import Filter
from queueing.cli.get.reading import everything
from queueing.cli.get.states import State
from queueing.cli.get.watching import changes
from queueing.cli.names import complete_name_of_kind
from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, structured
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.tables import Cell, made, rendered
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.resources import CLUSTER_QUEUES

EPILOG = """\b
Examples:
  queueing get workloads                         in the namespace of the context
  queueing get workloads -A --state Pending --reason WaitingForQuota -o wide
  queueing get workloads --owner job/train --watch
  queueing get queues -n vision
  queueing get clusterqueues
  queueing get flavors -o json
\b
Exit codes: 0, also when nothing is found; 1 when the server refuses; 2 when there is no cluster or
no object of the name that was given.
"""
Wire = dict[str, Any]
MANY = 10_000
"""Rows that are laid out within some seconds."""


@click.command(epilog=EPILOG)
@click.argument(
    "kind",
    type=click.Choice((*KINDS, *SPELLINGS)),
    metavar="[workloads|queues|clusterqueues|cohorts|flavors]",
)
@click.argument("name", default="", shell_complete=complete_name_of_kind)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace; else that of the context.")
@click.option("-A", "--all-namespaces", is_flag=True, help="In all namespaces.")
@click.option("-q", "--queue", default="", metavar="NAME", help="Only those of this queue.")
@click.option(
    "--state",
    default="",
    type=click.Choice(["", *(one.value for one in State)]),
    metavar="STATE",
    help=f"Only workloads that are {', '.join(State)}.",
)
@click.option("--reason", default="", metavar="REASON", help="Only workloads with this reason.")
@click.option("--owner", default="", metavar="KIND/NAME", help="Only workloads of this job.")
@click.option("-w", "--watch", is_flag=True, help="Go on with what changes, until Ctrl-C.")
@of_a_cluster
@output_option(("table", "wide", "json", "yaml", "name"))
def command(kind: str, name: str, output: str, **options: Any) -> None:
    """List workloads, queues, cohorts or flavors, with how they stand."""
    listed = SPELLINGS.get(kind, kind)
    wanted = Filter(
        name=name,
        queue=options["queue"],
        state=options["state"],
        reason=options["reason"],
        owner=options["owner"].lower(),
    )
    if options["watch"] and output not in {"table", "wide"}:
        raise click.UsageError("--watch goes with the output table or wide")
    try:
        with reaching_it():
            asyncio.run(_list(listed, wanted, output, options))
    except KubeError as error:
        raise click.ClickException(str(error)) from error


async def _list(kind: str, wanted: Filter, output: str, options: Mapping[str, Any]) -> None:
    listed = KINDS[kind]
    cluster = await load_cluster(options["kubeconfig"], options["context"])
    within = ""
    if listed.resource.namespaced and not options["all_namespaces"]:
        within = options["namespace"] or cluster.namespace
    async with Client(cluster, user_agent="queueing-get") as client:
        found = [
            one
            for one in await everything(client, listed.resource, within)
            if wanted.matches(kind, one)
        ]
        queues = await everything(client, CLUSTER_QUEUES) if listed.needs_queues else []
        if wanted.name and not found and not options["watch"]:
            where = f" in namespace {within}" if within else ""
            raise UsageProblem(f"there is no {listed.resource.kind} {wanted.name}{where}")
        columns = listed.shown(wide=output == "wide", namespaced=options["all_namespaces"])
        _show(listed, found, output, (columns, queues))
        if options["watch"]:
            async for one in changes(client, listed.resource.within(within)):
                if wanted.matches(kind, one):
                    row = _row(columns, one, queues)
                    click.echo("   ".join(cell.text for cell in row).rstrip())


def _show(
    listed: ListedKind,
    found: Sequence[Wire],
    output: str,
    laid_out: tuple[tuple[Column, ...], Sequence[Wire]],
) -> None:
    resource, (columns, queues) = listed.resource, laid_out
    if output == "name":
        for one in found:
            click.echo(f"{resource.kind.lower()}/{one['metadata']['name']}")
    elif output in {"json", "yaml"}:
        typed = [{"apiVersion": resource.api_version, "kind": resource.kind} | one for one in found]
        click.echo(structured({"apiVersion": "v1", "kind": "List", "items": typed}, output))
    elif found:
        if len(found) > MANY:
            click.echo(
                f"{len(found):,} rows take a while to be laid out: --queue, --state, --reason and"
                " --owner leave some out, -o name and -o json are quick",
                err=True,
            )
        rows: Iterable[list[Cell]] = (_row(columns, one, queues) for one in found)
        click.echo(rendered(made([one.header for one in columns], rows)))
    else:
        click.echo("Nothing found.", err=True)


def _row(columns: Sequence[Column], value: Wire, queues: Sequence[Wire]) -> list[Cell]:
    one = Listed(value, queues, SystemClock().now())
    cells = (column.cell(one) for column in columns)
    return [cell if isinstance(cell, Cell) else Cell(cell) for cell in cells]
