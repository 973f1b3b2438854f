"""The page over HTTP: what it shows, to whom, and what a browser may do with it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from aiohttp import ClientSession, CookieJar, web
from aiohttp.test_utils import TestServer
from typing_extensions import override

from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.serving import explanations
from queueing.serving.authorization import Reviewer
from queueing.serving.estimates import Estimates, Estimator
from queueing.serving.frames import Frame, Question, Subject
from queueing.serving.read_models import ReadModels
from queueing.serving.rights import Right
from queueing.serving.ui.application import BASE, PageServer
from queueing.serving.ui.entrance import COOKIE, Entrance, OpenEntrance, ReviewedEntrance
from queueing.serving.ui.live import Streams
from queueing.serving.ui.prospects import Prospects
from queueing.serving.ui.sources import Sources
from tests.serving.ui.samples import EVIL, WORKLOAD, answer

ADMIN, TEAM, NOBODY = "admins-token", "teams-token", "nobodys-token"
OBJECTS = {"/apis/kueue.x-k8s.io/v1beta2/namespaces/team/workloads/mine": WORKLOAD}
QUEUES = [
    {"metadata": {"namespace": space, "name": "main"}, "spec": {"clusterQueue": "vision"}}
    for space in ("other", *(f"space-{number}" for number in range(120)), "team")
]

SLICES = [
    {
        "spec": {
            "driver": "gpu.example.com",
            "nodeName": f"node-{number:03}",
            "pool": {"name": f"node-{number:03}"},
            "devices": [{"name": "gpu-0"}],
        }
    }
    for number in range(120)
]


def may(user: str, attributes: dict[str, Any]) -> bool:
    """Say what the roles of the samples allow: a team what is in its namespace."""
    return user == "admin" or (user == "mate" and attributes["namespace"] == "team")


def api_server(asked: list[str]) -> web.Application:
    """Return an API server that knows two users and a few objects; which queues it is asked for."""

    async def review(request: web.Request) -> web.Response:
        spec = (await request.json())["spec"]
        if "token" in spec:
            name = {ADMIN: "admin", TEAM: "mate"}.get(spec["token"])
            status = {"authenticated": bool(name), "user": {"username": name or ""}}
        else:
            status = {"allowed": may(spec["user"], spec["resourceAttributes"])}
        return web.json_response({"status": status})

    async def read(request: web.Request) -> web.Response:
        found = OBJECTS.get(request.path)
        if found is not None:
            return web.json_response(found)
        if request.path.endswith("/localqueues"):
            asked.append(request.path)
            space = request.path.split("/")[-2]
            items = [one for one in QUEUES if space in ("v1beta2", one["metadata"]["namespace"])]
            return web.json_response({"metadata": {}, "items": items})
        if request.path.endswith("/resourceslices"):
            return web.json_response({"metadata": {}, "items": SLICES})
        if request.path.endswith("/events"):
            return web.json_response({"metadata": {}, "items": []})
        return web.json_response({"kind": "Status", "code": 404, "message": "no"}, status=404)

    application = web.Application()
    application.router.add_post("/{path:.*}", review)
    application.router.add_get("/{path:.*}", read)
    return application


def leader(tell: Callable[[Subject], Any] = answer) -> ReadModels:
    models = ReadModels(leading=True, ready=True)

    def reply(question: Question) -> None:
        frame = Frame(pieces=[(question.number, "around it"), (question.number, None)])
        if question.explain is not None:
            frame = Frame(explanations={question.number: tell(question.explain)})
        loop = asyncio.get_running_loop()
        loop.call_soon(models.take, frame, loop.time())

    models.found(reply)
    return models


class Looking:
    """A browser without scripts, looking at the page."""

    def __init__(self, session: ClientSession, base: str, asked: list[str]) -> None:
        self.session, self.base = session, base
        self.asked = asked
        """Paths of LocalQueues that the API server was asked for."""

    async def get(self, path: str, **more: Any) -> tuple[int, str]:
        async with self.session.get(f"{self.base}/ui/{path}", **more) as told:
            return told.status, await told.text()


Entered = Callable[[Client], Entrance]


def open_to_all(_client: Client) -> Entrance:
    return OpenEntrance()


def reviewed(client: Client) -> Entrance:
    return ReviewedEntrance(Reviewer(client, lambda: 0.0, lambda _: False))


@asynccontextmanager
async def working(prospects: Prospects) -> AsyncIterator[None]:
    """Have somebody work out what pages want."""
    async with asyncio.TaskGroup() as group:
        beside = group.create_task(prospects.run())
        yield
        beside.cancel()


@asynccontextmanager
async def looking(
    entrance: Entered = open_to_all,
    models: ReadModels | None = None,
    streams: Streams | None = None,
    base: str = BASE,
    estimator: Estimator | None = None,
) -> AsyncIterator[Looking]:
    asked: list[str] = []
    async with (
        TestServer(api_server(asked)) as cluster,
        Client(Cluster.plain(f"http://{cluster.host}:{cluster.port}")) as client,
    ):
        application = web.Application()
        known = models or leader()
        estimates = Estimates(known, estimator) if estimator else None
        sources = Sources(known, client, estimates=estimates)
        PageServer(
            sources=sources,
            entrance=entrance(client),
            now=lambda: 1_769_860_800.0,
            streams=streams or Streams(),
            base=base,
        ).add_to(application)
        async with (
            TestServer(application) as server,
            ClientSession(cookie_jar=CookieJar(unsafe=True)) as session,
            working(sources.prospects),
        ):
            yield Looking(session, f"http://{server.host}:{server.port}", asked)


def bearer(token: str) -> dict[str, Any]:
    return {"headers": {"Authorization": f"Bearer {token}"}}


class Outline(HTMLParser):
    """What of a document matters to who cannot see it, and to a strict policy."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.opened: list[tuple[str, dict[str, str | None]]] = []
        self.depth: list[str] = []
        self.feed(text)

    @override
    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.opened.append((tag, dict(attrs)))

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.opened)


EVERY_PAGE = [
    "",
    "clusterqueues/vision",
    "namespaces/team",
    "namespaces/team/localqueues/main",
    "namespaces/team/workloads/mine",
    "credits",
    "usage",
    "devices",
    "racks",
    "racks/h100",
    "racks/h100?domain=r1",
    "racks/h100?topology=links",
    "nowhere/at/all",
]


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_a_page_needs_nothing_but_itself_and_what_stands_beside_it(path: str) -> None:
    async with looking() as browser:
        _, text = await browser.get(path)
    found = Outline(text)
    for tag, attributes in found.opened:
        assert not {"style", "onclick", "onload"} & set(attributes), (tag, attributes)
        for name in ("src", "href", "action"):
            where = attributes.get(name) or ""
            assert not where.startswith(("http:", "https:", "//", "/")), (tag, where)
    assert "<style" not in text
    assert [one.get("src") for tag, one in found.opened if tag == "script"] in (
        [],
        [f"{'../' * path.count('/') or './'}static/page.js"],
    )


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_a_page_reads_well_aloud(path: str) -> None:
    """Landmarks, one heading of the first order, a name for each picture, headers of columns."""
    async with looking() as browser:
        _, text = await browser.get(path)
    found = Outline(text)
    assert (found.count("main"), found.count("h1"), found.count("header")) == (1, 1, 1)
    assert found.count("footer") == 1
    for tag, one in found.opened:
        if tag == "svg":
            assert one.get("aria-label") or one.get("aria-hidden") == "true"
        if tag in {"nav", "ul"} and "role" in one:
            assert one.get("aria-label")
        if tag == "th":
            assert one.get("scope")
        if tag == "input" and one.get("type") != "hidden":
            assert any(
                label == "label" and of.get("for") == one["id"] for label, of in found.opened
            )
    ids = [one["id"] for _, one in found.opened if "id" in one]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "path", ["clusterqueues/vision", "namespaces/team/workloads/mine", "racks/h100"]
)
async def test_what_users_write_is_text_and_no_more(path: str) -> None:
    async with looking() as browser:
        status, text = await browser.get(path)
    assert status == 200
    assert EVIL not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


async def test_every_answer_forbids_what_the_page_does_not_need() -> None:
    async with looking() as browser:
        for path in ("", "nowhere", "static/page.css", "find?q=nothing"):
            async with browser.session.get(f"{browser.base}/ui/{path}") as told:
                assert "default-src 'none'" in told.headers["Content-Security-Policy"]
                assert told.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_tree_tells_its_numbers_beside_its_bars() -> None:
    async with looking() as browser:
        _, text = await browser.get("")
    assert 'aria-label="12 of 10 used, 2 borrowed"' in text
    assert '<a href="./clusterqueues/vision">vision</a>' in text


@pytest.mark.parametrize(
    ("path", "shown", "others"),
    [
        pytest.param("clusterqueues/vision", "1 to 50 of 120", "job-50", id="the first"),
        pytest.param("clusterqueues/vision?waiting=100", "101 to 120 of 120", "job-99", id="last"),
    ],
)
async def test_a_long_line_is_shown_in_parts(path: str, shown: str, others: str) -> None:
    async with looking() as browser:
        _, text = await browser.get(path)
    waits = text[text.index('id="waiting"') : text.index('id="holding"')]
    assert shown in waits
    assert f">team/{others}<" not in waits
    assert waits.count("<tr>") <= 51


@pytest.mark.parametrize(
    ("query", "shown", "first", "links"),
    [
        pytest.param("", "1 to 50 of 120", 0, ["?nodes=50"], id="the first"),
        pytest.param("?nodes=50", "51 to 100 of 120", 50, ["?", "?nodes=100"], id="second"),
        pytest.param("?nodes=100", "101 to 120 of 120", 100, ["?nodes=50"], id="the last"),
        pytest.param("?nodes=150", "0 to 0 of 120", 150, ["?nodes=100"], id="behind the last"),
    ],
)
async def test_devices_are_shown_some_nodes_at_a_time(
    query: str, shown: str, first: int, links: list[str]
) -> None:
    async with looking() as browser:
        _, text = await browser.get(f"devices{query}")
    names = [f"node-{number:03}" for number in range(120)]
    assert [one for one in names if f">{one}<" in text] == names[first : first + 50]
    assert shown in text
    turns = [one for _, one in Outline(text).opened if one.get("rel") in {"prev", "next"}]
    assert [one["href"] for one in turns] == links


async def test_racks_say_in_words_who_sits_there() -> None:
    async with looking() as browser:
        _, text = await browser.get("racks/h100")
    rows = text.split("<tr>")[2:]
    assert '<a href="../namespaces/team/workloads/gang">team/gang</a> 6 pods' in rows[0]
    assert "1 pod, leaving" in rows[0]
    assert "</svg> others</li>" in rows[0]
    assert "nobody" in rows[1]
    assert "9 of 8" in rows[1]


async def test_further_topologies_of_a_flavor_are_one_link_away() -> None:
    async with looking() as browser:
        _, own = await browser.get("racks/h100?domain=r1")
        _, links = await browser.get("racks/h100?topology=links")
    assert '<span aria-current="true">dc</span>, <a href="?topology=links">links</a>' in own
    assert '<a href="?">dc</a>, <span aria-current="true">links</span>' in links
    assert '<a href="?topology=links&amp;domain=l1">l1</a>' in links
    assert "node-001" not in links


async def test_where_a_leader_knows_no_further_topologies_it_is_told_which_one_is_shown() -> None:
    def tell(subject: Subject) -> Any:
        own = answer(msgspec.structs.replace(subject, topology=""))
        return msgspec.structs.replace(own, topologies=())

    async with looking(models=leader(tell)) as browser:
        _, text = await browser.get("racks/h100?topology=links")
    assert "<dt>Topology</dt><dd>dc</dd>" in text


@pytest.mark.parametrize(
    ("link", "name", "inside"),
    [("?domain=%2F", "(empty)", "in-the-empty-one"), ("?domain=0", "0", "in-number-0")],
)
async def test_a_rack_can_be_opened_whatever_its_name(link: str, name: str, inside: str) -> None:
    async with looking() as browser:
        _, top = await browser.get("racks/h100")
        assert f'<a href="{link}">{name}</a>' in top
        _, text = await browser.get(f"racks/h100{link}")
    assert f'<span aria-current="page">{name}</span>' in text
    assert inside in text


@pytest.mark.parametrize(
    ("query", "shown", "links"),
    [
        pytest.param("?domain=r1", "1 to 50 of 120", ["?domain=r1&domains=50"], id="the first"),
        pytest.param(
            "?domain=r1&domains=100", "101 to 120 of 120", ["?domain=r1&domains=50"], id="the last"
        ),
    ],
)
async def test_who_looks_into_a_rack_sees_some_nodes_at_a_time(
    query: str, shown: str, links: list[str]
) -> None:
    async with looking() as browser:
        _, top = await browser.get("racks/h100")
        _, text = await browser.get(f"racks/h100{query}")
    assert 'href="?domain=r1"' in top
    assert shown in text
    turns = [one for _, one in Outline(text).opened if one.get("rel") in {"prev", "next"}]
    assert [one["href"] for one in turns] == links
    above = text[text.index('class="within"') :]
    assert 'href="?"' in above[: above.index("</nav>")]


@pytest.mark.parametrize(
    ("path", "want"),
    [
        pytest.param("clusterqueues/gone", 404, id="a queue that is gone"),
        pytest.param("namespaces/team/workloads/gone", 404, id="a workload that is gone"),
        pytest.param("racks/gone", 404, id="a flavor that is gone, or has no topology"),
        pytest.param("racks/h100?domain=r9", 404, id="a rack that is gone"),
        pytest.param("racks/h100?topology=gone", 404, id="a topology that is gone"),
        pytest.param("nowhere", 404, id="no page"),
        pytest.param("find?q=%3Cwhat%3E", 404, id="a search for nothing that can be"),
    ],
)
async def test_what_is_not_there_is_told_in_words(path: str, want: int) -> None:
    async with looking() as browser:
        status, text = await browser.get(path)
    assert status == want
    assert "There is no such thing" in text


async def test_without_a_leader_the_page_says_so() -> None:
    async with looking(models=ReadModels()) as browser:
        status, text = await browser.get("")
    assert status == 503
    assert "No replica leads at the moment." in text


@pytest.mark.parametrize("base", [BASE, explanations.PAGE])
async def test_the_page_is_found_without_its_last_slash(base: str) -> None:
    async with (
        looking(base=base) as browser,
        browser.session.get(f"{browser.base}{base}") as told,
    ):
        assert (told.status, told.url.path) == (200, f"{base}/")


@pytest.mark.parametrize(
    ("asked", "want"),
    [
        ("team/mine", "/ui/namespaces/team/workloads/mine"),
        ("clusterqueue/vision", "/ui/clusterqueues/vision"),
        ("LocalQueue/team/main", "/ui/namespaces/team/localqueues/main"),
        ("cohort/lab", "/ui/cohorts/lab"),
    ],
)
async def test_what_is_looked_for_is_found(asked: str, want: str) -> None:
    async with (
        looking() as browser,
        browser.session.get(
            f"{browser.base}/ui/find", params={"q": asked}, allow_redirects=False
        ) as told,
    ):
        assert told.status == 303
        assert browser.session._build_url(told.headers["Location"]).path in want


@pytest.mark.parametrize(
    ("token", "path", "want"),
    [
        pytest.param(ADMIN, "", 200, id="an admin, all trees"),
        pytest.param(ADMIN, "clusterqueues/vision", 200, id="an admin, a ClusterQueue"),
        pytest.param(TEAM, "", 200, id="a team, its queues"),
        pytest.param(TEAM, "namespaces/team/localqueues/main", 200, id="a team, its queue"),
        pytest.param(TEAM, "namespaces/team/workloads/mine", 200, id="a team, its workload"),
        pytest.param(TEAM, "clusterqueues/vision", 403, id="a team, a ClusterQueue"),
        pytest.param(TEAM, "cohorts/lab", 403, id="a team, a cohort"),
        pytest.param(TEAM, "namespaces/other/localqueues/main", 403, id="a team, another's queue"),
        pytest.param(TEAM, "namespaces/other/workloads/x", 403, id="a team, another's workload"),
        pytest.param(TEAM, "namespaces/other", 403, id="a team, another namespace"),
        pytest.param(TEAM, "credits", 403, id="a team, credits"),
        pytest.param(TEAM, "usage", 403, id="a team, usage"),
        pytest.param(TEAM, "devices", 403, id="a team, devices"),
        pytest.param(TEAM, "racks", 403, id="a team, flavors"),
        pytest.param(TEAM, "racks/h100", 403, id="a team, racks"),
        pytest.param(ADMIN, "racks/h100", 200, id="an admin, racks"),
        pytest.param(NOBODY, "", 401, id="nobody"),
        pytest.param("", "clusterqueues/vision", 401, id="without a token"),
    ],
)
async def test_the_cluster_says_who_may_read_what(token: str, path: str, want: int) -> None:
    async with looking(reviewed) as browser:
        status, text = await browser.get(path, **bearer(token))
    assert status == want
    assert (want != 401) or 'type="password"' in text


async def test_a_team_reads_no_name_of_another_namespace() -> None:
    async with looking(reviewed) as browser:
        _, own = await browser.get("", **bearer(TEAM))
        _, queue = await browser.get("namespaces/team/localqueues/main", **bearer(TEAM))
        _, all_of_queue = await browser.get("namespaces/team/localqueues/main", **bearer(ADMIN))
        _, mine = await browser.get("namespaces/team/workloads/mine", **bearer(TEAM))
        _, whole = await browser.get("namespaces/team/workloads/mine", **bearer(ADMIN))
    assert "team/main" in own
    assert "other/main" not in own
    assert ("other/wide" in queue, "other/wide" in all_of_queue) == (False, True)
    assert ">team/job-1<" in queue
    assert "(another namespace) comes before it" in mine
    assert "other/wide" not in mine
    assert "other/wide" in whole


class Mate:
    """May read the queues of namespace `team`, until told otherwise; entrance and visitor."""

    name, may_leave, takes_tokens = "mate", False, False

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.gone = False

    async def visitor(self, _request: web.Request) -> "Mate":
        return self

    async def accepts(self, _token: str) -> bool:
        return False

    async def may(self, right: Right) -> bool:
        self.asked.append(right.namespace)
        return right.namespace == "team" and not self.gone


async def test_a_team_sees_its_queues_however_many_namespaces_there_are() -> None:
    mate = Mate()
    async with looking(lambda _: mate) as browser:
        _, first = await browser.get("")
        mate.asked.clear()
        _, second = await browser.get("")
        asked, mate.gone = set(mate.asked), True
        _, last = await browser.get("")
    assert ["team/main" in text for text in (first, second, last)] == [True, True, False]
    assert asked == {"", "team"}


async def test_pages_share_what_they_read_and_read_no_more_than_they_show() -> None:
    async with looking(reviewed) as browser:
        told = [await browser.get("namespaces/team", **bearer(who)) for who in (ADMIN, TEAM)]
        refused, _ = await browser.get("namespaces/team", **bearer(NOBODY))
    assert [(status, "team/main" in text) for status, text in told] == [(200, True)] * 2
    assert refused == 401
    assert browser.asked == ["/apis/kueue.x-k8s.io/v1beta2/namespaces/team/localqueues"]


async def sign_in(browser: Looking, token: str, **more: Any) -> tuple[int, Any]:
    async with browser.session.post(
        f"{browser.base}/ui/login",
        data={"token": token, "of": "clusterqueues/vision"},
        allow_redirects=False,
        **more,
    ) as told:
        return told.status, told.headers


async def test_a_token_is_kept_where_scripts_and_other_sites_cannot_reach_it() -> None:
    async with looking(reviewed) as browser:
        status, headers = await sign_in(browser, ADMIN)
        cookie = headers["Set-Cookie"]
        assert (status, headers["Location"]) == (303, "clusterqueues/vision")
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert "Path=/ui/" in cookie
        status, text = await browser.get("clusterqueues/vision")
        assert status == 200
        assert "You are admin." in text
        assert ADMIN not in text
        async with browser.session.post(f"{browser.base}/ui/logout") as told:
            assert told.status == 401
        assert (await browser.get(""))[0] == 401


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        pytest.param(NOBODY, {}, id="a token of nobody"),
        pytest.param("", {}, id="no token"),
        pytest.param("x" * 4_000, {}, id="a token that no cookie holds"),
        pytest.param(ADMIN, {"Sec-Fetch-Site": "cross-site"}, id="a form of another site"),
    ],
)
async def test_who_does_not_get_in_gets_no_cookie(token: str, headers: dict[str, str]) -> None:
    async with looking(reviewed) as browser:
        status, told = await sign_in(browser, token, headers=headers)
    assert status == 401
    assert COOKIE not in told.get("Set-Cookie", "")


async def test_nobody_is_sent_elsewhere_by_signing_in() -> None:
    async with (
        looking(reviewed) as browser,
        browser.session.post(
            f"{browser.base}/ui/login",
            data={"token": ADMIN, "of": "//evil.example/"},
            allow_redirects=False,
        ) as told,
    ):
        assert told.headers["Location"] == "./"


async def events(browser: Looking, many: int, **more: Any) -> list[tuple[str, dict[str, str]]]:
    found: list[tuple[str, dict[str, str]]] = []
    query = {"watch": "true", "of": "clusterqueues/vision"}
    async with (
        asyncio.timeout(10),
        browser.session.get(f"{browser.base}/ui/", params=query, **more) as told,
    ):
        assert told.content_type == "text/event-stream"
        name = ""
        async for raw in told.content:
            line = raw.decode().rstrip("\n")
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            if line.startswith("data: "):
                found.append((name, msgspec.json.decode(line.removeprefix("data: "))))
            if len(found) == many:
                break
    return found


async def test_an_open_page_hears_of_changes_and_only_of_these() -> None:
    async with looking() as browser:
        first, second = await events(browser, 2)
    assert first[0] == "page"
    assert first[1]["main"].lstrip().startswith("<h1>ClusterQueue vision</h1>")
    assert second == ("same", {"time": first[1]["time"]})


async def test_a_stream_ends_by_itself() -> None:
    async with looking(streams=Streams(lasts_s=0.05)) as browser:
        assert len(await events(browser, 5)) == 1


async def test_more_pages_than_can_be_served_are_told_so() -> None:
    async with looking(streams=Streams(streams_max=0)) as browser:
        status, _ = await browser.get("?watch=true&of=")
    assert status == 503


async def test_one_visitor_leaves_streams_to_others() -> None:
    async with looking(reviewed, streams=Streams(of_one_max=1)) as browser:
        url = f"{browser.base}/ui/?watch=true&of=namespaces/team"
        async with browser.session.get(url, **bearer(ADMIN)) as first:
            refused, _ = await browser.get("?watch=true&of=namespaces/team", **bearer(ADMIN))
            async with browser.session.get(url, **bearer(TEAM)) as others:
                assert (first.status, refused, others.status) == (200, 503, 200)


async def test_changes_are_only_for_who_may_read_the_page() -> None:
    async with looking(reviewed) as browser:
        refused, _ = await browser.get("?watch=true&of=clusterqueues/vision", **bearer(TEAM))
        unknown, _ = await browser.get("?watch=true&of=clusterqueues/vision")
        (first,) = await events(browser, 1, **bearer(ADMIN))
    assert (refused, unknown, first[0]) == (403, 401, "page")
