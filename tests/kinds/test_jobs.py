"""An object of a described kind, as the controller sees it."""

from typing import Any

import msgspec
import pytest
from msgspec.json import encode

from queueing.kinds.compiler import compiled
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.registry import JOB, kind_of
from queueing.translate.jobs import batch
from queueing.translate.jobs.injection import ConflictError
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec
from tests.kinds.rows import ROWS, Row, additions, applied, loaded, sample

ALIVE = [row for row in ROWS if row.stopped_by == "suspension"]
LAB: dict[str, Any] = {
    "resource": {"group": "lab.example.com", "version": "v1", "kind": "Trial", "plural": "trials"},
    "suspend": {"field": "spec.paused"},
    "podSets": [{"name": "main", "count": "object.spec.?pods", "template": "spec.pod"}],
    "active": {"expression": "object.status.running > 0"},
}


def named(rows: list[Row]) -> list[str]:
    return [one.framework for one in rows]


def job_of(row: Row, thing: dict[str, Any]) -> DescribedJob:
    related = loaded(row.related) if row.related else None
    return read_job(kind_of(row.framework), encode(thing), lambda _: related)


def workload_of(job: DescribedJob) -> bytes:
    return encode({"metadata": {"name": "w"}, "spec": {"podSets": job.wire_pod_sets()}})


def trial(**fields: Any) -> DescribedJob:
    kind = compiled(QueueableKindSpec.from_wire(LAB))
    pod = {"spec": {"containers": [{"name": "c"}]}}
    metadata = {"name": "t", "namespace": "ns"}
    thing = {"metadata": metadata, "spec": {"pod": pod}, "status": {"running": 0}}
    return read_job(kind, encode({**thing, **fields}), lambda _: None)


@pytest.mark.parametrize("row", ALIVE, ids=named(ALIVE))
def test_a_job_fits_the_workload_that_is_made_of_it(row: Row) -> None:
    job = job_of(row, sample(row))
    assert job.problem == ""
    assert {one.name: one.count for one in job.pod_sets} == row.pod_sets
    assert job.fits(msgspec.json.decode(workload_of(job), type=Workload))


@pytest.mark.parametrize("row", ALIVE, ids=named(ALIVE))
def test_a_started_job_is_known_by_its_marks_and_its_stop_takes_them_away(row: Row) -> None:
    thing = sample(row)
    before = job_of(row, thing)
    kept = workload_of(before)
    assert not before.was_started
    for change in before.start(additions(row)):
        thing = applied(thing, change)
    running = job_of(row, thing)
    assert running.was_started
    assert not running.suspended
    stopped = applied(thing, running.undo(msgspec.json.decode(kept, type=Workload), kept))
    assert stopped == sample(row)


def test_a_template_that_quotes_the_name_of_our_mark_was_not_started_by_that() -> None:
    field = "metadata.annotations['kueue.x-k8s.io/workload']"
    read = {"name": "W", "valueFrom": {"fieldRef": {"fieldPath": field}}}
    job = trial(spec={"pod": {"spec": {"containers": [{"name": "c", "env": [read]}]}}})
    assert not job.was_started


def test_a_batch_job_is_the_same_by_its_own_code_and_by_its_description() -> None:
    (row,) = (row for row in ROWS if row.framework == JOB)
    thing = sample(row) | {"status": {"active": 2, "ready": 1}}
    described = job_of(row, thing)
    own = batch.view(msgspec.json.decode(encode(thing), type=Job))
    for told in ("kind", "suspended", "pods", "least_pods", "active", "ready", "end"):
        assert getattr(described, told) == getattr(own, told), told


def test_no_two_kinds_share_a_key() -> None:
    keys = {job_of(row, sample(row)).key.partition(" ")[2] for row in ALIVE}
    assert len(keys) == len(ALIVE)


def test_pod_sets_that_cannot_be_read_are_none_and_say_why() -> None:
    job = trial(spec={"pods": -3, "pod": {"spec": {"containers": [{"name": "c"}]}}})
    assert job.pod_sets == ()
    assert "-3 is no count" in job.problem
    assert "spec.podSets[0].count of the description of Trial" in job.problem
    assert not job.fits(Workload(metadata=job.metadata))
    assert job.suspension(mark=False) == MergePatch(body={"spec": {"paused": True}})
    with pytest.raises(ConflictError):
        job.start(())


def test_a_state_that_cannot_be_told_keeps_quota() -> None:
    job = trial(status={})
    assert job.active
    assert not job.ready
    assert job.end is None
    assert len(job.pod_sets) == 1
    assert "object.status.running > 0 fails on the object" in job.problem


def test_whether_a_job_is_ignored_is_told_where_it_cannot_be_read() -> None:
    kind = compiled(QueueableKindSpec.from_wire({**LAB, "ignored": "object.spec.skipped"}))
    pod = {"spec": {"containers": [{"name": "c"}]}}
    thing = {"metadata": {"name": "t"}, "spec": {"pod": pod}, "status": {"running": 0}}
    job = read_job(kind, encode(thing), lambda _: None)
    assert not job.ignored
    assert "spec.ignored of the description of Trial" in job.problem


def test_an_object_of_another_shape_is_left_as_it_is() -> None:
    job = trial(spec="none")
    assert job.unreadable
    assert job.active
    assert job.metadata.name == "t"
    assert "cannot be read" in job.problem
