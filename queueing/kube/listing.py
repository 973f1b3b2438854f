"""One-off reads of a whole collection; whoever wants to stay informed uses a Reflector."""

from dataclasses import replace
from typing import TypeVar

import msgspec

from queueing.kube.client import Client, ListQuery
from queueing.kube.errors import GoneError, LostError
from queueing.kube.resources import Target

T = TypeVar("T")

_ATTEMPTS = 3


class PageMeta(msgspec.Struct, rename="camel"):
    """The metadata of a list: as of when it is, and the token of the page that follows."""

    resource_version: str = ""
    continue_token: str = msgspec.field(default="", name="continue")


class ListPage(msgspec.Struct):
    """One page of a list, its objects not decoded yet."""

    metadata: PageMeta
    items: list[msgspec.Raw] | None = None


_PAGES = msgspec.json.Decoder(ListPage)


def decode_page(body: bytes) -> ListPage:
    """Decode the frame of a list; raises msgspec.DecodeError for anything else."""
    return _PAGES.decode(body)


async def list_all(
    client: Client,
    target: Target,
    kind: type[T],
    *,
    label_selector: str = "",
    field_selector: str = "",
) -> list[T]:
    """Read every object of a collection from the quorum, in the server's order.

    Starts again if a page token expires on the way. Raises a KubeError, also for an answer that is
    no list.
    """
    query = ListQuery(label_selector=label_selector, field_selector=field_selector)
    for _ in range(_ATTEMPTS - 1):
        try:
            return await _list_once(client, target, kind, query)
        except GoneError:
            continue
    # Slower than the server forgets: everything at once.
    return await _list_once(client, target, kind, replace(query, limit=0))


async def _list_once(client: Client, target: Target, kind: type[T], query: ListQuery) -> list[T]:
    decoder = msgspec.json.Decoder(kind)
    found: list[T] = []
    while True:
        try:
            page = decode_page(await client.list_page(target, query))
            found += [decoder.decode(raw) for raw in page.items or ()]
        except msgspec.DecodeError as error:
            raise LostError(f"list {target.path}: cannot be read: {error}") from error
        if not page.metadata.continue_token:
            return found
        query = replace(query, continue_token=page.metadata.continue_token)
