"""A line of a scenario stands for an object in full."""

from pathlib import Path
from typing import Any

import pytest

from queueing.sim.yaml_text import ManifestError
from tests.scenarios.scenario import Scenario, load_scenario, run_scenario

QUEUE = "queues:\n  a: {cpu: 4}\n"


def scenario(tmp_path: Path, text: str) -> Scenario:
    path = tmp_path / "case.yaml"
    path.write_text(text)
    return load_scenario(path)


def objects(tmp_path: Path, text: str, kind: str) -> dict[str, Any]:
    documents = scenario(tmp_path, text).documents()
    return {one.name: one.value for one in documents if one.kind == kind}


def test_names_that_share_a_line_are_objects_of_their_own(tmp_path: Path) -> None:
    found = objects(tmp_path, "queues:\n  a b: {cpu: 4, cohort: c}\n", "ClusterQueue")
    assert {name: one["spec"]["cohortName"] for name, one in found.items()} == {"a": "c", "b": "c"}


def test_resources_of_the_same_flavors_are_one_group(tmp_path: Path) -> None:
    text = "queues:\n  a: {cpu: {x: 1, y: 2}, memory: {x: 1Gi, y: 2Gi}, pods: 5}\n"
    groups = objects(tmp_path, text, "ClusterQueue")["a"]["spec"]["resourceGroups"]
    assert [one["coveredResources"] for one in groups] == [["cpu", "memory"], ["pods"]]


def test_a_quota_may_have_limits(tmp_path: Path) -> None:
    text = "queues:\n  a: {cpu: 4 borrow 2 lend 1}\n"
    (group,) = objects(tmp_path, text, "ClusterQueue")["a"]["spec"]["resourceGroups"]
    (quota,) = group["flavors"][0]["resources"]
    assert quota == {
        "name": "cpu",
        "nominalQuota": 4,
        "borrowingLimit": 2,
        "lendingLimit": 1,
    }


def test_a_flavor_that_a_quota_names_is_there(tmp_path: Path) -> None:
    text = "flavors:\n  x: {nodeLabels: {a: b}}\nqueues:\n  a: {cpu: {x: 1, y: 2}}\n"
    found = objects(tmp_path, text, "ResourceFlavor")
    assert {name: one["spec"] for name, one in found.items()} == {
        "x": {"nodeLabels": {"a": "b"}},
        "y": {},
    }


def test_a_queue_without_a_local_queue_has_one_of_its_name(tmp_path: Path) -> None:
    text = "queues:\n  a b: {cpu: 1}\nlocalQueues:\n  door: {clusterQueue: b}\n"
    found = objects(tmp_path, text, "LocalQueue")
    assert {name: one["spec"]["clusterQueue"] for name, one in found.items()} == {
        "a": "a",
        "door": "b",
    }


def test_workloads_are_created_in_the_order_of_the_file(tmp_path: Path) -> None:
    text = f"{QUEUE}pending:\n  first second: {{cpu: 1}}\nrunning:\n  third: {{cpu: 1}}\n"
    found = objects(tmp_path, text, "Workload")
    assert sorted(found, key=lambda one: found[one]["metadata"]["creationTimestamp"]) == [
        "first",
        "second",
        "third",
    ]


def test_who_runs_holds_what_its_pods_request(tmp_path: Path) -> None:
    text = f"{QUEUE}running:\n  w: {{cpu: 500m, count: 3}}\n"
    (held,) = objects(tmp_path, text, "Workload")["w"]["status"]["admission"]["podSetAssignments"]
    assert held == {
        "name": "main",
        "count": 3,
        "flavors": {"cpu": "default"},
        "resourceUsage": {"cpu": "1500m"},
    }


def test_a_job_is_suspended_and_asks_as_its_line_says(tmp_path: Path) -> None:
    text = f"{QUEUE}jobs:\n  j: {{queue: a, cpu: 1, parallelism: 2, labels: {{x: y}}}}\n"
    found = objects(tmp_path, text, "Job")["j"]
    assert found["metadata"]["labels"] == {"kueue.x-k8s.io/queue-name": "a", "x": "y"}
    assert (found["spec"]["suspend"], found["spec"]["parallelism"]) == (True, 2)
    (container,) = found["spec"]["template"]["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": "1"}}


def test_devices_are_those_of_a_node_and_a_claim_has_one_of_them(tmp_path: Path) -> None:
    text = "devices:\n  n1: {count: 2}\nclaims:\n  c: {of: w, device: n1/gpu-1}\n"
    found = objects(tmp_path, text, "ResourceSlice")["n1"]["spec"]
    assert (found["nodeName"], found["devices"]) == ("n1", [{"name": "gpu-0"}, {"name": "gpu-1"}])
    claim = objects(tmp_path, text, "ResourceClaim")["c"]
    assert claim["metadata"]["labels"]["queueing.dev/workload-uid"] == "w"
    (given,) = claim["status"]["allocation"]["devices"]["results"]
    assert (given["pool"], given["device"]) == ("n1", "gpu-1")


def test_kinds_without_words_of_their_own_have_the_fields_of_the_api(tmp_path: Path) -> None:
    text = (
        "limitRanges:\n  r: {limits: []}\nworkloadPriorityClasses:\n  high: {value: 9}\n"
        "namespaces:\n  team: {labels: {a: b}}\n"
    )
    assert [one.value for one in scenario(tmp_path, text).documents()] == [
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"namespace": "team", "name": "r"},
            "spec": {"limits": []},
        },
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "team", "labels": {"a": "b"}},
        },
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "WorkloadPriorityClass",
            "metadata": {"name": "high"},
            "value": 9,
        },
    ]


def test_objects_in_full_stand_beside_lines(tmp_path: Path) -> None:
    full = (
        "manifests: |\n  apiVersion: kueue.x-k8s.io/v1beta2\n  kind: ResourceFlavor\n"
        "  metadata: {name: default}\n  spec: {nodeLabels: {a: b}}\n"
    )
    found = objects(tmp_path, QUEUE + full, "ResourceFlavor")
    assert found["default"]["spec"] == {"nodeLabels": {"a": "b"}}


def test_the_example_of_the_page_is_a_scenario(tmp_path: Path) -> None:
    page = (Path(__file__).parent / "README.md").read_text()
    example = page.split("```yaml\n")[1].split("```")[0]
    outcome = run_scenario(scenario(tmp_path, example))
    assert outcome["rounds"][0][0] == "Preempt team/low in a for team/new: InClusterQueue"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("queuse:\n  a: {cpu: 4}\n", "case.yaml:2: queuse: unknown part; there are about, "),
        ("queues: [a]\n", "case.yaml:1: queues: must be a mapping of names"),
        ("queues:\n  a: 4\n", "case.yaml:2: queues.a: must be a mapping such as {cpu: 1}"),
        (
            "queues:\n  a: {cpu: 4, cohrt: c}\n",
            "case.yaml:2: queues.a.cohrt: unknown word; did you mean cohort?",
        ),
        ("queues:\n  a: {cpu: 4 and 2}\n", "case.yaml:2: queues.a.cpu: '4 and 2' is no quota"),
        ("queues:\n  a: {cpu: four}\n", "case.yaml:2: queues.a.cpu: 'four' is not a quantity"),
        (
            f"{QUEUE}pending:\n  w: {{cpu: 1, priorty: 2}}\n",
            "case.yaml:4: pending.w.priorty: unknown word; did you mean priority?",
        ),
        (
            f"{QUEUE}pending:\n  w:\n    podSets:\n      driver: {{cpus: 1}}\n",
            "case.yaml:6: pending.w.podSets.driver.cpus: unknown word; did you mean cpu?",
        ),
        (
            "queues:\n  a b: {cpu: 1}\npending:\n  w: {cpu: 1}\n",
            "case.yaml:4: pending.w: says no queue, and the file has several",
        ),
        ("localQueues:\n  a: {}\n", "case.yaml:2: localQueues.a: says no clusterQueue"),
        (f"{QUEUE}  a: {{cpu: 5}}\n", "case.yaml:3: key 'a' is written twice in one mapping"),
    ],
)
def test_what_cannot_be_understood_is_told_with_its_line(
    tmp_path: Path, text: str, message: str
) -> None:
    with pytest.raises(ManifestError) as told:
        scenario(tmp_path, text).documents()
    assert str(told.value).startswith(message)


def test_what_a_plan_finds_wrong_with_an_object_is_told_with_the_line_of_it(
    tmp_path: Path,
) -> None:
    text = f"{QUEUE}pending:\n  w: {{cpu: 1, priority: high}}\n"
    assert run_scenario(scenario(tmp_path, text)) == {
        "error": "case.yaml:4: spec.priority: 'high' should be a valid integer"
    }
