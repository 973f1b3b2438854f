"""Pages of accounts as HTML, from values alone."""

from typing import Any

import pytest

from queueing.serving.ui.columns import balances, usage_chart
from queueing.serving.ui.devices import by_node
from queueing.serving.ui.paths import Page
from queueing.serving.ui.rendering import Frame, inner, whole
from tests.serving.ui.samples import EVIL
from tests.serving.ui.test_drawing import CLAIM, record, slices, used

ACCOUNT = {
    "spec": {"cohortName": "lab"},
    "status": {
        "policy": "fair",
        "asOf": "2026-01-31T12:00:00Z",
        "children": [
            {"kind": "ClusterQueue", "name": EVIL, "balance": "-2 GPUh", "microCredits": -20}
        ],
    },
}
HOURS = [record(9, [used("a", "team/a", 7_200)]), record(10, [used(EVIL, "team/b", 3_600)])]
CHART = usage_chart(HOURS, resource="", by="queue")
NODES = by_node([slices(1, "gpu-2", EVIL)], [CLAIM], named=True)
ALL_SHOWN = {"first": 1, "last": 2, "in_all": 2, "before": "", "after": ""}
FULL: dict[str, tuple[dict[str, Any], str]] = {
    "credits": ({"accounts": [balances(ACCOUNT)]}, 'aria-label="debt -2 GPUh"'),
    "usage": ({"chart": CHART, "may_see_all": True}, "the highest column is 2."),
    "devices": ({"nodes": NODES, "named": True, "node_parts": ALL_SHOWN}, "gpu-2: team/claim"),
}


def page(name: str) -> Page:
    values, _ = FULL[name]
    return Page(title=name, template=f"{name}.html", values=values)


FRAME = Frame(path="usage?by=queue", visitor=EVIL, now=0.0, may_leave=True)


@pytest.mark.parametrize("name", FULL)
def test_a_page_shows_its_values_and_escapes_what_others_write(name: str) -> None:
    text = whole(page(name), FRAME)
    assert FULL[name][1] in text
    assert EVIL not in text
    assert "&lt;script&gt;" in text


def test_what_changes_is_the_same_without_what_surrounds_it() -> None:
    changed = inner(page("usage"), FRAME)
    assert changed.strip().startswith("<h1>Usage</h1>")
    assert changed.strip() in whole(page("usage"), FRAME)


@pytest.mark.parametrize(
    ("path", "want"),
    [("", "./"), ("usage?by=a/b", "./"), ("a/b", "../"), ("namespaces/a/workloads/b", "../../../")],
)
def test_the_way_back_is_relative_so_that_a_page_is_served_anywhere(path: str, want: str) -> None:
    assert Frame(path=path, visitor="", now=0.0).root == want
