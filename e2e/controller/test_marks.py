"""Labels, annotations and settings that change what becomes of a Job: one replica for all."""

import copy
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.jobs import running, stopped, wait_complete, wait_job, wait_workload, workload_of
from e2e.nodes import POOL
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller, Residents
from e2e.wire import Object
from e2e.world import World

KUEUE = "kueue.x-k8s.io"
SETTINGS = {
    "manageJobsWithoutQueueName": True,
    "managedJobsNamespaceSelector": {
        "matchExpressions": [{"key": "queueing.test/world", "operator": "Exists"}]
    },
    "integrations": {"frameworks": ["batch/job"], "labelKeysToCopy": ["cost-centre"]},
    "objectRetentionPolicies": {"workloads": {"afterFinished": "5s"}},
    "featureGates": {"PriorityBoost": True},
}
FOREVER = Pods(run_s=None)


@pytest.fixture(scope="module")
def replica(installed: Cluster, residents: Residents) -> Iterator[Controller]:
    """Run one replica with all the settings that these tests are about."""
    residents.leave(installed)
    with launching(installed) as launch:
        yield launch("marks", SETTINGS)


@pytest.fixture
def team(space: World, replica: Controller) -> World:
    """Lend a namespace with a queue of one cpu."""
    space.make(flavor(space.name("any")), *queues(space))
    return space


def queues(space: World, **spec: Any) -> list[Object]:
    quota = {space.name("any"): {"cpu": "1"}}
    return [
        cluster_queue(space.name("cq"), quota, **spec),
        local_queue(space.namespace, "team", space.name("cq")),
    ]


def annotate(space: World, kind: str, name: str, **annotations: str | None) -> None:
    change = {"metadata": {"annotations": {f"{KUEUE}/{k}": v for k, v in annotations.items()}}}
    space.api.patch(kind, name, change, namespace=space.namespace)


def with_annotations(one: Object, **annotations: str) -> Object:
    return {**one, "metadata": {**one["metadata"], "annotations": annotations}}


def not_reserved(reason: str = "") -> Callable[[Object], bool]:
    def says(one: Object) -> bool:
        found = condition(one, "QuotaReserved")
        return found.get("status") == "False" and reason in ("", found["reason"])

    return says


def test_an_admission_gate_holds_a_job_until_it_is_removed(team: World) -> None:
    gated = job(team.namespace, "gated", queue="team", pods=FOREVER)
    gate = {f"{KUEUE}/admission-gated-by": "example.com/budget"}
    team.make(with_annotations(gated, **gate))
    wait_workload(team, "gated", not_reserved("AdmissionGated"), "told of its gate")
    annotate(team, "Job", "gated", **{"admission-gated-by": None})
    wait_job(team, "gated", running, "running without its gate")


def test_a_job_that_runs_longer_than_it_may_is_stopped_for_good(team: World) -> None:
    limit = {f"{KUEUE}/max-exec-time-seconds": "2"}
    team.make(job(team.namespace, "long", queue="team", pods=FOREVER, labels=limit))
    done = wait_workload(
        team, "long", lambda one: one["spec"].get("active") is False, "deactivated"
    )
    assert done["spec"]["maximumExecutionTimeSeconds"] == 2
    evicted = wait_workload(team, "long", lambda one: holds(one, "Evicted"), "evicted")
    assert condition(evicted, "Evicted")["reason"] == "DeactivatedDueToMaximumExecutionTimeExceeded"
    wait_job(team, "long", stopped, "stopped")


def test_chosen_labels_of_a_job_are_on_its_workload(team: World) -> None:
    labels = {"cost-centre": "7", "other": "x"}
    team.make(job(team.namespace, "labelled", queue="team", labels=labels))
    found = workload_of(team, "labelled")["metadata"]["labels"]
    assert found["cost-centre"] == "7"
    assert "other" not in found


def test_a_boosted_workload_goes_first(team: World) -> None:
    team.make(job(team.namespace, "running", queue="team", pods=FOREVER))
    wait_job(team, "running", running, "running")
    for name in ("first", "second"):
        team.make(job(team.namespace, name, queue="team", pods=FOREVER))
        workload_of(team, name)
    annotate(
        team,
        "Workload",
        workload_of(team, "second")["metadata"]["name"],
        **{"priority-boost": "10"},
    )
    team.api.delete("Job", "running", team.namespace)
    wait_job(team, "second", running, "boosted over the first")
    assert team.api.get("Job", "first", team.namespace)["spec"]["suspend"]


def test_a_prebuilt_workload_is_adopted_and_its_job_runs(team: World) -> None:
    wanted = job(team.namespace, "built", queue="team", labels={PREBUILT: "ready-made"})
    team.make(wanted)
    team.make(workload_for(team, wanted, "ready-made"))
    wait_job(team, "built", lambda one: holds(one, "Complete"), "complete")
    owned = [one for one in team.api.items("Workload", team.namespace) if owners(one)]
    assert [one["metadata"]["name"] for one in owned] in ([], ["ready-made"])


def test_a_prebuilt_workload_keeps_its_quota_until_the_pods_of_its_deleted_job_are_gone(
    team: World,
) -> None:
    slow = Pods(run_s=None, drain_s=5)
    wanted = job(team.namespace, "built", queue="team", pods=slow, labels={PREBUILT: "ready-made"})
    team.make(wanted)
    team.make(workload_for(team, wanted))
    wait_job(team, "built", running, "running")
    team.make(job(team.namespace, "next", queue="team"))
    workload_of(team, "next")
    team.api.delete("Job", "built", team.namespace)
    wait_workload(team, "next", lambda one: holds(one, "QuotaReserved"), "admitted")
    pods = team.api.items("Pod", team.namespace, labels="batch.kubernetes.io/job-name=built")
    assert pods == [], "quota was given back while a pod was ending"
    team.api.wait_gone("Workload", "ready-made", team.namespace)


def test_a_prebuilt_workload_that_does_not_match_ends_out_of_sync(team: World) -> None:
    wanted = job(
        team.namespace, "built", queue="team", parallelism=2, labels={PREBUILT: "ready-made"}
    )
    team.make(workload_for(team, {**wanted, "spec": {**wanted["spec"], "parallelism": 1}}))
    team.make(wanted)
    done = team.api.wait_one(
        "Workload", "ready-made", lambda one: holds(one, "Finished"), namespace=team.namespace
    )
    assert condition(done, "Finished")["reason"] == "OutOfSync"
    assert team.api.get("Job", "built", team.namespace)["spec"]["suspend"]


PREBUILT = f"{KUEUE}/prebuilt-workload-name"


def workload_for(space: World, owner: Object, name: str = "ready-made") -> Object:
    template = copy.deepcopy(owner["spec"]["template"])
    count = owner["spec"]["parallelism"]
    return {
        "apiVersion": f"{KUEUE}/v1beta2",
        "kind": "Workload",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {
            "queueName": "team",
            "podSets": [{"name": "main", "count": count, "template": template}],
        },
    }


def owners(one: Object) -> list[Object]:
    return one["metadata"].get("ownerReferences") or []


def test_a_job_without_a_queue_waits_for_one(team: World) -> None:
    team.make(job(team.namespace, "free", suspend=False))
    found = workload_of(team, "free")
    assert not found["spec"].get("queueName")
    wait_job(team, "free", lambda one: bool(one["spec"]["suspend"]), "suspended")
    change = {"metadata": {"labels": {f"{KUEUE}/queue-name": "team"}}}
    team.api.patch("Job", "free", change, namespace=team.namespace)
    wait_job(team, "free", lambda one: holds(one, "Complete"), "complete")


def test_jobs_of_namespaces_that_are_not_managed_are_left_alone(team: World) -> None:
    elsewhere = team.another_namespace("elsewhere")
    team.api.patch("Namespace", elsewhere, {"metadata": {"labels": {"queueing.test/world": None}}})
    team.api.create(job(elsewhere, "free", suspend=False))
    team.api.wait_one("Job", "free", lambda one: holds(one, "Complete"), namespace=elsewhere)
    assert team.api.items("Workload", elsewhere) == []


@pytest.mark.parametrize(
    "queue", [pytest.param("team", id="with a queue"), pytest.param("", id="without")]
)
def test_the_jobs_of_a_cron_job_queue_by_themselves(team: World, queue: str) -> None:
    wanted = job(team.namespace, "nightly", queue=queue, suspend=False)
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": team.namespace},
        "spec": {
            "schedule": "0 3 29 2 *",
            "jobTemplate": {
                "metadata": {"labels": wanted["metadata"]["labels"]},
                "spec": wanted["spec"],
            },
        },
    }
    team.api.apply({**cron, "apiVersion": "batch/v1"})
    where = f"--namespace={team.namespace}"
    made = team.cluster.kubectl("create", "job", "tonight", "--from=cronjob/nightly", where)
    assert made.returncode == 0, made.stderr
    workload_of(team, "tonight")
    if queue:
        wait_complete(team, count=1)
    else:
        wait_job(team, "tonight", lambda one: bool(one["spec"]["suspend"]), "suspended")


def test_a_workload_whose_job_left_it_behind_ends_and_goes_when_its_time_is_over(
    team: World,
) -> None:
    team.make(job(team.namespace, "lost", queue="team", pods=FOREVER))
    wait_job(team, "lost", running, "running")
    name = workload_of(team, "lost")["metadata"]["name"]
    team.api.delete("Job", "lost", team.namespace, propagation="Orphan")
    done = team.api.wait_one(
        "Workload", name, lambda one: holds(one, "Finished"), namespace=team.namespace
    )
    assert condition(done, "Finished")["reason"] == "OwnerNotFound"
    team.api.wait_gone("Workload", name, team.namespace)


def test_a_finished_workload_is_removed_when_its_time_is_over(team: World) -> None:
    team.make(job(team.namespace, "brief", queue="team"))
    name = workload_of(team, "brief")["metadata"]["name"]
    wait_job(team, "brief", lambda one: holds(one, "Complete"), "complete")
    team.api.wait_gone("Workload", name, team.namespace)
    assert team.api.get("Job", "brief", team.namespace), "its Job stays"


@pytest.fixture
def checked(space: World, replica: Controller) -> World:
    """Lend a namespace whose queue has a check of a controller that is not ours."""
    name = space.name("budget")
    check = {
        "apiVersion": f"{KUEUE}/v1beta2",
        "kind": "AdmissionCheck",
        "metadata": {"name": name},
        "spec": {"controllerName": "example.com/budget"},
    }
    space.make(check)
    now = space.api.get("AdmissionCheck", name)["metadata"]["creationTimestamp"]
    active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
    status = {"status": {"conditions": [{**active, "lastTransitionTime": now}]}}
    space.api.patch("AdmissionCheck", name, status, subresource="status")
    strategy = {"admissionChecks": [{"name": name}]}
    space.make(flavor(space.name("any"), nodeLabels=POOL))
    space.make(*queues(space, admissionChecksStrategy=strategy))
    space.make(job(space.namespace, "train", queue="team", pods=FOREVER))
    return space


def wait_reserved(space: World) -> Object:
    return wait_workload(
        space,
        "train",
        lambda one: (
            holds(one, "QuotaReserved")
            and not holds(one, "Admitted")
            and states(one) == ["Pending"]
        ),
        "reserved, its check pending",
    )


def states(workload: Object) -> list[str]:
    return [one["state"] for one in workload["status"].get("admissionChecks") or []]


def decide(space: World, state: str, **more: object) -> None:
    """Answer as the check's controller."""
    workload = wait_reserved(space)
    entry = {**workload["status"]["admissionChecks"][0], "state": state, "message": "so be it"}
    space.api.patch(
        "Workload",
        workload["metadata"]["name"],
        {"status": {"admissionChecks": [{**entry, **more}]}},
        namespace=space.namespace,
        subresource="status",
    )


def test_a_check_that_is_ready_admits_with_what_it_adds_to_the_pods(checked: World) -> None:
    update = {
        "name": "main",
        "labels": {"budget": "spent"},
        "annotations": {"budget/account": "7"},
        "tolerations": [{"key": "budget", "operator": "Exists"}],
    }
    decide(checked, "Ready", podSetUpdates=[update])
    template = wait_job(checked, "train", running, "running")["spec"]["template"]
    assert template["metadata"]["labels"]["budget"] == "spent"
    assert template["metadata"]["annotations"]["budget/account"] == "7"
    assert {"key": "budget", "operator": "Exists"} in template["spec"]["tolerations"]


def test_a_check_that_wants_a_retry_lets_the_quota_go_and_is_asked_again(checked: World) -> None:
    decide(checked, "Retry")
    again = wait_workload(
        checked,
        "train",
        lambda one: (
            holds(one, "QuotaReserved")
            and one["status"].get("schedulingStats", {}).get("evictions")
            and states(one) == ["Pending"]
        ),
        "reserved again",
    )
    assert again["status"]["schedulingStats"]["evictions"][0]["reason"] == "AdmissionCheck"
    decide(checked, "Ready")
    wait_job(checked, "train", running, "running")


def test_a_check_that_is_rejected_deactivates_the_workload(checked: World) -> None:
    decide(checked, "Rejected")
    done = wait_workload(
        checked, "train", lambda one: one["spec"].get("active") is False, "deactivated"
    )
    name = done["metadata"]["name"]
    evicted = checked.api.wait_one(
        "Workload", name, lambda one: holds(one, "Evicted"), namespace=checked.namespace
    )
    assert condition(evicted, "Evicted")["reason"] == "DeactivatedDueToAdmissionCheck"
    assert checked.api.get("Job", "train", checked.namespace)["spec"]["suspend"]
