"""The cluster's objects as one YAML text, for a plan that starts from what is there."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from queueing.cli.output import UsageProblem, no_answer
from queueing.devices.wire.names import WORKLOAD_UID
from queueing.kube.client import Client
from queueing.kube.config import ConfigurationError, load_cluster
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError, UnreachableError
from queueing.kube.listing import list_all
from queueing.kube.resources import RESOURCES, Resource
from queueing.translate import labels

KINDS = (
    "ResourceFlavor",
    "Topology",
    "AdmissionCheck",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "WorkloadPriorityClass",
    "PriorityClass",
    "Workload",
    "Namespace",
    "LimitRange",
    "RuntimeClass",
    "CreditPolicy",
    "CreditGrant",
    "CreditBudget",
    "CreditAccount",
    "CheckpointPolicy",
    "Checkpoint",
    "DeviceFlavor",
    "DeviceClass",
    "ResourceSlice",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "Node",
    "Pod",
    "Job",
)
SELECTED = {"Job": labels.QUEUE_NAME, "Pod": WORKLOAD_UID}
"""Kinds of which only those with a label are asked for."""
ON_NODES = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
"""The pods that take room of a node, which matter as soon as there is a topology."""


class _Meta(msgspec.Struct):
    name: str


class Named(msgspec.Struct):
    """What is read of an object whose name alone matters."""

    metadata: _Meta


def read_cluster(
    kubeconfig: str | None,
    context: str | None,
    kinds: Sequence[str] = KINDS,
    *,
    beside: Sequence[str] = (),
    every_job: bool = False,
) -> str:
    """Return a List of every object of some kinds; by default all that a plan depends on.

    Kinds in `beside` are left out when the caller may not read them; of Jobs, those without a queue
    are told only with `every_job`. Raises UsageProblem when the cluster cannot be asked.
    """
    asked = dict.fromkeys(kinds, False) | dict.fromkeys(beside, True)
    selected = {kind: label for kind, label in SELECTED.items() if kind != "Job" or not every_job}
    try:
        return json.dumps(asyncio.run(_everything(kubeconfig, context, asked, selected)))
    except UnreachableError as error:
        raise no_answer(error) from error
    except (ConfigurationError, KubeError, OSError) as error:
        raise UsageProblem(f"the cluster cannot be read: {error}") from error


async def _everything(
    kubeconfig: str | None,
    context: str | None,
    kinds: Mapping[str, bool],
    selected: Mapping[str, str],
) -> dict[str, Any]:
    """List kinds; of those that are only `beside` the others, what may be read."""
    cluster = await load_cluster(kubeconfig, context)
    items: list[dict[str, Any]] = []
    async with Client(cluster, user_agent="queueing-plan") as client:
        for kind, is_beside in kinds.items():
            try:
                items += await _all_of(client, RESOURCES[kind], selected.get(kind, ""))
            except ForbiddenError:
                if not is_beside:
                    raise
        if "Pod" in kinds and any(one["kind"] == "Topology" for one in items):
            known = {one["metadata"]["uid"] for one in items if one["kind"] == "Pod"}
            bound = await _all_of(client, RESOURCES["Pod"], fields=ON_NODES)
            items += [one for one in bound if one["metadata"]["uid"] not in known]
    return {"apiVersion": "v1", "kind": "List", "items": items}


async def _all_of(
    client: Client, resource: Resource, label: str = "", fields: str = ""
) -> list[dict[str, Any]]:
    """List one kind; a kind that the cluster does not have has no objects."""
    try:
        found = await list_all(
            client, resource.within(), dict[str, Any], label_selector=label, field_selector=fields
        )
    except NotFoundError:
        return []
    for item in found:
        item["metadata"].pop("managedFields", None)
    return [{"apiVersion": resource.api_version, "kind": resource.kind} | item for item in found]


def names_of(
    kind: str, namespace: str | None, where: tuple[str | None, str | None], patience_s: float
) -> list[str]:
    """Return the names of the objects of a kind, for completion; none if they cannot be read.

    Of a kind with namespaces those in one, by default that of the context.
    """
    try:
        return asyncio.run(_names(RESOURCES[kind], namespace, where, patience_s))
    except (ConfigurationError, KubeError, OSError, TimeoutError):
        return []


async def _names(
    resource: Resource,
    namespace: str | None,
    where: tuple[str | None, str | None],
    patience_s: float,
) -> list[str]:
    async with asyncio.timeout(patience_s):
        cluster = await load_cluster(*where)
        home = (namespace or cluster.namespace) if resource.namespaced else ""
        async with Client(cluster, user_agent="queueing-completion") as client:
            found = await list_all(client, resource.within(home), Named)
    return sorted(one.metadata.name for one in found)
