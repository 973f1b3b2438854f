"""The table of what is refused and why, against the rules as they are evaluated here."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest

from queueing.webhooks.admission import Review, WebhookSettings, check, findings
from queueing.webhooks.findings import Finding, code_of
from queueing.webhooks.jobs import DefaultingContext
from queueing_api.crd.generate import as_stored
from queueing_api.crd.rules import RULES
from queueing_api.kueue import v1beta2
from queueing_api.queueing import v1alpha1
from tests.webhooks.table import Row, Wire, merge_patch, merged, rows


def stored(kind: str, wire: Wire) -> Wire:
    """Return an object as whoever judges it sees it: with the defaults of its definition."""
    model = getattr(v1beta2, kind, None) or getattr(v1alpha1, kind, None)
    return wire if model is None else as_stored(model, wire)


def writes(row: Row) -> Iterator[tuple[Wire, Wire | None, Wire]]:
    """Yield what is written, over what, and the request: status and all else are two writes."""
    new, old = stored(row.kind, row.new), row.old
    if old is None:
        yield new, None, {}
        return
    old = stored(row.kind, old)
    between = {key: one for key, one in old.items() if key != "status"} | (
        {"status": new["status"]} if "status" in new else {}
    )
    if between != old and new.get("spec") != old.get("spec"):
        yield between, old, {"subResource": "status"}
        yield new, between, {}
    else:
        yield new, old, {"subResource": "status"} if between != old else {}


def asked(row: Row) -> list[Finding]:
    """Return what a webhook finds that is asked about a row."""
    rules = WebhookSettings(
        reject_unknown_flavors_of_checks=row.around.get("reject_unknown_flavors", False)
    )
    around = DefaultingContext(default_local_queue=row.around.get("default_queue", False))
    return [
        finding
        for new, old, request in writes(row)
        for finding in findings(
            Review(
                kind=row.kind,
                operation="CREATE" if old is None else "UPDATE",
                new=new,
                old=old,
                around=around,
                request=request,
            ),
            rules,
        )
    ]


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows()])
def test_what_is_refused_says_why(row: Row) -> None:
    found = asked(row)
    told = "\n".join(map(str, found))
    if row.says:
        assert row.says in told
        # What the API server refuses natively never gets here.
        assert row.natively or code_of(found) == row.code
    else:
        assert told == ""


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows() if not row.old])
def test_a_plan_says_the_same_of_what_is_new(row: Row) -> None:
    assert check(row.kind, stored(row.kind, row.new)) == asked(row)


def test_the_table_is_large_enough_to_be_called_one() -> None:
    assert len(rows()) >= 120


def test_no_row_stands_twice() -> None:
    counted = Counter(row.id for row in rows())
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("row", [pytest.param(row, id=row.id) for row in rows() if row.old])
def test_a_change_can_be_sent_as_a_patch(row: Row) -> None:
    assert merged(row.old, merge_patch(row.old, row.new)) == row.new


@pytest.mark.parametrize("kind", sorted(RULES["v1alpha1"]))
def test_every_rule_of_our_own_definitions_has_a_row(kind: str) -> None:
    said = [row.says for row in rows() if row.kind == kind and row.says]
    without = [
        rule.message
        for rule in RULES["v1alpha1"][kind]
        if not any(one in rule.message or rule.message in one for one in said)
    ]
    assert without == []


def test_a_pod_whose_topology_would_be_refused_today_may_get_a_label() -> None:
    """It was let in before. No server with these rules makes one, so that it is no row."""
    (sound,) = (row for row in rows() if row.id == "Pod: a pod")
    wrong = {
        "kueue.x-k8s.io/podset-required-topology": "the rack",
        "kueue.x-k8s.io/podset-slice-size": "two",
    }
    old = merged(sound.new, {"metadata": {"annotations": wrong}})
    new = merged(old, {"metadata": {"labels": {"team": "vision"}}})
    assert asked(replace(sound, new=new)), "at its creation"
    assert asked(replace(sound, old=old, new=new)) == []
