"""`queueing top`: how full the queues are and who waits, redrawn while it runs."""

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import click
from rich.console import ConsoleRenderable, Group
from rich.live import Live
from rich.text import Text

from queueing.cli.get.kinds import age
from queueing.cli.get.reading import everything
from queueing.cli.get.states import STYLES, State, owners, state_of, why
from queueing.cli.get.watching import Collection, followed
from queueing.cli.names import complete_subject
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.subjects import CLUSTER_QUEUE, LOCAL_QUEUE, Named, named
from queueing.cli.tables import Cell, made, rendered
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.resources import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS
from queueing.translate.times import moment
from queueing_api.quantity import amount

EPILOG = """\b
Examples:
  queueing top                                   all ClusterQueues, until Ctrl-C
  queueing top clusterqueue/vision
  queueing top localqueue/main -n vision --interval 5
  queueing top --once                            one picture, for a script
\b
Exit codes: 0, 1 when the server refuses, 2 when there is no cluster or no such queue, 130 after
Ctrl-C.
"""
WAITING_SHOWN = 15
BAR = 20
"""Characters of a bar for all of the nominal quota."""
USAGE = ("QUEUE", "COHORT", "FLAVOR", "RESOURCE", "USED", "NOMINAL", "")
WAITS = ("WAITS", "JOB", "QUEUE", "SINCE", "WHY")
KINDS = (CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS)
"""What a picture is made of."""
Wire = Mapping[str, Any]


@click.command(epilog=EPILOG)
@click.argument("subject", nargs=-1, metavar="[KIND/NAME]", shell_complete=complete_subject)
@click.option("-n", "--namespace", metavar="NAME", help="Of a LocalQueue; else of the context.")
@click.option(
    "--interval",
    type=click.FloatRange(min=0.2),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="Between two pictures.",
)
@click.option("--once", is_flag=True, help="One picture; also without a terminal.")
@of_a_cluster
def command(  # noqa: PLR0913 - one parameter per option
    *,
    subject: tuple[str, ...],
    namespace: str | None,
    interval: float,
    once: bool,
    kubeconfig: str | None,
    context: str | None,
) -> None:
    """Show how much of the quota of queues is in use, and who waits longest."""
    asked = named(subject) if subject else None
    if asked is not None and not asked.is_queue:
        raise UsageProblem("top shows clusterqueue/NAME or localqueue/NAME")
    every = None if once or not sys.stdout.isatty() else interval
    try:
        with reaching_it():
            asyncio.run(_show(asked, namespace, (kubeconfig, context), every))
    except KubeError as error:
        raise click.ClickException(str(error)) from error


async def _show(
    asked: Named | None,
    namespace: str | None,
    where: tuple[str | None, str | None],
    every_s: float | None,
) -> None:
    cluster = await load_cluster(*where)
    home = namespace or cluster.namespace
    async with Client(cluster, user_agent="queueing-top") as client:
        if every_s is None:
            lists = [await everything(client, one) for one in KINDS]
            click.echo(rendered(_picture(lists, asked, home)))
            return
        async with followed(client, *KINDS) as collections:
            with Live(auto_refresh=False, screen=True) as live:
                while True:
                    picture = _picture([one.objects for one in collections], asked, home)
                    live.update(Group(*_troubles(collections), picture), refresh=True)
                    await asyncio.sleep(every_s)


def _troubles(collections: Iterable[Collection]) -> Iterator[Text]:
    """Say what keeps the picture from being up to date."""
    for error in dict.fromkeys(str(one.trouble) for one in collections if one.trouble):
        yield Text(f"not up to date: {error}", style="red")


def _picture(lists: Sequence[Sequence[Wire]], asked: Named | None, home: str) -> Group:
    queues, doors, workloads = lists
    behind = {_key(one): one["spec"].get("clusterQueue", "") for one in doors}
    wanted = _wanted(asked, home, queues, behind)
    shown = [one for one in queues if one["metadata"]["name"] in set(wanted.values())]
    mine = [one for one in workloads if _door(one) in wanted]
    now = SystemClock().now()
    states = [state_of(one) for one in mine]
    counts = Counter(states)
    title = Text("  ".join(f"{state.value} {counts[state]}" for state in State), style="bold")
    usage = made(USAGE, (row for one in shown for row in _usage(one)))
    waiting = sorted(
        (one for one, state in zip(mine, states, strict=True) if state is State.PENDING),
        key=lambda one: str(one["metadata"].get("creationTimestamp", "")),
    )
    parts: list[ConsoleRenderable] = [title, Text(""), usage]
    if waiting:
        rows = (_waits(one, now) for one in waiting[:WAITING_SHOWN])
        parts += [Text(""), made(WAITS, rows)]
        if len(waiting) > WAITING_SHOWN:
            parts.append(Text(f"and {len(waiting) - WAITING_SHOWN} more", style="dim"))
    return Group(*parts)


def _wanted(
    asked: Named | None, home: str, queues: Sequence[Wire], behind: Mapping[str, str]
) -> dict[str, str]:
    """Return the LocalQueues that are shown, each with its ClusterQueue.

    A ClusterQueue without any LocalQueue stands for itself.
    """
    names = {one["metadata"]["name"] for one in queues}
    if asked is None:
        return {**{f"/{name}": name for name in names}, **behind}
    if asked.kind == CLUSTER_QUEUE and asked.name in names:
        chosen = {key: name for key, name in behind.items() if name == asked.name}
        return {f"/{asked.name}": asked.name, **chosen}
    key = f"{home}/{asked.name}"
    if asked.kind == LOCAL_QUEUE and key in behind:
        return {key: behind[key]}
    where = f" in namespace {home}" if asked.kind == LOCAL_QUEUE else ""
    raise UsageProblem(f"there is no {asked.kind} {asked.name}{where}")


def _key(one: Wire) -> str:
    return f"{one['metadata']['namespace']}/{one['metadata']['name']}"


def _door(workload: Wire) -> str:
    queue = workload["spec"].get("queueName", "")
    return f"{workload['metadata']['namespace']}/{queue}"


def _usage(queue: Wire) -> Iterator[list[Cell]]:
    held = {
        (flavor["name"], one["name"]): str(one.get("total", "0"))
        for flavor in (queue.get("status") or {}).get("flavorsReservation") or ()
        for one in flavor.get("resources") or ()
    }
    cohort = str(queue["spec"].get("cohortName") or "")
    for group in queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            for one in flavor["resources"]:
                name, nominal = one["name"], str(one["nominalQuota"])
                used = held.get((flavor["name"], name), "0")
                if not (amount(name, used) or amount(name, nominal)):
                    continue
                share = _share(name, used, nominal)
                style = "magenta" if share > 1 else ""
                bar = "█" * min(BAR, round(share * BAR)) + ("+" if share > 1 else "")
                yield [
                    Cell(queue["metadata"]["name"]),
                    Cell(cohort),
                    Cell(flavor["name"]),
                    Cell(name),
                    Cell(used, style),
                    Cell(nominal),
                    Cell(bar, style or "green"),
                ]


def _share(resource: str, used: str, nominal: str) -> float:
    whole = amount(resource, nominal)
    part = amount(resource, used)
    if not whole:
        return 2.0 if part else 0.0
    return part / whole


def _waits(workload: Wire, now: float) -> list[Cell]:
    reason, message = why(workload)
    created = workload["metadata"].get("creationTimestamp")
    return [
        Cell(_key(workload)),
        Cell(",".join(owners(workload))),
        Cell(str(workload["spec"].get("queueName", ""))),
        Cell(age(now - moment(created)) if created else ""),
        Cell(f"{reason}: {message}" if message else reason, STYLES[State.PENDING]),
    ]
