import asyncio
import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.objects import ObjectMeta, key_of
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

pytestmark = pytest.mark.usefixtures("nothing_blocks")


class Spec(msgspec.Struct):
    parallelism: int = 1


class Job(msgspec.Struct):
    metadata: ObjectMeta
    spec: Spec = msgspec.field(default_factory=Spec)


SETTINGS = ReflectorSettings(backoff=Backoff(0.01, 0.02), draw=lambda: 0.0)


def job(name: str, version: int, uid: str = "", parallelism: Any = 1) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "ns", "uid": uid or name}
    metadata |= {"resourceVersion": str(version)}
    return {"metadata": metadata, "spec": {"parallelism": parallelism}}


def page(version: int, *items: dict[str, Any], more: str = "") -> dict[str, Any]:
    return {"metadata": {"resourceVersion": str(version), "continue": more}, "items": items}


def line(kind: str, found: dict[str, Any]) -> bytes:
    return json.dumps({"type": kind, "object": found}).encode() + b"\n"


BOOKMARK = {"kind": "Job", "metadata": {"resourceVersion": "90"}}
EXPIRED = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}


def in_short(event: WatchEvent[Job]) -> str:
    match event:
        case Added(found):
            return f"+{found.metadata.name}@{found.metadata.resource_version}"
        case Modified(found):
            return f"~{found.metadata.name}@{found.metadata.resource_version}"
        case Deleted(key, _, last):
            return f"-{key.partition('/')[2]}{'' if last else '?'}"
        case Synced(version, total):
            return f"synced {total}@{version}"


class Listener:
    """Remembers the events in short words, and lets a test wait for one."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.news = asyncio.Event()

    def __call__(self, event: WatchEvent[Job]) -> None:
        self.heard.append(in_short(event))
        self.news.set()

    async def hear(self, word: str) -> None:
        async with asyncio.timeout(20):
            while word not in self.heard:
                self.news.clear()
                await self.news.wait()


@asynccontextmanager
async def following(
    client: Client, settings: ReflectorSettings = SETTINGS
) -> AsyncIterator[tuple[Listener, Reflector[Job]]]:
    listener = Listener()
    reflector = Reflector(client, JOBS.within(), Job, listener, settings)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(reflector.run())
        yield listener, reflector
        running.cancel()


async def test_a_list_then_a_watch(server: Any, client: Client) -> None:
    server.script = [
        server.reply(200, page(5, job("a", 3), job("b", 4))),
        server.stream(
            [
                line("MODIFIED", job("a", 6)),
                line("ADDED", job("c", 7)),
                line("DELETED", job("b", 8)),
            ],
            server.hang(),
        ),
    ]
    async with following(client) as (listener, reflector):
        await listener.hear("-b")
        assert reflector.synced.is_set()
    assert listener.heard == ["+a@3", "+b@4", "synced 2@5", "~a@6", "+c@7", "-b"]
    assert "resourceVersion" not in server.seen[0].query
    assert server.seen[1].query["resourceVersion"] == "5"
    assert server.seen[1].query["timeoutSeconds"] == "300"


async def test_pages_are_read_to_the_end_before_it_is_synced(server: Any, client: Client) -> None:
    server.script = [
        server.reply(200, page(5, job("a", 3), more="next")),
        server.reply(200, page(5, job("b", 4))),
    ]
    settings = ReflectorSettings(page_size=1)
    async with following(client, settings) as (listener, _):
        await listener.hear("synced 2@5")
    assert listener.heard[:2] == ["+a@3", "+b@4"]
    assert [seen.query.get("continue") for seen in server.seen[:2]] == [None, "next"]


async def test_lines_may_be_cut_anywhere(server: Any, client: Client) -> None:
    text = line("ADDED", job("a", 6)) + b"\n" + line("ADDED", job("é", 7))
    pieces = [text[index : index + 7] for index in range(0, len(text), 7)]
    half = line("ADDED", job("never", 8))[:40]
    server.script = [
        server.reply(200, page(5)),
        server.stream([*pieces, half]),
        server.stream([line("ADDED", job("next", 9))], server.hang()),
    ]
    async with following(client) as (listener, _):
        await listener.hear("+next@9")
    assert listener.heard == ["synced 0@5", "+a@6", "+é@7", "+next@9"]
    assert server.seen[2].query["resourceVersion"] == "7", "goes on after the last whole line"


@pytest.mark.parametrize("where", ["as a reply", "within the stream"])
async def test_too_old_a_version_means_a_new_list_and_its_differences(
    server: Any, client: Client, where: str
) -> None:
    gone = {
        "as a reply": server.refuse(410, "Expired"),
        "within the stream": server.stream([line("ERROR", EXPIRED)]),
    }
    server.script = [
        server.reply(200, page(5, job("kept", 1), job("changed", 2), job("gone", 3))),
        gone[where],
        server.reply(200, page(20, job("kept", 1), job("changed", 11), job("new", 12))),
    ]
    async with following(client) as (listener, _):
        await listener.hear("synced 3@20")
    assert listener.heard[4:] == ["~changed@11", "+new@12", "-gone?", "synced 3@20"]


async def test_a_name_used_again_is_another_object(server: Any, client: Client) -> None:
    server.script = [
        server.reply(200, page(5, job("a", 3, "one"))),
        server.refuse(410),
        server.reply(200, page(9, job("a", 8, "two"))),
        server.stream(
            [line("DELETED", job("a", 10, "one")), line("ADDED", job("a", 11, "three"))],
            server.hang(),
        ),
    ]
    async with following(client) as (listener, _):
        await listener.hear("+a@11")
    want = ["+a@3", "synced 1@5", "-a?", "+a@8", "synced 1@9", "-a?", "+a@11"]
    assert listener.heard == want


async def test_an_older_version_is_no_news(server: Any, client: Client) -> None:
    server.script = [
        server.reply(200, page(5, job("a", 5))),
        server.stream(
            [
                line("MODIFIED", job("a", 4)),
                line("ADDED", job("a", 5)),
                line("DELETED", job("unheard-of", 6)),
                line("MODIFIED", job("a", 10)),
                line("MODIFIED", job("a", 9)),
                line("ADDED", job("end", 11)),
            ],
            server.hang(),
        ),
    ]
    async with following(client) as (listener, _):
        await listener.hear("+end@11")
    assert listener.heard == ["+a@5", "synced 1@5", "~a@10", "+end@11"]


async def test_a_bookmark_moves_the_start_of_the_next_watch(server: Any, client: Client) -> None:
    server.script = [server.reply(200, page(5)), server.stream([line("BOOKMARK", BOOKMARK)])]
    async with following(client):
        await server.wait_for(3)
    assert server.seen[2].query["resourceVersion"] == "90"


def throttled(server: Any) -> Any:
    return server.refuse(429, retryAfterSeconds=0)


FAULTS: dict[str, Callable[[Any], Any]] = {
    "a reset": lambda server: server.reset(),
    "an end at once": lambda server: server.stream([]),
    "a proxy's page": lambda server: server.reply(503, b"<html>away</html>"),
    "throttling": throttled,
    "a proxy's page with status 200": lambda server: server.reply(200, b"<html>\nhello\n"),
    "half a line": lambda server: server.stream([b'{"type":"ADDED","obj']),
    "a reset in the middle": lambda server: server.stream([b'{"type":'], server.reset()),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_it_recovers_from(server: Any, client: Client, fault: str) -> None:
    broken = FAULTS[fault](server)

    async def list_or_watch(request: Any) -> Any:
        if "watch" not in request.query:
            return await server.reply(200, page(5, job("a", 3)))(request)
        return await server.stream([line("ADDED", job("b", 6))], server.hang())(request)

    server.script = [server.reply(200, page(5, job("a", 3))), broken, broken]
    server.otherwise = list_or_watch
    async with following(client) as (listener, reflector):
        await listener.hear("+b@6")
        assert reflector.error is None
    assert [word for word in listener.heard if not word.startswith("synced")] == ["+a@3", "+b@6"]


NO_ROLES_YET = 'jobs.batch is forbidden: User "queueing" cannot list resource "jobs"'


@pytest.mark.parametrize(
    ("no", "roles_s", "refused"),
    [
        pytest.param((404, "NotFound", "no such kind"), 60.0, True, id="no such kind"),
        pytest.param((403, "Forbidden", NO_ROLES_YET), 60.0, False, id="perhaps no roles yet"),
        pytest.param((403, "Forbidden", NO_ROLES_YET), 0.05, True, id="no role for long enough"),
        pytest.param((503, "ServiceUnavailable", "starting"), 0.0, False, id="not there yet"),
    ],
)
async def test_a_refusal_is_believed_when_it_cannot_be_that_the_server_knows_no_roles_yet(
    server: Any, client: Client, no: tuple[int, str, str], roles_s: float, *, refused: bool
) -> None:
    server.otherwise = server.refuse(*no)
    async with following(client, replace(SETTINGS, roles_s=roles_s)) as (_, reflector):
        await server.wait_for(2)
        if refused:
            async with asyncio.timeout(20):
                while not reflector.is_refused:
                    await asyncio.sleep(0.01)
        else:
            await asyncio.sleep(0.1)
            assert not reflector.is_refused
        server.otherwise = server.reply(200, page(5))
        await reflector.synced.wait()
        assert not reflector.is_refused


@pytest.mark.parametrize("answered", [True, False], ids=["in the middle", "from the beginning"])
async def test_a_watch_that_says_nothing_and_never_ends_is_given_up_and_taken_up_again(
    server: Any, client: Client, monkeypatch: pytest.MonkeyPatch, answered: bool
) -> None:
    monkeypatch.setattr("queueing.kube.client._WATCH_SILENCE_S", 0.2)
    said = [line("MODIFIED", job("a", 6))]
    silent = server.stream(said, server.hang()) if answered else server.hang()
    later = server.stream([line("ADDED", job("c", 8))], server.hang())
    server.script = [server.reply(200, page(5, job("a", 3))), silent, later]
    async with following(client) as (listener, _):
        await listener.hear("+c@8")
    assert listener.heard == ["+a@3", "synced 1@5", *(["~a@6"] if answered else []), "+c@8"]
    assert server.seen[2].query["resourceVersion"] == ("6" if answered else "5")


async def test_an_absent_server_is_reported_once(
    server: Any, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "queueing.kube.reflector")
    server.script = [server.reply(503, b"away")] * 5 + [server.reply(200, page(5))]
    async with following(client) as (listener, _):
        await listener.hear("synced 0@5")
    told = [one.message for one in caplog.records if one.name == "queueing.kube.reflector"]
    assert ["followed again" in one for one in told] == [False, True]


async def test_a_server_that_ends_each_watch_at_once_is_not_hammered(
    server: Any, client: Client
) -> None:
    server.script = [server.reply(200, page(5))]
    server.otherwise = server.stream([])
    settings = ReflectorSettings(backoff=Backoff(30.0, 30.0))
    async with following(client, settings):
        await server.wait_for(2)
        await asyncio.sleep(0.1)
    assert len(server.seen) == 2


async def test_a_token_that_expires_between_pages_starts_the_list_again(
    server: Any, client: Client
) -> None:
    cut = [server.reply(200, page(5, job("a", 3), more="t")), server.refuse(410, "Expired")]
    server.script = [*cut, *cut, server.reply(200, page(9, job("a", 3), job("b", 4)))]
    async with following(client) as (listener, _):
        await listener.hear("synced 2@9")
    assert listener.heard == ["+a@3", "+b@4", "synced 2@9"]
    assert "limit" not in server.seen[4].query, "after two expiries everything comes at once"


async def test_an_object_that_cannot_be_read_keeps_its_last_known_state(
    server: Any, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    server.script = [
        server.reply(200, page(5, job("a", 3), job("odd", 4, parallelism="many"))),
        server.stream([line("MODIFIED", job("a", 6, parallelism="many"))]),
        server.refuse(410),
        server.reply(200, page(8, job("a", 6, parallelism="many"))),
    ]
    async with following(client) as (listener, _):
        await listener.hear("synced 1@8")
    assert listener.heard == ["+a@3", "synced 1@5", "synced 1@8"]
    assert "Job ns/odd cannot be read" in caplog.text


async def test_a_mistake_in_the_callback_is_not_retried(server: Any, client: Client) -> None:
    server.script = [server.reply(200, page(5, job("a", 3)))]

    def broken(event: object) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await Reflector(client, JOBS.within(), Job, broken, SETTINGS).run()


async def test_a_burst_of_events_lets_the_loop_go_on(server: Any, client: Client) -> None:
    events = b"".join(line("ADDED", job(f"j{n}", n + 10)) for n in range(3000))
    server.script = [server.reply(200, page(5)), server.stream([events], server.hang())]
    turns = 0

    async def tick() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    settings = ReflectorSettings(slice_s=0.0)
    async with following(client, settings) as (listener, _), asyncio.TaskGroup() as group:
        await listener.hear("synced 0@5")
        ticking = group.create_task(tick())
        await listener.hear("+j2999@3009")
        ticking.cancel()
    assert turns >= 3000


def test_a_key_names_the_namespace_if_there_is_one() -> None:
    assert key_of(ObjectMeta("n", "ns")) == "ns/n"
    assert key_of(ObjectMeta("n")) == "n"
