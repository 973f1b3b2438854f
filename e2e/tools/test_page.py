"""The page in a real browser, as an admin and as a team reach it on a real API server."""

import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from e2e.api import holds
from e2e.browser import WAIT_MS, browsing
from e2e.identities import ADMIN, IDENTITIES, TEAM
from e2e.installed import API_SERVICE, EXPLANATIONS, Installation
from e2e.nodes import make_nodes
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.serving import until
from e2e.tools.asking import asked
from queueing.testing.ports import free_ports

PROGRAM = str(Path(sys.executable).with_name("queueing"))
API = "/apis/visibility.queueing.dev/v1alpha1"
LONG_S = 3600.0
LOAD, COMPARED = 20, 3
RACKS = "racks/page-racks"
PAGES = (
    "",
    "clusterqueues/page",
    "clusterqueues/page?eta=true",
    "cohorts/page-cohort",
    "credits",
    "usage",
    "devices",
    "racks",
    RACKS,
    f"{RACKS}?domain=r1",
    "nowhere",
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as made:
        yield made


@pytest.fixture(scope="module")
def served(place: Installation) -> Installation:
    """Lend the installation with a queue in a cohort, where one Job runs and one waits."""
    place.api.wait_one(API_SERVICE, EXPLANATIONS, lambda one: holds(one, "Available"))
    for name in ("page-ours", "page-theirs"):
        place.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for item in (
        cluster_queue("page", {"any": {"cpu": "4"}}, cohortName="page-cohort"),
        local_queue("page-ours", "main", "page"),
        local_queue("page-theirs", "main", "page"),
        job("page-theirs", "big", queue="main", pods=Pods(cpu="3", run_s=LONG_S)),
    ):
        place.api.create(item)
    place.api.wait_one(
        "Job", "big", lambda one: not one["spec"].get("suspend"), namespace="page-theirs"
    )
    place.api.create(job("page-ours", "train", queue="main", pods=Pods(cpu="2", run_s=LONG_S)))
    until(lambda: explained(place)["pending"] == 1, "train waits")
    place.api.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "page-team", "namespace": "page-ours"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "kueue-batch-user-role",
            },
            "subjects": [{"kind": "User", "name": IDENTITIES[TEAM].user}],
        }
    )
    return place


@pytest.fixture(scope="module")
def placed(served: Installation) -> Installation:
    """Lend the same with two racks of two nodes, on one of which a gang sits."""
    api, pool = served.api, {"page.test/pool": "racks"}
    for rack in ("r1", "r2"):
        labels = {**pool, "page.test/rack": rack}
        make_nodes(api, 2, group=f"page-{rack}", resources={"cpu": "2"}, labels=labels)
    levels = [{"nodeLabel": one} for one in ("page.test/rack", "kubernetes.io/hostname")]
    topology = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology"}
    asked_for = {"kueue.x-k8s.io/podset-required-topology": "page.test/rack"}
    pods = Pods(cpu="1", run_s=LONG_S, annotations=asked_for)
    for item in (
        {**topology, "metadata": {"name": "page-dc"}, "spec": {"levels": levels}},
        flavor("page-racks", nodeLabels=pool, topologyName="page-dc"),
        cluster_queue("page-placed", {"page-racks": {"cpu": "8"}}),
        local_queue("page-theirs", "placed", "page-placed"),
        job("page-theirs", "gang", queue="placed", parallelism=3, pods=pods),
    ):
        api.create(item)
    api.wait_one("Job", "gang", lambda one: not one["spec"].get("suspend"), namespace="page-theirs")
    return served


def explained(place: Installation, path: str = "clusterqueues/page") -> Any:
    return asked(place, "GET", f"{API}/{path}/explanation")


@contextmanager
def forwarded(place: Installation, who: str) -> Iterator[str]:
    """Run `queueing ui` as somebody, and give its address."""
    (port,) = free_ports(1)
    command = [PROGRAM, "ui", "--no-browser", "--port", str(port)]
    flags = ["--kubeconfig", str(place.cluster.kubeconfig(who))]
    process = place.cluster.run(f"ui-{who}", [*command, *flags], PYTHONUNBUFFERED="1")
    try:
        process.wait_until(lambda: "Ctrl-C ends it." in process.tail(), timeout_s=60, what="page")
        yield f"http://127.0.0.1:{port}/ui/"
    finally:
        assert process.terminate(grace_s=10) == 0


@pytest.fixture(scope="module")
def admins(served: Installation) -> Iterator[str]:
    with forwarded(served, ADMIN) as url:
        yield url


@pytest.fixture(scope="module")
def teams(served: Installation) -> Iterator[str]:
    with forwarded(served, TEAM) as url:
        yield url


@contextmanager
def window(browser: Browser, **settings: Any) -> Iterator[Page]:
    """Open a window; a script that fails or that the policy forbids fails the test."""
    context = browser.new_context(**settings)
    context.set_default_timeout(WAIT_MS)
    page, complaints = context.new_page(), list[str]()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda told: (
            complaints.append(told.text)
            if told.type == "error" and "Failed to load resource" not in told.text
            else None
        ),
    )
    yield page
    context.close()
    assert complaints == []


def facts(page: Page) -> dict[str, str]:
    """Return what a page of a queue says of it."""
    names, values = page.locator(".facts dt"), page.locator(".facts dd")
    found = dict(zip(names.all_inner_texts(), values.all_inner_texts(), strict=True))
    for row in page.locator("#quota tbody tr").all():
        head, used, nominal = (
            row.locator("th").inner_text(),
            row.locator("td.number").nth(0).inner_text(),
            row.locator("td.number").nth(1).inner_text(),
        )
        found[re.sub(r"\s+", " ", head)] = f"{used} of {nominal}"
    return found


def as_facts(told: Any) -> dict[str, str]:
    """Return the same of an explanation of the API."""
    return {
        "Cohort": told["cohort"],
        "Wait": str(told["pending"]),
        "of these until something changes": str(told["inadmissible"]),
        "Hold quota": str(told["reserving"]),
        "of these admitted": str(told["admitted"]),
    } | {
        f"{one['resource']} {one['flavor']}": f"{one['used']} of {one['nominal']}"
        for one in told["quotas"]
    }


def test_what_the_page_shows_is_what_the_api_says_while_a_load_runs(
    served: Installation, browser: Browser, admins: str
) -> None:
    """Compared is what the API said the same of before and after the page was read."""

    def submit() -> None:
        for number in range(LOAD):
            pods = Pods(cpu="500m", run_s=1.0)
            served.api.create(job("page-ours", f"load-{number}", queue="main", pods=pods))

    seen, compared = set[str](), 0
    load = threading.Thread(target=submit)
    with window(browser, java_script_enabled=False) as page:
        load.start()

        def same() -> bool:
            nonlocal compared
            before = as_facts(explained(served))
            page.goto(f"{admins}clusterqueues/page")
            shown = facts(page)
            if before == as_facts(explained(served)):
                assert shown == before
                compared += 1
                seen.add(json.dumps(shown))
            done = served.api.items("Job", "page-ours")
            return compared >= COMPARED and sum(holds(one, "Complete") for one in done) == LOAD

        until(same, "the load is done, and was compared")
        load.join()
    assert len(seen) > 1, "the load was never seen"


def test_rows_of_a_line_are_those_of_the_api(
    served: Installation, browser: Browser, admins: str
) -> None:
    listed = explained_part(served, "waiting")
    with window(browser) as page:
        page.goto(f"{admins}clusterqueues/page")
        shown = page.locator("#waiting tbody th").all_inner_texts()
        holds_quota = page.locator("#holding tbody th").all_inner_texts()
    assert shown == [f"{one['namespace']}/{one['name']}" for one in listed]
    assert {one.partition("-")[0] for one in holds_quota} == {"page"}  # earlier ones may end yet


def explained_part(place: Installation, part: str) -> list[dict[str, Any]]:
    path = f"{API}/clusterqueues/page/explanation?part={part}&limit=50"
    rows: list[dict[str, Any]] = asked(place, "GET", path)["rows"]
    return rows


def test_an_open_page_shows_what_comes_later_and_can_be_held_still(
    served: Installation, browser: Browser, admins: str
) -> None:
    with window(browser) as page:
        page.goto(f"{admins}clusterqueues/page")
        served.api.create(job("page-ours", "later", queue="main", pods=Pods(cpu="9")))
        expect(page.locator("#waiting")).to_contain_text("job-later-", timeout=WAIT_MS)
        page.get_by_role("button", name="Live updates").click()
        served.api.create(job("page-ours", "unseen", queue="main", pods=Pods(cpu="9")))
        until(lambda: explained(served)["pending"] >= 3, "it waits")
        page.wait_for_timeout(3_000)
        assert "job-unseen-" not in page.locator("#waiting").inner_text()
        page.get_by_role("button", name="Live updates").click()
        expect(page.locator("#waiting")).to_contain_text("job-unseen-", timeout=WAIT_MS)


def test_a_workload_is_explained_with_its_timeline(browser: Browser, admins: str) -> None:
    with window(browser) as page:
        page.goto(f"{admins}clusterqueues/page")
        page.locator("#waiting a", has_text="job-train-").first.click()
        expect(page.locator("h1")).to_contain_text("Waiting")
        expect(page.locator("#timeline")).to_contain_text("Created")
        expect(page.locator("#remedies")).to_contain_text("Request at most 1 cpu")
        expect(page.locator("#holders")).to_contain_text("job-big-")


def test_who_waits_is_told_until_when_and_what_the_api_says_of_it(
    served: Installation, browser: Browser, admins: str
) -> None:
    """An open page shows an estimate as soon as it is there; a line has one for each row."""
    with window(browser) as page:
        page.goto(f"{admins}clusterqueues/page")
        page.locator("#waiting a", has_text="job-train-").first.click()
        when = page.locator("#when")
        expect(when).to_contain_text("possible futures", timeout=2 * WAIT_MS)
        shown, name = when.inner_text(), page.url.rpartition("/")[2]
        told = asked(served, "GET", f"{API}/namespaces/page-ours/workloads/{name}/estimate")
        assert ("Likely" in shown) == told["known"]
        page.goto(f"{admins}clusterqueues/page")
        page.get_by_role("link", name="When will they be admitted?").click()
        cell = page.locator("#waiting tr", has_text="job-train-").first.locator("td").nth(4)
        expect(cell).to_have_text(re.compile(r"unknown|\d"), timeout=WAIT_MS)
        line = asked(served, "GET", f"{API}/clusterqueues/page/estimate")["estimates"]
        assert ("unknown" not in cell.inner_text()) == line[f"page-ours/{name}"]["known"]


def test_racks_show_who_sits_there(placed: Installation, browser: Browser, admins: str) -> None:
    with window(browser) as page:
        page.goto(f"{admins}racks")
        page.get_by_role("link", name="page-racks").click()
        rows = page.locator("main tbody tr")
        expect(rows).to_have_count(2)
        (full,) = [one for one in rows.all() if "job-gang-" in one.inner_text()]
        assert "3 pods" in full.inner_text()
        rack = full.locator("th").inner_text()
        said = asked(placed, "GET", f"{API}/resourceflavors/page-racks/explanation")["domains"]
        (seated,) = [one for one in said if one["seats"]]
        assert (seated["name"], seated["seats"][0]["pods"], seated["fits"]) == (rack, 3, 1)
        full.get_by_role("link", name=rack).click()
        expect(page.locator(".within")).to_contain_text(rack)
        shown = page.locator("main tbody").inner_text()
        assert (shown.count("job-gang-"), shown.count("page-r")) == (2, 2)


@pytest.mark.usefixtures("placed")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_rule_of_accessibility_is_broken(browser: Browser, admins: str, scheme: Any) -> None:
    broken = {}
    with window(browser, color_scheme=scheme) as page:
        page.goto(f"{admins}clusterqueues/page")
        workload = page.locator("#waiting a", has_text="job-train-").first.get_attribute("href")
        assert workload is not None
        for path in (*PAGES, workload.removeprefix("../")):
            page.goto(f"{admins}{path}")
            found = Axe().run(page).response["violations"]
            if found:
                broken[path] = [(one["id"], one["nodes"][0]["html"]) for one in found]
    assert broken == {}


def test_the_keyboard_reaches_everything(browser: Browser, admins: str) -> None:
    with window(browser) as page:
        page.goto(f"{admins}clusterqueues/page")
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("Skip to content")
        page.keyboard.press("Enter")
        expect(page.locator("main")).to_be_focused()
        reached = set()
        for _ in range(40):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.outerHTML.slice(0, 30)"))
        assert any("<button" in one for one in reached)
        assert any("<a href" in one for one in reached)


def test_a_team_reads_what_is_its_own(browser: Browser, teams: str) -> None:
    with window(browser) as page:
        page.goto(teams)
        expect(page.locator("h1")).to_have_text("Your queues")
        shown = page.locator("main tbody th").all_inner_texts()
        assert [one for one in shown if one.startswith("page-")] == ["page-ours/main"]
        page.get_by_role("link", name="page-ours/main").click()
        page.locator("#waiting a", has_text="job-train-").first.click()
        expect(page.locator("#holders")).to_contain_text("(another namespace)")
        assert "page-theirs" not in page.content()
        refused = page.goto(f"{teams}clusterqueues/page")
        assert refused is not None
        assert refused.status == 403


def test_who_shows_a_token_signs_in_at_the_serving_process(
    served: Installation, browser: Browser
) -> None:
    address = served.settings["metrics"]["bindAddress"]
    token = served.cluster.accesses[TEAM].token
    with window(browser, ignore_https_errors=True) as page:
        page.goto(f"https://{address}/ui/")
        page.get_by_label("Token").fill("nobody-knows-me")
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("main")).to_contain_text("does not know this token")
        page.get_by_label("Token").fill(str(token))
        page.get_by_role("button", name="Sign in").click()
        expect(page.locator("footer")).to_contain_text(f"You are {IDENTITIES[TEAM].user}.")
        (cookie,) = page.context.cookies()
        assert (cookie["httpOnly"], cookie["secure"], cookie["sameSite"]) == (True, True, "Strict")
        assert str(token) not in page.content() + page.url
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Token")).to_be_visible()
        assert page.context.cookies() == []
    assert str(token) not in served.controller.process.tail(1000)
