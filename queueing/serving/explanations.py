"""`visibility.queueing.dev`: why a workload waits, and what goes on in a queue.

`…/namespaces/NAMESPACE/workloads/NAME/explanation`, the same of `localqueues`, and
`…/clusterqueues/NAME/explanation`. Documents of discovery; `explanation_routes` does the HTTP.
"""

from typing import Any

GROUP = "visibility.queueing.dev"
VERSION = "v1alpha1"
SUBRESOURCE = "explanation"
PARENTS = (
    ("clusterqueues", "ClusterQueue", False),
    ("localqueues", "LocalQueue", True),
    ("workloads", "Workload", True),
)


def group_document() -> dict[str, Any]:
    """Describe our group for discovery."""
    version = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
    return {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": GROUP,
        "versions": [version],
        "preferredVersion": version,
    }


def resource_list() -> dict[str, Any]:
    """Describe its resources for discovery."""
    resources: list[dict[str, Any]] = []
    for plural, kind, namespaced in PARENTS:
        parent = {
            "name": plural,
            "singularName": kind.lower(),
            "namespaced": namespaced,
            "kind": kind,
            "verbs": ["get"],
        }
        answer = "WorkloadExplanation" if plural == "workloads" else "QueueExplanation"
        asked = {
            "name": f"{plural}/{SUBRESOURCE}",
            "singularName": "",
            "namespaced": namespaced,
            "kind": answer,
            "verbs": ["get"],
        }
        resources += [parent, asked]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/{VERSION}",
        "resources": resources,
    }
