"""`queueing uninstall`: take away what keeps an installation from being deleted."""

import asyncio
import time

import click

from queueing.cli.hand_over import READ_S, remove_policies
from queueing.cli.options import lease_option
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import KubeError
from queueing.kube.lease import LEASE_NAME
from queueing.kube.lease_record import KubeLeaseStore, LeaseRecord
from queueing.serving.finalizer_release import release_finalizers
from queueing.serving.uninstallation import HOLDER

EPILOG = """\b
Examples:
  # While a replica runs, this is enough: it removes the finalizers itself
  kubectl delete -k config/default
\b
  # When none runs any more, even if the line above is already waiting
  queueing uninstall
  kubectl delete -k config/default
\b
Exit codes: 0 when no finalizer is left, 1 when some are, 2 when a controller still leads.
"""
LIVES = 2.0
"""Lives of a Lease after which its holder is taken for gone; clocks may differ by one of them."""


@click.command(epilog=EPILOG)
@of_a_cluster
@lease_option()
def command(kubeconfig: str | None, context: str | None, namespace: str) -> None:
    """Remove what keeps an installation from being deleted when no controller runs any more.

    Removes the finalizer from Workloads, queues, flavors, checks, topologies and QueueableKinds,
    and deletes queueing's admission policies. No Job and no other object is deleted. The command
    can be repeated.
    """
    try:
        with reaching_it():
            policies, kept, freed = asyncio.run(_let_go(kubeconfig, context, namespace))
    except KubeError as error:
        raise click.ClickException(f"not everything is let go of: {error}") from error
    click.echo(f"{freed} finalizers removed, {policies} policies and bindings deleted")
    if kept:
        raise click.ClickException(f"still held: {', '.join(kept)}; run this again")


async def _let_go(
    kubeconfig: str | None, context: str | None, namespace: str
) -> tuple[int, list[str], int]:
    cluster = await load_cluster(kubeconfig, context)
    async with Client(cluster, user_agent="queueing-uninstall") as client:
        found = await KubeLeaseStore(client, LEASE_NAME, namespace).read(READ_S)
        if found is not None and _leads(found, time.time()):
            raise UsageProblem(
                f"{found.holder} leads by the Lease {namespace}/{LEASE_NAME}: it would take hold"
                " again. `kubectl delete -k config/default` is enough while it runs; else stop it"
            )
        policies = [target async for target in remove_policies(client)]
        freed, kept = await release_finalizers(client)
    return len(policies), kept, freed


def _leads(lease: LeaseRecord, now: float) -> bool:
    """Say whether somebody renewed the Lease lately: who was killed releases nothing."""
    leads = lease.holder not in ("", HOLDER)
    return leads and now - lease.renewed < LIVES * max(lease.duration_s, 1.0)
