from typing import Any

import pytest

from queueing.kube.client import Client
from queueing.kube.errors import LostError
from queueing.kube.listing import list_all
from queueing.kube.objects import Identified
from queueing.kube.resources import JOBS

pytestmark = pytest.mark.usefixtures("nothing_blocks")


def page(*names: str, more: str = "") -> dict[str, Any]:
    items = [{"metadata": {"name": name, "resourceVersion": "1"}} for name in names]
    return {"metadata": {"resourceVersion": "5", "continue": more}, "items": items}


async def names_of(client: Client) -> list[str]:
    found = await list_all(client, JOBS.within("ns"), Identified, label_selector="a=b")
    return [each.metadata.name for each in found]


async def test_all_pages_come_in_order(server: Any, client: Client) -> None:
    server.script = [server.reply(200, page("a", "b", more="t")), server.reply(200, page("c"))]
    assert await names_of(client) == ["a", "b", "c"]
    assert server.seen[1].query == {"labelSelector": "a=b", "limit": "500", "continue": "t"}


async def test_an_empty_collection_may_have_no_items_at_all(server: Any, client: Client) -> None:
    server.script = [server.reply(200, {"metadata": {}, "items": None})]
    assert await names_of(client) == []


async def test_a_token_that_expires_means_from_the_start(server: Any, client: Client) -> None:
    cut = [server.reply(200, page("a", more="t")), server.refuse(410, "Expired")]
    server.script = [*cut, *cut, server.reply(200, page("a", "b"))]
    assert await names_of(client) == ["a", "b"]
    assert "limit" not in server.seen[4].query


async def test_what_is_no_list_is_an_error(server: Any, client: Client) -> None:
    server.script = [server.reply(200, b"<html>")]
    with pytest.raises(LostError, match="cannot be read"):
        await names_of(client)
