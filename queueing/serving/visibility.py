"""`visibility.kueue.x-k8s.io`: who waits in a queue, and at which place, as the controller says.

Pure: a path's parts and the query in, a document out; `routes` does the HTTP.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from queueing.serving.frames import PendingRow

GROUP = "visibility.kueue.x-k8s.io"
VERSIONS = ("v1beta2", "v1beta1")
LIMIT_DEFAULT = 1000
LIMIT_MAX = 100_000


class QueryError(ValueError):
    """A query that asks for something that cannot be."""


@dataclass(frozen=True, slots=True)
class ListRange:
    """The part of the list that is asked for."""

    offset: int = 0
    limit: int = LIMIT_DEFAULT


def read_window(query: Mapping[str, str]) -> ListRange:
    """Read `offset` and `limit`; raises QueryError naming the parameter and its value.

    A limit of 0 is one that was not given, as typed clients spell it.
    """
    offset = _number(query, "offset", 0)
    limit = _number(query, "limit", 0) or LIMIT_DEFAULT
    return ListRange(offset=offset, limit=min(limit, LIMIT_MAX))


def _number(query: Mapping[str, str], name: str, default: int) -> int:
    text = query.get(name, "")
    if not text:
        return default
    if not text.isdecimal():
        raise QueryError(f"{name}={text} is not a whole number that is zero or more")
    return int(text)


def summary(rows: Iterable[PendingRow], version: str) -> dict[str, Any]:
    """Spell a PendingWorkloadsSummary of some rows."""
    return {
        "kind": "PendingWorkloadsSummary",
        "apiVersion": f"{GROUP}/{version}",
        "metadata": {},
        "items": [_item(row) for row in rows],
    }


def _item(row: PendingRow) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": row.name, "namespace": row.namespace}
    if row.created:
        metadata["creationTimestamp"] = row.created
    if row.owners:
        metadata["ownerReferences"] = row.owners
    return {
        "metadata": metadata,
        "priority": row.priority,
        "localQueueName": row.local_queue,
        "positionInClusterQueue": row.position_in_cluster_queue,
        "positionInLocalQueue": row.position_in_local_queue,
    }


def group_document() -> dict[str, Any]:
    """Describe our group for discovery."""
    versions = [{"groupVersion": f"{GROUP}/{one}", "version": one} for one in VERSIONS]
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": versions,
        "preferredVersion": versions[0],
    }


def resource_list(version: str) -> dict[str, Any]:
    """Describe the resources of one version for discovery."""
    summary_kind = {
        "group": GROUP,
        "version": version,
        "kind": "PendingWorkloadsSummary",
        "singularName": "",
        "verbs": ["get"],
    }
    parents = (
        ("clusterqueues", "ClusterQueue", False),
        ("localqueues", "LocalQueue", True),
    )
    resources: list[dict[str, Any]] = []
    for plural, kind, namespaced in parents:
        resources.append(
            {
                "name": plural,
                "singularName": kind.lower(),
                "namespaced": namespaced,
                "kind": kind,
                "verbs": ["get"],
            }
        )
        name = f"{plural}/pendingworkloads"
        resources.append({**summary_kind, "name": name, "namespaced": namespaced})
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/{version}",
        "resources": resources,
    }
