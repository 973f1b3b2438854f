"""A running Job makes way for a more important one, and comes back as it was."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from e2e.api import condition, holds
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.nodes import POOL
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
from e2e.quota import amount, wait_nothing_held
from e2e.wire import Object
from e2e.world import World

RECLAIM = {"reclaimWithinCohort": "Any", "withinClusterQueue": "LowerPriority"}


def used_by_pods(pods: Sequence[Object]) -> Decimal:
    """Sum the cpu of pods that are on a node and not over."""
    return sum(
        (
            amount(container["resources"]["requests"]["cpu"])
            for pod in pods
            if pod["spec"].get("nodeName") and pod["status"]["phase"] not in {"Succeeded", "Failed"}
            for container in pod["spec"]["containers"]
        ),
        Decimal(0),
    )


def test_a_running_job_makes_way_and_returns_with_the_identical_pod_template(
    space: World, controller: Controller
) -> None:
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "4"}}, preemption=RECLAIM),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
    )
    low = job(
        space.namespace,
        "low",
        queue="team",
        parallelism=4,
        # Its pods take their time to go: what they hold must not be given away before.
        pods=Pods(run_s=None, drain_s=2),
    )
    space.make(low)
    created = space.api.get("Job", "low", space.namespace)["spec"]["template"]
    first = wait_job(space, "low", running, "running")["spec"]["template"]
    assert first != created, "the flavor's labels were not injected"

    labels = {PRIORITY_CLASS: space.name("high")}
    space.make(
        job(
            space.namespace,
            "high",
            queue="team",
            parallelism=4,
            pods=Pods(run_s=3),
            labels=labels,
        )
    )

    def over(pods: Sequence[Object]) -> bool:
        assert used_by_pods(pods) <= 4, "pods of both Jobs run at once"
        return any(
            pod["status"]["phase"] == "Succeeded" and pod["metadata"]["name"].startswith("high")
            for pod in pods
        )

    space.api.wait("Pod", over, namespace=space.namespace, what="the high Job's pods done")
    evicted = wait_workload(
        space, "low", lambda one: bool(condition(one, "Preempted")), "preempted at some time"
    )
    message = condition(evicted, "Preempted")["message"]
    assert workload_of(space, "high")["metadata"]["uid"] in message
    assert condition(evicted, "Preempted")["reason"] == "InClusterQueue"

    wait_job(space, "high", lambda one: holds(one, "Complete"), "complete")
    again = wait_job(space, "low", running, "running again")["spec"]["template"]
    assert again == first
    space.api.delete("Job", "low", space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_preempted_job_that_waits_has_its_own_pod_template_back(
    space: World, controller: Controller
) -> None:
    space.make(
        flavor(space.name("any"), nodeLabels=POOL, tolerations=[{"operator": "Exists"}]),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "2"}}, preemption=RECLAIM),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
    )
    space.make(job(space.namespace, "low", queue="team", parallelism=2, pods=Pods(run_s=None)))
    created = space.api.get("Job", "low", space.namespace)["spec"]["template"]
    wait_job(space, "low", running, "running")
    labels = {PRIORITY_CLASS: space.name("high")}
    endless = Pods(run_s=None)
    space.make(
        job(space.namespace, "high", queue="team", parallelism=2, pods=endless, labels=labels)
    )
    wait_job(space, "high", running, "running")
    waiting = wait_job(space, "low", lambda one: bool(one["spec"]["suspend"]), "suspended")
    assert waiting["spec"]["template"] == created
    requeued = wait_workload(
        space, "low", lambda one: not holds(one, "QuotaReserved"), "without reservation"
    )
    assert condition(requeued, "Evicted")["reason"] == "Preempted"


def test_a_job_that_names_variables_twice_keeps_them_and_its_workload_has_each_once(
    space: World, controller: Controller
) -> None:
    twice = [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}, {"name": "A", "value": "3"}]
    pods = Pods(run_s=None)
    (main,) = pods.template()["spec"]["containers"]
    containers = {
        "containers": [{**main, "env": twice}],
        "initContainers": [{**main, "name": "first", "env": twice}],
    }
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(space.name("cq"), {space.name("any"): {"cpu": "1"}}, preemption=RECLAIM),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
        job(space.namespace, "low", queue="team", pods=replace(pods, spec=containers)),
    )
    created = space.api.get("Job", "low", space.namespace)["spec"]["template"]
    assert named_in(created) == ["A", "B", "A", "A", "B", "A"]
    first = wait_job(space, "low", running, "running")["spec"]["template"]
    labels = {PRIORITY_CLASS: space.name("high")}
    space.make(job(space.namespace, "high", queue="team", pods=pods, labels=labels))
    wait_job(space, "high", running, "running")
    waiting = wait_job(space, "low", lambda one: bool(one["spec"]["suspend"]), "suspended")
    assert waiting["spec"]["template"] == created
    (pod_set,) = workload_of(space, "low")["spec"]["podSets"]
    assert named_in(pod_set["template"]) == ["A", "B", "A", "B"]
    assert pod_set["template"]["spec"]["containers"][0]["env"] == [twice[2], twice[1]]
    space.api.delete("Job", "high", space.namespace)
    assert wait_job(space, "low", running, "running again")["spec"]["template"] == first
    events = space.api.items("Event", space.namespace)
    assert [one for one in events if one["reason"] == "UpdatedWorkload"] == []


def named_in(template: Object) -> list[str]:
    """Return the names of all variables of a pod template, in order."""
    spec = template["spec"]
    return [
        variable["name"]
        for container in (*spec["containers"], *spec["initContainers"])
        for variable in container["env"]
    ]


def test_lent_quota_is_taken_back_from_a_borrower(space: World, controller: Controller) -> None:
    quota = {space.name("any"): {"cpu": "2"}}
    family = space.name("all")
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("lender"), quota, cohort=family, preemption=RECLAIM),
        cluster_queue(space.name("borrower"), quota, cohort=family, preemption=RECLAIM),
        local_queue(space.namespace, "lender", space.name("lender")),
        local_queue(space.namespace, "borrower", space.name("borrower")),
    )
    endless = Pods(run_s=None)
    for number in range(2):
        space.make(
            job(
                space.namespace,
                f"borrower-{number}",
                queue="borrower",
                parallelism=2,
                pods=endless,
            )
        )
    for number in range(2):
        wait_job(space, f"borrower-{number}", running, "running, one of them on borrowed quota")
    space.make(job(space.namespace, "owner", queue="lender", parallelism=2, pods=endless))
    wait_job(space, "owner", running, "running on its own quota")

    def one_left(jobs: Sequence[Object]) -> bool:
        borrowers = [one for one in jobs if one["metadata"]["name"].startswith("borrower")]
        return sum(running(one) for one in borrowers) == 1

    jobs = space.api.wait("Job", one_left, namespace=space.namespace, what="one borrower stopped")
    victim = next(one["metadata"]["name"] for one in jobs if one["spec"]["suspend"])
    workload = workload_of(space, victim)
    assert condition(workload, "Preempted")["reason"] == "InCohortReclamation"
