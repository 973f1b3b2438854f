import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest

from queueing.kube.backoff import Backoff
from queueing.kube.client import Client
from queueing.kube.events import EventLimits, EventNote, EventRecorder, EventType, Regarding
from queueing.kube.writer import Writer
from queueing.testing.hand_clock import HandClock

pytestmark = pytest.mark.usefixtures("nothing_blocks")

WORKLOAD = Regarding(
    api_version="kueue.x-k8s.io/v1beta2", kind="Workload", namespace="ns", name="w", uid="u"
)
ADMITTED = EventNote(reason="Admitted", action="Admit", message="Admitted by ClusterQueue cq")


@asynccontextmanager
async def recording(
    client: Client, clock: HandClock, limits: EventLimits | None = None
) -> AsyncIterator[tuple[EventRecorder, Writer]]:
    writer = Writer()
    recorder = EventRecorder(client, writer, clock, reporter=("queueing", "pod-1"), limits=limits)
    async with asyncio.timeout(30), asyncio.TaskGroup() as group:
        running = group.create_task(writer.run())
        yield recorder, writer
        await writer.drain(20)
        recorder.close()
        running.cancel()


async def test_an_event_is_written_with_all_that_the_api_demands(
    server: Any, client: Client
) -> None:
    server.otherwise = server.reply(201)
    async with recording(client, HandClock()) as (recorder, _):
        recorder.record(WORKLOAD, replace(ADMITTED, message="x" * 2000))
    (seen,) = server.seen
    body = json.loads(seen.body)
    assert seen.path == "/apis/events.k8s.io/v1/namespaces/ns/events"
    assert body["metadata"]["name"].startswith("w.")
    assert body["eventTime"] == "1970-01-01T00:16:40.000000Z"
    assert (body["reportingController"], body["reportingInstance"]) == ("queueing", "pod-1")
    assert (body["type"], body["reason"], body["action"]) == ("Normal", "Admitted", "Admit")
    assert len(body["note"]) == 1024
    assert body["regarding"]["uid"] == "u"


@pytest.mark.parametrize("letter", ["x", "é", "例", "🚀"])
async def test_a_note_is_cut_to_as_many_bytes_as_the_server_takes(
    server: Any, client: Client, letter: str
) -> None:
    server.otherwise = server.reply(201)
    async with recording(client, HandClock()) as (recorder, _):
        recorder.record(WORKLOAD, replace(ADMITTED, message=f"a{letter * 2000}"))
    (seen,) = server.seen
    note = json.loads(seen.body)["note"]
    assert note == "a" + letter * ((1024 - 1) // len(letter.encode()))


@pytest.mark.parametrize(
    ("message", "link", "want"),
    [
        pytest.param("short", "https://q/ui", "short (https://q/ui)", id="behind the message"),
        pytest.param(
            "x" * 2000, "https://q/ui", "x" * 1009 + " (https://q/ui)", id="the message is cut"
        ),
        pytest.param("short", "https://q/" + "u" * 2000, "short", id="a link without room"),
    ],
)
async def test_a_link_is_written_whole_or_not_at_all(
    server: Any, client: Client, message: str, link: str, want: str
) -> None:
    server.otherwise = server.reply(201)
    async with recording(client, HandClock()) as (recorder, _):
        recorder.record(WORKLOAD, replace(ADMITTED, message=message, link=link))
    (seen,) = server.seen
    assert json.loads(seen.body)["note"] == want


async def test_an_event_about_a_cluster_wide_object_is_in_default(
    server: Any, client: Client
) -> None:
    server.otherwise = server.reply(201)
    queue = replace(WORKLOAD, kind="ClusterQueue", namespace="")
    async with recording(client, HandClock()) as (recorder, _):
        recorder.record(queue, replace(ADMITTED, type=EventType.WARNING))
    body = json.loads(server.seen[0].body)
    assert body["metadata"]["namespace"] == "default"
    assert "namespace" not in body["regarding"]
    assert body["type"] == "Warning"


async def test_the_same_event_again_is_counted_in_a_series(server: Any, client: Client) -> None:
    server.otherwise = server.reply(200)
    clock = HandClock()
    async with recording(client, clock, EventLimits(series_every_s=0.02)) as (recorder, _):
        for _ in range(3):
            recorder.record(WORKLOAD, ADMITTED)
            clock.time += 1
        await server.wait_for(2)
    create, patch = server.seen
    assert (create.method, patch.method) == ("POST", "PATCH")
    name = json.loads(create.body)["metadata"]["name"]
    assert patch.path.endswith(f"/events/{name}")
    series = {"count": 3, "lastObservedTime": "1970-01-01T00:16:42.000000Z"}
    assert json.loads(patch.body) == {"series": series}


async def test_after_a_long_silence_a_new_event_is_written(server: Any, client: Client) -> None:
    server.otherwise = server.reply(201)
    clock = HandClock()
    async with recording(client, clock) as (recorder, _):
        recorder.record(WORKLOAD, ADMITTED)
        clock.time += 361
        recorder.record(WORKLOAD, ADMITTED)
    names = [json.loads(seen.body)["metadata"]["name"] for seen in server.seen]
    assert len(set(names)) == 2


async def test_an_object_that_talks_too_much_is_cut_off_for_a_while(
    server: Any, client: Client
) -> None:
    server.otherwise = server.reply(201)
    clock = HandClock()
    async with recording(client, clock, EventLimits(burst=2, refill_s=10.0)) as (recorder, _):
        for number in range(5):
            recorder.record(WORKLOAD, replace(ADMITTED, message=f"message {number}"))
        recorder.record(replace(WORKLOAD, name="other", uid="v"), ADMITTED)
        assert recorder.dropped == 3
        clock.time += 10
        recorder.record(WORKLOAD, replace(ADMITTED, message="after the pause"))
    assert len(server.seen) == 4


async def test_warnings_without_end_do_not_keep_other_events_out(
    server: Any, client: Client
) -> None:
    server.otherwise = server.reply(201)
    async with recording(client, HandClock(), EventLimits(burst=2)) as (recorder, _):
        for number in range(5):
            waits = replace(ADMITTED, type=EventType.WARNING, message=f"{number} more needed")
            recorder.record(WORKLOAD, waits)
        recorder.record(WORKLOAD, ADMITTED)
    assert [json.loads(seen.body)["type"] for seen in server.seen] == [
        "Warning",
        "Warning",
        "Normal",
    ]


async def test_a_lost_event_harms_nobody_and_the_next_starts_afresh(
    server: Any, client: Client
) -> None:
    server.script = [server.refuse(403, "Forbidden"), server.reply(201)]
    async with recording(client, HandClock()) as (recorder, writer):
        recorder.record(WORKLOAD, ADMITTED)
        await writer.drain(20)
        recorder.record(WORKLOAD, ADMITTED)
    assert [seen.method for seen in server.seen] == ["POST", "POST"]
    assert recorder.dropped == 1


async def test_what_was_counted_while_an_event_was_being_lost_is_not_written(
    server: Any, client: Client
) -> None:
    server.script = [server.refuse(403, "Forbidden"), server.reply(201)]
    broken: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, told: broken.append(told))
    limits = EventLimits(series_every_s=0.02)
    async with recording(client, HandClock(), limits) as (recorder, writer):
        recorder.record(WORKLOAD, ADMITTED)
        recorder.record(WORKLOAD, ADMITTED)
        await writer.drain(20)
        await asyncio.sleep(0.1)
        recorder.record(WORKLOAD, ADMITTED)
    assert not broken
    assert [seen.method for seen in server.seen] == ["POST", "POST"]


NO_ROLES_YET = 'events.events.k8s.io is forbidden: User "queueing" cannot create resource "events"'
SOON = EventLimits(again=Backoff(0.02, 0.02))


def events_written(server: Any) -> list[str]:
    """Name the objects of the notes that were sent, in order."""
    return [json.loads(seen.body)["regarding"]["name"] for seen in server.seen]


@pytest.mark.parametrize(
    "no",
    [
        pytest.param((403, "Forbidden", NO_ROLES_YET), id="it does not know our roles yet"),
        pytest.param((503, "ServiceUnavailable", "starting"), id="it is not ready"),
    ],
)
async def test_events_are_held_back_until_the_server_takes_one(
    server: Any, client: Client, no: tuple[int, str, str]
) -> None:
    refused = server.refuse(*no)
    server.script = [refused, refused]
    server.otherwise = server.reply(201)
    async with recording(client, HandClock(), SOON) as (recorder, writer):
        recorder.record(replace(WORKLOAD, name="first", uid="1"), ADMITTED)
        await writer.drain(20)
        recorder.record(replace(WORKLOAD, name="second", uid="2"), ADMITTED)
        recorder.record(replace(WORKLOAD, name="third", uid="3"), ADMITTED)
        await server.wait_for(5)
    assert events_written(server)[0] == "first"
    assert sorted(events_written(server)[-3:]) == ["first", "second", "third"]
    assert recorder.dropped == 0


async def test_an_event_that_was_written_without_an_answer_is_not_lost(
    server: Any, client: Client
) -> None:
    server.script = [
        server.refuse(504, "Timeout", "no answer"),
        server.refuse(409, "AlreadyExists", "it is there"),
    ]
    async with recording(client, HandClock(), SOON) as (recorder, _):
        recorder.record(WORKLOAD, ADMITTED)
        await server.wait_for(2)
    assert recorder.dropped == 0


async def test_few_events_are_held_back_and_not_for_long(server: Any, client: Client) -> None:
    server.otherwise = server.refuse(403, "Forbidden", NO_ROLES_YET)
    clock = HandClock()
    async with recording(client, clock, replace(SOON, held_max=2)) as (recorder, writer):
        for number in range(4):
            recorder.record(replace(WORKLOAD, uid=f"{number}"), ADMITTED)
            await writer.drain(20)
        assert recorder.dropped == 2
        clock.time += 61
        async with asyncio.timeout(20):
            while recorder.dropped < 4:
                await asyncio.sleep(0.01)
        tried = len(server.seen)
        await asyncio.sleep(0.1)
    assert len(server.seen) == tried


async def test_what_is_held_back_is_forgotten_when_the_term_ends(
    server: Any, client: Client
) -> None:
    server.otherwise = server.refuse(403, "Forbidden", NO_ROLES_YET)
    async with recording(client, HandClock(), SOON) as (recorder, writer):
        recorder.record(WORKLOAD, ADMITTED)
        await writer.drain(20)
        recorder.close()
        tried = len(server.seen)
        await asyncio.sleep(0.1)
    assert len(server.seen) == tried
    assert recorder.dropped == 1


async def test_memory_is_bounded(server: Any, client: Client) -> None:
    server.otherwise = server.reply(201)
    async with recording(client, HandClock(), EventLimits(remembered=3)) as (recorder, _):
        for number in range(10):
            regarding = replace(WORKLOAD, uid=f"u{number}")
            recorder.record(regarding, ADMITTED)
            recorder.record(regarding, ADMITTED)
        assert len(recorder._series) == 3
        assert len(recorder._allowances) == 3
