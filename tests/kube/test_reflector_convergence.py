"""Whatever the server does to the connection, the follower ends up with what is stored."""

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.objects import Identified
from queueing.kube.reflector import (
    Added,
    Deleted,
    Modified,
    Reflector,
    ReflectorSettings,
    Synced,
    WatchEvent,
)
from queueing.kube.resources import JOBS

Identity = tuple[str, int]
NAMES = ("a", "b", "c", "d", "e")


@dataclass
class Store:
    """A few objects with versions, a log of changes that is compacted, and a server that fails."""

    dice: random.Random
    objects: dict[str, Identity] = field(default_factory=dict)
    log: list[tuple[int, str, dict[str, Any]]] = field(default_factory=list)
    version: int = 1
    floor: int = 0
    trouble: float = 0.4
    news: asyncio.Event = field(default_factory=asyncio.Event)

    def change(self) -> None:
        """Create, modify or delete one object; now and then forget the past."""
        name = self.dice.choice(NAMES)
        self.version += 1
        known = self.objects.get(name)
        if known is None:
            kind, self.objects[name] = "ADDED", (f"uid-{self.version}", self.version)
        elif self.dice.random() < 0.3:
            kind = "DELETED"
            del self.objects[name]
        else:
            kind, self.objects[name] = "MODIFIED", (known[0], self.version)
        uid, _ = self.objects.get(name) or known or ("", 0)
        self.log.append((self.version, kind, wire(name, uid, self.version)))
        if self.dice.random() < 0.1:
            self.floor = self.version
        self.news.set()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        watching = "watch" in request.query
        if self.dice.random() < self.trouble:
            fault = self.dice.choice(("reset", "503", "429", "410" if watching else "503"))
            return await self._fail(request, fault)
        return await (self._watch if watching else self._list)(request)

    async def _fail(self, request: web.Request, fault: str) -> web.StreamResponse:
        if fault == "reset":
            assert request.transport is not None
            request.transport.abort()
        status = {"429": 429, "410": 410}.get(fault, 503)
        return web.json_response({"kind": "Status", "code": status}, status=status)

    async def _list(self, request: web.Request) -> web.StreamResponse:
        """Serve pages of one snapshot; its token is the snapshot itself."""
        token = request.query.get("continue")
        if token and self.dice.random() < self.trouble / 2:
            return await self._fail(request, "410")
        snapshot: Any = json.loads(token) if token else [self.version, sorted(self.objects.items())]
        version, rest = snapshot
        limit = int(request.query.get("limit", len(rest)))
        items = [wire(name, uid, at) for name, (uid, at) in rest[:limit]]
        more = json.dumps([version, rest[limit:]]) if rest[limit:] else ""
        metadata = {"resourceVersion": str(version), "continue": more}
        return web.json_response({"metadata": metadata, "items": items})

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        at = int(request.query["resourceVersion"])
        if at < self.floor:
            return await self._fail(request, "410")
        response = web.StreamResponse()
        await response.prepare(request)
        while True:
            self.news.clear()
            for version, kind, found in [entry for entry in self.log if entry[0] > at]:
                text = json.dumps({"type": kind, "object": found}).encode() + b"\n"
                if self.dice.random() < self.trouble / 4:
                    await response.write(text[: self.dice.randrange(len(text))])
                    return response
                cut = self.dice.randrange(len(text))
                await response.write(text[:cut])
                await response.write(text[cut:])
                at = version
            await self.news.wait()


def wire(name: str, uid: str, version: int) -> dict[str, Any]:
    return {"metadata": {"name": name, "uid": uid, "resourceVersion": str(version)}}


class Follower:
    """Believes every event, and checks that each fits what it knew."""

    def __init__(self) -> None:
        self.objects: dict[str, Identity] = {}
        self.news = asyncio.Event()

    def __call__(self, event: WatchEvent[Identified]) -> None:
        match event:
            case Added(found):
                assert found.metadata.name not in self.objects
                self._keep(found)
            case Modified(found):
                uid, version = self.objects[found.metadata.name]
                assert uid == found.metadata.uid
                assert version < int(found.metadata.resource_version)
                self._keep(found)
            case Deleted(key, uid, _):
                assert self.objects.pop(key)[0] == uid
            case Synced(_, count):
                assert count == len(self.objects)
        self.news.set()

    def _keep(self, found: Identified) -> None:
        metadata = found.metadata
        self.objects[metadata.name] = (metadata.uid, int(metadata.resource_version))

    async def agree(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not holds():
                self.news.clear()
                await self.news.wait()


@pytest.mark.parametrize("seed", range(12))
async def test_the_follower_ends_up_with_what_is_stored(
    server: Any, client: Client, seed: int
) -> None:
    dice = random.Random(seed)
    store, follower = Store(dice), Follower()
    server.otherwise = store.answer
    settings = ReflectorSettings(page_size=2, backoff=Backoff(0.001, 0.002))
    reflector = Reflector(client, JOBS.within(), Identified, follower, settings)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(reflector.run())
        for _ in range(15):
            for _ in range(dice.randrange(6)):
                store.change()
            await asyncio.sleep(dice.random() * 0.01)
        store.trouble = 0.0
        store.change()
        await follower.agree(lambda: follower.objects == store.objects)
        running.cancel()
