"""Changes lists of conditions, with Kubernetes' rules for `lastTransitionTime`; writes patches."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from queueing.core.names import Uid
from queueing.translate.jobs.patches import MergePatch, Patch
from queueing.translate.wire.meta import Condition, Meta
from queueing.translate.wire.workloads import Workload

_MESSAGE_MAX = 32_768
"""The longest message of a condition that the API server accepts."""
_NEVER = datetime.fromtimestamp(0, tz=UTC)


class Conditions:
    """The conditions of one object, to be changed; their order is kept."""

    def __init__(self, found: Iterable[Condition], *, now: float, generation: int = 0) -> None:
        self._now, self._generation = datetime.fromtimestamp(int(now), tz=UTC), generation
        self._entries: dict[str, dict[str, Any]] = {one.type: _entry(one) for one in found}

    def is_true(self, kind: str) -> bool:
        """Say whether a condition is True, after the changes so far."""
        return self._entries.get(kind, {}).get("status") == "True"

    def reason(self, kind: str) -> str:
        """Return the reason of a condition; empty when there is none."""
        return str(self._entries.get(kind, {}).get("reason", ""))

    def message(self, kind: str) -> str:
        """Return the message of a condition; empty when there is none."""
        return str(self._entries.get(kind, {}).get("message", ""))

    def set(self, kind: str, *, true: bool, reason: str, message: str) -> None:
        """Set a condition; its time changes only when its status does."""
        status = "True" if true else "False"
        before = self._entries.get(kind)
        same = before is not None and before["status"] == status
        self._entries[kind] = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message[:_MESSAGE_MAX],
            "observedGeneration": self._generation,
            "lastTransitionTime": before["lastTransitionTime"]
            if before is not None and same
            else self._now,
        }

    def drop(self, kind: str) -> None:
        """Remove a condition."""
        self._entries.pop(kind, None)

    def wire(self) -> list[dict[str, Any]]:
        """Return the whole list, because a merge patch replaces lists."""
        return list(self._entries.values())


def _entry(found: Condition) -> dict[str, Any]:
    return {
        "type": found.type,
        "status": found.status,
        "reason": found.reason,
        "message": found.message,
        "observedGeneration": found.observed_generation,
        "lastTransitionTime": found.last_transition_time or _NEVER,
    }


def conditions_of(workload: Workload, now: float) -> Conditions:
    """Return the conditions of a Workload, to be changed."""
    generation = workload.metadata.generation
    return Conditions(workload.status.conditions, now=now, generation=generation)


def status_patch(workload: Workload, fields: Mapping[str, Any], conditions: Conditions) -> bytes:
    """Return the patch of a status: some fields, and the conditions as changed."""
    return patch(workload.metadata, {"status": {**fields, "conditions": conditions.wire()}})


def forgive(conditions: Conditions) -> None:
    """Set `Evicted` and `Preempted` to False of a workload that has quota again."""
    for earlier in ("Evicted", "Preempted"):
        if conditions.is_true(earlier):
            message = f"Previously: {conditions.message(earlier)}"
            conditions.set(earlier, true=False, reason="QuotaReserved", message=message)


def unadmit(conditions: Conditions, reason: str, message: str) -> None:
    """Set `Admitted` to False."""
    conditions.set("Admitted", true=False, reason=reason, message=message)


def versioned(of: Meta, change: Patch) -> bytes:
    """Encode a change of an object, so that it fails if the object has changed."""
    if isinstance(change, MergePatch):
        return patch(of, change.body)
    # The server compares a version that is written with its own.
    guard = {"op": "add", "path": "/metadata/resourceVersion", "value": of.resource_version}
    return msgspec.json.encode([guard, *change.operations])


def patch(of: Meta, body: Mapping[str, Any]) -> bytes:
    """Encode a merge patch with the resourceVersion of the object, so that it fails if changed."""
    metadata = {"uid": Uid(of.uid), "resourceVersion": of.resource_version}
    given = body.get("metadata", {})
    return msgspec.json.encode({**body, "metadata": {**metadata, **given}})
