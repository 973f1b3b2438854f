import asyncio
import socket
from typing import Any

import pytest

from queueing.kube.client import Call, Client, ListQuery, Request, WatchQuery
from queueing.kube.config import Cluster
from queueing.kube.errors import (
    AlreadyExistsError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    LostError,
    NotFoundError,
    NotPermittedError,
    RefusedError,
    ThrottledError,
    UnavailableError,
    UnclearError,
    UnreachableError,
)
from queueing.kube.resources import JOBS, NODES, RESOURCES, WORKLOADS, Target
from tests.stalls import stand_still

pytestmark = pytest.mark.usefixtures("nothing_blocks")


@pytest.mark.parametrize(
    ("target", "want"),
    [
        pytest.param(JOBS.at("j", "ns"), "/apis/batch/v1/namespaces/ns/jobs/j", id="in a group"),
        pytest.param(NODES.at("n"), "/api/v1/nodes/n", id="the core group has a path of its own"),
        pytest.param(JOBS.within(), "/apis/batch/v1/jobs", id="all namespaces"),
        pytest.param(JOBS.within("a b"), "/apis/batch/v1/namespaces/a%20b/jobs", id="encoded"),
        pytest.param(
            WORKLOADS.at("w", "ns", "status"),
            "/apis/kueue.x-k8s.io/v1beta2/namespaces/ns/workloads/w/status",
            id="a subresource",
        ),
    ],
)
def test_an_address_becomes_a_path(target: Target, want: str) -> None:
    assert target.path == want


def test_an_object_in_a_namespace_cannot_be_addressed_without_one() -> None:
    with pytest.raises(ValueError, match="needs a namespace"):
        JOBS.at("j")
    with pytest.raises(ValueError, match="has no namespace"):
        NODES.at("n", "ns")


def test_the_table_of_resources_lists_each_kind_once() -> None:
    assert RESOURCES["Workload"] is WORKLOADS
    assert all(RESOURCES[kind].kind == kind for kind in RESOURCES)


async def test_a_merge_patch_goes_out_as_one(server: Any, client: Client) -> None:
    server.script = [server.reply(200, {"ok": 1})]
    call = Call(dry_run=True, traceparent="00-1-2-01")
    reply = await client.patch_merge(JOBS.at("j", "ns"), {"spec": {"suspend": False}}, call)
    (seen,) = server.seen
    assert reply == b'{"ok": 1}'
    assert (seen.method, seen.body) == ("PATCH", b'{"spec":{"suspend":false}}')
    assert seen.headers["Content-Type"] == "application/merge-patch+json"
    assert seen.headers["User-Agent"] == "queueing/test"
    assert seen.headers["traceparent"] == "00-1-2-01"
    assert "Accept-Encoding" not in seen.headers
    assert seen.query == {"dryRun": "All", "fieldManager": "queueing-test", "timeout": "9.000s"}


async def test_each_verb_has_its_method_and_content_type(server: Any, client: Client) -> None:
    server.otherwise = server.reply(200)
    job = JOBS.at("j", "ns")
    await client.create(JOBS.within("ns"), {})
    await client.patch_json(job, [])
    await client.apply(job, {}, Call(force=True, field_manager="other"))
    await client.replace(job, b"{}")
    await client.delete(job, {"preconditions": {"uid": "u"}})
    assert [(s.method, s.headers["Content-Type"].split("/")[1]) for s in server.seen] == [
        ("POST", "json"),
        ("PATCH", "json-patch+json"),
        ("PATCH", "apply-patch+yaml"),
        ("PUT", "json"),
        ("DELETE", "json"),
    ]
    assert server.seen[2].query["force"] == "true"
    assert server.seen[2].query["fieldManager"] == "other"
    assert "fieldManager" not in server.seen[4].query


async def test_a_list_is_a_quorum_read_in_pages(server: Any, client: Client) -> None:
    server.script = [server.reply(200)]
    await client.list_page(JOBS.within(), ListQuery(label_selector="a=b", continue_token="t"))
    assert server.seen[0].query == {"labelSelector": "a=b", "limit": "500", "continue": "t"}


@pytest.mark.parametrize(
    ("code", "reason", "want"),
    [
        pytest.param(400, "BadRequest", BadRequestError, id="400"),
        pytest.param(403, "Forbidden", ForbiddenError, id="403"),
        pytest.param(404, "NotFound", NotFoundError, id="404"),
        pytest.param(405, "MethodNotAllowed", RefusedError, id="any other 4xx is a refusal"),
        pytest.param(409, "Conflict", ConflictError, id="409"),
        pytest.param(409, "AlreadyExists", AlreadyExistsError, id="the name is taken"),
        pytest.param(410, "Expired", GoneError, id="410"),
        pytest.param(422, "Invalid", InvalidError, id="422"),
        pytest.param(408, "Timeout", UnclearError, id="the server's own timeout is unclear"),
        pytest.param(429, "TooManyRequests", ThrottledError, id="429"),
        pytest.param(500, "InternalError", UnavailableError, id="500"),
        pytest.param(504, "Timeout", UnavailableError, id="504"),
    ],
)
async def test_a_status_becomes_an_error(
    server: Any, client: Client, code: int, reason: str, want: type[KubeError]
) -> None:
    cause = {"field": "spec.count", "message": "too few", "reason": "FieldValueInvalid"}
    server.script = [server.refuse(code, reason, "words", causes=[cause], retryAfterSeconds=7)]
    with pytest.raises(want) as caught:
        await client.create(JOBS.within("ns"), {})
    error = caught.value
    assert (error.status, error.reason, error.message) == (code, reason, "words")
    assert error.causes[0].field == "spec.count"
    assert error.retry_after == 7


@pytest.mark.parametrize(
    ("message", "want"),
    [
        pytest.param(
            'jobs.batch "a" is forbidden: User "us" cannot patch resource "jobs" in API group'
            ' "batch" in the namespace "ns"',
            NotPermittedError,
            id="the authorizer",
        ),
        pytest.param('jobs.batch "a" is forbidden: exceeded quota: q', ForbiddenError, id="quota"),
        pytest.param(
            'admission webhook "w" denied the request: User "us" is unknown here',
            ForbiddenError,
            id="a webhook",
        ),
    ],
)
async def test_who_may_not_is_told_from_what_may_not_be(
    server: Any, client: Client, message: str, want: type[KubeError]
) -> None:
    server.script = [server.refuse(403, "Forbidden", message)]
    with pytest.raises(ForbiddenError) as caught:
        await client.create(JOBS.within("ns"), {})
    assert type(caught.value) is want


async def test_a_page_of_a_proxy_is_quoted_not_parsed(server: Any, client: Client) -> None:
    server.script = [server.reply(503, b"<html>\n bad  gateway</html>", {"Retry-After": "3"})]
    with pytest.raises(UnavailableError, match="<html> bad gateway</html>") as caught:
        await client.get(JOBS.at("j", "ns"))
    assert caught.value.retry_after == 3


async def test_a_request_that_hangs_is_cut_off(server: Any, client: Client) -> None:
    server.script = [server.hang()]
    with pytest.raises(LostError, match="GET /apis/batch/v1/namespaces/ns/jobs/j"):
        await client.get(JOBS.at("j", "ns"), Call(timeout_s=0.05))
    assert client.connected is False


async def test_a_broken_connection_is_unclear_for_a_write(server: Any, client: Client) -> None:
    server.script = [server.reset()]
    with pytest.raises(LostError):
        await client.replace(JOBS.at("j", "ns"), {})
    assert len(server.seen) == 1


async def test_a_read_over_a_broken_connection_is_asked_again(server: Any, client: Client) -> None:
    server.script = [server.reset(), server.reply(200, {"a": 1})]
    assert await client.get(JOBS.at("j", "ns")) == b'{"a": 1}'


async def test_no_write_is_repeated_behind_our_back() -> None:
    """A kept connection that dies on the second request: a hidden resend would be a third."""
    requests = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal requests
        while head := await _head(reader):
            requests += 1
            await reader.readexactly(int(head["content-length"]))
            if requests > 1:
                break
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening, Client(Cluster.plain(f"http://127.0.0.1:{port}")) as client:
        await client.replace(JOBS.at("j", "ns"), {})
        with pytest.raises(LostError):
            await client.replace(JOBS.at("j", "ns"), {})
    assert requests == 2


async def _head(reader: asyncio.StreamReader) -> dict[str, str]:
    headers = {}
    while (line := (await reader.readline()).decode().strip()) != "":
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return headers


async def test_nobody_listening_means_nothing_was_sent() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        async with Client(Cluster.plain(url)) as client:
            with pytest.raises(UnreachableError):
                await client.create(JOBS.within("ns"), {})


async def test_other_paths_are_asked_by_hand(server: Any, client: Client) -> None:
    server.script = [server.reply(200, b"ok")]
    assert await client.send(Request("GET", "/readyz", {"verbose": "true"})) == b"ok"
    assert server.seen[0].query == {"verbose": "true"}


async def test_a_refused_watch_is_an_error_before_any_byte(server: Any, client: Client) -> None:
    server.script = [server.refuse(410, "Expired")]
    with pytest.raises(GoneError):
        async with client.watch(JOBS.within(), WatchQuery(resource_version="5")):
            pytest.fail("a refused watch gave a stream")
    assert server.seen[0].query["allowWatchBookmarks"] == "true"


async def test_a_client_that_is_not_open_says_so() -> None:
    with pytest.raises(RuntimeError, match="not open"):
        await Client(Cluster.plain("http://127.0.0.1:1")).get(JOBS.at("j", "ns"))


@pytest.mark.parametrize(
    ("timeout_s", "cancelled_s"),
    [pytest.param(30, 10, id="cancelled first"), pytest.param(10, 30, id="timed out first")],
)
async def test_a_task_that_is_cancelled_as_its_request_times_out_is_cancelled(
    server: Any,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    timeout_s: float,
    cancelled_s: float,
) -> None:
    """The loop stood still while both fell due, as in a process that was stopped for a while."""
    server.otherwise = server.hang()
    task = asyncio.create_task(client.get(JOBS.at("j", "ns"), Call(timeout_s=timeout_s)))
    await server.wait_for(1)
    asyncio.get_running_loop().call_later(cancelled_s, task.cancel)
    stand_still(monkeypatch, 40)
    await asyncio.wait({task})
    assert task.cancelled()
