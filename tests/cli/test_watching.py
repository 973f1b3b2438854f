"""Objects that `queueing top` follows, whatever the server does."""

import asyncio
import json
from typing import Any, NoReturn, cast

import click
import pytest

from queueing.cli.get.watching import followed
from queueing.kube.client import Client
from queueing.kube.errors import ForbiddenError, KubeError, NotFoundError, UnreachableError
from queueing.kube.resources import CLUSTER_QUEUES, WORKLOADS

BOUND_S = 30.0


def named(name: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "team", "uid": name, "resourceVersion": "1"}
    return {"metadata": metadata, **more}


class Away:
    """A watch that cannot be had."""

    async def __aenter__(self) -> NoReturn:
        raise UnreachableError("nobody is there")

    async def __aexit__(self, *_: object) -> None: ...


class Server:
    """A client of a server that lists some objects, or refuses to, and goes away then."""

    def __init__(self, *objects: dict[str, Any], refuses: KubeError | None = None) -> None:
        self._objects, self._refuses = objects, refuses

    async def list_page(self, *_: object) -> bytes:
        if self._refuses is not None:
            raise self._refuses
        return json.dumps({"metadata": {"resourceVersion": "1"}, "items": self._objects}).encode()

    def watch(self, *_: object) -> "Away":
        return Away()


def client(*objects: dict[str, Any], refuses: KubeError | None = None) -> Client:
    return cast("Client", Server(*objects, refuses=refuses))


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


async def test_who_may_not_read_a_kind_is_told_so() -> None:
    with pytest.raises(ForbiddenError, match="not for you"):
        async with followed(client(refuses=ForbiddenError("not for you")), CLUSTER_QUEUES):
            pytest.fail("nothing is followed")


async def test_a_kind_that_is_not_there_has_no_objects() -> None:
    async with followed(client(refuses=NotFoundError("no such kind")), CLUSTER_QUEUES) as (queues,):
        assert (queues.objects, queues.trouble) == ([], None)


async def test_what_the_block_raises_comes_out_as_it_is() -> None:
    with pytest.raises(click.UsageError, match="gone"):
        async with followed(client(), CLUSTER_QUEUES):
            raise click.UsageError("gone")
