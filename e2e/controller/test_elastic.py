"""Elastic Jobs grow, shrink, make way, come back and end, on the real control plane."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal

import pytest

from e2e.api import holds
from e2e.jobs import stopped, wait_job
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
from e2e.wire import ApiError, Object
from e2e.world import World

ELASTIC = "kueue.x-k8s.io/elastic-job"
REPLACES = "kueue.x-k8s.io/workload-slice-replacement-for"
ENDED = frozenset({"Succeeded", "Failed"})
QUOTA = 4
LASTING = Pods(run_s=None, drain_s=1)


def elastic(space: World, name: str, parallelism: int) -> Object:
    """Return a Job of pods that run until they are told to end, as many as it has at the time."""
    made = job(space.namespace, name, queue="team", parallelism=parallelism, pods=LASTING)
    made["metadata"]["annotations"] = {ELASTIC: "true"}
    del made["spec"]["completions"]
    return made


def make_queue(space: World, cpu: int = QUOTA) -> None:
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): {"cpu": str(cpu)}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
    )
    space.wait_for_queue("team")


def scale(space: World, name: str, parallelism: int) -> None:
    change = {"spec": {"parallelism": parallelism}}
    space.api.patch("Job", name, change, namespace=space.namespace)


def is_gated(pod: Object) -> bool:
    return any(one["name"] == ELASTIC for one in pod["spec"].get("schedulingGates") or [])


def on_nodes(pods: Sequence[Object]) -> Decimal:
    """Sum the cpu of pods that are on a node, not over, and not on their way out."""
    return sum(
        (
            amount(container["resources"]["requests"]["cpu"])
            for pod in pods
            if pod["spec"].get("nodeName")
            and not pod["metadata"].get("deletionTimestamp")
            and pod["status"]["phase"] not in ENDED
            for container in pod["spec"]["containers"]
        ),
        Decimal(0),
    )


def wait_pods(space: World, wanted: Callable[[list[Object]], bool], what: str) -> list[Object]:
    """Wait for the pods of the test; at no time more of them are on nodes than there is quota."""

    def within_quota(pods: list[Object]) -> bool:
        assert on_nodes(pods) <= QUOTA, "more pods run than there is quota"
        return wanted([one for one in pods if one["status"]["phase"] not in ENDED])

    return space.api.wait("Pod", within_quota, namespace=space.namespace, what=what)


def runs(count: int) -> Callable[[Object], bool]:
    return lambda one: not one["spec"].get("suspend") and one["status"].get("ready") == count


def live(space: World) -> list[Object]:
    found = space.api.items("Workload", space.namespace)
    return [one for one in found if not holds(one, "Finished")]


def wait_one_slice(space: World, count: int) -> Object:
    """Wait until a single slice is left, for so many pods and admitted."""

    def settled(found: list[Object]) -> bool:
        left = [one for one in found if not holds(one, "Finished")]
        return (
            len(left) == 1
            and holds(left[0], "Admitted")
            and left[0]["spec"]["podSets"][0]["count"] == count
        )

    found = space.api.wait("Workload", settled, namespace=space.namespace, what="one slice left")
    return next(one for one in found if not holds(one, "Finished"))


def wait_waiting_slice(space: World, count: int) -> None:
    """Wait until a slice for so many pods waits for quota."""

    def waits(found: list[Object]) -> bool:
        left = (one for one in found if not holds(one, "Finished") and not holds(one, "Admitted"))
        return [one["spec"]["podSets"][0]["count"] for one in left] == [count]

    space.api.wait("Workload", waits, namespace=space.namespace, what="one slice that waits")


def end(space: World, name: str) -> None:
    """Let all pods of a Job that run succeed."""
    for pod in space.api.items("Pod", space.namespace, labels=f"job-name={name}"):
        succeeded = {"status": {"phase": "Succeeded"}}
        space.api.patch(
            "Pod",
            pod["metadata"]["name"],
            succeeded,
            namespace=space.namespace,
            subresource="status",
        )


def wait_nothing_left(space: World) -> None:
    """Wait until no quota is held, and no Workload keeps our finalizer."""
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    space.api.wait(
        "Workload",
        lambda found: all(
            holds(one, "Finished") and not one["metadata"].get("finalizers") for one in found
        ),
        namespace=space.namespace,
        what="all Workloads finished and let go",
    )


def test_an_elastic_job_grows_shrinks_makes_way_comes_back_and_ends(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(elastic(space, "sweep", 1))
    original = space.api.get("Job", "sweep", space.namespace)["spec"]["template"]
    started = wait_job(space, "sweep", runs(1), "running")
    first = wait_one_slice(space, 1)

    scale(space, "sweep", 3)
    grown = wait_job(space, "sweep", runs(3), "running with three pods")
    assert grown["status"]["startTime"] == started["status"]["startTime"], "it was stopped"
    assert grown["spec"]["template"] == started["spec"]["template"]
    second = wait_one_slice(space, 3)
    named = f"{space.namespace}/{first['metadata']['name']}"
    assert second["metadata"]["annotations"][REPLACES] == named
    assert second["spec"]["podSets"][0]["template"] == first["spec"]["podSets"][0]["template"]
    replaced = space.api.get("Workload", first["metadata"]["name"], space.namespace)
    assert holds(replaced, "Finished")

    # Two more are one too many: they wait at their gate, and the three go on.
    scale(space, "sweep", 5)
    pods = wait_pods(space, lambda those: len(those) == 5, "five pods")
    assert sum(map(is_gated, pods)) == 2
    wait_waiting_slice(space, 5)
    scale(space, "sweep", 4)
    wait_job(space, "sweep", runs(4), "running with four pods")
    wait_one_slice(space, 4)

    # What is given up is free when the pods have ended.
    space.make(job(space.namespace, "beside", queue="team", parallelism=2, pods=LASTING))
    scale(space, "sweep", 2)
    wait_job(space, "beside", runs(2), "running beside")
    (shrunk,) = [one for one in live(space) if REPLACES in one["metadata"]["annotations"]]
    assert shrunk["spec"]["podSets"][0]["count"] == 2
    end(space, "beside")
    wait_job(space, "beside", lambda one: holds(one, "Complete"), "complete")

    scale(space, "sweep", 3)
    wait_job(space, "sweep", runs(3), "running with three pods again")
    urgent = {PRIORITY_CLASS: space.name("high")}
    space.make(
        job(space.namespace, "urgent", queue="team", parallelism=3, pods=LASTING, labels=urgent)
    )
    wait_pods(
        space,
        lambda those: (
            sum(bool(one["spec"].get("nodeName")) for one in those) == 3
            and all(one["metadata"]["name"].startswith("urgent") for one in those)
        ),
        "only the urgent pods",
    )
    away = wait_job(space, "sweep", stopped, "stopped")
    assert away["spec"]["template"] == original
    scale(space, "sweep", 2)
    end(space, "urgent")
    again = wait_job(space, "sweep", runs(2), "running again, with two pods")
    assert again["spec"]["template"]["metadata"]["annotations"]
    wait_one_slice(space, 2)
    end(space, "sweep")
    wait_job(space, "sweep", lambda one: holds(one, "Complete"), "complete")
    wait_nothing_left(space)


def test_nothing_is_lost_when_the_leader_is_killed_while_jobs_change_their_size(
    space: World, controllers: Callable[..., Controller]
) -> None:
    leader = controllers("first")
    make_queue(space)
    names = ("a", "b", "c")
    for name in names:
        space.make(elastic(space, name, 1))
    wait_job(space, "a", runs(1), "running")
    sizes: Iterator[int] = itertools.cycle((3, 1, 2, 4, 1, 3, 2))
    for turn in range(6):
        scale(space, names[turn % 3], next(sizes))
        if turn % 3 == 2:
            leader.kill()
            leader = controllers(f"after-{turn}")
        wait_pods(space, lambda those: len(those) > 0, "pods")
    for name in names:
        scale(space, name, 1)
    for name in names:
        wait_job(space, name, runs(1), "running with one pod")
    space.api.wait(
        "Workload",
        lambda found: sum(not holds(one, "Finished") for one in found) == len(names),
        namespace=space.namespace,
        what="one slice for each Job",
    )
    for name in names:
        end(space, name)
    for name in names:
        wait_job(space, name, lambda one: holds(one, "Complete"), "complete")
    wait_nothing_left(space)


def test_what_an_elastic_job_cannot_be_is_refused(space: World, controller: Controller) -> None:
    make_queue(space)
    space.make(elastic(space, "sweep", 1))
    wait_job(space, "sweep", runs(1), "running")
    change = {"metadata": {"annotations": {ELASTIC: None}}}
    with pytest.raises(ApiError, match="field is immutable"):
        space.api.patch("Job", "sweep", change, namespace=space.namespace)
    partial = elastic(space, "partial", 3)
    partial["metadata"]["annotations"]["kueue.x-k8s.io/job-min-parallelism"] = "1"
    with pytest.raises(ApiError, match="partial admission and elastic job cannot be used together"):
        space.make(partial)
