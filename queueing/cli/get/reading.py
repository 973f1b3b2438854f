"""All objects of a kind, sorted by name, as `get` and `top` show them."""

from typing import Any

from queueing.kube.client import Client
from queueing.kube.errors import NotFoundError
from queueing.kube.listing import list_all
from queueing.kube.resources import Resource


async def everything(
    client: Client, resource: Resource, namespace: str = ""
) -> list[dict[str, Any]]:
    """Return the objects of a kind, in one namespace or all; a kind that is not there has none."""
    try:
        found = await list_all(client, resource.within(namespace), dict[str, Any])
    except NotFoundError:
        return []
    for one in found:
        one["metadata"].pop("managedFields", None)
    return sorted(found, key=_place)


def _place(one: dict[str, Any]) -> tuple[str, str]:
    return one["metadata"].get("namespace", ""), one["metadata"]["name"]
