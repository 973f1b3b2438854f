"""`queueing demo`: forty Jobs, a JobSet and pods of three teams, in a minute, without a cluster."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import click

from queueing.cli.local.board import Board, LiveBoard, PlainBoard, summary
from queueing.cli.local.cluster import (
    ServerLocation,
    alone,
    controlled,
    local_cluster,
    sample_jobs,
    sample_jobsets,
    sample_objects,
    sample_pods,
)
from queueing.cli.local.sightings import Sightings
from queueing.clock import SystemClock
from queueing.core.settings import Compatibility
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.sim.documents import Document

LOOK_EVERY_S = 0.25
LIMIT_S = 55.0
"""The demo ends by then, whatever happens."""
_RESOURCES = {
    "Job": resources.JOBS,
    "Pod": resources.PODS,
    "JobSet": resources.Resource("jobset.x-k8s.io", "v1alpha2", "jobsets", "JobSet"),
}
SUBMIT_AT = "queueing.dev/submit-at-seconds"
QUEUE_NAME = "kueue.x-k8s.io/queue-name"

EPILOG = """\b
Examples:
  queueing demo
  queueing demo --plain | tee demo.log
\b
To look around with kubectl, use `queueing dev` instead.
"""


@click.command(epilog=EPILOG)
@click.option("--plain", is_flag=True, help="Print plain lines, even on a terminal.")
def command(*, plain: bool) -> None:
    """Show queueing at work on a cluster that lives in this process.

    Three teams share some machines. Vision borrows what language does not use, language takes it
    back, an urgent Job preempts another, and the data team's queue keeps its order strictly.
    """
    board: Board = PlainBoard() if plain or not sys.stdout.isatty() else LiveBoard()
    finished = asyncio.run(_play(board))
    if not finished:
        raise click.ClickException(f"some Jobs were not done after {LIMIT_S:.0f} seconds")


async def _play(board: Board) -> bool:
    """Run the show; say whether every Job got done."""
    seen = Sightings()
    async with (
        local_cluster(ServerLocation(), sample_objects()) as server,
        controlled(server, alone(), Compatibility.QUEUEING) as controller,
        Client(Cluster.plain(server.url), user_agent="queueing-demo") as client,
    ):
        start = SystemClock().monotonic()
        with board:
            async with _submitting(client, seen, start), asyncio.TaskGroup() as group:
                watching = group.create_task(_watch(client, seen, board, start))
                await asyncio.wait(
                    [watching, controller], timeout=LIMIT_S, return_when=asyncio.FIRST_COMPLETED
                )
                watching.cancel()
            saved = await _list(client, resources.CHECKPOINTS)
        stopped = controller.done()
    click.echo(summary(seen))
    for line in saves(saved):
        click.echo(line)
    if stopped:
        raise click.Abort
    return seen.all_done


@asynccontextmanager
async def _submitting(client: Client, seen: Sightings, start: float) -> AsyncIterator[None]:
    """Create each Job when its annotation says so."""
    async with asyncio.TaskGroup() as group:
        work = group.create_task(_submit(client, seen, start))
        try:
            yield
        finally:
            work.cancel()


async def _submit(client: Client, seen: Sightings, start: float) -> None:
    for job in sorted(_shown(), key=_submit_at):
        await asyncio.sleep(max(0.0, start + _submit_at(job) - SystemClock().monotonic()))
        metadata = job.value["metadata"]
        await client.create(_RESOURCES[job.kind].within(metadata["namespace"]), job.value)
        seen.submit(_name(job), metadata["labels"][QUEUE_NAME], SystemClock().monotonic() - start)


def _shown() -> list[Document]:
    return [*sample_jobs(), *sample_jobsets(), *sample_pods()]


def _name(job: Document) -> str:
    """Return how a job is called: a pod of a group as the group, which is admitted as one."""
    metadata = job.value["metadata"]
    group = metadata["labels"].get("kueue.x-k8s.io/pod-group-name")
    return f"{metadata['namespace']}/{group or job.name}"


def _submit_at(job: Document) -> float:
    return float(job.value["metadata"].get("annotations", {}).get(SUBMIT_AT, "0"))


async def _watch(client: Client, seen: Sightings, board: Board, start: float) -> None:
    """Look at the cluster until all Jobs are done."""
    expected = len({_name(job) for job in _shown()})
    while len(seen.jobs) < expected or not seen.all_done:
        queues = await _list(client, resources.CLUSTER_QUEUES)
        workloads = await _list(client, resources.WORKLOADS)
        now = SystemClock().monotonic() - start
        board.show(seen, seen.look(workloads, queues, now), queues=queues, now=now)
        await asyncio.sleep(LOOK_EVERY_S)


def saves(checkpoints: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Say of each Job that saved before it was stopped where it went on."""
    for one in checkpoints:
        step = one.get("status", {}).get("checkpoint", {}).get("step")
        if step is not None:
            owners = one["metadata"]["ownerReferences"]
            names = (owner["name"] for owner in owners if owner["kind"] != "Workload")
            job = f"{one['metadata']['namespace']}/{', '.join(names)}"
            yield f"{job} saved at step {step} before it was stopped, and went on from there."


async def _list(client: Client, resource: resources.Resource) -> list[Mapping[str, Any]]:
    found: list[Mapping[str, Any]] = json.loads(await client.list_page(resource.within()))["items"]
    return found
