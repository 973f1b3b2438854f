"""What pod sets hold besides names and counts: templates as a Workload keeps them."""

from copy import deepcopy
from typing import Any

import msgspec
import pytest

from queueing.kinds.paths import ABSENT, put
from queueing.kinds.pod_sets import UnreadableError
from queueing.kinds.starting import start, undo
from queueing.kinds.view import View
from queueing.translate.jobs.injection import ConflictError
from tests.kinds.rows import ROWS, Row, Wire, additions, applied, originals, sample, viewed

OF = {row.framework: row for row in ROWS}
RAY, RAY_JOB = OF["ray.io/raycluster"], OF["ray.io/rayjob"]
SPARK = OF["sparkoperator.k8s.io/sparkapplication"]
MPI = OF["kubeflow.org/mpijob"]
TRAIN, JOB = OF["trainer.kubeflow.org/trainjob"], OF["batch/job"]


def view(row: Row, *changes: tuple[str, Any]) -> View:
    made = sample(row)
    for path, value in changes:
        put(made, tuple(int(one) if one.isdecimal() else one for one in path.split(".")), value)
    return viewed(row, made)


def template(row: Row, name: str, *changes: tuple[str, Any]) -> Wire:
    """Return the template of a pod set, as a Workload keeps it."""
    found = next(one for one in view(row, *changes).pod_sets if one.name == name)
    wire: Wire = msgspec.json.decode(msgspec.json.encode(found.wire()))["template"]
    return wire


def requests(row: Row, name: str, *changes: tuple[str, Any]) -> list[tuple[str, Wire]]:
    found = template(row, name, *changes)["spec"]["containers"]
    return [(one["name"], one.get("resources", {}).get("requests", {})) for one in found]


def test_a_job_leaves_labels_of_its_controller_out_and_names_variables_once() -> None:
    found = template(JOB, "main")
    assert found["metadata"] == {
        "labels": {"app": "render", "batch.kubernetes.io/job-name": "render"}
    }
    assert found["spec"]["containers"][0]["env"] == [{"name": "QUALITY", "value": "high"}]


def test_a_job_with_fewer_completions_than_parallelism_runs_as_many_pods() -> None:
    assert view(JOB, ("spec.completions", 4)).pod_sets[0].count == 4


@pytest.mark.parametrize(("text", "least"), [("3", 3), ("0", None), ("many", None), ("", None)])
def test_a_job_may_be_admitted_with_fewer_pods_by_its_annotation(
    text: str, least: int | None
) -> None:
    path = ("metadata", "annotations", "kueue.x-k8s.io/job-min-parallelism")
    made = deepcopy(sample(JOB))
    put(made, path, text)
    assert viewed(JOB, made).pod_sets[0].min_count == least


def test_a_job_that_starts_with_fewer_pods_has_its_completions_follow() -> None:
    (patch,) = start(viewed(JOB, sample(JOB)), additions(JOB, count=3))
    spec = applied(sample(JOB), patch)["spec"]
    assert (spec["parallelism"], spec["completions"]) == (3, 3)


def test_a_stateful_set_keeps_only_the_spec_of_its_pods() -> None:
    assert list(template(OF["statefulset"], "main")) == ["spec"]
    assert list(template(OF["pod"], "main")) == ["spec"]


def test_a_leader_worker_set_has_a_workload_for_each_group_without_bookkeeping() -> None:
    row = OF["leaderworkerset.x-k8s.io/leaderworkerset"]
    assert view(row).groups == 2
    labels = template(row, "leader")["metadata"]["labels"]
    assert labels == {"role": "leader", "leaderworkerset.sigs.k8s.io/name": "llm"}
    alone = view(row, ("spec.leaderWorkerTemplate.leaderTemplate", None))
    assert [(one.name, one.count) for one in alone.pod_sets] == [("main", 4)]


def test_the_head_of_a_ray_cluster_has_what_kuberay_adds() -> None:
    scales = ("spec.enableInTreeAutoscaling", True)
    assert requests(RAY, "head", scales) == [
        ("ray-head", {"cpu": "200m", "memory": "2Gi"}),
        ("autoscaler", {"cpu": "500m", "memory": "512Mi"}),
    ]
    own = {"requests": {"cpu": "1"}}
    assert requests(RAY, "head", scales, ("spec.autoscalerOptions", {"resources": own}))[1] == (
        "autoscaler",
        {"cpu": "1"},
    )
    plain: tuple[str, dict[str, str]] = ("metadata.annotations", {})
    assert requests(RAY, "head", plain) == [("ray-head", {"cpu": "100m", "memory": "2Gi"})]


def test_a_ray_head_without_containers_cannot_be_accounted_for() -> None:
    none: tuple[str, list[Any]] = ("spec.headGroupSpec.template.spec.containers", [])
    with pytest.raises(UnreadableError, match="head pod template must include the Ray container"):
        _ = view(RAY, none).pod_sets


def test_a_ray_job_is_submitted_as_its_mode_says() -> None:
    submitter = template(RAY_JOB, "submitter")["spec"]
    assert submitter["restartPolicy"] == "Never"
    assert submitter["containers"][0]["image"] == "rayproject/ray:2.50.0"
    assert requests(RAY_JOB, "submitter") == [
        ("ray-job-submitter", {"cpu": "500m", "memory": "200Mi"})
    ]
    beside = ("spec.submissionMode", "SidecarMode")
    assert [name for name, _ in requests(RAY_JOB, "head", beside)] == [
        "ray-head",
        "ray-job-submitter",
    ]
    by_http = view(RAY_JOB, ("spec.submissionMode", "HTTPMode"))
    assert [one.name for one in by_http.pod_sets] == ["head", "small"]


@pytest.mark.parametrize(
    ("changes", "first"),
    [
        pytest.param((), [0, 0], id="the launcher only launches"),
        pytest.param((("spec.runLauncherAsWorker", True),), [0, 1], id="it is a worker, number 0"),
        pytest.param(
            (("spec.runLauncherAsWorker", True), ("spec.mpiReplicaSpecs.Launcher", ABSENT)),
            [0],
            id="there is none",
        ),
    ],
)
def test_the_workers_of_an_mpi_job_are_numbered_after_a_launcher_that_works_too(
    changes: tuple[tuple[str, Any], ...], first: list[int]
) -> None:
    assert [one.first_index for one in view(MPI, *changes).pod_sets] == first


def test_a_ray_job_on_a_cluster_of_others_is_ignored_and_an_invalid_one_on_hold() -> None:
    assert view(RAY_JOB, ("spec.clusterSelector", {"ray.io/cluster": "c"})).ignored
    assert view(RAY_JOB, ("status", {"jobDeploymentStatus": "ValidationFailed"})).on_hold


def test_the_pods_of_spark_are_made_of_its_roles() -> None:
    driver, executor = template(SPARK, "driver"), template(SPARK, "executor")
    assert driver["metadata"] == {"labels": {"role": "driver"}}
    (container,) = driver["spec"]["containers"]
    assert container["name"] == "spark-kubernetes-driver"
    assert container["resources"] == {
        "requests": {"cpu": "1", "memory": "512Mi"},
        "limits": {"cpu": "1200m"},
    }
    assert [one["name"] for one in driver["spec"]["volumes"]] == ["data"]
    assert executor["spec"]["containers"][0]["resources"] == {
        "requests": {"memory": "2Gi"},
        "limits": {"nvidia.com/gpu": 1},
    }
    assert "nodeSelector" not in executor["spec"]


def test_a_start_of_spark_moves_the_selector_of_all_pods_into_the_roles() -> None:
    (patch,) = start(viewed(SPARK, sample(SPARK)), additions(SPARK))
    spec = applied(sample(SPARK), patch)["spec"]
    both = {"pool": "spark", "cloud.example.com/pool": "spot"}
    assert (spec["driver"]["nodeSelector"], spec["executor"]["nodeSelector"]) == (both, both)
    assert "nodeSelector" not in spec
    gated = spec["driver"]["template"]["spec"]
    assert [one["name"] for one in gated["containers"]] == ["spark-kubernetes-driver"]


def test_an_application_whose_executors_come_and_go_is_refused() -> None:
    with pytest.raises(UnreadableError, match="allocated dynamically are not queued"):
        _ = view(SPARK, ("spec.dynamicAllocation", {"enabled": True})).pod_sets
    assert len(view(SPARK, ("spec.dynamicAllocation", {"enabled": False})).pod_sets) == 2


def test_executors_without_a_number_are_none() -> None:
    assert view(SPARK, ("spec.executor.instances", None)).pod_sets[1].count == 0


def test_a_group_of_workers_named_as_what_submits_is_charged_for_its_own_pods() -> None:
    clusters = "spec.rayClusterSpec.workerGroupSpecs.0.groupName"
    changes = (("spec.submissionMode", "HTTPMode"), (clusters, "submitter"))
    assert requests(RAY_JOB, "submitter", *changes) == [("ray-worker", {"cpu": "1"})]


def test_what_submits_goes_with_a_stop_though_the_image_of_the_head_changed_meanwhile() -> None:
    thing = sample(RAY_JOB)
    kept = originals(viewed(RAY_JOB, thing))
    (change,) = start(viewed(RAY_JOB, thing), additions(RAY_JOB))
    started = applied(thing, change)
    head = started["spec"]["rayClusterSpec"]["headGroupSpec"]["template"]["spec"]
    head["containers"][0]["image"] = "registry.example.com/ray:next"
    stopped = applied(started, undo(viewed(RAY_JOB, started), kept))
    assert "submitterPodTemplate" not in stopped["spec"]


def test_a_train_job_changes_what_its_runtime_describes() -> None:
    node = template(TRAIN, "node")["spec"]
    assert node["nodeSelector"] == {"disk": "local"}
    (container,) = node["containers"]
    assert container["image"] == "registry.example.com/finetune:3"
    assert container["resources"] == {"limits": {"nvidia.com/gpu": "2"}}


def test_a_train_job_without_a_number_of_nodes_has_that_of_its_runtime() -> None:
    assert view(TRAIN, ("spec.trainer", {})).pod_sets[1].count == 1


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ({"kind": "Runtime", "name": "x"}, "unsupported runtime: trainer.kubeflow.org/Runtime"),
        ({"apiGroup": "a.b", "name": "x"}, "unsupported runtime: a.b/ClusterTrainingRuntime"),
    ],
)
def test_a_train_job_of_a_strange_runtime_is_refused(reference: Wire, told: str) -> None:
    with pytest.raises(UnreadableError, match=told):
        _ = view(TRAIN, ("spec.runtimeRef", reference)).pod_sets


def test_a_train_job_starts_in_two_writes() -> None:
    first, then = start(viewed(TRAIN, sample(TRAIN)), additions(TRAIN))
    prepared = applied(sample(TRAIN), first)
    assert viewed(TRAIN, prepared).suspended
    assert not viewed(TRAIN, applied(prepared, then)).suspended


@pytest.mark.parametrize("others", [[], [{"manager": "team-a.example.com/defaults"}]])
def test_a_train_job_without_a_patch_for_us_gets_one_for_as_long_as_it_runs(
    others: list[Wire],
) -> None:
    thing = sample(TRAIN)
    thing["spec"].pop("runtimePatches")
    if others:
        thing["spec"]["runtimePatches"] = others
    kept = originals(viewed(TRAIN, thing))
    started = thing
    for change in start(viewed(TRAIN, thing), additions(TRAIN)):
        started = applied(started, change)
    *_, patch = started["spec"]["runtimePatches"]
    jobs = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    assert [one["name"] for one in jobs] == ["dataset-initializer", "node"]
    assert applied(started, undo(viewed(TRAIN, started), kept)) == thing


def test_an_app_wrapper_whose_path_leads_nowhere_is_refused() -> None:
    row = OF["workload.codeflare.dev/appwrapper"]
    strange = [{"path": "template.spec.nothing"}]
    with pytest.raises(UnreadableError, match=r"template\.spec\.nothing leads to no pod template"):
        _ = view(row, ("spec.components.2.podSets", strange)).pod_sets


def test_a_failed_app_wrapper_has_not_ended_while_its_resources_are_deleted() -> None:
    row = OF["workload.codeflare.dev/appwrapper"]
    deployed = [{"type": "ResourcesDeployed", "status": "True"}]
    assert view(row, ("status", {"phase": "Failed", "conditions": deployed})).ended is None


def test_a_start_that_contradicts_the_template_is_refused_with_both_values() -> None:
    path = "spec.template.spec.nodeSelector"
    made = view(JOB, (path, {"cloud.example.com/pool": "own"}))
    with pytest.raises(ConflictError) as caught:
        start(made, additions(JOB))
    assert str(caught.value) == (
        "conflicting values for node selector 'cloud.example.com/pool': 'own' and 'spot'"
    )


def test_a_start_with_another_number_of_pod_sets_is_refused() -> None:
    with pytest.raises(ConflictError, match="invalid podset infos: expecting 1 podset, got 0"):
        start(view(JOB), [])
