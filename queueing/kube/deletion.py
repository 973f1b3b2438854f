"""DeleteOptions: what is to be deleted, and nothing that took its name since."""

from typing import Any

import msgspec


def this_life(
    uid: str, *, version: str = "", propagation: str = "", grace_s: int | None = None
) -> bytes:
    """Return DeleteOptions that only the object of this uid takes.

    `version` demands that it is as it was seen then; `propagation` says what becomes of what it
    owns, and `grace_s` how many seconds a pod has. Unset, the server's rules for its kind hold.
    """
    seen = {"uid": uid, "resourceVersion": version} if version else {"uid": uid}
    options: dict[str, Any] = {"preconditions": seen}
    if propagation:
        options["propagationPolicy"] = propagation
    if grace_s is not None:
        options["gracePeriodSeconds"] = grace_s
    return msgspec.json.encode(options)
