"""An object of a described kind, as the controller sees it."""

from typing import Any

import msgspec
import pytest
from msgspec.json import encode

from queueing.kinds import jobs
from queueing.kinds.compiler import compiled
from queueing.kinds.jobs import DescribedJob, read_job
from queueing.kinds.registry import FRAMEWORKS, JOB, kind_of
from queueing.translate.jobs.injection import ConflictError
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.wire.workloads import Workload
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec
from tests.batch_jobs import batch_job
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


def test_no_more_pods_are_reclaimable_than_a_job_with_more_workers_than_work_asks_for() -> None:
    spec = {"parallelism": 10, "completions": 5}
    job = batch_job({"metadata": {"name": "j"}, "spec": spec, "status": {"succeeded": 1}})
    assert [(one.count, one.reclaimable) for one in job.pod_sets] == [(5, 1)]


def test_a_suspended_object_that_asks_for_more_pods_by_its_status_does_not_only_wait() -> None:
    pod_set = {**LAB["podSets"][0], "count": "object.status.wanted"}
    kind = compiled(QueueableKindSpec.from_wire({**LAB, "podSets": [pod_set]}))

    def read(wanted: int) -> DescribedJob:
        pod = {"spec": {"containers": [{"name": "c"}]}}
        thing = {"metadata": {"name": "t"}, "spec": {"pod": pod, "paused": True}}
        status = {"wanted": wanted, "running": 0}
        return read_job(kind, encode({**thing, "status": status}), lambda _: None)

    assert read(2).only_waits_as(read(2))
    assert not read(3).only_waits_as(read(2))


def test_objects_of_which_the_same_is_read_are_asked_once_and_keep_their_own_templates() -> None:
    def read(image: str, running: int = 0) -> DescribedJob:
        pod = {"spec": {"containers": [{"name": "c", "image": image}], "priorityClassName": image}}
        thing = {"metadata": {"name": image}, "spec": {"pod": pod}, "status": {"running": running}}
        return read_job(kind, encode(thing), lambda _: None)

    kind = compiled(QueueableKindSpec.from_wire(LAB))
    first, second, third = read("a"), read("b"), read("a", running=1)
    assert [one.active for one in (first, second, third)] == [False, False, True]
    assert [one.priority_class for one in (first, second, third)] == ["a", "b", "a"]
    assert second.template.spec.containers[0].image == "b"
    assert second.source.pod_sets[0].template == second.pod_sets[0].encoded_template
    assert len(kind.answers) == 2


def test_since_when_something_is_so_makes_no_object_another() -> None:
    one = FRAMEWORKS[JOB]
    kind = compiled(one.spec, one.hooks)
    for second in range(3):
        time = f"2026-01-01T00:00:0{second}Z"
        told = {"type": "Suspended", "status": "True", "lastTransitionTime": time}
        spec = {"template": {"spec": {"containers": [{"name": "c"}]}}}
        status = {"startTime": time, "conditions": [told]}
        thing = {"metadata": {"name": "j"}, "spec": spec, "status": status}
        job = read_job(kind, encode(thing), lambda _: None)
        assert job.suspension_seen == 1767225600 + second
        assert job.reset() == MergePatch(body={"status": {"startTime": None}})
    assert len(kind.answers) == 1


def test_a_template_of_which_an_expression_reads_a_part_is_kept_whole() -> None:
    count = "size(object.spec.second.spec.containers)"
    pod_sets = [
        {"name": "first", "count": count, "template": "spec.first"},
        {"name": "second", "count": "1", "template": "spec.second"},
    ]
    kind = compiled(QueueableKindSpec.from_wire({**LAB, "podSets": pod_sets}))
    pod = {"spec": {"containers": [{"name": "c"}], "tolerations": [{"key": "mine"}]}}
    spec = {"first": pod, "second": pod}
    thing = {"metadata": {"name": "t"}, "spec": spec, "status": {"running": 0}}
    job = read_job(kind, encode(thing), lambda _: None)
    assert [one.count for one in job.pod_sets] == [1, 1]
    assert [msgspec.json.decode(one.encoded_template) for one in job.pod_sets] == [pod, pod]


def test_what_a_stop_resets_is_seen_by_expressions_that_read_a_part_of_it() -> None:
    state = {"expression": "object.status.job.state == 'Running'"}
    suspend = {"field": "spec.paused", "reset": ["status.job"]}
    kind = compiled(QueueableKindSpec.from_wire({**LAB, "suspend": suspend, "active": state}))
    for name in ("Running", "Over"):
        pod = {"spec": {"containers": [{"name": "c"}]}}
        thing = {
            "metadata": {"name": "t"},
            "spec": {"pod": pod},
            "status": {"job": {"state": name}},
        }
        job = read_job(kind, encode(thing), lambda _: None)
        assert (job.active, job.problem) == (name == "Running", "")
        assert job.reset() == MergePatch(body={"status": {"job": None}})


def test_an_object_that_lacks_containers_says_so_whatever_another_like_it_said() -> None:
    kind = compiled(QueueableKindSpec.from_wire(LAB))
    pod: dict[str, Any] = {"spec": {"containers": [{"name": "c"}]}}
    thing = {"metadata": {"name": "t"}, "spec": {"pod": pod}, "status": {"running": 0}}
    assert read_job(kind, encode(thing), lambda _: None).problem == ""
    pod["spec"] = {}
    job = read_job(kind, encode(thing), lambda _: None)
    assert "has no containers" in job.problem
    assert job.pod_sets == ()


def test_what_is_remembered_of_objects_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "_REMEMBERED", 3)
    kind = compiled(QueueableKindSpec.from_wire(LAB))
    for count in range(9):
        pod = {"spec": {"containers": [{"name": "c"}]}}
        spec = {"pod": pod, "pods": count}
        thing = {"metadata": {"name": "t"}, "spec": spec, "status": {"running": 0}}
        assert read_job(kind, encode(thing), lambda _: None).pods == count
        assert len(kind.answers) <= 3


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
