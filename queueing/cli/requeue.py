"""`queueing requeue`: give up what a workload holds, and queue it again."""

import asyncio

import click
import msgspec

from queueing.cli.get.states import is_true
from queueing.cli.names import complete_subject
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.resolving import find_workload
from queueing.cli.subjects import Named, named
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.resources import WORKLOADS

EPILOG = """\b
Examples:
  queueing requeue job/train
  queueing requeue workload job-train-1a2b3 -n team --timeout 300
\b
Exit codes: 0, 1 when the server refuses or the time is up, 2 when there is no cluster or no such
object. When the time is up, the workload stays stopped: `queueing resume` queues it again.
"""
LOOK_S = 0.25


@click.command(epilog=EPILOG)
@click.argument(
    "subject", nargs=-1, required=True, metavar="KIND NAME", shell_complete=complete_subject
)
@click.option("-n", "--namespace", metavar="NAME", help="Its namespace; else that of the context.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="How long its pods may take to save and end.",
)
@of_a_cluster
def command(
    *,
    subject: tuple[str, ...],
    namespace: str | None,
    timeout: float,
    kubeconfig: str | None,
    context: str | None,
) -> None:
    """Stop a workload, wait until it has given its quota back, and queue it again.

    It comes back to its place in the queue. One that is backing off after an eviction is tried at
    once.
    """
    asked = named(subject)
    if asked.is_queue:
        raise UsageProblem("a queue cannot be requeued: name a workload or a job")
    try:
        with reaching_it():
            key = asyncio.run(_requeue(asked, namespace, (kubeconfig, context), timeout))
    except TimeoutError as error:
        told = f"its pods have not ended within {timeout:g} s; it stays stopped until it is resumed"
        raise click.ClickException(told) from error
    except KubeError as error:
        raise click.ClickException(str(error)) from error
    click.echo(f"workload {key} requeued")


async def _requeue(
    asked: Named, namespace: str | None, where: tuple[str | None, str | None], timeout_s: float
) -> str:
    cluster = await load_cluster(*where)
    home = namespace or cluster.namespace
    async with Client(cluster, user_agent="queueing-cli") as client:
        name = (await find_workload(client, asked, home))["metadata"]["name"]
        target = WORKLOADS.at(name, home)
        await client.patch_merge(target, msgspec.json.encode({"spec": {"active": False}}))
        async with asyncio.timeout(timeout_s):
            while True:
                found = msgspec.json.decode(await client.get(target))
                if not is_true(found, "QuotaReserved"):
                    break
                await asyncio.sleep(LOOK_S)
        await client.patch_merge(target, msgspec.json.encode({"spec": {"active": True}}))
    return f"{home}/{name}"
