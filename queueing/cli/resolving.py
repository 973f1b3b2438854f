"""Finds in a cluster what was named on the command line."""

from typing import Any

import msgspec

from queueing.cli.output import UsageProblem
from queueing.cli.subjects import CLUSTER_QUEUE, LOCAL_QUEUE, Named, is_meant, only
from queueing.kube.client import Client
from queueing.kube.errors import NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.request import Request
from queueing.kube.resources import CLUSTER_QUEUES, LOCAL_QUEUES, WORKLOADS, Resource, Target

QUEUES = {CLUSTER_QUEUE: CLUSTER_QUEUES, LOCAL_QUEUE: LOCAL_QUEUES}


def queue_target(asked: Named, namespace: str) -> Target:
    """Return the address of a queue that was named."""
    resource = QUEUES[asked.kind]
    return resource.at(asked.name, namespace if resource.namespaced else "")


async def find_workload(client: Client, asked: Named, namespace: str) -> dict[str, Any]:
    """Return the Workload that is named, by itself or by a job that owns it.

    Raises UsageProblem for none, and for several.
    """
    workloads = await list_all(client, WORKLOADS.within(namespace), dict[str, Any])
    found = {one["metadata"]["name"]: one for one in workloads if is_meant(asked, one)}
    return found[only(found, asked, f"in namespace {namespace}")]


async def resource_of(client: Client, api_version: str, kind: str) -> Resource:
    """Ask the server how objects of a kind are addressed.

    Raises UsageProblem for a kind that it does not have.
    """
    root = "apis" if "/" in api_version else "api"
    try:
        body = await client.send(Request("GET", f"/{root}/{api_version}"))
    except NotFoundError as error:
        raise UsageProblem(f"the cluster has no {api_version} {kind}") from error
    group, _, version = api_version.rpartition("/")
    for one in msgspec.json.decode(body)["resources"]:
        if one["kind"] == kind and "/" not in one["name"]:
            return Resource(group, version, one["name"], kind, bool(one["namespaced"]))
    raise UsageProblem(f"the cluster has no {api_version} {kind}")
