"""What the controller may do with objects of described kinds, as rules of a ClusterRole."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

VERBS = ("delete", "get", "list", "patch", "watch")
"""Deletion is for objects whose Workload was deactivated, when its retention is over."""
STATUS_VERBS = ("patch",)
FINALIZER_VERBS = ("update",)
"""A Workload blocks the deletion of its owner, which whoever may change finalizers may ask for."""

Rule = dict[str, Any]


def rules(specs: Iterable[QueueableKindSpec]) -> list[Rule]:
    """Return the rules for several kinds, by group and verbs."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for one in specs:
        group, plural = one.resource.group, one.resource.plural
        found[group, VERBS].append(plural)
        found[group, FINALIZER_VERBS].append(f"{plural}/finalizers")
        if one.suspend.reset:
            found[group, STATUS_VERBS].append(f"{plural}/status")
    return [
        {"apiGroups": [group], "resources": sorted(resources), "verbs": list(verbs)}
        for (group, verbs), resources in sorted(found.items())
    ]
