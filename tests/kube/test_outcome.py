import json
import socket
from dataclasses import replace
from typing import Any

import pytest

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.errors import (
    ConflictError,
    FencedError,
    ForbiddenError,
    LostError,
    UnavailableError,
    UnreachableError,
)
from queueing.kube.outcome import (
    Done,
    Refused,
    Unknown,
    Verb,
    Write,
    WriteRules,
    perform,
    resolve,
)
from queueing.kube.resources import WORKLOADS

pytestmark = pytest.mark.usefixtures("nothing_blocks")

RULES = WriteRules(
    attempt_timeout_s=0.3, deadline_s=5.0, settle_s=60.0, backoff=Backoff(0.01, 0.02)
)
BRIEF = replace(RULES, deadline_s=0.0)
ADMIT = Write(
    verb=Verb.MERGE,
    target=WORKLOADS.at("w", "ns", "status"),
    body=b'{"metadata":{"resourceVersion":"7"},"status":{"admitted":true}}',
    precondition="7",
    took_effect=lambda body: json.loads(body)["status"]["admitted"],
)
CREATE = Write(
    verb=Verb.CREATE,
    target=WORKLOADS.at("w", "ns"),
    body=b'{"metadata":{"name":"w"}}',
    took_effect=lambda body: json.loads(body)["metadata"]["uid"] == "ours",
)
DELETE = replace(CREATE, verb=Verb.DELETE, took_effect=lambda body: b"deletionTimestamp" in body)


def workload(version: str, *, admitted: bool) -> dict[str, Any]:
    return {"metadata": {"name": "w", "resourceVersion": version}, "status": {"admitted": admitted}}


def methods(server: Any) -> list[str]:
    return [seen.method for seen in server.seen]


async def test_success_is_done(server: Any, client: Client) -> None:
    server.script = [server.reply(200, workload("8", admitted=True))]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Done)
    assert json.loads(got.body)["metadata"]["resourceVersion"] == "8"
    assert server.seen[0].path.endswith("/workloads/w/status")


@pytest.mark.parametrize(("code", "want"), [(409, ConflictError), (403, ForbiddenError)])
async def test_a_refusal_at_first_is_final(
    server: Any, client: Client, code: int, want: type[Exception]
) -> None:
    server.script = [server.refuse(code)]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Refused)
    assert isinstance(got.error, want)
    assert len(server.seen) == 1


@pytest.mark.parametrize("fault", ["reset", "hang", "503", "429"])
async def test_an_unclear_write_is_sent_again(server: Any, client: Client, fault: str) -> None:
    faults = {"reset": server.reset(), "hang": server.hang()}
    faults |= {"503": server.reply(503, b"<html>"), "429": server.refuse(429)}
    server.script = [faults[fault], server.reply(200, workload("8", admitted=True))]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Done)
    assert server.seen[0].body == server.seen[1].body


async def test_a_conflict_after_a_lost_success_is_done(server: Any, client: Client) -> None:
    server.script = [
        server.reset(),
        server.refuse(409, "Conflict"),
        server.reply(200, workload("8", admitted=True)),
    ]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Done)
    assert methods(server) == ["PATCH", "PATCH", "GET"]
    assert server.seen[2].path.endswith("/workloads/w")
    assert server.seen[2].query == {}


async def test_a_conflict_after_someone_else_wrote_is_refused(server: Any, client: Client) -> None:
    server.script = [
        server.reset(),
        server.refuse(409, "Conflict"),
        server.reply(200, workload("9", admitted=False)),
    ]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Refused)
    assert isinstance(got.error, LostError)


async def test_an_object_that_is_gone_cannot_hold_the_write(server: Any, client: Client) -> None:
    server.script = [server.reset(), server.refuse(404), server.refuse(404)]
    assert isinstance(await perform(client, ADMIT, rules=RULES), Refused)


async def test_a_read_that_fails_leaves_it_unknown(server: Any, client: Client) -> None:
    server.script = [server.reset(), server.refuse(409), server.refuse(500)]
    got = await perform(client, ADMIT, rules=RULES)
    assert isinstance(got, Unknown)
    assert isinstance(got.error, LostError)


async def test_at_the_deadline_the_object_is_asked(server: Any, client: Client) -> None:
    server.script = [server.refuse(500), server.reply(200, workload("7", admitted=False))]
    got = await perform(client, ADMIT, rules=BRIEF)
    assert isinstance(got, Unknown)
    assert isinstance(got.error, UnavailableError)
    assert methods(server) == ["PATCH", "GET"]


async def test_an_unchanged_object_rules_the_write_out_once_it_cannot_land(
    server: Any, client: Client
) -> None:
    server.otherwise = server.reply(200, workload("7", admitted=False))
    early = Unknown(LostError("lost"), last_sent_at=1e12)
    late = Unknown(LostError("lost"), last_sent_at=-1e12)
    assert await resolve(client, ADMIT, early, rules=RULES) is early
    assert isinstance(await resolve(client, ADMIT, late, rules=RULES), Refused)


@pytest.mark.parametrize(
    ("uid", "want"),
    [
        pytest.param("ours", Done, id="our own object: the lost create succeeded"),
        pytest.param("theirs", Refused, id="somebody else took the name"),
    ],
)
async def test_a_name_taken_after_a_lost_create(
    server: Any, client: Client, uid: str, want: type
) -> None:
    found = {"metadata": {"name": "w", "uid": uid}}
    server.script = [server.reset(), server.refuse(409, "AlreadyExists"), server.reply(200, found)]
    assert isinstance(await perform(client, CREATE, rules=RULES), want)
    assert server.seen[0].path.endswith("/namespaces/ns/workloads")


async def test_a_create_that_is_not_there_yet_is_unknown(server: Any, client: Client) -> None:
    server.script = [server.refuse(500), server.refuse(404)]
    assert isinstance(await perform(client, CREATE, rules=BRIEF), Unknown)


async def test_a_deleted_object_is_a_delete_done(server: Any, client: Client) -> None:
    server.script = [server.reset(), server.refuse(404), server.refuse(404)]
    assert isinstance(await perform(client, DELETE, rules=RULES), Done)


async def test_a_write_is_not_sent_when_leading_ends_too_soon(server: Any, client: Client) -> None:
    asked: list[float] = []

    def may_send(seconds: float) -> bool:
        asked.append(seconds)
        return False

    got = await perform(client, ADMIT, rules=RULES, may_send=may_send)
    assert isinstance(got, Refused)
    assert isinstance(got.error, FencedError)
    assert asked == [RULES.attempt_timeout_s]
    assert server.seen == []


async def test_leading_lost_between_two_attempts_leaves_it_unknown(
    server: Any, client: Client
) -> None:
    server.script = [server.reset()]
    got = await perform(client, ADMIT, rules=RULES, may_send=lambda _: not server.seen)
    assert isinstance(got, Unknown)
    assert len(server.seen) == 1


async def test_a_server_that_was_never_reached_refused_nothing_and_did_nothing() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        async with Client(Cluster.plain(url)) as client:
            got = await perform(client, ADMIT, rules=replace(RULES, deadline_s=0.1))
    assert isinstance(got, Refused)
    assert isinstance(got.error, UnreachableError)


async def test_the_server_is_given_the_time_it_asks_for(server: Any, client: Client) -> None:
    server.script = [server.refuse(429, retryAfterSeconds=30), server.refuse(404)]
    got = await perform(client, ADMIT, rules=replace(RULES, deadline_s=20.0))
    assert isinstance(got, Refused), "waiting 30 s would pass the deadline, so the object was read"
    assert methods(server) == ["PATCH", "GET"]
