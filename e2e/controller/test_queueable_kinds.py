"""Kinds that an admin describes, on a real API server: a laboratory's Experiments are queued."""

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.aggregated import served_behind
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.jobs import running, wait_job, wait_told, wait_workload_of
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.serving import until
from e2e.wire import ApiError, Object
from e2e.world import World
from queueing.kinds.roles import cluster_role
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

EXAMPLES = Path(__file__).parents[2] / "examples" / "kinds"
DESCRIPTION, DEFINITION = (
    yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text())
    for name in ("description", "definition")
)
NAME = DESCRIPTION["metadata"]["name"]
ROLE = cluster_role(QueueableKindSpec.model_validate(DESCRIPTION["spec"]))
KIND, EXPERIMENT = "QueueableKind", "lab.example.com/v1/Experiment"
SECONDS = 60.0


def experiment(space: World, name: str, **spec: Any) -> Object:
    """Return an Experiment of a coordinator and two trials, which asks for 3 cpu."""
    return {
        "apiVersion": "lab.example.com/v1",
        "kind": "Experiment",
        "metadata": {
            "name": name,
            "namespace": space.namespace,
            "labels": {"kueue.x-k8s.io/queue-name": "team"},
        },
        "spec": {
            "paused": True,
            "coordinator": Pods().template(),
            "trials": [{"name": "Small", "workers": 2, "podTemplate": Pods().template()}],
            **spec,
        },
    }


@pytest.fixture
def bare(controller: Controller, cluster: Cluster) -> Iterator[Cluster]:
    """Lend the cluster with nothing of Experiments; afterwards nothing of them is left."""
    api = cluster.api()
    yield cluster
    api.delete(KIND, NAME)
    api.wait_gone(KIND, NAME)
    api.delete("ClusterRole", ROLE["metadata"]["name"])
    api.delete("CustomResourceDefinition", NAME)
    api.wait_gone("CustomResourceDefinition", NAME)


@pytest.fixture
def described(bare: Cluster) -> Cluster:
    """Lend the cluster with Experiments that are queued."""
    api = bare.api()
    for item in (DEFINITION, ROLE, DESCRIPTION):
        api.apply(item)
    api.wait_one(KIND, NAME, lambda one: holds(one, "Active"), timeout_s=SECONDS)
    return bare


def queue(space: World, cpu: str = "4") -> None:
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": cpu}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def wait_experiment(space: World, name: str, holds_: Any, what: str) -> Object:
    return space.api.wait_one(EXPERIMENT, name, holds_, namespace=space.namespace, what=what)


def report(space: World, name: str, **status: Any) -> None:
    """Write the status as the laboratory's own controller does."""
    space.api.patch(
        EXPERIMENT, name, {"status": status}, namespace=space.namespace, subresource="status"
    )


def wait_its_workload(space: World, name: str, holds_: Any, what: str) -> Object:
    thing = space.api.get(EXPERIMENT, name, space.namespace)
    return wait_workload_of(space, thing, holds_, what)


def test_an_experiment_is_admitted_runs_and_frees_its_quota(
    described: Cluster, space: World
) -> None:
    queue(space)
    space.make(experiment(space, "sweep"))
    started = wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
    assert started["spec"]["coordinator"]["spec"]["nodeSelector"].items() >= POOL.items()
    trial = started["spec"]["trials"][0]["podTemplate"]
    assert trial["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "small"
    report(
        space,
        "sweep",
        running=3,
        conditions=[{"type": "AllRunning", "status": "True", "message": ""}],
    )
    ready = wait_its_workload(space, "sweep", lambda one: holds(one, "PodsReady"), "pods ready")
    pods = {one["name"]: one["count"] for one in ready["spec"]["podSets"]}
    assert pods == {"coordinator": 1, "small": 2}
    report(space, "sweep", running=0, phase="Done", summary="found it")
    over = wait_its_workload(space, "sweep", lambda one: holds(one, "Finished"), "finished")
    assert condition(over, "Finished")["reason"] == "Succeeded"
    assert condition(over, "Finished")["message"] == "found it"
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_stopped_experiment_is_as_it_was_before_its_start(
    described: Cluster, space: World
) -> None:
    queue(space)
    space.make(experiment(space, "sweep"))
    before = space.api.get(EXPERIMENT, "sweep", space.namespace)["spec"]
    wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
    workload = wait_its_workload(space, "sweep", lambda one: holds(one, "Admitted"), "admitted")
    name = workload["metadata"]["name"]
    space.api.patch("Workload", name, {"spec": {"active": False}}, namespace=space.namespace)
    wait_experiment(
        space, "sweep", lambda one: one["spec"] == {**before, "paused": True}, "restored"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_one_that_is_created_running_is_suspended_at_its_creation(
    described: Cluster, space: World
) -> None:
    eager = experiment(space, "eager", paused=False)

    def suspended() -> bool:
        path = f"/apis/lab.example.com/v1/namespaces/{space.namespace}/experiments"
        made = space.api.wire.call("POST", path, query={"dryRun": "All"}, body=eager)
        return bool(made["spec"]["paused"])

    until(suspended, "a policy suspends Experiments")


def test_what_is_fixed_cannot_be_changed(described: Cluster, space: World) -> None:
    space.make(experiment(space, "sweep"))

    def refused(change: Object) -> bool:
        # While the policy is not in force yet, what is asked must not be done.
        try:
            space.api.patch(EXPERIMENT, "sweep", change, namespace=space.namespace, dry_run="All")
        except ApiError as error:
            return "field is immutable" in str(error)
        return False

    queue(space)
    wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
    label = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}}
    until(lambda: refused(label), "a policy refuses another queue while it runs")
    assert refused({"spec": {"trials": []}})
    assert not refused({"metadata": {"labels": {"own": "label"}}})


def test_an_expression_that_fails_on_one_experiment_concerns_no_other(
    described: Cluster, space: World
) -> None:
    queue(space)
    space.make(
        experiment(space, "odd", trials=[{"workers": 1, "podTemplate": Pods().template()}]),
        experiment(space, "plain"),
        job(space.namespace, "beside", queue="team", pods=Pods(run_s=None)),
    )
    wait_experiment(space, "plain", lambda one: not one["spec"]["paused"], "running")
    wait_job(space, "beside", running, "running")
    told = wait_told(space, "Experiment", "odd", "Unreadable")
    assert "spec.podSets[1].nameFrom" in told
    assert space.api.get(EXPERIMENT, "odd", space.namespace)["spec"]["paused"]
    # What a status says that cannot be read stops nobody.
    report(space, "plain", running=3, trials=[{"name": "Small"}])
    told = wait_told(space, "Experiment", "plain", "Unreadable")
    assert "spec.podSets[1].reclaimable" in told
    report(space, "plain", running=0, phase="Done", summary="found it", trials=[])
    wait_its_workload(space, "plain", lambda one: holds(one, "Finished"), "finished")
    assert not space.api.get(EXPERIMENT, "plain", space.namespace)["spec"]["paused"]


def test_what_cannot_be_read_when_it_is_stopped_is_restored_as_soon_as_it_can(
    described: Cluster, space: World
) -> None:
    queue(space)
    space.make(experiment(space, "sweep"))
    before = space.api.get(EXPERIMENT, "sweep", space.namespace)["spec"]
    wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
    change_containers(space, None)
    wait_experiment(space, "sweep", lambda one: one["spec"]["paused"], "stopped")
    wait_its_workload(space, "sweep", lambda one: not holds(one, "QuotaReserved"), "released")
    space.api.patch("ClusterQueue", space.name("cq"), {"spec": {"stopPolicy": "Hold"}})
    change_containers(space, before["coordinator"]["spec"]["containers"])
    wait_experiment(
        space, "sweep", lambda one: one["spec"] == {**before, "paused": True}, "restored"
    )


def change_containers(space: World, containers: Any) -> None:
    """Change the containers of an Experiment's coordinator; None takes them away."""
    change = {"spec": {"coordinator": {"spec": {"containers": containers}}}}
    space.api.patch(EXPERIMENT, "sweep", change, namespace=space.namespace)


def test_a_kind_is_queued_soon_after_its_definition_and_its_permission_come(
    bare: Cluster, space: World
) -> None:
    api = bare.api()
    api.apply(DESCRIPTION)
    waits_for(bare, "NotServed", "CustomResourceDefinition experiments.lab.example.com")
    api.apply(DEFINITION)
    told = waits_for(bare, "NotPermitted", "get, list, patch, watch experiments.lab.example.com")
    role = json.loads(told[told.index("{") :])
    assert role == ROLE
    api.apply(role)
    api.wait_one(KIND, NAME, lambda one: holds(one, "Active"), timeout_s=SECONDS)


def test_a_path_that_the_definition_does_not_have_is_named(bare: Cluster, space: World) -> None:
    api = bare.api()
    wrong = deepcopy(DESCRIPTION)
    wrong["spec"]["podSets"][0]["template"] = "spec.cordinator"
    for item in (DEFINITION, ROLE, wrong):
        api.apply(item)
    told = waits_for(bare, "PathNotFound", "spec.cordinator is no field of the kind")
    assert "spec.podSets[0].template" in told
    assert "coordinator" in told
    api.apply(DESCRIPTION)
    api.wait_one(KIND, NAME, lambda one: holds(one, "Active"), timeout_s=SECONDS)


def test_a_description_without_any_sense_is_refused_or_not_active(bare: Cluster) -> None:
    api = bare.api()
    wrong = deepcopy(DESCRIPTION)
    wrong["spec"]["active"] = {"expression": "object.status.running >"}
    api.apply(wrong)
    waits_for(bare, "InvalidDescription", "spec.active.expression")
    wrong["spec"]["active"] = {"expression": "true", "condition": "Running"}
    with pytest.raises(ApiError, match="exactly one of condition and expression must be set"):
        api.apply(wrong)


def test_a_description_is_in_force_as_long_as_it_is_needed(
    described: Cluster, space: World
) -> None:
    queue(space)
    space.make(experiment(space, "sweep"))
    before = space.api.get(EXPERIMENT, "sweep", space.namespace)["spec"]
    wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
    stays = "the description in status.inUse stays in force"
    space.api.delete("ClusterRole", ROLE["metadata"]["name"])
    space.api.patch(KIND, NAME, {"metadata": {"labels": {"look": "again"}}})
    waits_for(described, "NotPermitted", stays)
    space.api.apply(ROLE)
    space.api.wait_one(KIND, NAME, lambda one: holds(one, "Active"), timeout_s=SECONDS)
    space.api.patch(KIND, NAME, {"spec": {"active": {"expression": "object.status.running >"}}})
    waits_for(described, "InvalidDescription", stays)
    hold = {"spec": {"stopPolicy": "HoldAndDrain"}}
    space.api.patch("ClusterQueue", space.name("cq"), hold)
    wait_experiment(
        space, "sweep", lambda one: one["spec"] == {**before, "paused": True}, "restored"
    )
    wait_its_workload(space, "sweep", lambda one: not holds(one, "QuotaReserved"), "released")
    space.api.delete(KIND, NAME)
    waits_for(described, "InvalidDescription", "In force until no Workload needs it: 1 Workload")
    space.api.delete(EXPERIMENT, "sweep", space.namespace)
    space.api.wait_gone(KIND, NAME)


def test_a_kind_of_another_api_server_is_queued(
    bare: Cluster, space: World, tmp_path: Path
) -> None:
    api = bare.api()
    api.apply(DESCRIPTION)
    waits_for(bare, "NotServed", "or APIService v1.lab.example.com")
    api.apply(ROLE)
    with served_behind(api, tmp_path, DEFINITION, space.namespace):
        api.wait_one(KIND, NAME, lambda one: holds(one, "Active"), timeout_s=SECONDS)
        queue(space)
        space.make(experiment(space, "sweep"))
        wait_experiment(space, "sweep", lambda one: not one["spec"]["paused"], "running")
        api.delete(EXPERIMENT, "sweep", space.namespace)
        wait_nothing_held(api, space.namespace, [space.name("cq")])


def test_a_kind_whose_definition_goes_away_is_let_go(described: Cluster, space: World) -> None:
    space.api.delete("CustomResourceDefinition", NAME)
    waits_for(described, "NotServed", NAME)
    queue(space)
    space.make(job(space.namespace, "beside", queue="team", pods=Pods(run_s=None)))
    wait_job(space, "beside", running, "running")


def waits_for(cluster: Cluster, reason: str, says: str) -> str:
    """Wait until the description is not in use for a reason; return what is said of it."""

    def told(one: Object) -> bool:
        found = condition(one, "Active")
        return found.get("reason") == reason and says in found.get("message", "")

    found = cluster.api().wait_one(KIND, NAME, told, timeout_s=SECONDS, what=f"{reason}: {says}")
    return str(condition(found, "Active")["message"])
