"""`queueing hand-over`: leave a cluster to Kueue."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Any

import click

from queueing.cli.options import lease_option
from queueing.cli.output import UsageProblem
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import (
    ConflictError,
    InvalidError,
    KubeError,
    NotFoundError,
)
from queueing.kube.lease import LEASE_NAME
from queueing.kube.lease_record import KubeLeaseStore
from queueing.kube.listing import list_all
from queueing.kube.resources import (
    MUTATING_POLICIES,
    MUTATING_POLICY_BINDINGS,
    QUEUEABLE_KINDS,
    VALIDATING_POLICIES,
    VALIDATING_POLICY_BINDINGS,
    WORKLOADS,
    Resource,
)
from queueing.serving.finalizer_release import let_go_of
from queueing.translate.ownership import ADMISSION_MANAGER, handed_over

EPILOG = """\b
Examples:
  kubectl -n kueue-system scale deployment kueue-controller-manager --replicas=0
  queueing hand-over
  kubectl apply --server-side -f kueue.yaml
\b
Exit codes: 0 when all is handed over, 1 when something is left, 2 when a controller still leads.
"""
PREFIX = "queueing-"
_POLICIES = (
    MUTATING_POLICY_BINDINGS,
    VALIDATING_POLICY_BINDINGS,
    MUTATING_POLICIES,
    VALIDATING_POLICIES,
)
_ATTEMPTS = 5
"""Tries to change one object that others change, too."""
READ_S = 10.0


@click.command(epilog=EPILOG)
@of_a_cluster
@lease_option()
def command(kubeconfig: str | None, context: str | None, namespace: str) -> None:
    """Hand a cluster over to Kueue, once no controller of queueing runs.

    Deletes queueing's admission policies, removes its finalizer from QueueableKinds, and makes
    Kueue the owner of the fields that queueing wrote to the status of Workloads, so that Kueue can
    clear them. Jobs, admissions and queues do not change. The command can be repeated.
    """
    try:
        with reaching_it():
            policies, workloads = asyncio.run(_hand_over(kubeconfig, context, namespace))
    except KubeError as error:
        raise click.ClickException(f"not everything is handed over: {error}") from error
    click.echo(f"{policies} policies and bindings deleted, {workloads} Workloads handed over")


async def _hand_over(
    kubeconfig: str | None, context: str | None, namespace: str
) -> tuple[int, int]:
    cluster = await load_cluster(kubeconfig, context)
    async with Client(cluster, user_agent="queueing-hand-over") as client:
        found = await KubeLeaseStore(client, LEASE_NAME, namespace).read(READ_S)
        if found is not None and found.holder:
            raise UsageProblem(
                f"{found.holder} still holds the Lease {namespace}/{LEASE_NAME}: stop the"
                " controller first; if it is gone without having released it, delete the Lease"
            )
        policies = [target async for target in remove_policies(client)]
        await _free_kinds(client)
        workloads = await list_all(client, WORKLOADS.within(), dict[str, Any])
        given = [await _give(client, one) for one in workloads]
    return len(policies), sum(given)


async def _free_kinds(client: Client) -> None:
    """Let QueueableKinds be deleted, of which Kueue knows nothing."""
    with suppress(NotFoundError):
        await let_go_of(client, QUEUEABLE_KINDS)


async def remove_policies(client: Client) -> AsyncIterator[str]:
    """Delete what is ours, bindings first: without one a policy does nothing."""
    for resource in _POLICIES:
        for name in await _names(client, resource):
            await client.delete(resource.at(name))
            yield name


async def _names(client: Client, resource: Resource) -> Sequence[str]:
    try:
        found = await list_all(client, resource.within(), dict[str, Any])
    except NotFoundError:
        return ()  # a server from before there were such policies
    names = (str(one["metadata"]["name"]) for one in found)
    return [name for name in names if name.startswith(PREFIX)]


async def _give(client: Client, workload: dict[str, Any]) -> bool:
    """Rewrite who owns the fields of one Workload; False when there is nothing to give."""
    meta = workload["metadata"]
    target = WORKLOADS.at(meta["name"], meta["namespace"])
    for _ in range(_ATTEMPTS):
        fields = handed_over(meta.get("managedFields", ()))
        if fields is None:
            return False
        steps = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": meta["resourceVersion"]},
            {"op": "replace", "path": "/metadata/managedFields", "value": fields},
        ]
        try:
            await client.patch_json(target, steps)
        except (ConflictError, InvalidError):
            changed = await list_all(
                client,
                WORKLOADS.within(meta["namespace"]),
                dict[str, Any],
                field_selector=f"metadata.name={meta['name']}",
            )
            if not changed:
                return False
            meta = changed[0]["metadata"]
        except NotFoundError:
            return False
        else:
            return True
    raise ConflictError(f"{target.label}: changes all the time; {ADMISSION_MANAGER} waits for it")
