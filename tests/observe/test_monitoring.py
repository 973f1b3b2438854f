"""Alerts and dashboards ask for metrics and labels that exist, and their files are fresh."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from queueing.observe.metric_rows import MetricKind
from queueing.observe.metric_table import TABLE
from queueing.observe.metrics import ROLE_LABEL
from queueing.observe.monitoring.alerts import ALERTS
from queueing.observe.monitoring.dashboards import DASHBOARDS
from queueing.observe.monitoring.files import FILES, FOLDER, stale

ROOT = Path(__file__).parents[2]
ROWS = {row.full_name: row for row in TABLE}
NAMED = re.compile(r"\b((?:kueue|queueing)_[a-z_]+)(?:\{([^}]*)\})?")
GROUPED = re.compile(r"\b(?:by|on) \(([^)]*)\)")
EXPRESSIONS = {
    **{one.name: one.expression for one in ALERTS},
    **{
        f"{board.uid}: {panel.title} {number}": query.expression
        for board in DASHBOARDS
        for panel in board.panels
        for number, query in enumerate(panel.queries)
    },
}


def series(expression: str) -> Iterator[tuple[str, set[str]]]:
    """Yield each metric that an expression names, without suffix, with the labels it selects."""
    for name, chosen in NAMED.findall(expression):
        labels = set(re.findall(r"(\w+)(?:=~|!=|=)", chosen or ""))
        yield re.sub(r"_bucket$", "", name), labels


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_what_is_asked_for_exists(expression: str) -> None:
    named = dict(series(expression))
    assert named
    assert set(named) <= set(ROWS)
    for name, labels in named.items():
        assert labels <= {*ROWS[name].labels, ROLE_LABEL}
    known = {label for name in named for label in ROWS[name].labels} | {ROLE_LABEL, "le"}
    grouped = {one.strip() for found in GROUPED.findall(expression) for one in found.split(",")}
    assert grouped - {""} <= known


@pytest.mark.parametrize("expression", EXPRESSIONS.values(), ids=EXPRESSIONS)
def test_a_gauge_that_followers_serve_too_is_not_counted_twice(expression: str) -> None:
    """A sum over replicas needs the label of one of them; a maximum does not."""
    summed = re.findall(
        r"sum(?: by \([^)]*\))? \(?((?:kueue|queueing)_\w+)(\{[^}]*\})?", expression
    )
    for name, chosen in summed:
        row = ROWS[re.sub(r"_bucket$", "", name)]
        if row.followed and row.kind is MetricKind.GAUGE and row.name != "leader":
            assert ROLE_LABEL in chosen


@pytest.mark.parametrize("board", DASHBOARDS, ids=lambda one: one.uid)
def test_the_choices_of_a_dashboard_exist(board: object) -> None:
    found = next(one for one in DASHBOARDS if one is board)
    for one in found.variables:
        assert one.label in ROWS[one.metric].labels
    text = FILES[f"{FOLDER}/dashboards/{found.uid}.json"]()
    used = set(re.findall(r"\$([a-z][a-z_]*)", text)) - {"datasource"}
    assert used == {one.name for one in found.variables}
    places = [tuple(one["gridPos"].values()) for one in json.loads(text)["panels"]]
    assert len(set(places)) == len(places)


def test_names_are_given_once_and_every_alert_has_its_runbook() -> None:
    names = [one.name for one in ALERTS]
    assert len(set(names)) == len(names)
    rules = yaml.safe_load(FILES[f"{FOLDER}/rules.yaml"]())
    (group,) = rules["groups"]
    assert [one["alert"] for one in group["rules"]] == names
    page = FILES["docs/reference/alerts.md"]()
    for one in group["rules"]:
        anchor = one["annotations"]["runbook"].partition("#")[2]
        assert f"\n## {one['alert']}\n" in page
        assert anchor == one["alert"].lower()
    operator = yaml.safe_load(FILES[f"{FOLDER}/prometheusrule.yaml"]())
    assert operator["spec"] == rules


def test_the_files_in_the_repository_are_fresh() -> None:
    assert stale(ROOT) == []
