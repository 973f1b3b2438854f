import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from queueing.apiserver.server import EmbeddedServer, serve

BASE = "/apis/example.com/{}/namespaces/default/boxes"


def converted(obj: dict[str, Any], version: str) -> dict[str, Any]:
    """Rename the field that the versions spell differently."""
    names = {"example.com/v1": ("width", "breadth"), "example.com/v1beta1": ("breadth", "width")}
    new, old = names[version]
    spec = {new if name == old else name: value for name, value in obj.get("spec", {}).items()}
    return {**obj, "apiVersion": version, "spec": spec}


class Webhook:
    def __init__(self) -> None:
        self.broken = False
        self.url = ""

    async def handle(self, request: web.BaseRequest) -> web.Response:
        review = await request.json()
        asked = review["request"]
        made = [converted(obj, asked["desiredAPIVersion"]) for obj in asked["objects"]]
        result = {"status": "Failed", "message": "no"} if self.broken else {"status": "Success"}
        response = {"uid": asked["uid"], "result": result, "convertedObjects": made}
        return web.json_response({**review, "response": response})


def definition(url: str) -> dict[str, Any]:
    def version(name: str, field: str) -> dict[str, Any]:
        spec = {"type": "object", "properties": {field: {"type": "integer"}}}
        schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
        return {"name": name, "served": True, "storage": name == "v1", "schema": schema}

    client = {"conversionReviewVersions": ["v1"], "clientConfig": {"url": url}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"kind": "Box", "plural": "boxes"},
            "versions": [version("v1", "width"), version("v1beta1", "breadth")],
            "conversion": {"strategy": "Webhook", "webhook": client},
        },
    }


@pytest.fixture
async def webhook() -> AsyncIterator[Webhook]:
    made = Webhook()
    runner = web.ServerRunner(web.Server(made.handle))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    address: Any = runner.addresses[0]
    made.url = f"http://127.0.0.1:{address[1]}/convert"
    yield made
    await runner.cleanup()


@pytest.fixture
async def boxes(webhook: Webhook) -> AsyncIterator[tuple[EmbeddedServer, aiohttp.ClientSession]]:
    async with serve() as server, aiohttp.ClientSession() as session:
        server.load([definition(webhook.url)])
        body = {"apiVersion": "example.com/v1beta1", "kind": "Box", "metadata": {"name": "b"}}
        url = server.url + BASE.format("v1beta1")
        async with session.post(url, json={**body, "spec": {"breadth": 3}}) as answer:
            assert answer.status == 201
            assert (await answer.json())["spec"] == {"breadth": 3}
        yield server, session


async def test_each_version_is_read_by_its_own_names(boxes: Any) -> None:
    server, session = boxes
    for version, want in (("v1", {"width": 3}), ("v1beta1", {"breadth": 3})):
        async with session.get(f"{server.url}{BASE.format(version)}") as answer:
            found = await answer.json()
        assert [item["spec"] for item in found["items"]] == [want]
        assert found["apiVersion"] == f"example.com/{version}"


async def test_a_patch_speaks_the_version_of_its_path(boxes: Any) -> None:
    server, session = boxes
    url, kind = f"{server.url}{BASE.format('v1beta1')}/b", "application/merge-patch+json"
    patch = json.dumps({"spec": {"breadth": 5}})
    async with session.patch(url, data=patch, headers={"Content-Type": kind}) as answer:
        assert (await answer.json())["spec"] == {"breadth": 5}
    async with session.get(f"{server.url}{BASE.format('v1')}/b") as answer:
        assert (await answer.json())["spec"] == {"width": 5}


async def test_a_watch_speaks_the_version_of_its_path(boxes: Any) -> None:
    server, session = boxes
    async with session.get(f"{server.url}{BASE.format('v1beta1')}?watch=1") as answer:
        async with asyncio.timeout(10):
            event = json.loads(await answer.content.readline())
    assert (event["type"], event["object"]["spec"]) == ("ADDED", {"breadth": 3})


async def test_a_failed_conversion_is_an_internal_error(boxes: Any, webhook: Webhook) -> None:
    server, session = boxes
    webhook.broken = True
    async with session.get(f"{server.url}{BASE.format('v1beta1')}/b") as answer:
        assert answer.status == 500
        assert "conversion webhook" in (await answer.json())["message"]
    async with session.get(f"{server.url}{BASE.format('v1')}/b") as answer:
        assert answer.status == 200
