"""The life of pods, by themselves and in groups: gated by policies when they are created, run by
the real scheduler, preempted, replaced, and ended; nothing of them is left.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.identities import CONTROLLER
from e2e.jobs import running, wait_job, wait_told
from e2e.nodes import POOL
from e2e.objects import Pods as Template
from e2e.objects import cluster_queue, flavor, job, local_queue, workload_priority
from e2e.product import Residents
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

QUEUE_NAME, MANAGED = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/managed"
GATE, ROLE = "kueue.x-k8s.io/admission", "kueue.x-k8s.io/role-hash"
TOPOLOGY = "kueue.x-k8s.io/topology"
GROUP, TOTAL = "kueue.x-k8s.io/pod-group-name", "kueue.x-k8s.io/pod-group-total-count"
WAITING = "WaitingForReplacementPods"
SPOT = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}


@pytest.fixture(scope="module")
def queued(installed: Cluster, residents: Residents) -> Iterator[Cluster]:
    """Lend the cluster with a replica that queues pods."""
    residents.leave(installed)
    settings = {"integrations": {"frameworks": ["batch/job", "pod"]}}
    with launching(installed) as launch:
        launch("pods", settings)
        yield installed


def test_a_pod_waits_runs_and_ends_or_makes_way(queued: Cluster, space: World) -> None:
    make_queue(space, pods=1)
    first = create(space, "first", Template(run_s=None))
    assert first["metadata"]["labels"][MANAGED] == "true"
    assert first["metadata"]["finalizers"] == [MANAGED]
    assert [one["name"] for one in first["spec"]["schedulingGates"]] == [GATE, TOPOLOGY]
    created = wait_pod(space, "first", in_phase("Running"), "running")
    assert created["spec"]["nodeSelector"].items() >= POOL.items()
    assert SPOT in created["spec"]["tolerations"]
    assert created["metadata"]["labels"]["kueue.x-k8s.io/podset"] == "main"
    made = wait_workload(space, "first", lambda one: holds(one, "PodsReady"), "ready")
    assert made["metadata"]["name"].startswith("pod-first-")

    create(space, "second", Template(run_s=0))
    wait_workload(space, "second", bool, "made")
    lose_mark(queued, space, "first")
    assert holds(wait_workload(space, "first", bool, "there"), "QuotaReserved")
    urgent(space, pods=1, drained_by="first")
    space.api.wait_gone("Pod", "first", space.namespace)
    space.api.wait_gone("Workload", made["metadata"]["name"], space.namespace)

    space.api.delete("Job", "urgent", space.namespace)
    wait_pod(space, "second", in_phase("Succeeded"), "succeeded")
    done = wait_workload(space, "second", lambda one: holds(one, "Finished"), "finished")
    assert condition(done, "Finished")["reason"] == "Succeeded"
    wait_pod(space, "second", lambda one: "finalizers" not in one["metadata"], "let go")
    create(space, "third", Template(run_s=None, fail_s=0))
    failed = wait_workload(space, "third", lambda one: holds(one, "Finished"), "finished")
    assert condition(failed, "Finished")["reason"] == "Failed"
    for name in ("second", "third"):
        space.api.delete("Pod", name, space.namespace)
    wait_nothing_left(space)


def test_a_group_waits_runs_is_replaced_after_a_preemption_and_ends(
    queued: Cluster, space: World
) -> None:
    make_queue(space, pods=3)
    for name in ("a", "b"):
        member(space, name, 3, Template(run_s=None))
    told = wait_told(space, "Pod", "a", "ErrWorkloadCompose")
    assert "group has fewer runnable pods than expected" in told
    member(space, "c", 3, Template(run_s=None, cpu="2"))
    for name in "abc":
        wait_pod(space, name, in_phase("Running"), "running")
    workload = wait_group(space, lambda one: holds(one, "PodsReady"), "ready")
    sets = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
    assert sorted(sets.values()) == [1, 2]
    for name in "abc":
        assert space.api.get("Pod", name, space.namespace)["metadata"]["annotations"][ROLE] in sets

    urgent(space, pods=3, drained_by="a")
    waiting = wait_group(space, lambda one: holds(one, WAITING), "waiting for other pods")
    assert condition(waiting, WAITING)["reason"] == "Preempted"
    wait_group(space, lambda one: not holds(one, "QuotaReserved"), "without quota")
    space.api.delete("Job", "urgent", space.namespace)

    for name, cpu in (("d", "1"), ("e", "1"), ("f", "2")):
        member(space, name, 3, Template(run_s=1, cpu=cpu))
    for name in "abc":
        space.api.wait_gone("Pod", name, space.namespace)
    done = wait_group(space, lambda one: holds(one, "Finished"), "finished")
    assert condition(done, "Finished")["message"] == "Pods succeeded: 3/3."
    for name in "def":
        space.api.delete("Pod", name, space.namespace)
    wait_nothing_left(space)


def test_a_failed_pod_of_a_group_is_replaced_and_one_too_many_deleted(
    queued: Cluster, space: World
) -> None:
    make_queue(space, pods=2)
    member(space, "a", 2, Template(run_s=None))
    member(space, "b", 2, Template(run_s=None, fail_s=0))
    wait_group(space, lambda one: holds(one, WAITING), "waiting for another pod")
    member(space, "c", 2, Template(run_s=None))
    wait_pod(space, "c", in_phase("Running"), "running")
    wait_pod(space, "b", lambda one: "finalizers" not in one["metadata"], "let go")
    member(space, "d", 2, Template(run_s=None))
    space.api.wait_gone("Pod", "d", space.namespace)
    space.api.delete("Workload", "crew", space.namespace)
    for name in ("a", "b", "c"):
        space.api.wait_gone("Pod", name, space.namespace)
    wait_nothing_left(space)


def test_pods_of_a_job_and_pods_without_a_queue_are_left_alone(
    queued: Cluster, space: World
) -> None:
    make_queue(space, pods=1)
    pods = Template(run_s=0)
    made = job(space.namespace, "own", queue="team", pods=pods)
    made["spec"]["template"]["metadata"]["labels"] = {QUEUE_NAME: "team"}
    space.make(made)
    wait_job(space, "own", lambda one: holds(one, "Complete"), "complete")
    assert len(space.api.items("Workload", space.namespace)) == 1
    alone = create(space, "alone", pods, queue="")
    assert "schedulingGates" not in alone["spec"]
    wait_pod(space, "alone", in_phase("Succeeded"), "succeeded")


def lose_mark(cluster: Cluster, space: World, name: str) -> None:
    """Take the mark of a pod away, as only who passes the policies can; see that it comes back."""
    known = space.api.get("Pod", name, space.namespace)["metadata"]["resourceVersion"]
    unmark = ("label", "pod", name, f"{MANAGED}-", "-n", space.namespace)
    done = cluster.kubectl(*unmark, identity=CONTROLLER)
    assert done.returncode == 0, done.stderr

    def is_back(pod: Object) -> bool:
        changed = pod["metadata"]["resourceVersion"] != known
        return bool(changed and pod["metadata"]["labels"].get(MANAGED) == "true")

    wait_pod(space, name, is_back, "marked again")
    wait_told(space, "Pod", name, "MarkRestored")


def make_queue(space: World, pods: int) -> None:
    """Make a queue with quota for so many pods."""
    quotas = {"cpu": "1000", "pods": str(pods)}
    space.make(
        flavor(space.name("any"), nodeLabels=POOL, tolerations=[SPOT]),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): quotas},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("urgent"), 1000),
    )
    space.wait_for_queue("team")


def create(
    space: World, name: str, template: Template, queue: str = "team", **notes: str
) -> Object:
    pod: dict[str, Any] = template.template()
    meta = {
        **pod["metadata"],
        "name": name,
        "namespace": space.namespace,
        "labels": {QUEUE_NAME: queue} if queue else {},
    }
    meta["annotations"] = {"queueing.test/drain-seconds": "1", **meta["annotations"], **notes}
    return space.api.create({"apiVersion": "v1", "kind": "Pod", **pod, "metadata": meta})


def member(space: World, name: str, total: int, template: Template) -> Object:
    return create(space, name, template, **{GROUP: "crew", TOTAL: str(total)})


def urgent(space: World, pods: int, drained_by: str) -> None:
    """Preempt by a Job that needs all of the quota; see that it waits until pods have ended."""
    labels = {"kueue.x-k8s.io/priority-class": space.name("urgent")}
    template = Template(run_s=None)
    made = job(
        space.namespace, "urgent", queue="team", labels=labels, parallelism=pods, pods=template
    )
    space.make(made)
    going = wait_pod(space, drained_by, lambda one: bool(deletion_of(one)), "being deleted")
    target = condition(going, "TerminationTarget")
    assert target["reason"] == "WorkloadEvictedDueToPreempted"
    wait_job(space, "urgent", running, "running in its place")


def deletion_of(pod: Object) -> str:
    return str(pod["metadata"].get("deletionTimestamp", ""))


def in_phase(phase: str) -> Callable[[Object], bool]:
    return lambda one: bool(one["status"]["phase"] == phase)


def wait_pod(space: World, name: str, until: Callable[[Object], bool], what: str) -> Object:
    return space.api.wait_one("Pod", name, until, namespace=space.namespace, what=what)


def wait_group(space: World, until: Callable[[Object], bool], what: str) -> Object:
    return space.api.wait_one("Workload", "crew", until, namespace=space.namespace, what=what)


def wait_workload(space: World, pod: str, until: Callable[[Object], bool], what: str) -> Object:
    """Wait for the Workload of a pod that is queued by itself."""

    def found(all_of_them: list[Object]) -> list[Object]:
        return [
            one
            for one in all_of_them
            if one["metadata"]["ownerReferences"][0]["name"] == pod and until(one)
        ]

    workloads = space.api.wait(
        "Workload",
        lambda items: bool(found(list(items))),
        namespace=space.namespace,
        what=f"the Workload of {pod} {what}",
    )
    return found(list(workloads))[0]


def wait_nothing_left(space: World) -> None:
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
