"""`queueing submit`: queue a command or a manifest, and follow it until it ends."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import click
import msgspec

from queueing.cli.names import complete_names
from queueing.cli.options import files_option
from queueing.cli.output import UsageProblem, objects
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.resolving import resource_of
from queueing.cli.submit.following import Following
from queueing.cli.submit.jobs import Container, QueueingOptions, job_of, queued, requests_of
from queueing.clock import SystemClock
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.request import Call
from queueing.observe.trace_ids import parse_traceparent
from queueing.sim.documents import load
from queueing.sim.yaml_text import ManifestError

EPILOG = """\b
Examples:
  queueing submit -q main --image python:3.12 -r cpu=1 -- python train.py --epochs 3
  queueing submit -q main -f job.yaml --priority high --follow
  queueing submit -q main --gang pair --gang-size 2 --image busybox -r cpu=1 -- sleep 60
  queueing submit -q main --checkpoint-policy save -f train.yaml --dry-run client -o yaml
\b
Where TRACEPARENT is set, the job goes on with that trace, and so does the command in its pods.
\b
--follow tells why it waits, when it is admitted, and the logs of its pods. Ctrl-C ends the
following; the job goes on.
\b
Exit codes: 0 when it is submitted, or has succeeded with --follow; 1 when the server refuses, or it
has failed; 2 when there is no cluster or the input cannot be used; 130 after Ctrl-C.
"""


@click.command(epilog=EPILOG)
@click.argument("words", nargs=-1, metavar="[-- COMMAND...]")
@files_option("Submit the objects of this file or folder instead of a command.")
@click.option("-n", "--namespace", metavar="NAME", help="Namespace; else that of the context.")
@click.option(
    "-q",
    "--queue",
    default="",
    metavar="NAME",
    shell_complete=complete_names("localqueue"),
    help="LocalQueue to wait in.",
)
@click.option("--priority", default="", metavar="NAME", help="Its WorkloadPriorityClass.")
@click.option("--name", default="", metavar="NAME", help="Name of the Job; else one is made up.")
@click.option("--image", default="", metavar="IMAGE", help="Image that the command runs in.")
@click.option(
    "-r",
    "--request",
    "requests",
    multiple=True,
    metavar="RESOURCE=AMOUNT",
    help="What each pod requests; repeat for more.",
)
@click.option("--pods", type=click.IntRange(min=1), default=1, show_default=True, help="Pods.")
@click.option(
    "--max-seconds",
    type=click.IntRange(min=1),
    metavar="SECONDS",
    help="Its maximum execution time, which plans and budgets count with.",
)
@click.option("--gang", default="", metavar="NAME", help="Start together with all of this gang.")
@click.option("--gang-size", type=click.IntRange(min=1), help="How many Jobs the gang has.")
@click.option(
    "--checkpoint-policy", default="", metavar="NAME", help="CheckpointPolicy that it saves by."
)
@click.option("--follow", is_flag=True, help="Tell how it goes on, until it ends.")
@click.option(
    "--dry-run",
    type=click.Choice(("none", "client", "server")),
    default="none",
    show_default=True,
    help="Only print it (client), or have the server check it, too.",
)
@of_a_cluster
@click.option(
    "-o",
    "--output",
    type=click.Choice(("name", "yaml", "json")),
    default="name",
    show_default=True,
    help="What to print.",
)
def command(words: tuple[str, ...], files: tuple[str, ...], **options: Any) -> None:
    """Queue a command as a Job, or the jobs of a manifest, whatever their kind."""
    if bool(words) == bool(files):
        raise click.UsageError("give a command after --, or a manifest with -f")
    if words and not options["image"]:
        raise click.UsageError("a command needs an --image")
    if options["follow"] and options["dry_run"] != "none":
        raise click.UsageError("--follow and --dry-run exclude each other")
    if bool(options["gang"]) != bool(options["gang_size"]):
        raise click.UsageError("--gang and --gang-size go together")
    try:
        written = [one.value for one in load(files)] if files else [_job(words, options)]
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    try:
        with reaching_it():
            succeeded = asyncio.run(_submit(written, options))
    except KubeError as error:
        raise click.ClickException(str(error)) from error
    if not succeeded:
        raise click.exceptions.Exit(1)


def _job(words: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    container = Container(
        command=words,
        image=options["image"],
        pods=options["pods"],
        requests=requests_of(options["requests"]),
        traced=bool(_traceparent()),
    )
    return job_of(container, options["name"])


async def _submit(written: Sequence[dict[str, Any]], options: Mapping[str, Any]) -> bool:
    """Submit all, and follow them if asked to; return whether all that was followed succeeded."""
    if options["dry_run"] == "client":
        home = options["namespace"] or "default"
        _print([queued(one, _asked(home, options)) for one in written], options)
        return True
    cluster = await load_cluster(options["kubeconfig"], options["context"])
    asked = _asked(options["namespace"] or cluster.namespace, options)
    values = [queued(one, asked) for one in written]
    async with Client(cluster, user_agent="queueing-submit") as client:
        made = [await _create(client, one, options) for one in values]
        _print(made, options)
        if not options["follow"]:
            return True
        async with asyncio.TaskGroup() as group:
            following = [group.create_task(_follow(client, one)) for one in made]
    return all(one.result() for one in following)


def _asked(namespace: str, options: Mapping[str, Any]) -> QueueingOptions:
    return QueueingOptions(
        namespace=namespace,
        queue=options["queue"],
        priority=options["priority"],
        gang=options["gang"],
        gang_size=options["gang_size"] or 0,
        checkpoint_policy=options["checkpoint_policy"],
        seconds=options["max_seconds"] or 0,
        traceparent=_traceparent(),
    )


def _traceparent() -> str:
    """Return the trace in which this command was called, by its environment; empty if in none."""
    found = parse_traceparent(os.environ.get("TRACEPARENT", ""))
    return "" if found is None else found.traceparent


async def _create(
    client: Client, value: dict[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    resource = await resource_of(client, value["apiVersion"], value["kind"])
    call = Call(dry_run=options["dry_run"] == "server")
    body = await client.create(resource.within(value["metadata"]["namespace"]), value, call)
    found: dict[str, Any] = msgspec.json.decode(body)
    found["metadata"].pop("managedFields", None)
    return {"apiVersion": value["apiVersion"], "kind": value["kind"]} | found


def _print(made: Sequence[dict[str, Any]], options: Mapping[str, Any]) -> None:
    if options["output"] != "name":
        click.echo(objects(made, options["output"]))
        return
    told = {"none": "submitted", "client": "only printed", "server": "checked by the server"}
    for one in made:
        name = one["metadata"].get("name") or one["metadata"]["generateName"]
        click.echo(f"{one['kind'].lower()}/{name} {told[options['dry_run']]}")


async def _follow(client: Client, value: dict[str, Any]) -> bool:
    name = f"{value['kind'].lower()}/{value['metadata']['name']}"
    clock = SystemClock()

    def tell(text: str) -> None:
        at = datetime.fromtimestamp(clock.now(), UTC).strftime("%H:%M:%S")
        click.echo(f"{at} {name} {text}")

    return await Following(client, value, tell).to_the_end()
