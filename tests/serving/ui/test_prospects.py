"""When workloads will be admitted, on pages: worked out beside them, and seldom."""

import asyncio
from collections.abc import Mapping, Sequence

import msgspec
import pytest

from queueing.explain.model import Estimate, LineEstimates, Range
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving.estimates import ASKS_MAX, Estimates
from queueing.serving.forward import Answered
from queueing.serving.frames import Subject
from queueing.serving.read_models import ReadModels
from queueing.serving.ui.problems import NotNowError
from queueing.serving.ui.prospects import FAULT, KEEP_S, UNDER_WAY, Prospect, Prospects
from queueing.serving.ui.sources import Sources
from queueing.testing.virtual_time import LoopClock, in_no_time
from tests.serving.ui.test_pages import TEAM, Looking, bearer, looking, reviewed, working

MINE, OTHER = Subject("workloads", "team/mine"), Subject("workloads", "team/other")
SOON = Estimate(
    known=True,
    text="Likely soon.",
    as_of="2026-01-31T12:00:00Z",
    half=Range(earliest="2026-01-31T12:05:00Z", latest="2026-01-31T12:10:00Z"),
    basis=("3 run times drawn from how long workloads like it ran",),
    futures=24,
)


async def settled() -> None:
    """Let all that can go on go on."""
    for _ in range(5):
        await asyncio.sleep(0)


class Asked:
    """Somebody who works estimates out, when told to go on."""

    def __init__(self) -> None:
        self.times = 0
        self.go = asyncio.Event()

    async def __call__(self) -> Mapping[str, Estimate]:
        self.times += 1
        await self.go.wait()
        return {"team/mine": SOON}


async def test_a_page_does_not_wait_for_an_estimate_and_the_next_one_shows_it() -> None:
    asked, prospects = Asked(), Prospects()
    async with working(prospects):
        assert prospects.of(MINE, asked) == Prospect(note=UNDER_WAY)
        await settled()
        assert prospects.of(MINE, asked) == Prospect(note=UNDER_WAY)
        asked.go.set()
        await settled()
        shown = [prospects.of(MINE, asked) for _ in range(3)]
        await settled()
    assert shown == [Prospect({"team/mine": SOON})] * 3
    assert asked.times == 1


@pytest.mark.parametrize(
    ("after_s", "shown"),
    [(KEEP_S, Prospect({"team/mine": SOON})), (2 * KEEP_S, Prospect(note=UNDER_WAY))],
)
def test_an_old_estimate_is_shown_until_the_next_is_there_and_one_much_older_is_not(
    after_s: float, shown: Prospect
) -> None:
    async def scene(_: LoopClock) -> None:
        asked, prospects = Asked(), Prospects()
        async with working(prospects):
            asked.go.set()
            prospects.of(MINE, asked)
            await settled()
            asked.go.clear()
            await asyncio.sleep(after_s)
            assert prospects.of(MINE, asked) == shown
            await settled()
        assert asked.times == 2

    in_no_time(scene)


async def test_where_nobody_answers_the_page_says_why_and_asks_later() -> None:
    times = 0

    async def away() -> Mapping[str, Estimate]:
        nonlocal times
        times += 1
        raise NotNowError("No replica leads at the moment.")

    prospects = Prospects()
    async with working(prospects):
        prospects.of(MINE, away)
        await settled()
        assert prospects.of(MINE, away) == Prospect(note="No replica leads at the moment.")
        await settled()
    assert times == 1


async def test_an_estimate_that_fails_by_a_bug_ends_itself_alone_and_is_asked_for_later(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def fail() -> Mapping[str, Estimate]:
        raise ZeroDivisionError

    asked, prospects = Asked(), Prospects(again_s=0.0)
    asked.go.set()
    async with working(prospects):
        prospects.of(MINE, fail)
        await settled()
        assert prospects.of(MINE, asked) == Prospect(note=FAULT)
        await settled()
        assert prospects.of(MINE, asked) == Prospect({"team/mine": SOON})
    assert "ZeroDivisionError" in caplog.text, "with its traceback"


async def test_more_than_a_few_are_not_worked_out_at_a_time() -> None:
    asked, prospects = Asked(), Prospects()
    many = [Subject("workloads", f"team/{number}") for number in range(ASKS_MAX)]
    async with working(prospects):
        for one in many:
            prospects.of(one, asked)
        assert prospects.of(OTHER, asked).note.startswith("Too many ask")
        await settled()
        assert asked.times == ASKS_MAX


async def made(_snapshot: str, keys: Sequence[str]) -> bytes:
    return msgspec.json.encode(dict.fromkeys(keys, SOON))


async def shown(browser: Looking, path: str, **more: object) -> str:
    """Return a page when what is worked out beside it is there."""
    async with asyncio.timeout(10.0):
        while UNDER_WAY in (text := (await browser.get(path, **more))[1]):
            await settled()
    return text


async def test_the_page_of_who_waits_says_until_when() -> None:
    async with looking(estimator=made) as browser:
        _, first = await browser.get("namespaces/team/workloads/mine")
        then = await shown(browser, "namespaces/team/workloads/mine")
    assert UNDER_WAY in first
    assert "Likely soon." in then
    assert "24 possible futures" in then
    assert SOON.basis[0] in then


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("clusterqueues/vision?eta=true", 0),
        ("clusterqueues/vision?waiting=50&eta=true", 50),
        ("namespaces/team/localqueues/main?eta=true", 0),
    ],
)
async def test_a_line_says_until_when_its_first_rows_wait_if_asked(path: str, first: int) -> None:
    async with looking(estimator=made) as browser:
        text = await shown(browser, path)
    waits = text[text.index('id="waiting"') : text.index('id="holding"')]
    rows = waits.split("<tr>")[1:]
    soon = [number for number, row in enumerate(rows[1:]) if "12:10:00Z" in row]
    assert soon == list(range(10))
    assert f">team/job-{first}<" in rows[1]
    turn = next(line for line in waits.splitlines() if 'rel="next"' in line)
    assert "eta=true" in turn
    assert f"waiting={first + 50}" in turn


async def test_a_line_asks_nobody_until_somebody_asks() -> None:
    async with looking(estimator=made) as browser:
        _, text = await browser.get("clusterqueues/vision")
        _, without = await browser.get("clusterqueues/vision?waiting=50")
    assert 'href="?eta=true"' in text
    assert 'href="?waiting=50&amp;eta=true"' in without
    assert "Likely admitted" not in text + without


async def test_a_team_asks_about_its_own() -> None:
    async with looking(reviewed, estimator=made) as browser:
        own = await shown(browser, "namespaces/team/workloads/mine", **bearer(TEAM))
        line = await shown(browser, "namespaces/team/localqueues/main?eta=true", **bearer(TEAM))
    assert "Likely soon." in own
    assert "12:10:00Z" in line


@pytest.mark.parametrize(
    ("subject", "path", "body", "want"),
    [
        (MINE, "namespaces/team/workloads/mine/estimate", SOON, {"team/mine": SOON}),
        (
            Subject("clusterqueues", "vision", "waiting", 0, 10),
            "clusterqueues/vision/estimate?part=waiting&offset=0&limit=10",
            LineEstimates(estimates={"team/a": SOON}),
            {"team/a": SOON},
        ),
    ],
)
async def test_a_replica_that_does_not_lead_asks_the_one_that_does(
    subject: Subject, path: str, body: object, want: Mapping[str, Estimate]
) -> None:
    asked = []

    async def fetch(path: str) -> Answered:
        asked.append(path)
        return Answered(200, msgspec.json.encode(body), "application/json")

    models = ReadModels()
    async with Client(Cluster.plain("http://127.0.0.1:1")) as client:
        sources = Sources(models, client, fetch, Estimates(models, made))
        async with working(sources.prospects):
            sources.prospect(subject)
            await settled()
            assert sources.prospect(subject) == Prospect(want)
    assert asked == [f"/apis/visibility.queueing.dev/v1alpha1/{path}"]
