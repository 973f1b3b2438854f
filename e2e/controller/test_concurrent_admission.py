"""Workloads wait in all flavors of a queue at once, on the real control plane."""

from collections.abc import Callable

from e2e.api import condition, holds
from e2e.conftest import Launch
from e2e.jobs import running, wait_job
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
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

SETTINGS = {"featureGates": {"ConcurrentAdmission": True}}
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
PARENT = "kueue.x-k8s.io/concurrent-admission-parent"
POLICY = {"migration": {"mode": "TryPreferredFlavors"}}


def make_queue(space: World) -> None:
    names = [space.name(one) for one in ("best", "good")]
    space.make(
        *(flavor(one, nodeLabels=POOL) for one in names),
        cluster_queue(
            space.name("cq"),
            {one: {"cpu": "2"} for one in names},
            preemption={"withinClusterQueue": "LowerPriority"},
            concurrentAdmissionPolicy=POLICY,
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("urgent"), 1000),
    )
    space.wait_for_queue("team")


def submit(space: World, name: str, *, urgent: bool = False, run_s: float | None = None) -> None:
    labels = {PRIORITY_CLASS: space.name("urgent")} if urgent else {}
    pods = Pods(cpu="2", run_s=run_s)
    space.make(job(space.namespace, name, queue="team", labels=labels, pods=pods))


def parent_of(space: World, name: str) -> Object:
    found = space.api.wait(
        "Workload",
        lambda items: any(owner(one) == name for one in items),
        namespace=space.namespace,
        what=f"the Workload of {name}",
    )
    return next(one for one in found if owner(one) == name)


def owner(workload: Object) -> str:
    return str(workload["metadata"]["ownerReferences"][0]["name"])


def family(space: World, name: str) -> dict[str, Object]:
    """Wait for the variants of a Job's Workload, by flavor."""
    parent = parent_of(space, name)["metadata"]["name"]
    space.api.wait(
        "Workload",
        lambda items: sum(owner(one) == parent for one in items) == 2,
        namespace=space.namespace,
        what="two variants",
    )
    return {
        one["metadata"]["annotations"][ALLOWED]: one
        for one in space.api.items("Workload", space.namespace)
        if owner(one) == parent
    }


def wait_workload(space: World, one: Object, until: Callable[[Object], bool], what: str) -> Object:
    name = one["metadata"]["name"]
    return space.api.wait_one("Workload", name, until, namespace=space.namespace, what=what)


def wait_runs(space: World, name: str, flavor: str) -> None:
    """Wait until a Job runs by the admission of its variant in a flavor."""

    def is_in(one: Object) -> bool:
        admission = one.get("status", {}).get("admission") or {}
        given = [each["flavors"]["cpu"] for each in admission.get("podSetAssignments", [])]
        return holds(one, "Admitted") and given == [space.name(flavor)]

    wait_workload(space, parent_of(space, name), is_in, f"admitted in {flavor}")
    wait_job(space, name, running, "running")


def test_a_job_takes_what_is_free_and_moves_to_the_better_flavor_and_is_preempted_and_ends(
    space: World, controllers: Launch
) -> None:
    controllers("concurrent", SETTINGS)
    make_queue(space)
    submit(space, "first")
    wait_runs(space, "first", "best")
    submit(space, "second")
    wait_runs(space, "second", "good")
    parent, variants = parent_of(space, "second"), family(space, "second")
    assert parent["metadata"]["labels"][PARENT] == "true"
    good, best = variants[space.name("good")], variants[space.name("best")]
    told = f"The variant {good['metadata']['name']} is admitted"
    assert condition(parent, "Admitted")["message"] == told

    space.api.delete("Job", "first", space.namespace)
    wait_runs(space, "second", "best")
    assert wait_workload(space, good, lambda one: not holds(one, "QuotaReserved"), "left")
    wait_workload(space, good, lambda one: not one["spec"]["active"], "deactivated")
    assert condition(parent_of(space, "second"), "Admitted")["message"] == (
        f"The variant {best['metadata']['name']} is admitted"
    )

    submit(space, "third")
    wait_runs(space, "third", "good")
    submit(space, "urgent", urgent=True, run_s=2)
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete in another's place")
    wait_job(space, "second", running, "running again")
    wait_job(space, "third", running, "running again")

    for name in ("second", "third", "urgent"):
        space.api.delete("Job", name, space.namespace)
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_variants_end_with_their_job_and_leave_with_it(space: World, controllers: Launch) -> None:
    controllers("concurrent", SETTINGS)
    make_queue(space)
    submit(space, "train", run_s=1)
    wait_job(space, "train", lambda one: holds(one, "Complete"), "complete")
    for one in family(space, "train").values():
        over = wait_workload(space, one, lambda each: holds(each, "Finished"), "finished")
        assert condition(over, "Finished")["reason"] == "Succeeded"
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
