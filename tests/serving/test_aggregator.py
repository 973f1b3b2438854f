"""Whom the API server names as its aggregator, also when it does so late."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.aggregator import SOURCE, Aggregator, learn_aggregator
from queueing.serving.certificates import make
from queueing.serving.identity import Identity

SOON = Backoff(0.01, 0.01)
NAMED = Aggregator(make(("front-proxy",), 1_790_000_000.0).ca.decode(), ("front-proxy",))
DATA = {
    "requestheader-client-ca-file": NAMED.ca,
    "requestheader-allowed-names": '["front-proxy"]',
}
NO_ROLES_YET = 'configmaps is forbidden: User "queueing" cannot get resource "configmaps"'
NOT_FOR_US = "admission says no"


@asynccontextmanager
async def asked(*answers: tuple[int, str]) -> AsyncIterator[tuple[Client, list[str]]]:
    """Answer one request after the other so, and all others with what is asked for."""
    left, paths = list(answers), list[str]()

    async def answer(request: web.Request) -> web.Response:
        paths.append(request.path)
        if left:
            code, message = left.pop(0)
            body = {"kind": "Status", "code": code, "message": message}
            return web.json_response(body, status=code)
        return web.json_response({"kind": "ConfigMap", "data": DATA})

    application = web.Application()
    application.router.add_get("/{path:.*}", answer)
    async with (
        TestServer(application) as server,
        Client(Cluster.plain(f"http://{server.host}:{server.port}")) as client,
    ):
        yield client, paths


@pytest.mark.parametrize(
    ("answers", "believed"),
    [
        pytest.param([], [NAMED], id="at once"),
        pytest.param([(403, NO_ROLES_YET)] * 2, [NAMED], id="the server knew no roles yet"),
        pytest.param([(500, "starting")], [NAMED], id="the server was not there yet"),
        pytest.param([(404, "no such ConfigMap")], [], id="there is none"),
        pytest.param([(403, NOT_FOR_US)], [], id="it is kept from us for good"),
    ],
)
async def test_the_aggregator_is_asked_for_until_there_is_an_answer(
    answers: list[tuple[int, str]], believed: list[Aggregator]
) -> None:
    found: list[Aggregator] = []
    async with asked(*answers) as (client, paths):
        await learn_aggregator(client, found.append, SOON)
    assert found == believed
    assert len(paths) == len(answers) + len(believed)
    assert all(path.endswith(SOURCE.name) for path in paths)


def test_whoever_connects_is_asked_for_a_certificate_once_the_aggregator_is_known() -> None:
    identity = Identity()
    modes = [identity.aggregated.verify_mode]
    identity.believe(NAMED)
    modes.append(identity.aggregated.verify_mode)
    assert modes == [ssl.CERT_NONE, ssl.CERT_OPTIONAL]
    assert len(identity.aggregated.get_ca_certs()) == 1
    assert identity.plain.verify_mode is ssl.CERT_NONE
