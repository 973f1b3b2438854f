"""Webhooks about Jobs and pods, among those that are installed."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from queueing.apiserver.server import serve
from queueing.controller.admission_policies.job_webhooks import follow
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS
from queueing.webhooks import configurations
from queueing.webhooks.scope import Scope

TARGETS = tuple(
    resource.at(f"kueue-{word}-webhook-configuration")
    for word, resource in (("mutating", MUTATING_WEBHOOKS), ("validating", VALIDATING_WEBHOOKS))
)
ADDED = {"mjob.kb.io", "mjobwithoutqueue.kb.io", "mpod.kb.io"}, {"vjob.kb.io"}
PATHS = ("-batch-v1-job", "/mutate--v1-pod")


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        yield client


async def install(client: Client) -> None:
    """Install what an installation brings, trusting somebody, called at a port of its own."""
    for resource, one in zip(
        (MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS), configurations.render(Scope()), strict=True
    ):
        for hook in one["webhooks"]:
            hook["clientConfig"]["caBundle"] = "Q0E="
            hook["clientConfig"]["service"]["port"] = 9443
        await client.create(resource.within(), one)


async def hooks(client: Client) -> list[dict[str, dict[str, Any]]]:
    found = [msgspec.json.decode(await client.get(target))["webhooks"] for target in TARGETS]
    return [{hook["name"]: hook for hook in one} for one in found]


async def test_they_come_on_an_old_server_and_go_with_it(client: Client) -> None:
    await install(client)
    before = await hooks(client)
    assert await follow(client, Scope(minor=34))
    for now, then, added in zip(await hooks(client), before, ADDED, strict=True):
        assert now.keys() - then.keys() == added
        for name in added:
            called = now[name]["clientConfig"]
            assert called["caBundle"] == "Q0E="
            assert called["service"]["port"] == 9443
            assert called["service"]["path"].endswith(PATHS)
    assert await follow(client, Scope(minor=36))
    assert await hooks(client) == before


async def test_they_follow_the_configuration_and_are_left_alone_otherwise(client: Client) -> None:
    await install(client)
    scope = Scope(minor=34)
    await follow(client, scope)
    versions = [await version(client, target) for target in TARGETS]
    await follow(client, scope)
    assert [await version(client, target) for target in TARGETS] == versions
    await follow(client, replace(scope, namespaces=replace(scope.namespaces, requirements=())))
    found = (await hooks(client))[0]["mjob.kb.io"]["namespaceSelector"]
    assert not found.get("matchExpressions")


async def version(client: Client, target: Any) -> str:
    return str(msgspec.json.decode(await client.get(target))["metadata"]["resourceVersion"])


async def test_nothing_is_made_where_nothing_is_installed(client: Client) -> None:
    assert not await follow(client, Scope(minor=34))
