"""The name of a Job's Workload, and the owner reference that says whose it is."""

from hashlib import sha1
from typing import Any

from queueing.translate.wire.meta import Meta

NAME_MAX = 253
_DIGEST_LENGTH = 5


def workload_name(kind: str, group: str, owner: Meta) -> str:
    """Return `<kind>-<name>-<5 hex digits>`, cut so that the digits fit; stable per job life."""
    digest = sha1(
        f"{kind}\n{group}\n{owner.name}\n{owner.uid}".encode(), usedforsecurity=False
    ).hexdigest()[:_DIGEST_LENGTH]
    prefix = f"{kind.lower()}-{owner.name}"[: NAME_MAX - _DIGEST_LENGTH - 1]
    return f"{prefix}-{digest}"


def owner_reference(api_version: str, kind: str, owner: Meta) -> dict[str, Any]:
    """Return the controller reference that ties a Workload to its job."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": owner.name,
        "uid": owner.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
