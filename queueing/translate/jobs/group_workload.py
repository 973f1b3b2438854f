"""Composes the Workload of a group of pods whose owner makes them one by one.

It exists before the pods do, and is named after their owner, which does not control it: the pods
become its owners as they come.
"""

from dataclasses import dataclass
from typing import Any, Final

import msgspec

from queueing.translate import labels
from queueing.translate.jobs.composition import Origin, Priority, composed

NUMBER: Final = "kueue.x-k8s.io/component-workload-index"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupOfPods:
    """A group of pods of one owner."""

    origin: Origin
    number: int | None = None
    """Its number among the groups of the owner, from 0 on; None for the only one."""
    named_after: str
    """What its Workload is named after, with the owner's uid."""

    @property
    def name(self) -> str:
        """Name of its Workload, which is that of the group as well."""
        meta = msgspec.structs.replace(self.origin.metadata, name=self.named_after)
        return Origin(kind=self.origin.kind, metadata=meta).name


def compose_group(group: GroupOfPods, pod_sets: list[dict[str, Any]], priority: Priority) -> bytes:
    """Return the Workload of a group to create."""
    found = composed(group.origin, pod_sets, priority)
    metadata = found["metadata"]
    (owner,) = metadata["ownerReferences"]
    metadata["ownerReferences"] = [
        {key: owner[key] for key in ("apiVersion", "kind", "name", "uid")}
    ]
    metadata["name"] = group.name
    metadata["annotations"][labels.IS_GROUP_WORKLOAD] = "true"
    if group.number is not None:
        metadata["annotations"][NUMBER] = str(group.number)
    return msgspec.json.encode(found)
