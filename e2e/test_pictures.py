"""The pictures of the README are of what runs: the page and `queueing top`, on the sample queues.

`QUEUEING_PICTURES=docs/pictures .venv/bin/python -m pytest e2e/test_pictures.py` keeps them.
"""

import io
import json
import os
import pty
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Browser, expect
from rich.console import Console
from rich.text import Text

from e2e.browser import WAIT_MS, browsing
from e2e.process import Process, Program, Reaper
from e2e.serving import until
from queueing.cli.local.cluster import sample_jobs, samples_folder
from queueing.sim.documents import load

PROGRAM = str(Path(sys.executable).with_name("queueing"))
WIDTH, COLUMNS = 1200, 118
LONG_S = "1800"
HEAVIEST = 250_000
"""Bytes of a picture, so that a clone stays small."""
WHEN = "#when p:text-matches('^Likely ')"
"""Where the page says until when a workload waits."""
FONTS = re.compile(r"@font-face \{[^}]*\}\s*")


@dataclass(frozen=True, slots=True)
class Dev:
    """A running `queueing dev`, with Jobs of the sample teams that run and wait for long."""

    api: str
    page: str
    kubeconfig: str


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    log = tmp_path_factory.mktemp("dev") / "dev.log"
    with Reaper() as reaper:
        program = Program("dev", [PROGRAM, "dev"], log, environment={"PYTHONUNBUFFERED": "1"})
        process = Process(program, reaper)
        try:
            process.wait_until(lambda: "Ctrl-C stops it." in log.read_text(), timeout_s=90, what="")
            told = log.read_text()
            found = [re.search(pattern, told) for pattern in (URL, PAGE, KUBECONFIG)]
            place = Dev(*(one[1] for one in found if one is not None))
            for one in (*(one.value for one in sample_jobs()), *gangs()):
                submit(place, one)
            until(lambda: len(waiting(place)) > 5, "the queues are full")
            yield place
        finally:
            process.terminate(grace_s=15)


URL = re.compile(r"listens on (http://\S+)\. ")
PAGE = re.compile(r"In a browser: (\S+)")
KUBECONFIG = re.compile(r"--kubeconfig (\S+)")


def gangs() -> Iterator[dict[str, Any]]:
    """Yield three gangs, of which each needs a rack of the two that there are."""
    for number in range(1, 4):
        (gang,) = load([str(samples_folder() / "racks" / "gang.yaml")])
        gang.value["metadata"]["name"] = f"gang-{number}"
        yield gang.value


def submit(place: Dev, job: dict[str, Any]) -> None:
    """Submit a Job that runs for long, and says so: until when others wait is known then."""
    metadata = job["metadata"]
    metadata.setdefault("annotations", {})["queueing.dev/simulate-seconds"] = LONG_S
    metadata["labels"]["kueue.x-k8s.io/max-exec-time-seconds"] = LONG_S
    path = f"/apis/batch/v1/namespaces/{job['metadata']['namespace']}/jobs"
    headers = {"Content-Type": "application/json"}
    body = json.dumps(job).encode()
    with urllib.request.urlopen(urllib.request.Request(place.api + path, body, headers)) as answer:
        assert answer.status == 201


def workloads(place: Dev) -> list[dict[str, Any]]:
    with urllib.request.urlopen(f"{place.api}/apis/kueue.x-k8s.io/v1beta2/workloads") as answer:
        items: list[dict[str, Any]] = json.loads(answer.read())["items"]
    return items


def waiting(place: Dev) -> list[dict[str, Any]]:
    """Return Workloads of which the controller has said that they wait."""
    return [
        one
        for one in workloads(place)
        for condition in one.get("status", {}).get("conditions") or ()
        if (condition["type"], condition["status"]) == ("QuotaReserved", "False")
    ]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with browsing() as made:
        yield made


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """Return where pictures go: nowhere in particular, unless somebody wants to keep them."""
    return Path(os.environ.get("QUEUEING_PICTURES", tmp_path))


class Picture(NamedTuple):
    """A picture of the page: at which path, when what is shown, and how bright."""

    name: str
    path: str
    shows: str
    scheme: Any
    height: int = 760


PICTURES = (
    Picture("page-queues", "", "svg.bar", "light"),
    Picture("page-workload", "namespaces/{namespace}/workloads/{name}", WHEN, "dark"),
    Picture("page-racks", "racks/h100?domain=b1", "ul.seats", "light", height=440),
)


@pytest.mark.parametrize("wanted", PICTURES, ids=lambda one: one.name)
def test_the_page_is_drawn(dev: Dev, browser: Browser, kept: Path, wanted: Picture) -> None:
    meta = next(one for one in waiting(dev) if "train-large" in one["metadata"]["name"])["metadata"]
    context = browser.new_context(
        color_scheme=wanted.scheme,
        viewport={"width": WIDTH, "height": wanted.height},
        device_scale_factor=1,
    )
    page = context.new_page()
    page.goto(dev.page + wanted.path.format(**meta))
    expect(page.locator(wanted.shows).first).to_be_visible(timeout=WAIT_MS)
    picture = kept / f"{wanted.name}.png"
    page.screenshot(path=picture)
    context.close()
    assert 10_000 < picture.stat().st_size < HEAVIEST


def test_top_is_drawn(dev: Dev, kept: Path) -> None:
    """What a terminal would show, with its colours."""
    ours, theirs = pty.openpty()
    command = [PROGRAM, "top", "--once", "--kubeconfig", dev.kubeconfig]
    environment = {**os.environ, "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    with subprocess.Popen(command, stdout=theirs, env=environment) as process:
        os.close(theirs)
        told = everything(ours)
        assert process.wait(60) == 0
    picture = kept / "top.svg"
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text("$ queueing top", style="bold"))
    console.print(Text.from_ansi(told.replace("\r", "")))
    svg = console.export_svg(title="queueing top", font_aspect_ratio=0.61)
    picture.write_text(FONTS.sub("", svg))
    assert all(name in told for name in ("vision", "language", "data", "WAITS"))
    assert picture.stat().st_size < HEAVIEST


def everything(end: int) -> str:
    """Read what a program writes to a terminal until it has ended."""
    found = b""
    while True:
        try:
            chunk = os.read(end, 65_536)
        except OSError:  # how Linux says that nobody has the other end any more
            chunk = b""
        if not chunk:
            os.close(end)
            return found.decode()
        found += chunk
