"""The life of one Job: created, queued, admitted, run, finished, and its quota free again."""

from e2e.api import condition, holds
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.nodes import FAKE, POOL
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.world import World

SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


def make_queue(space: World, cpu: str = "4") -> None:
    space.make(
        flavor(space.name("any"), nodeLabels=POOL, tolerations=[SPOT]),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": cpu}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def test_a_job_is_admitted_runs_finishes_and_frees_its_quota(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(job(space.namespace, "train", queue="team", parallelism=2, pods=Pods(run_s=2)))
    wait_job(space, "train", lambda one: holds(one, "Complete"), "complete")
    done = wait_workload(space, "train", lambda one: holds(one, "Finished"), "finished")
    assert holds(done, "QuotaReserved")
    assert holds(done, "Admitted")
    assert condition(done, "Finished")["reason"] == "Succeeded"
    assert done["status"]["admission"]["clusterQueue"] == space.name("cq")
    assignment = done["status"]["admission"]["podSetAssignments"][0]
    assert assignment["count"] == 2
    assert assignment["flavors"] == {"cpu": space.name("any")}
    assert assignment["resourceUsage"] == {"cpu": "2"}
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_pods_get_the_labels_and_tolerations_of_their_flavor(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(job(space.namespace, "train", queue="team", pods=Pods(run_s=None)))
    template = wait_job(space, "train", running, "running")["spec"]["template"]
    assert template["spec"]["nodeSelector"] == {FAKE: "fake", **POOL}
    assert SPOT in template["spec"]["tolerations"]
    ready = wait_workload(space, "train", lambda one: holds(one, "PodsReady"), "pods ready")
    assert holds(ready, "Admitted")


def test_a_job_created_unsuspended_is_held_until_it_is_admitted(
    space: World, controller: Controller
) -> None:
    make_queue(space, cpu="1")
    first = job(space.namespace, "first", queue="team", pods=Pods(run_s=None))
    space.make(first)
    wait_job(space, "first", running, "running")
    space.make(job(space.namespace, "eager", queue="team", suspend=False))
    wait_workload(
        space,
        "eager",
        lambda one: condition(one, "QuotaReserved").get("status") == "False",
        "waiting for quota",
    )
    wait_job(space, "eager", lambda one: bool(one["spec"]["suspend"]), "suspended")
    assert not [pod for pod in pods_of(space, "eager") if pod["status"]["phase"] == "Running"]
    space.api.delete("Job", "first", space.namespace)
    wait_job(space, "eager", lambda one: holds(one, "Complete"), "complete")


def test_a_job_without_a_queue_name_is_left_alone(space: World, controller: Controller) -> None:
    make_queue(space)
    space.make(job(space.namespace, "free", suspend=False))
    wait_job(space, "free", lambda one: holds(one, "Complete"), "complete")
    assert space.api.items("Workload", space.namespace) == []


def test_a_failed_job_frees_its_quota_and_says_so(space: World, controller: Controller) -> None:
    make_queue(space)
    space.make(job(space.namespace, "broken", queue="team", pods=Pods(run_s=None, fail_s=0)))
    wait_job(space, "broken", lambda one: holds(one, "Failed"), "failed")
    done = wait_workload(space, "broken", lambda one: holds(one, "Finished"), "finished")
    assert condition(done, "Finished")["reason"] == "Failed"
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_deleted_job_takes_its_workload_and_quota_with_it(
    space: World, controller: Controller
) -> None:
    make_queue(space, cpu="1")
    space.make(job(space.namespace, "first", queue="team", pods=Pods(run_s=None)))
    wait_job(space, "first", running, "running")
    space.make(job(space.namespace, "second", queue="team"))
    workload_of(space, "second")
    space.api.delete("Job", "first", space.namespace)
    wait_job(space, "second", lambda one: holds(one, "Complete"), "complete")
    space.api.delete("Job", "second", space.namespace)
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_deactivated_workload_stops_its_job_and_an_activated_one_runs_it_again(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(job(space.namespace, "train", queue="team", pods=Pods(run_s=None)))
    before = wait_job(space, "train", running, "running")["spec"]["template"]
    name = workload_of(space, "train")["metadata"]["name"]
    place = {"namespace": space.namespace}
    space.api.patch("Workload", name, {"spec": {"active": False}}, **place)
    wait_job(space, "train", lambda one: bool(one["spec"]["suspend"]), "suspended")
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    space.api.patch("Workload", name, {"spec": {"active": True}}, **place)
    assert wait_job(space, "train", running, "running again")["spec"]["template"] == before


def test_a_waiting_job_whose_parallelism_is_edited_is_admitted_with_the_new_one(
    space: World, controller: Controller
) -> None:
    make_queue(space, cpu="4")
    space.make(job(space.namespace, "large", queue="team", parallelism=6, pods=Pods(run_s=None)))
    wait_workload(
        space,
        "large",
        lambda one: condition(one, "QuotaReserved").get("status") == "False",
        "too large",
    )
    change = {"spec": {"parallelism": 3}}
    space.api.patch("Job", "large", change, namespace=space.namespace)
    wait_job(space, "large", running, "running with 3 pods")
    admitted = wait_workload(space, "large", lambda one: holds(one, "Admitted"), "admitted")
    assert admitted["status"]["admission"]["podSetAssignments"][0]["count"] == 3


def pods_of(space: World, name: str) -> list[dict]:
    return space.api.items("Pod", space.namespace, labels=f"batch.kubernetes.io/job-name={name}")
