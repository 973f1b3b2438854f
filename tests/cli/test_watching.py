"""Objects that `queueing top` follows, whatever the server does."""

import asyncio
import json
from typing import Any, NoReturn, cast

import click
import pytest

from queueing.cli.get.watching import followed
from queueing.kube.client import Client
from queueing.kube.errors import (
    ForbiddenError,
    KubeError,
    LostError,
    NotFoundError,
    ThrottledError,
    UnavailableError,
    UnreachableError,
)
from queueing.kube.resources import CLUSTER_QUEUES, WORKLOADS

BOUND_S = 30.0


def named(name: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "uid": name, "resourceVersion": "1"}
    return {"metadata": metadata, **more}


class Away:
    """A watch that cannot be had."""

    def __init__(self, why: KubeError) -> None:
        self._why = why

    async def __aenter__(self) -> NoReturn:
        raise self._why

    async def __aexit__(self, *_: object) -> None: ...


class Server:
    """A client of a server that lists some objects, or refuses to, and goes away then."""

    def __init__(
        self, *objects: dict[str, Any], refuses: KubeError | None, watch: KubeError
    ) -> None:
        self._objects, self._refuses, self._watch = objects, refuses, watch

    async def list_page(self, *_: object) -> bytes:
        if self._refuses is not None:
            raise self._refuses
        return json.dumps({"metadata": {"resourceVersion": "1"}, "items": self._objects}).encode()

    def watch(self, *_: object) -> "Away":
        return Away(self._watch)


AWAY = UnreachableError("nobody is there")


def client(
    *objects: dict[str, Any], refuses: KubeError | None = None, watch: KubeError = AWAY
) -> Client:
    return cast("Client", Server(*objects, refuses=refuses, watch=watch))


async def test_what_was_seen_last_stays_when_the_server_is_away_and_that_is_told() -> None:
    async with followed(client(named("b"), named("a")), CLUSTER_QUEUES) as (queues,):
        async with asyncio.timeout(BOUND_S):
            while queues.trouble is None:
                await asyncio.sleep(0.01)
        assert "nobody is there" in str(queues.trouble)
        assert [one["metadata"]["name"] for one in queues.objects] == ["a", "b"]


async def test_of_a_workload_is_kept_how_it_stands_and_not_the_templates_of_its_pods() -> None:
    condition = {"type": "QuotaReserved", "status": "False", "reason": "WaitingForQuota"}
    spec = {"queueName": "main", "podSets": [{"name": "main", "template": {}}]}
    one = named("w", spec=spec, status={"conditions": [condition]})
    one["metadata"]["managedFields"] = [{}]
    async with followed(client(one), WORKLOADS) as (workloads,):
        (kept,) = workloads.objects
    assert kept == {
        **named("w"),
        "spec": {"queueName": "main", "active": True},
        "status": {"conditions": [condition]},
    }


@pytest.mark.parametrize(
    "refusal",
    [
        ForbiddenError("not for you"),
        UnavailableError("out of order"),
        ThrottledError("too many"),
        LostError("the connection broke"),
        AWAY,
    ],
    ids=lambda one: type(one).__name__,
)
async def test_who_cannot_have_the_first_list_of_a_kind_is_told_why(refusal: KubeError) -> None:
    with pytest.raises(type(refusal), match=refusal.message):
        async with asyncio.timeout(BOUND_S), followed(client(refuses=refusal), CLUSTER_QUEUES):
            pytest.fail("nothing is followed")


async def test_a_kind_that_is_not_there_has_no_objects() -> None:
    async with followed(client(refuses=NotFoundError("no such kind")), CLUSTER_QUEUES) as (queues,):
        assert (queues.objects, queues.trouble) == ([], None)


async def test_that_a_kind_is_there_no_more_is_told() -> None:
    gone = NotFoundError("no such kind any more")
    async with followed(client(named("a"), watch=gone), CLUSTER_QUEUES) as (queues,):
        async with asyncio.timeout(BOUND_S):
            while queues.reflector.error is None:
                await asyncio.sleep(0.01)
        assert queues.trouble is gone


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    with pytest.raises(click.UsageError, match="gone"):
        async with followed(client(), CLUSTER_QUEUES):
            raise click.UsageError("gone")
