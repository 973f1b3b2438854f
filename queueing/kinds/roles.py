"""What the controller may do with objects of described kinds, as rules of a ClusterRole.

Called by `cli.roles` for the built-in kinds; by `controller.queueable_kinds` and by `queueing kind
check` for those that admins describe.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

VERBS = ("delete", "get", "list", "patch", "watch")
"""Deletion is for objects whose Workload was deactivated, when its retention is over."""
READ_VERBS = ("get", "list", "watch")
"""For kinds whose pods are queued: their objects are never changed."""
STATUS_VERBS = ("patch",)
"""For what a restoration resets, and for the condition of a pod that says why it is deleted."""
FINALIZER_VERBS = ("update",)
"""A Workload blocks the deletion of its owner, which whoever may change finalizers may ask for."""

Rule = dict[str, Any]


def rules(specs: Iterable[QueueableKindSpec]) -> list[Rule]:
    """Return the rules for several kinds, by group and verbs."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in specs:
        group, plural = one.resource.group, one.resource.plural
        if one.suspend.through_pods is not None:
            found[group, READ_VERBS].append(plural)
            continue
        found[group, VERBS].append(plural)
        found[group, FINALIZER_VERBS].append(f"{plural}/finalizers")
        if one.suspend.reset or one.suspend.gate:
            found[group, STATUS_VERBS].append(f"{plural}/status")
    return [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(verbs)}
        for (group, verbs), resources in sorted(found.items())
    ]


AGGREGATED = "rbac.queueing.dev/kinds"
"""Label of the ClusterRoles whose rules the controller's account gets as well."""
_NEEDED = ("get", "list", "patch", "watch")


def needed(spec: QueueableKindSpec) -> dict[str, tuple[str, ...]]:
    """Return the verbs, by subresource, without which no object of a kind can be queued."""
    return {"": _NEEDED} | ({"status": STATUS_VERBS} if spec.suspend.reset else {})


def cluster_role(spec: QueueableKindSpec) -> dict[str, Any]:
    """Return the ClusterRole that grants all that is done with objects of a kind."""
    named = spec.resource
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": "-".join(filter(None, ("queueing-kind", named.plural, named.group))),
            "labels": {AGGREGATED: "true"},
        },
        "rules": rules([spec]),
    }
