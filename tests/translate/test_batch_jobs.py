from typing import Any

import msgspec
import pytest

from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.composition import (
    MissingClass,
    Origin,
    Priority,
    PriorityClasses,
    compose,
    max_execution_time,
    priority_of,
    workload_name,
)
from queueing.translate.jobs.indexes import count_of_union
from queueing.translate.jobs.injection import Injection
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.cluster import PriorityClass
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import WorkloadPriorityClass
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

POD = {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]}


def job(
    template: dict[str, Any] | None = None,
    status: dict[str, Any] | None = None,
    metadata: dict[str, Any] | None = None,
    **spec: Any,
) -> JobView:
    document = {
        "metadata": {"name": "train", "namespace": "team", "uid": "u-1", **(metadata or {})},
        "spec": {"suspend": True, "template": template or {"spec": POD}, **spec},
        "status": status or {},
    }
    return batch_job(document)


def workload_of(found: JobView, **status: Any) -> Workload:
    origin = Origin(kind=found.kind, metadata=found.metadata)
    document = msgspec.json.decode(compose(origin, found.wire_pod_sets(), Priority(value=0)))
    return read(Workload, {**document, "status": status})


def reserving(count: int) -> dict[str, Any]:
    assignment = {"name": "main", "count": count, "flavors": {}, "resourceUsage": {}}
    return {"admission": {"clusterQueue": "cq", "podSetAssignments": [assignment]}}


def test_the_workload_of_a_job_says_whose_it_is_and_what_it_needs() -> None:
    template = {"metadata": {"creationTimestamp": None, "labels": {"l": "1"}}, "spec": POD}
    annotations = {"kueue.x-k8s.io/admission-gated-by": "a.example/x", "other": "1"}
    found = job(
        template,
        parallelism=4,
        completions=3,
        metadata={
            "labels": {
                "kueue.x-k8s.io/queue-name": "lq",
                "kueue.x-k8s.io/max-exec-time-seconds": "60",
                "cost-centre": "7",
            },
            "annotations": annotations,
        },
    )
    origin = Origin(kind=found.kind, metadata=found.metadata, labels_to_copy=("cost-centre", "no"))
    priority = Priority(value=5, reference={"group": "g", "kind": "k", "name": "n"})
    got = msgspec.json.decode(compose(origin, found.wire_pod_sets(), priority))
    meta, spec = got["metadata"], got["spec"]
    assert meta["name"] == origin.name
    assert meta["labels"] == {"cost-centre": "7", "kueue.x-k8s.io/job-uid": "u-1"}
    assert meta["annotations"] == {
        "kueue.x-k8s.io/admission-gated-by": "a.example/x",
        "kueue.x-k8s.io/job-owner-gvk": "batch/v1, Kind=Job",
        "kueue.x-k8s.io/job-owner-name": "train",
    }
    assert meta["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]
    owner = meta["ownerReferences"][0]
    assert (owner["kind"], owner["uid"], owner["controller"]) == ("Job", "u-1", True)
    assert (spec["queueName"], spec["maximumExecutionTimeSeconds"]) == ("lq", 60)
    assert (spec["priority"], spec["priorityClassRef"]["name"]) == (5, "n")
    pod_set = spec["podSets"][0]
    assert pod_set["count"] == 3
    assert pod_set["template"] == {"metadata": {"labels": {"l": "1"}}, "spec": POD}


def container(name: str, *variables: tuple[str, str]) -> dict[str, Any]:
    env = [{"name": variable, "value": value} for variable, value in variables]
    return {"name": name, "image": "x", "env": env}


def test_a_variable_that_is_named_twice_stands_once_in_the_workload_with_its_last_value() -> None:
    by_field = {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    main = container("main", ("A", "1"), ("B", "2"), ("A", "3"), ("C", "4"))
    main["env"].append(by_field)
    spec = {
        "initContainers": [container("first", ("A", "1"), ("A", "2"))],
        "containers": [main, container("other", ("A", "5"), ("B", "6"))],
        "hostNetwork": True,
    }
    found = job({"spec": spec})
    workload = workload_of(found)
    (pod_set,) = msgspec.json.decode(msgspec.json.encode(found.wire_pod_sets()))
    assert pod_set["template"]["spec"] == {
        "initContainers": [container("first", ("A", "2"))],
        "containers": [
            {
                **container("main"),
                "env": [{"name": "A", "value": "3"}, by_field, {"name": "C", "value": "4"}],
            },
            container("other", ("A", "5"), ("B", "6")),
        ],
        "hostNetwork": True,
    }
    assert found.fits(workload)
    assert not found.differs(workload)


def test_names_are_kueues_and_never_too_long() -> None:
    # sha1("Job\nbatch\nsample-job\n<uid>"), first five digits
    meta = Meta(name="sample-job", uid="11111111-2222-3333-4444-555555555555")
    name = workload_name("Job", "batch", meta)
    assert name.startswith("job-sample-job-")
    assert len(name) == len("job-sample-job-") + 5
    long = workload_name("Job", "batch", Meta(name="x" * 300, uid="u"))
    assert len(long) == 253
    assert long != workload_name("Job", "batch", Meta(name="x" * 300, uid="v"))


def classes() -> PriorityClasses:
    high = read(WorkloadPriorityClass, {"metadata": {"name": "high"}, "value": 100})
    pods = {
        "big": PriorityClass(metadata=Meta(name="big"), value=50),
        "usual": PriorityClass(metadata=Meta(name="usual"), value=7, global_default=True),
    }
    return PriorityClasses(workload={"high": high}, pod=pods)


@pytest.mark.parametrize(
    ("label", "pod_class", "want"),
    [
        pytest.param("high", "big", (100, "high"), id="the label comes first"),
        pytest.param("", "big", (50, "big"), id="then the pods' class"),
        pytest.param("", "", (7, "usual"), id="then the global default"),
    ],
)
def test_priority_comes_from_the_first_class_named(
    label: str, pod_class: str, want: tuple[int, str]
) -> None:
    got = priority_of(label, pod_class, classes())
    assert isinstance(got, Priority)
    assert got.reference is not None
    assert (got.value, got.reference["name"]) == want


def test_without_any_class_the_priority_is_zero() -> None:
    assert priority_of("", "", PriorityClasses()) == Priority(value=0)


def test_a_class_that_is_missing_is_named() -> None:
    assert priority_of("gone", "", classes()) == MissingClass(
        kind="WorkloadPriorityClass", name="gone"
    )
    assert priority_of("", "gone", classes()) == MissingClass(kind="PriorityClass", name="gone")


@pytest.mark.parametrize("text", ["0", "-1", "soon", ""])
def test_a_limit_that_is_no_positive_number_is_none(text: str) -> None:
    labels = {"kueue.x-k8s.io/max-exec-time-seconds": text}
    assert max_execution_time(Meta(labels=labels)) is None


def test_a_job_starts_with_one_patch() -> None:
    added = Injection(node_selector={"pool": "a"}, labels={"l": "1"}, count=1)
    template = {"metadata": {"labels": {"l": "1"}}, "spec": {"nodeSelector": {"pool": "a"}}}
    body = {"spec": {"suspend": False, "template": template}}
    assert job().start([added]) == [MergePatch(body=body)]


def test_partial_admission_sets_parallelism_and_stopping_sets_it_back() -> None:
    annotations = {
        "kueue.x-k8s.io/job-min-parallelism": "2",
        "kueue.x-k8s.io/job-completions-equal-parallelism": "true",
    }
    full = job(metadata={"annotations": annotations}, parallelism=8, completions=8)
    body = {"spec": {"suspend": False, "parallelism": 3, "completions": 3}}
    assert full.start([Injection(count=3)]) == [MergePatch(body=body)]
    running = job(metadata={"annotations": annotations}, parallelism=3, completions=3)
    body = {"spec": {"parallelism": 8, "completions": 8}}
    assert running.undo(workload_of(full), b"") == MergePatch(body=body)


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param({}, None, id="running"),
        pytest.param(
            {"conditions": [{"type": "Complete", "status": "True"}]},
            (True, "Job finished successfully"),
            id="complete",
        ),
        pytest.param(
            {"conditions": [{"type": "Failed", "status": "True", "message": "too often"}]},
            (False, "too often"),
            id="failed",
        ),
        pytest.param(
            {"conditions": [{"type": "FailureTarget", "status": "True"}]}, None, id="about to fail"
        ),
    ],
)
def test_the_end_of_a_job(status: dict[str, Any], want: tuple[bool, str] | None) -> None:
    assert job(status=status).end == want


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param({}, False, id="never started"),
        pytest.param({"active": 1}, True, id="pods"),
        pytest.param({"terminating": 1}, True, id="pods that are being terminated"),
        pytest.param({"succeeded": 2}, False, id="pods that ended"),
    ],
)
def test_a_job_is_active_while_a_pod_may_run(status: dict[str, int], want: bool) -> None:
    assert job(status=status).active is want


def test_pods_that_succeeded_count_as_ready() -> None:
    assert job(parallelism=3, status={"ready": 1, "succeeded": 2}).ready
    assert not job(parallelism=3, status={"ready": 1, "succeeded": 1}).ready
    uncounted = {"ready": 1, "succeeded": 1, "uncountedTerminatedPods": {"succeeded": ["uid"]}}
    assert job(parallelism=3, status=uncounted).ready


@pytest.mark.parametrize(
    ("spec", "status", "want"),
    [
        pytest.param({"parallelism": 3, "completions": 5}, {"succeeded": 3}, 1, id="the tail"),
        pytest.param({"parallelism": 3, "completions": 5}, {"succeeded": 2}, 0, id="all needed"),
        pytest.param({"parallelism": 1, "completions": 5}, {"succeeded": 4}, 0, id="one by one"),
        pytest.param({"parallelism": 3, "completions": 2}, {}, 0, id="nothing has ended"),
        pytest.param({"parallelism": 3, "completions": 5}, {"succeeded": 7}, 3, id="more than all"),
        pytest.param({"parallelism": 3}, {"succeeded": 1}, 1, id="a work queue that is drained"),
        pytest.param(
            {"parallelism": 4, "completions": 4, "completionMode": "Indexed"},
            {"completedIndexes": "0,2-3", "failedIndexes": "3"},
            3,
            id="indexes",
        ),
    ],
)
def test_reclaimable_pods(spec: dict[str, Any], status: dict[str, Any], want: int) -> None:
    assert job(status=status, **spec).reclaimable == want


def test_indexes_that_overlap_count_once() -> None:
    assert count_of_union("0-2,5", "1-3", "x,-") == 5


def test_a_job_matches_its_own_workload() -> None:
    assert job(parallelism=2).fits(workload_of(job(parallelism=2)))


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param(job(parallelism=3), id="parallelism"),
        pytest.param(
            job({"spec": {"containers": [{**POD["containers"][0], "image": "y"}]}}), id="image"
        ),
        pytest.param(job({"spec": {**POD, "tolerations": [{"key": "t"}]}}), id="tolerations"),
        pytest.param(job({"spec": {**POD, "nodeSelector": {"a": "b"}}}), id="node selector"),
        pytest.param(
            job(metadata={"annotations": {"kueue.x-k8s.io/job-min-parallelism": "1"}}),
            id="partial admission",
        ),
    ],
)
def test_an_edited_job_does_not_match(changed: JobView) -> None:
    assert not changed.fits(workload_of(job()))


def test_what_an_admission_adds_is_no_difference() -> None:
    running = job({"spec": {**POD, "nodeSelector": {"pool": "a"}, "tolerations": [{"key": "t"}]}})
    assert running.fits(workload_of(job(), **reserving(1)))


def test_a_job_that_runs_with_fewer_pods_matches() -> None:
    annotations = {"kueue.x-k8s.io/job-min-parallelism": "2"}
    full = job(metadata={"annotations": annotations}, parallelism=8)
    fewer = job(metadata={"annotations": annotations}, parallelism=3)
    assert fewer.fits(workload_of(full, **reserving(3)))
    assert not fewer.fits(workload_of(full, **reserving(4)))
