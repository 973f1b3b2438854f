"""`queueing suspend workload` and `queueing resume workload`: by hand, with a save where asked for.

A suspended Workload is deactivated. If a CheckpointPolicy holds for it, its pods are asked to save
before they are stopped, as for a preemption.
"""

import asyncio

import click
import msgspec

from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.kube.client import Client
from queueing.kube.config import Cluster, load_cluster
from queueing.kube.errors import KubeError, NotFoundError
from queueing.kube.resources import WORKLOADS

SUSPEND_EPILOG = """\b
Examples:
  queueing suspend workload job-train-1a2b3 -n team
  kubectl wait checkpoints --for=jsonpath='{.status.phase}'=Released --all -n team
\b
Exit codes: 0, 1 when the server refuses, 2 when there is no cluster or no such Workload.
"""
RESUME_EPILOG = """\b
Examples:
  queueing resume workload job-train-1a2b3 -n team
\b
Exit codes: 0, 1 when the server refuses, 2 when there is no cluster or no such Workload.
"""


def made(verb: str, epilog: str, explanation: str, *, active: bool) -> click.Command:
    """Make a command that switches a Workload on or off."""

    @click.command(name=verb, epilog=epilog, help=explanation)
    @click.argument("kind", type=click.Choice(("workload",)))
    @click.argument("name")
    @click.option(
        "-n",
        "--namespace",
        metavar="NAME",
        help="Namespace of the workload; else that of the context.",
    )
    @of_a_cluster
    def command(
        kind: str, name: str, namespace: str | None, kubeconfig: str | None, context: str | None
    ) -> None:
        async def switch() -> str:
            cluster = await load_cluster(kubeconfig, context)
            key = f"{namespace or cluster.namespace}/{name}"
            try:
                await set_active(cluster, key, active=active)
            except NotFoundError as error:
                told = f"there is no {kind} {key}; name its namespace with -n"
                raise UsageProblem(told) from error
            return key

        try:
            with reaching_it():
                key = asyncio.run(switch())
        except KubeError as error:
            raise click.ClickException(str(error)) from error
        click.echo(f"workload {key} {_DONE[active]}")

    return command


_DONE = {True: "resumed", False: "suspended"}


async def set_active(cluster: Cluster, key: str, *, active: bool) -> None:
    """Switch `spec.active` of a Workload. Raises KubeError."""
    namespace, _, name = key.partition("/")
    async with Client(cluster, user_agent="queueing-cli") as client:
        body = msgspec.json.encode({"spec": {"active": active}})
        await client.patch_merge(WORKLOADS.at(name, namespace), body)
