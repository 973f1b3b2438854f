"""Entries of `status.admissionChecks`: of checks that open, begin anew, or stay as they are."""

from typing import Any

import msgspec

from queueing.translate.times import timestamp
from queueing.translate.wire.workloads import CheckState


def pending(name: str, now: float, *, retries: int = 0, message: str = "") -> dict[str, Any]:
    """Return the entry of a check that nobody has answered yet."""
    counted = {"retryCount": retries} if retries else {}
    return {
        "name": name,
        "state": "Pending",
        "lastTransitionTime": timestamp(now),
        "message": message,
        **counted,
    }


def reset(found: CheckState, now: float) -> dict[str, Any]:
    """Return a check's entry, reset to Pending; one that is pending already stays as it is."""
    if found.state == "Pending":
        return kept(found)
    retries = found.retry_count + (found.state == "Retry")
    message = f"Reset to Pending after eviction. Previously: {found.state}"
    return pending(found.name, now, retries=retries, message=message)


def kept(found: CheckState) -> dict[str, Any]:
    """Return a check's entry unchanged, with the fields that the schema requires even if empty."""
    needed = {"state": found.state, "message": found.message}
    return {**msgspec.to_builtins(found), **needed}
