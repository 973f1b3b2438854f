"""`queueing stop`, `suspend` and `resume`: workloads and queues, by hand.

A stopped Workload is deactivated. If a CheckpointPolicy holds for it, its pods are asked to save
before they are stopped, as for a preemption. A stopped queue admits nobody.
"""

import asyncio

import click
import msgspec

from queueing.cli.names import complete_subject
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.resolving import find_workload, queue_target
from queueing.cli.subjects import CLUSTER_QUEUE, WORKLOAD, Named, named
from queueing.kube.client import Client
from queueing.kube.config import Cluster, load_cluster
from queueing.kube.errors import KubeError, NotFoundError
from queueing.kube.resources import WORKLOADS, Target

CODES = "0, 1 when the server refuses, 2 when there is no cluster or no such object."
STOP_EPILOG = f"""\b
Examples:
  queueing stop workload job-train-1a2b3 -n team
  queueing stop job/train                        by the name of the job
  queueing stop clusterqueue/vision              evict all, admit nobody
  queueing stop localqueue/main --keep-already-running
\b
Exit codes: {CODES}
"""
SUSPEND_EPILOG = f"""\b
Examples:
  queueing suspend workload job-train-1a2b3 -n team
  kubectl wait checkpoints --for=jsonpath='{{.status.phase}}'=Released --all -n team
\b
Exit codes: {CODES}
"""
RESUME_EPILOG = f"""\b
Examples:
  queueing resume workload job-train-1a2b3 -n team
  queueing resume clusterqueue/vision
\b
Exit codes: {CODES}
"""
DONE = {("resume", True): "resumed", ("stop", False): "stopped", ("suspend", False): "suspended"}


def made(verb: str, epilog: str, explanation: str, *, active: bool) -> click.Command:
    """Make a command that switches a Workload or a queue on or off."""

    @click.command(name=verb, epilog=epilog, help=explanation)
    @click.argument(
        "subject", nargs=-1, required=True, metavar="KIND NAME", shell_complete=complete_subject
    )
    @click.option(
        "-n", "--namespace", metavar="NAME", help="Its namespace; else that of the context."
    )
    @of_a_cluster
    def command(
        *,
        subject: tuple[str, ...],
        namespace: str | None,
        kubeconfig: str | None,
        context: str | None,
        keep_already_running: bool = False,
    ) -> None:
        policy = "None" if active else "Hold" if keep_already_running else "HoldAndDrain"
        asked = named(subject)
        try:
            with reaching_it():
                where = (kubeconfig, context)
                told = asyncio.run(_switch(asked, namespace, where, active=active, policy=policy))
        except KubeError as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"{told} {DONE[verb, active]}")

    if verb == "stop":
        keeps = "Of a queue: let those that run go on, only admit nobody."
        option = click.Option(["--keep-already-running"], is_flag=True, help=keeps)
        command.params.append(option)
    return command


async def _switch(
    asked: Named,
    namespace: str | None,
    where: tuple[str | None, str | None],
    *,
    active: bool,
    policy: str,
) -> str:
    """Switch what is named; return it by kind and key."""
    cluster = await load_cluster(*where)
    home = namespace or cluster.namespace
    kind = asked.kind if asked.is_queue else WORKLOAD
    key = asked.name if asked.kind == CLUSTER_QUEUE else f"{home}/{asked.name}"
    async with Client(cluster, user_agent="queueing-cli") as client:
        if kind != asked.kind:
            found = await find_workload(client, asked, home)
            key = f"{home}/{found['metadata']['name']}"
    try:
        if asked.is_queue:
            await _set_policy(cluster, queue_target(asked, home), policy)
        else:
            await set_active(cluster, key, active=active)
    except NotFoundError as error:
        raise UsageProblem(f"there is no {kind} {key}; name its namespace with -n") from error
    return f"{kind} {key}"


async def _set_policy(cluster: Cluster, queue: Target, policy: str) -> None:
    async with Client(cluster, user_agent="queueing-cli") as client:
        await client.patch_merge(queue, msgspec.json.encode({"spec": {"stopPolicy": policy}}))


async def set_active(cluster: Cluster, key: str, *, active: bool) -> None:
    """Switch `spec.active` of a Workload. Raises KubeError."""
    namespace, _, name = key.partition("/")
    async with Client(cluster, user_agent="queueing-cli") as client:
        body = msgspec.json.encode({"spec": {"active": active}})
        await client.patch_merge(WORKLOADS.at(name, namespace), body)
