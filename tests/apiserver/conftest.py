from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest

from queueing.apiserver.server import EmbeddedServer, serve

GADGETS: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "gadgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": "Gadget", "plural": "gadgets", "shortNames": ["gd"]},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "properties": {
                                    "size": {"type": "integer", "default": 3, "minimum": 0},
                                    "mode": {"type": "string", "enum": ["A", "B"]},
                                },
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            }
        ],
    },
}


def gadget(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gadget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": spec,
    }


@dataclass
class World:
    server: EmbeddedServer
    session: aiohttp.ClientSession

    async def call(self, method: str, path: str, body: Any = None, **query: str) -> tuple[int, Any]:
        async with self.session.request(
            method, self.server.url + path, json=body, params=query
        ) as answer:
            return answer.status, await answer.json()


@pytest.fixture
async def world() -> AsyncIterator[World]:
    async with serve() as server, aiohttp.ClientSession() as session:
        server.load([GADGETS])
        yield World(server, session)
