"""What a Job counts as, and where its quota is found: flavors, cohorts, fewer pods than asked."""

from collections.abc import Mapping, Sequence
from typing import Any

from e2e.api import condition, holds
from e2e.jobs import running, wait_job, wait_workload
from e2e.nodes import FAKE
from e2e.objects import (
    IMAGE,
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    cohort,
    flavor,
    job,
    local_queue,
    within,
    workload_priority,
)
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

FOREVER = Pods(run_s=None)


def make_queue(
    space: World, short: str, quotas: Mapping[str, Mapping[str, Any]], **spec: Any
) -> None:
    """Make a ClusterQueue and the LocalQueue of the same short name."""
    named = {space.name(one): quota for one, quota in quotas.items()}
    space.make(
        cluster_queue(space.name(short), named, **spec),
        local_queue(space.namespace, short, space.name(short)),
    )


def annotated(one: Object, **annotations: str) -> Object:
    one["metadata"]["annotations"] = {
        f"kueue.x-k8s.io/{key.replace('_', '-')}": value for key, value in annotations.items()
    }
    return one


def assignment_of(space: World, name: str) -> Object:
    """Wait for the admission of a Job, and return the assignment of its only pod set."""
    found = wait_workload(space, name, lambda one: holds(one, "Admitted"), "admitted")
    [assigned] = found["status"]["admission"]["podSetAssignments"]
    return dict(assigned)


def flavor_of(space: World, name: str) -> str:
    return str(assignment_of(space, name)["flavors"]["cpu"]).removeprefix(f"{space.prefix}-")


def wait_pending(space: World, name: str) -> Object:
    return wait_workload(
        space,
        name,
        lambda one: condition(one, "QuotaReserved").get("status") == "False",
        "waiting for quota",
    )


def test_flavors_are_taken_in_turn_and_rather_the_next_than_borrowed(
    space: World, controller: Controller
) -> None:
    space.make(flavor(space.name("first")), flavor(space.name("second")))
    quotas = {"first": {"cpu": "2"}, "second": {"cpu": "2"}}
    make_queue(space, "lender", quotas, cohort=space.name("all"))
    make_queue(space, "greedy", quotas, cohort=space.name("all"))
    modest = {"whenCanBorrow": "TryNextFlavor"}
    make_queue(space, "modest", quotas, cohort=space.name("all"), flavorFungibility=modest)
    for queue, want in (("modest", ["first", "second"]), ("greedy", ["first", "first"])):
        for number, chosen in enumerate(want):
            name = f"{queue}-{number}"
            space.make(job(space.namespace, name, queue=queue, parallelism=2, pods=FOREVER))
            assert flavor_of(space, name) == chosen


def test_nested_cohorts_lend_up_to_their_limits(space: World, controller: Controller) -> None:
    space.make(flavor(space.name("any")))
    root, left, right = (space.name(one) for one in ("root", "left", "right"))
    space.make(cohort(left, parentName=root), cohort(right, parentName=root))
    make_queue(space, "lender", {"any": {"cpu": within("4", lend="1")}}, cohort=left)
    make_queue(space, "borrower", {"any": {"cpu": "2"}}, cohort=right)
    space.make(job(space.namespace, "large", queue="borrower", parallelism=3, pods=FOREVER))
    wait_job(space, "large", running, "running on what the other subtree lends")
    space.make(job(space.namespace, "more", queue="borrower", pods=FOREVER))
    wait_pending(space, "more")
    space.make(job(space.namespace, "own", queue="lender", parallelism=3, pods=FOREVER))
    wait_job(space, "own", running, "running on what was not lent")


def test_a_borrower_may_preempt_a_lesser_borrower_below_the_threshold(
    space: World, controller: Controller
) -> None:
    space.make(flavor(space.name("any")))
    for name, value in (("low", 1), ("middle", 100), ("high", 1000)):
        space.make(workload_priority(space.name(name), value))
    family = space.name("all")
    rule = {
        "reclaimWithinCohort": "LowerPriority",
        "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 10},
    }
    make_queue(space, "lender", {"any": {"cpu": "2"}}, cohort=family)
    make_queue(space, "first", {"any": {"cpu": "0"}}, cohort=family)
    make_queue(space, "second", {"any": {"cpu": "1"}}, cohort=family, preemption=rule)
    for name, level in (("safe", "middle"), ("victim", "low")):
        labels = {PRIORITY_CLASS: space.name(level)}
        space.make(job(space.namespace, name, queue="first", pods=FOREVER, labels=labels))
        wait_job(space, name, running, "running on borrowed quota")
    labels = {PRIORITY_CLASS: space.name("high")}
    wanted = job(
        space.namespace, "owner", queue="second", parallelism=2, pods=FOREVER, labels=labels
    )
    space.make(wanted)
    wait_job(space, "owner", running, "running, one of its pods on borrowed quota")
    gone = wait_workload(space, "victim", lambda one: bool(condition(one, "Preempted")), "evicted")
    assert condition(gone, "Preempted")["reason"] == "InCohortReclaimWhileBorrowing"
    assert running(space.api.get("Job", "safe", space.namespace))


def test_a_job_that_may_starts_with_fewer_pods(space: World, controller: Controller) -> None:
    space.make(flavor(space.name("any")))
    make_queue(space, "team", {"any": {"cpu": "3"}})
    wanted = job(space.namespace, "flexible", queue="team", parallelism=5, pods=Pods(run_s=1))
    space.make(annotated(wanted, job_min_parallelism="3"))
    assert assignment_of(space, "flexible")["count"] == 3
    done = wait_job(space, "flexible", lambda one: holds(one, "Complete"), "complete")
    assert (done["spec"]["parallelism"], done["status"]["succeeded"]) == (3, 5)
    # That it has no more pods than its fewest is no mistake of whoever writes to it next.
    space.api.delete("Job", "flexible", space.namespace, propagation="Foreground")
    space.api.wait_gone("Job", "flexible", space.namespace)


def test_pods_that_are_needed_no_more_give_their_quota_back(
    space: World, controller: Controller
) -> None:
    space.make(flavor(space.name("any")))
    make_queue(space, "team", {"any": {"cpu": "2"}})
    first = job(space.namespace, "first", queue="team", parallelism=2, pods=Pods(run_s=4))
    first["spec"]["completions"] = 3
    space.make(first)
    wait_job(space, "first", running, "running")
    space.make(job(space.namespace, "second", queue="team", pods=FOREVER))
    later = wait_workload(space, "second", lambda one: holds(one, "Admitted"), "admitted")
    done = wait_workload(space, "first", lambda one: holds(one, "Finished"), "finished")
    assert done["status"]["reclaimablePods"][0]["count"] >= 1
    began = condition(later, "Admitted")["lastTransitionTime"]
    assert began < condition(done, "Finished")["lastTransitionTime"]


def test_the_overhead_of_a_runtime_class_counts(space: World, controller: Controller) -> None:
    space.make(flavor(space.name("any")))
    make_queue(space, "team", {"any": {"cpu": "4"}})
    name = space.name("sandboxed")
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": name},
        "handler": "sandbox",
        "overhead": {"podFixed": {"cpu": "500m"}},
    }
    space.make(runtime)
    pods = Pods(run_s=None, spec={"runtimeClassName": name})
    space.make(job(space.namespace, "boxed", queue="team", parallelism=2, pods=pods))
    assert assignment_of(space, "boxed")["resourceUsage"] == {"cpu": "3"}
    wait_job(space, "boxed", running, "running")


def test_what_a_limit_range_fills_in_counts(space: World, controller: Controller) -> None:
    space.make(flavor(space.name("any")))
    make_queue(space, "team", {"any": {"cpu": "4"}})
    limits = {"limits": [{"type": "Container", "defaultRequest": {"cpu": "750m"}}]}
    space.make(
        {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "usual", "namespace": space.namespace},
            "spec": limits,
        }
    )
    containers: Sequence[Object] = [{"name": "main", "image": IMAGE}]
    pods = Pods(run_s=None, spec={"containers": containers, "nodeSelector": {FAKE: "fake"}})
    space.make(job(space.namespace, "unsaid", queue="team", parallelism=2, pods=pods))
    assert assignment_of(space, "unsaid")["resourceUsage"] == {"cpu": "1500m"}
    wait_job(space, "unsaid", running, "running")
