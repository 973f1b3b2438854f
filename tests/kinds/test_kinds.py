"""Every built-in kind, from one table: what is read of it, and how it starts and stops."""

import json
import sys
from typing import Any

import msgspec
import pytest

from queueing.kinds.paths import ABSENT
from queueing.kinds.registry import BUILT_IN
from queueing.kinds.starting import NeverSuspendedError, start, suspend, undo
from queueing.kinds.view import read
from tests.kinds.rows import (
    ROWS,
    Row,
    Wire,
    additions,
    applied,
    at,
    originals,
    sample,
    viewed,
)


def rows(*, of: str = "", stopped_by: str = "") -> pytest.MarkDecorator:
    """Run a test for every row, or those in which something is said."""
    chosen = [
        row for row in ROWS if (not of or of in row.statuses) and stopped_by in ("", row.stopped_by)
    ]
    return pytest.mark.parametrize("row", chosen, ids=[row.framework for row in chosen])


def test_every_built_in_kind_has_a_row() -> None:
    assert sorted(row.framework for row in ROWS) == sorted(one.name for one in BUILT_IN)


def test_what_kinds_may_do_is_that_of_the_specification() -> None:
    assert {one.name for one in BUILT_IN if not one.prebuilt} == {
        "deployment",
        "kubeflow.org/jaxjob",
        "leaderworkerset.x-k8s.io/leaderworkerset",
        "sparkoperator.k8s.io/sparkapplication",
        "statefulset",
    }
    assert {one.name for one in BUILT_IN if one.elastic} == {
        "batch/job",
        "ray.io/raycluster",
        "ray.io/rayjob",
        "ray.io/rayservice",
    }
    assert {one.name: one.implies for one in BUILT_IN if one.implies} == dict.fromkeys(
        ("deployment", "leaderworkerset.x-k8s.io/leaderworkerset", "statefulset"), ("pod",)
    )


@rows()
def test_pod_sets_are_those_of_the_specification(row: Row) -> None:
    view = viewed(row, sample(row))
    assert {one.name: one.count for one in view.pod_sets} == row.pod_sets


@rows()
def test_the_priority_class_is_the_objects_own_or_that_of_its_first_pods(row: Row) -> None:
    assert viewed(row, sample(row)).priority_class == row.priority_class


@rows()
def test_an_object_as_it_is_created_waits(row: Row) -> None:
    view = viewed(row, sample(row))
    assert (view.suspended, view.active, view.ready, view.ended) == (True, False, False, None)
    assert view.reclaimable == {}
    assert not view.ignored
    assert not view.on_hold


@rows(of="active")
def test_an_object_is_active_while_its_pods_run(row: Row) -> None:
    assert viewed(row, sample(row, status=row.statuses["active"])).active


@rows(of="ready")
def test_an_object_is_ready_when_all_its_pods_are(row: Row) -> None:
    assert viewed(row, sample(row, status=row.statuses["ready"])).ready


@rows(of="succeeded")
def test_an_object_that_succeeded_has_ended_well(row: Row) -> None:
    ended = viewed(row, sample(row, status=row.statuses["succeeded"])).ended
    assert ended is not None
    assert (ended.succeeded, ended.message) == (True, row.messages["succeeded"])


@rows(of="failed")
def test_an_object_that_failed_has_ended_badly(row: Row) -> None:
    ended = viewed(row, sample(row, status=row.statuses["failed"])).ended
    assert ended is not None
    assert (ended.succeeded, ended.message) == (False, row.messages["failed"])


@rows(of="reclaimable")
def test_pods_that_are_done_are_reclaimable(row: Row) -> None:
    view = viewed(row, sample(row, status=row.statuses["reclaimable"]))
    assert view.reclaimable == row.reclaimable


@rows(stopped_by="suspension")
def test_a_started_object_has_what_its_admission_adds_to_each_pod_set(row: Row) -> None:
    started, patches = started_of(row)
    assert not viewed(row, started).suspended
    assert {type(one) for one in patches} <= {row.patch, type(patches[-1])}
    for place, one in zip(row.injected, additions(row), strict=True):
        assert one.labels.items() <= at(started, place).items(), place


@rows(stopped_by="suspension")
def test_a_start_and_its_undoing_leave_no_trace(row: Row) -> None:
    started, _ = started_of(row)
    kept = originals(viewed(row, sample(row)))
    restored = applied(started, undo(viewed(row, started), kept))
    assert written(restored) == written(sample(row))
    assert undo(viewed(row, restored), kept) is None


@rows(stopped_by="suspension")
def test_an_object_is_suspended_alone_when_its_pod_sets_cannot_be_told(row: Row) -> None:
    started, _ = started_of(row)
    stopped = applied(started, suspend(viewed(row, started)))
    assert viewed(row, stopped).suspended
    assert [at(stopped, one) for one in row.injected] == [at(started, one) for one in row.injected]


@rows(stopped_by="pods")
def test_an_object_that_is_queued_through_its_pods_is_never_written_at_a_start(row: Row) -> None:
    view = viewed(row, sample(row))
    assert start(view, additions(row)) == []
    with pytest.raises(NeverSuspendedError, match="its pods are deleted"):
        undo(view, originals(view))


@rows(stopped_by="deletion")
def test_a_pod_starts_by_losing_the_gate_of_ours_alone(row: Row) -> None:
    (patch,) = start(viewed(row, sample(row)), additions(row))
    started = applied(sample(row), patch)
    gates = [one["name"] for one in started["spec"]["schedulingGates"]]
    assert gates == ["example.com/own", "kueue.x-k8s.io/topology"]
    assert started["spec"]["nodeSelector"] == {"disk": "local", "cloud.example.com/pool": "spot"}
    with pytest.raises(NeverSuspendedError):
        suspend(viewed(row, started))


@rows()
def test_an_object_holds_no_message(row: Row) -> None:
    message = msgspec.json.encode(sample(row))
    kind = viewed(row, sample(row)).kind
    users = sys.getrefcount(message)
    view = read(kind, message)
    assert sys.getrefcount(message) == users
    assert msgspec.json.encode(view.struct) == msgspec.json.encode(kind.decoder.decode(message))


@rows()
def test_a_null_is_an_absent_field(row: Row) -> None:
    view = viewed(row, sample(row, status=None))
    assert view.ended is None
    assert {one.name: one.count for one in view.pod_sets} == row.pod_sets


def written(thing: Wire) -> str:
    """Return the bytes that an API server stores."""
    return json.dumps(thing, sort_keys=True)


def started_of(row: Row) -> tuple[Wire, list[Any]]:
    """Start the sample of a row."""
    started = sample(row)
    patches = start(viewed(row, started), additions(row))
    for patch in patches:
        started = applied(started, patch)
    assert at(started, "spec.nothing") is ABSENT
    return started, patches
