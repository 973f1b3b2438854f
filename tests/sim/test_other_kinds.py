"""Jobs of other kinds in a plan, as manifests before they exist."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from queueing.core.facts import WorkloadFact
from queueing.core.settings import Compatibility
from queueing.kinds.registry import JOB
from queueing.sim.documents import parse
from queueing.sim.intake import Intake, read_world
from queueing.sim.yaml_text import ManifestError
from tests.kinds.rows import ROWS, Row, sample

EXAMPLES = Path(__file__).parents[2] / "examples" / "kinds"
SERVING = EXAMPLES.parent / "serving"
SAMPLES = Path(__file__).parents[1] / "kinds" / "samples"
Wire = dict[str, Any]
OTHERS = [row for row in ROWS if row.stopped_by == "suspension" and row.framework != JOB]
LABEL = "kueue.x-k8s.io/queue-name"
CLASS = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "training"},
    "value": 10,
}
CLASS_LABEL = "kueue.x-k8s.io/priority-class"
QUEUE_CLASS = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "WorkloadPriorityClass",
    "metadata": {"name": "training"},
    "value": 10,
}
CONFIGURATION = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def queued(thing: Wire) -> Wire:
    """Return a sample as its users would write it for a queue."""
    meta = thing["metadata"]
    kept = {key: meta[key] for key in ("name", "annotations") if key in meta}
    return {**thing, "metadata": {**kept, "namespace": "team", "labels": {LABEL: "lq"}}}


def world(*documents: Wire | str) -> Intake:
    given = (CLASS, *documents)
    texts = [one if isinstance(one, str) else yaml.safe_dump(one) for one in given]
    found = parse("---\n".join(texts), file="f.yaml")
    return read_world(found, now=0.0, compatibility=Compatibility.KUEUE)


def workloads(found: Intake) -> dict[str, dict[str, int]]:
    """Return the pod sets of each Workload, by the name of what it is for and up to its digest."""
    return {
        one.key.rpartition("-")[0]: {part.name: part.count for part in one.pod_sets}
        for one in found.facts
        if isinstance(one, WorkloadFact)
    }


def beside(row: Row) -> list[Wire]:
    """Return what a sample cannot be read without."""
    return [yaml.safe_load((SAMPLES / f"{row.related}.yaml").read_text())] if row.related else []


@pytest.mark.parametrize("row", OTHERS, ids=[one.framework for one in OTHERS])
def test_every_kind_gets_the_workload_that_it_would_get(row: Row) -> None:
    thing = {key: value for key, value in sample(row).items() if key != "status"}
    found = world(queued(thing), *beside(row))
    ((name, pod_sets),) = workloads(found).items()
    assert name == f"team/{row.framework.rpartition('/')[2]}-{thing['metadata']['name']}"
    assert pod_sets == row.pod_sets


THROUGH_PODS = {
    "deployment": {f"team/pod-web-{at}": {"main": 1} for at in range(3)},
    "statefulset": {"team/statefulset-cache": {"main": 3}},
    "leaderworkerset": {
        f"team/leaderworkerset-llm-{at}": {"leader": 1, "worker": 3} for at in range(2)
    },
}


@pytest.mark.parametrize("name", THROUGH_PODS)
def test_what_is_queued_through_its_pods_gets_the_workloads_of_these(name: str) -> None:
    thing = queued(sample(row_of(name)))
    found = world(thing)
    assert workloads(found) == THROUGH_PODS[name]
    assert found.warnings == ()
    (first, *_) = (one.key for one in found.facts if isinstance(one, WorkloadFact))
    thing["spec"]["replicas"] = 0
    assert workloads(world(thing)) == {}
    del thing["spec"]["replicas"]
    (only,) = (one.key for one in world(thing).facts if isinstance(one, WorkloadFact))
    assert only == first


@pytest.mark.parametrize(
    ("name", "count"), [("deployment", 3), ("stateful-set", 1), ("leader-worker-set", 2)]
)
def test_the_manifests_of_what_serves_can_be_planned(name: str, count: int) -> None:
    assert len(workloads(world((SERVING / f"{name}.yaml").read_text()))) == count


def described() -> list[Wire]:
    description, example = (
        yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
        for name in ("description", "example")
    )
    del example["status"]
    return [description, queued(example)]


def test_a_kind_that_an_admin_describes_is_planned_by_its_description() -> None:
    assert workloads(world(*described())) == {
        "team/experiment-sweep": {"coordinator": 1, "small": 4, "large": 1}
    }


def test_what_a_configuration_does_not_list_is_left_out_and_named() -> None:
    jobset = queued(sample(row_of("jobset")))
    found = world(jobset, CONFIGURATION)
    assert workloads(found) == {}
    assert any(
        "integrations.frameworks does not list jobset.x-k8s.io/jobset" in one
        for one in found.warnings
    )
    listed = f"{CONFIGURATION}integrations: {{frameworks: [jobset.x-k8s.io/jobset]}}\n"
    assert len(workloads(world(jobset, listed))) == 1


def test_the_kinds_of_an_admin_need_no_configuration() -> None:
    assert len(workloads(world(*described(), CONFIGURATION))) == 1


def test_one_that_cannot_be_read_is_named_and_others_are_planned() -> None:
    description, odd = described()
    del odd["spec"]["trials"][0]["name"]
    plain = described()[1]
    plain["metadata"]["name"] = "plain"
    found = world(description, odd, plain)
    assert list(workloads(found)) == ["team/experiment-plain"]
    (told,) = (one for one in found.warnings if "team/sweep" in one)
    assert told.startswith("Experiment team/sweep cannot be read, so it is not queued")
    assert "spec.podSets[1].nameFrom" in told


def test_a_description_that_can_be_used_for_nothing_is_an_error_with_its_line() -> None:
    description, example = described()
    description["spec"]["active"] = {"expression": "object.status.running >"}
    with pytest.raises(ManifestError, match=r"spec\.active\.expression"):
        world(description, example)


def test_a_job_of_a_jobset_that_is_queued_is_no_workload_of_its_own() -> None:
    jobset = queued(sample(row_of("jobset")))
    owner = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "name": jobset["metadata"]["name"],
        "uid": f"team/{jobset['metadata']['name']}",
        "controller": True,
    }
    child = queued(sample(row_of("job")))
    child["metadata"] |= {"name": "child", "ownerReferences": [owner]}
    found = world(jobset, child)
    assert len(workloads(found)) == 1
    assert any("is a part of JobSet team/" in one for one in found.warnings)


def test_a_gang_of_two_kinds_is_planned_as_one() -> None:
    members = queued(sample(row_of("raycluster"))), queued(sample(row_of("job")))
    for one in members:
        one["metadata"]["labels"] |= {"queueing.dev/gang": "g", CLASS_LABEL: "training"}
        one["metadata"]["annotations"] = {"queueing.dev/gang-size": "2"}
    found = world(QUEUE_CLASS, *members)
    job, ray = members[1]["metadata"]["name"], members[0]["metadata"]["name"]
    ((name, pod_sets),) = workloads(found).items()
    assert name == "team/gang-g"
    heads = {f"{ray}-{one}": count for one, count in row_of("raycluster").pod_sets.items()}
    assert pod_sets == {job: row_of("job").pod_sets["main"], **heads}


def row_of(name: str) -> Row:
    return next(one for one in ROWS if one.sample == name)


def pod(name: str, queue: str = "lq", **metadata: Any) -> Wire:
    container = {"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}
    labels = {LABEL: queue} if queue else {}
    meta = {"name": name, "namespace": "team", "labels": labels, **metadata}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {"containers": [container]},
    }


def of_group(name: str, total: int) -> Wire:
    group = {
        "kueue.x-k8s.io/pod-group-name": "crew",
        "kueue.x-k8s.io/pod-group-total-count": str(total),
    }
    return pod(name, annotations=group)


def test_a_pod_with_a_queue_gets_the_workload_that_it_would_get_and_no_other() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "1", "controller": True}
    found = world(pod("one"), pod("two", queue=""), pod("three", ownerReferences=[owner]))
    assert workloads(found) == {"team/pod-one": {"main": 1}}


def test_a_pod_without_a_queue_gets_its_namespaces_default_one_when_it_is_to_be_created() -> None:
    default = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "LocalQueue",
        "metadata": {"name": "default", "namespace": "team"},
        "spec": {"clusterQueue": "cq"},
    }
    there = pod("two", queue="") | {"status": {"phase": "Running"}}
    found = world(pod("one", queue=""), there, pod("three", queue="", namespace="other"), default)
    (asked,) = (one for one in found.facts if isinstance(one, WorkloadFact))
    assert (asked.key.rpartition("-")[0], asked.local_queue) == ("team/pod-one", "team/default")


@pytest.mark.parametrize(
    ("thing", "told"),
    [
        (pod("one") | {"metadata": {"name": "one", "labels": ["a"]}}, "labels: must be a mapping"),
        (
            pod("one") | {"spec": {"containers": "c"}},
            r"f\.yaml:\d+: spec.containers: 'c' should be",
        ),
        (pod("one", creationTimestamp="now"), "metadata.creationTimestamp: 'now' is not a time"),
        (
            queued(sample(OTHERS[0]))
            | {"metadata": {"name": "a", "namespace": "team", "creationTimestamp": "now"}},
            "metadata.creationTimestamp: 'now' is not a time",
        ),
    ],
    ids=["labels of a pod", "containers of a pod", "time of a pod", "time of another kind"],
)
def test_what_cannot_be_read_of_any_kind_is_an_error_with_its_line(thing: Wire, told: str) -> None:
    with pytest.raises(ManifestError, match=told):
        world(thing)


def test_a_plan_says_what_would_be_refused_of_a_pod() -> None:
    alone = pod("one", annotations={"kueue.x-k8s.io/pod-group-total-count": "2"})
    assert any("pod-group-name]: Required value" in one for one in world(alone).warnings)


def test_pods_of_a_group_get_one_workload_when_all_are_there() -> None:
    (pod_sets,) = workloads(world(of_group("a", 2), of_group("b", 2))).values()
    assert list(pod_sets.values()) == [2]
    found = world(of_group("a", 2))
    assert workloads(found) == {}
    assert any("fewer runnable pods than expected: 1 of 2" in one for one in found.warnings)


def test_pods_are_left_out_where_a_configuration_does_not_list_them() -> None:
    found = world(pod("one"), CONFIGURATION)
    assert workloads(found) == {}
    assert any("integrations.frameworks does not list pod" in one for one in found.warnings)
