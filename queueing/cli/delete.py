"""`queueing delete`: a workload with the job that it is for, or a queue."""

import asyncio
import sys
from typing import Any

import click

from queueing.cli.names import complete_subject
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.resolving import find_workload, queue_target, resource_of
from queueing.cli.subjects import Named, named
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError, NotFoundError
from queueing.kube.resources import WORKLOADS, Target

EPILOG = """\b
Examples:
  queueing delete job/train                      the Job, its pods and its Workload
  queueing delete workload job-train-1a2b3 --yes
  queueing delete localqueue/main
\b
Exit codes: 0, 1 when the server refuses or you say no, 2 when there is no cluster or no such
object.
"""
BACKGROUND = {"propagationPolicy": "Background"}


@click.command(epilog=EPILOG)
@click.argument(
    "subject", nargs=-1, required=True, metavar="KIND NAME", shell_complete=complete_subject
)
@click.option("-n", "--namespace", metavar="NAME", help="Its namespace; else that of the context.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask whether jobs may be deleted.")
@of_a_cluster
def command(
    *,
    subject: tuple[str, ...],
    namespace: str | None,
    yes: bool,
    kubeconfig: str | None,
    context: str | None,
) -> None:
    """Delete a workload, with all jobs that it is for, or a queue.

    A Workload whose job stays would be made again, so the job is deleted, and takes the Workload
    with it.
    """
    asked = named(subject)
    try:
        with reaching_it():
            asyncio.run(_delete(asked, namespace, (kubeconfig, context), yes=yes))
    except KubeError as error:
        raise click.ClickException(str(error)) from error


async def _delete(
    asked: Named, namespace: str | None, where: tuple[str | None, str | None], *, yes: bool
) -> None:
    cluster = await load_cluster(*where)
    home = namespace or cluster.namespace
    async with Client(cluster, user_agent="queueing-cli") as client:
        if asked.is_queue:
            targets = [queue_target(asked, home)]
        else:
            workload = await find_workload(client, asked, home)
            targets = await _jobs_of(client, workload) or [
                WORKLOADS.at(workload["metadata"]["name"], home)
            ]
        jobs = [one for one in targets if one.resource is not WORKLOADS and not asked.is_queue]
        if jobs and not yes:
            _ask_for_leave(jobs)
        for target in targets:
            try:
                await client.delete(target, BACKGROUND)
            except NotFoundError as error:
                if asked.is_queue:
                    raise UsageProblem(f"there is no {target.label}") from error
            else:
                click.echo(f"{target.label} deleted")


def _ask_for_leave(jobs: list[Target]) -> None:
    names = ", ".join(one.label for one in jobs)
    if not sys.stdin.isatty():
        raise UsageProblem(f"this deletes {names}: say so with --yes")
    click.confirm(f"This deletes {names}. Go on?", abort=True)


async def _jobs_of(client: Client, workload: dict[str, Any]) -> list[Target]:
    found = []
    for one in workload["metadata"].get("ownerReferences") or ():
        resource = await resource_of(client, one["apiVersion"], one["kind"])
        found.append(resource.at(one["name"], workload["metadata"]["namespace"]))
    return found
