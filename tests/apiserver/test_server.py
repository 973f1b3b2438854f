import asyncio
import json
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest

GADGETS_PATH = "/apis/example.com/v1/namespaces/default/gadgets"


def gadget(name: str, **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "default"}
    return {"apiVersion": "example.com/v1", "kind": "Gadget", "metadata": meta, "spec": spec}


async def test_a_created_object_has_what_the_server_gives_it(world: Any) -> None:
    status, made = await world.call("POST", GADGETS_PATH, gadget("one"))
    assert status == 201
    assert made["spec"] == {"size": 3}
    assert made["metadata"]["generation"] == 1
    assert made["metadata"]["uid"]


async def test_a_write_from_an_old_version_is_refused(world: Any) -> None:
    _, first = await world.call("POST", GADGETS_PATH, gadget("one"))
    await world.call("PUT", f"{GADGETS_PATH}/one", {**first, "spec": {"size": 5}})
    status, refused = await world.call("PUT", f"{GADGETS_PATH}/one", {**first, "spec": {"size": 6}})
    assert (status, refused["reason"]) == (409, "Conflict")


async def test_a_watch_tells_what_happened_since(world: Any) -> None:
    _, made = await world.call("POST", GADGETS_PATH, gadget("one"))
    await world.call("DELETE", f"{GADGETS_PATH}/one")
    query = {"watch": "1", "resourceVersion": str(int(made["metadata"]["resourceVersion"]) - 1)}
    async with world.session.get(world.server.url + GADGETS_PATH, params=query) as answer:
        lines = [json.loads(await answer.content.readline()) for _ in range(2)]
    assert [line["type"] for line in lines] == ["ADDED", "DELETED"]


async def test_a_forgotten_version_ends_the_watch_with_gone(world: Any) -> None:
    _, made = await world.call("POST", GADGETS_PATH, gadget("one"))
    world.server.store.compact()
    query = {"watch": "1", "resourceVersion": made["metadata"]["resourceVersion"]}
    async with world.session.get(world.server.url + GADGETS_PATH, params=query) as answer:
        line = json.loads(await answer.content.readline())
    assert (line["type"], line["object"]["code"]) == ("ERROR", 410)


async def test_dropped_watches_end_cleanly(world: Any) -> None:
    query = {"watch": "1"}
    async with world.session.get(world.server.url + GADGETS_PATH, params=query) as answer:
        world.server.drop_watches()
        async with asyncio.timeout(10):
            assert await answer.content.read() == b""


async def test_there_must_be_watches_to_drop(world: Any) -> None:
    with pytest.raises(RuntimeError, match="no watch is open"):
        world.server.drop_watches()


async def test_state_survives_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "state.db"
    async with serve(data=file) as server:
        server.load([yaml.safe_load(DEFINITION)])
        made = server.api.writes.create(
            {
                "apiVersion": "example.com/v1",
                "kind": "Box",
                "metadata": {"name": "b", "namespace": "default"},
            }
        )
    async with serve(data=file) as server, aiohttp.ClientSession() as session:
        url = f"{server.url}/apis/example.com/v1/namespaces/default/boxes/b"
        async with session.get(url) as answer:
            assert (await answer.json())["metadata"]["uid"] == made["metadata"]["uid"]
        assert server.store.version > int(made["metadata"]["resourceVersion"])


async def test_faults_stand_in_for_answers() -> None:
    async def busy(call: HttpRequest) -> Fault | None:
        if call.method == "POST":
            return Fault(status=429, reason="TooManyRequests", retry_after=1)
        return None

    async with serve(intercept=busy) as server, aiohttp.ClientSession() as session:
        body = {"metadata": {"name": "x"}}
        async with session.post(f"{server.url}/api/v1/namespaces", json=body) as answer:
            assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
        async with session.get(f"{server.url}/api/v1/namespaces/x") as answer:
            assert answer.status == 404


DEFINITION = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boxes.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Box, plural: boxes}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
"""
