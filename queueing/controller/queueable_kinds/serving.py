"""Asks the API server whether it serves a kind, with which fields, and what the controller may do.

Every account may ask all of this.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from queueing.kinds.compiler import Kind
from queueing.kinds.roles import needed
from queueing.kube.client import Client, Request
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import SELF_SUBJECT_ACCESS_REVIEWS


async def is_served(client: Client, kind: Kind) -> bool:
    """Say whether the API server serves a kind in namespaces. Raises KubeError."""
    named = kind.spec.resource
    try:
        found = msgspec.json.decode(await client.send(Request("GET", _root(kind))))
    except NotFoundError:
        return False
    return any(
        one.get("name") == named.plural and one.get("kind") == named.kind and one.get("namespaced")
        for one in found.get("resources", ())
    )


async def schemas(client: Client, kind: Kind) -> Mapping[str, Any] | None:
    """Return the schemas of a kind's group and version; None from a server that has none.

    Raises KubeError.
    """
    try:
        body = await client.send(Request("GET", f"/openapi/v3{_root(kind)}"))
    except NotFoundError:
        return None
    found: Mapping[str, Any] = msgspec.json.decode(body)
    return found


async def missing_permissions(client: Client, kind: Kind) -> Mapping[str, Sequence[str]]:
    """Return the verbs that the controller needs and has not, by resource. Raises KubeError."""
    named = kind.spec.resource
    missing: dict[str, list[str]] = {}
    for subresource, verbs in needed(kind.spec).items():
        asked = {"group": named.group, "resource": named.plural, "subresource": subresource}
        for verb in verbs:
            review = {"spec": {"resourceAttributes": {**asked, "verb": verb}}}
            reply = await client.create(SELF_SUBJECT_ACCESS_REVIEWS.within(), review)
            if not msgspec.json.decode(reply)["status"].get("allowed"):
                what = "/".join(filter(None, (named.plural, subresource)))
                missing.setdefault(".".join(filter(None, (what, named.group))), []).append(verb)
    return missing


def _root(kind: Kind) -> str:
    named = kind.spec.resource
    return f"/apis/{named.group}/{named.version}" if named.group else f"/api/{named.version}"
