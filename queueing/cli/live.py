"""The cluster's objects as one YAML text, for a plan that starts from what is there."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from queueing.cli.output import UsageProblem, no_answer
from queueing.kube.client import Client
from queueing.kube.config import ConfigurationError, load_cluster
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError, UnreachableError
from queueing.kube.listing import list_all
from queueing.kube.resources import RESOURCES, Resource
from queueing.translate import labels
from queueing.translate.devices.names import WORKLOAD_UID

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


def read_cluster(
    kubeconfig: str | None,
    context: str | None,
    kinds: Sequence[str] = KINDS,
    *,
    beside: Sequence[str] = (),
) -> str:
    """Return a List of every object of some kinds; by default all that a plan depends on.

    Kinds in `beside` are left out when the caller may not read them. Raises UsageProblem when the
    cluster cannot be asked.
    """
    asked = dict.fromkeys(kinds, False) | dict.fromkeys(beside, True)
    try:
        return json.dumps(asyncio.run(_everything(kubeconfig, context, asked)))
    except UnreachableError as error:
        raise no_answer(error) from error
    except (ConfigurationError, KubeError, OSError) as error:
        raise UsageProblem(f"the cluster cannot be read: {error}") from error


async def _everything(
    kubeconfig: str | None, context: str | None, kinds: Mapping[str, bool]
) -> dict[str, Any]:
    """List kinds; of those that are only `beside` the others, what may be read."""
    cluster = await load_cluster(kubeconfig, context)
    items: list[dict[str, Any]] = []
    async with Client(cluster, user_agent="queueing-plan") as client:
        for kind, is_beside in kinds.items():
            try:
                items += await _all_of(client, RESOURCES[kind])
            except ForbiddenError:
                if not is_beside:
                    raise
    return {"apiVersion": "v1", "kind": "List", "items": _without_other_jobs(items)}


def _without_other_jobs(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out Jobs without a Workload: what the controller made nothing of, a plan must not.

    Members of a gang stay: they may wait for a Job that is among the files.
    """
    owned = {
        owner["uid"]
        for one in items
        if one["kind"] == "Workload"
        for owner in one["metadata"].get("ownerReferences", ())
    }
    return [
        one
        for one in items
        if one["kind"] != "Job"
        or one["metadata"]["uid"] in owned
        or labels.GANG in one["metadata"].get("labels", {})
    ]


async def _all_of(client: Client, resource: Resource) -> list[dict[str, Any]]:
    """List one kind; a kind that the cluster does not have has no objects."""
    try:
        label = SELECTED.get(resource.kind, "")
        found = await list_all(client, resource.within(), dict[str, Any], label_selector=label)
    except NotFoundError:
        return []
    for item in found:
        item["metadata"].pop("managedFields", None)
    return [{"apiVersion": resource.api_version, "kind": resource.kind} | item for item in found]
