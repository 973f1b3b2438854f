"""What becomes of a Job after it was queued: checks, stops of its queue, another priority."""

from typing import Any

import pytest

from e2e.api import condition, holds
from e2e.jobs import running, stopped, wait_job, wait_workload, workload_of
from e2e.kinds import KUEUE
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

FOREVER = Pods(run_s=None)
STOPPING = "kueue.x-k8s.io/stopping"


def make_queue(space: World, cpu: str = "1", **spec: Any) -> None:
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": cpu}}, **spec),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def edit(space: World, kind: str, name: str, **spec: Any) -> None:
    namespace = space.namespace if kind == "LocalQueue" else None
    space.api.patch(kind, name, {"spec": spec}, namespace=namespace)


def test_what_was_drained_returns_before_those_that_came_later(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    for kind, name in (("ClusterQueue", space.name("cq")), ("LocalQueue", "team")):
        older, newer = f"older-{kind.lower()}", f"newer-{kind.lower()}"
        waits = f"waits-{kind.lower()}"
        space.make(job(space.namespace, older, queue="team", pods=FOREVER))
        wait_job(space, older, running, "running")
        space.make(job(space.namespace, waits, queue="team", pods=FOREVER))
        workload_of(space, waits)
        edit(space, kind, name, stopPolicy="HoldAndDrain")
        wait_workload(
            space,
            older,
            lambda one: condition(one, "QuotaReserved").get("reason") == "OnHold",
            "drained",
        )
        assert STOPPING not in (
            wait_job(space, older, stopped, "stopped")["metadata"].get("annotations") or {}
        )
        space.make(job(space.namespace, newer, queue="team", pods=FOREVER))
        workload_of(space, newer)
        edit(space, kind, name, stopPolicy="None")
        wait_job(space, older, running, "running again")
        for name_of_job in (waits, newer):
            assert space.api.get("Job", name_of_job, space.namespace)["spec"]["suspend"]
        found = wait_workload(space, older, lambda one: holds(one, "Requeued"), "requeued")
        assert condition(found, "Requeued")["reason"] == f"{kind}Restarted"
        for name_of_job in (newer, waits, older):
            space.api.delete("Job", name_of_job, space.namespace)
            space.api.wait_gone("Job", name_of_job, space.namespace)


def test_a_change_of_priority_counts_for_who_waits_and_for_who_runs(
    space: World, controller: Controller
) -> None:
    make_queue(space, preemption={"withinClusterQueue": "LowerPriority"})
    low, middle, high = (space.name(one) for one in ("low", "middle", "high"))
    for name, value in ((low, 1), (middle, 100), (high, 1000)):
        space.make(workload_priority(name, value))
    for name, level in (("runs", middle), ("waits", low), ("waits-too", low)):
        space.make(
            job(
                space.namespace,
                name,
                queue="team",
                pods=FOREVER,
                labels={PRIORITY_CLASS: level},
            )
        )
        workload_of(space, name)
        if name == "runs":
            wait_job(space, name, running, "running")
    raised = {"metadata": {"labels": {PRIORITY_CLASS: high}}}
    space.api.patch("Job", "waits-too", raised, namespace=space.namespace)
    wait_job(space, "waits-too", running, "running after its class was changed")
    space.api.patch("WorkloadPriorityClass", high, {"value": 10})
    wait_job(space, "runs", running, "running after the value of the other's class sank")
    found = wait_workload(space, "waits", lambda one: not holds(one, "Admitted"), "pending")
    name = found["metadata"]["name"]
    space.api.patch("Workload", name, {"spec": {"priority": 5000}}, namespace=space.namespace)
    # The class says what the priority is: an edit past it is taken back, and nobody is evicted.
    wait_workload(space, "waits", lambda one: one["spec"]["priority"] == 1, "as its class says")


def make_check(space: World, short: str) -> str:
    """Make an AdmissionCheck whose controller is the test, and return its name."""
    name = space.name(short)
    space.make(
        {
            "apiVersion": KUEUE,
            "kind": "AdmissionCheck",
            "metadata": {"name": name},
            "spec": {"controllerName": "example.com/budget"},
        }
    )
    now = space.api.get("AdmissionCheck", name)["metadata"]["creationTimestamp"]
    active = {"type": "Active", "status": "True", "reason": "Active", "message": ""}
    status = {"status": {"conditions": [{**active, "lastTransitionTime": now}]}}
    space.api.patch("AdmissionCheck", name, status, subresource="status")
    return name


def answer(space: World, job_name: str, answers: dict[str, Object]) -> None:
    """Answer as the checks' controller would, once the Workload has its quota reserved."""

    def asked(one: Object) -> bool:
        found = {check["name"] for check in one.get("status", {}).get("admissionChecks") or []}
        return holds(one, "QuotaReserved") and found == set(answers)

    workload = wait_workload(space, job_name, asked, "reserved, its checks asked")
    checks = [
        {**one, "message": "so be it", **answers[one["name"]]}
        for one in workload["status"]["admissionChecks"]
    ]
    space.api.patch(
        "Workload",
        workload["metadata"]["name"],
        {"status": {"admissionChecks": checks}},
        namespace=space.namespace,
        subresource="status",
    )


def make_checked_queue(space: World, checks: dict[str, list[str]]) -> None:
    """Make a queue of two flavors, one cpu each; `checks` says on which flavors each is asked."""
    space.make(flavor(space.name("first")), flavor(space.name("second")))
    rules = [
        {"name": name, **({"onFlavors": [space.name(one) for one in flavors]} if flavors else {})}
        for name, flavors in checks.items()
    ]
    quotas = {space.name(one): {"cpu": "1"} for one in ("first", "second")}
    strategy = {"admissionChecks": rules}
    space.make(
        cluster_queue(space.name("cq"), quotas, admissionChecksStrategy=strategy),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def test_a_check_is_asked_only_on_its_flavors(space: World, controller: Controller) -> None:
    make_checked_queue(space, {make_check(space, "budget"): ["second"]})
    space.make(job(space.namespace, "unchecked", queue="team", pods=FOREVER))
    wait_job(space, "unchecked", running, "running without being asked")
    space.make(job(space.namespace, "checked", queue="team", pods=FOREVER))
    held = wait_workload(space, "checked", lambda one: holds(one, "QuotaReserved"), "reserved")
    assert not holds(held, "Admitted")
    answer(space, "checked", {space.name("budget"): {"state": "Ready"}})
    wait_job(space, "checked", running, "running")


def test_a_retry_waits_for_the_longest_delay_and_every_check_is_asked_again(
    space: World, controller: Controller
) -> None:
    soon, late, fine = (make_check(space, one) for one in ("soon", "late", "fine"))
    make_checked_queue(space, {soon: [], late: [], fine: []})
    space.make(job(space.namespace, "train", queue="team", pods=FOREVER))
    answers: dict[str, Object] = {
        soon: {"state": "Retry", "requeueAfterSeconds": 1},
        late: {"state": "Retry", "requeueAfterSeconds": 3},
        fine: {"state": "Ready"},
    }
    answer(space, "train", answers)
    evicted = wait_workload(
        space,
        "train",
        lambda one: bool(one.get("status", {}).get("schedulingStats", {}).get("evictions")),
        "evicted",
    )
    began = condition(evicted, "Evicted")["lastTransitionTime"]
    again = wait_workload(
        space,
        "train",
        lambda one: (
            holds(one, "QuotaReserved")
            and not holds(one, "Evicted")
            and condition(one, "Requeued").get("reason") == "BackoffFinished"
        ),
        "reserved again",
    )
    assert condition(again, "QuotaReserved")["lastTransitionTime"] > began
    checks = {one["name"]: one for one in again["status"]["admissionChecks"]}
    assert {one["state"] for one in checks.values()} == {"Pending"}
    counts = {name: one.get("retryCount", 0) for name, one in checks.items()}
    assert counts == {soon: 1, late: 1, fine: 0}
    answer(space, "train", {name: {"state": "Ready"} for name in answers})
    wait_job(space, "train", running, "running")


def test_a_rejected_job_runs_when_it_is_switched_on_again_and_agreed_to(
    space: World, controller: Controller
) -> None:
    check = make_check(space, "budget")
    make_checked_queue(space, {check: []})
    space.make(job(space.namespace, "train", queue="team", pods=FOREVER))
    answer(space, "train", {check: {"state": "Rejected"}})
    done = wait_workload(
        space,
        "train",
        lambda one: one["spec"].get("active") is False and not holds(one, "QuotaReserved"),
        "deactivated, without quota",
    )
    name = done["metadata"]["name"]

    def told(events: list[Object]) -> bool:
        return any(
            one["reason"] == "AdmissionCheckRejected" and one["involvedObject"]["name"] == name
            for one in events
        )

    space.api.wait("Event", told, namespace=space.namespace, what="an event of the rejection")
    space.api.patch("Workload", name, {"spec": {"active": True}}, namespace=space.namespace)
    answer(space, "train", {check: {"state": "Ready"}})
    wait_job(space, "train", running, "running")


def test_checks_that_contradict_each_other_end_the_workload(
    space: World, controller: Controller
) -> None:
    one, other = make_check(space, "one"), make_check(space, "other")
    make_checked_queue(space, {one: [], other: []})
    space.make(job(space.namespace, "train", queue="team", pods=FOREVER))

    def placed(zone: str) -> Object:
        return {
            "state": "Ready",
            "podSetUpdates": [{"name": "main", "nodeSelector": {"example.com/zone": zone}}],
        }

    answer(space, "train", {one: placed("a"), other: placed("b")})
    done = wait_workload(space, "train", lambda found: holds(found, "Finished"), "finished")
    assert condition(done, "Finished")["reason"] == "FailedToStart"
    assert "example.com/zone" in condition(done, "Finished")["message"]
    assert space.api.get("Job", "train", space.namespace)["spec"]["suspend"]


@pytest.mark.parametrize("propagation", ["Background", "Foreground"])
def test_quota_of_a_deleted_job_is_kept_until_its_pods_are_gone(
    space: World, controller: Controller, propagation: str
) -> None:
    make_queue(space)
    slow = Pods(run_s=None, drain_s=5)
    space.make(job(space.namespace, "slow", queue="team", pods=slow))
    wait_job(space, "slow", lambda one: one["status"].get("ready") == 1, "ready")
    space.make(job(space.namespace, "next", queue="team"))
    assert workload_of(space, "next")
    space.api.delete("Job", "slow", space.namespace, propagation=propagation)
    wait_workload(space, "next", lambda one: holds(one, "QuotaReserved"), "admitted")
    left = space.api.items("Pod", space.namespace, labels="batch.kubernetes.io/job-name=slow")
    assert left == [], "quota was given back while a pod was ending"
    space.api.wait_gone("Job", "slow", space.namespace)


@pytest.mark.usefixtures("collected")
def test_a_job_deleted_without_what_it_owns_leaves_its_workload_as_a_record(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(job(space.namespace, "lost", queue="team", pods=FOREVER))
    wait_job(space, "lost", running, "running")
    name = workload_of(space, "lost")["metadata"]["name"]
    space.make(job(space.namespace, "next", queue="team"))
    space.api.delete("Job", "lost", space.namespace, propagation="Orphan")
    wait_job(space, "next", lambda one: holds(one, "Complete"), "complete: the quota is free")
    left = space.api.wait_one("Workload", name, _is_unbound, namespace=space.namespace)
    found = condition(left, "Finished")
    assert (found["status"], found["reason"]) == ("True", "OwnerNotFound")


def _is_unbound(one: Object) -> bool:
    return not (one["metadata"].get("finalizers") or one["metadata"].get("ownerReferences"))
