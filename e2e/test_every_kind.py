"""The life of an object of every kind that is queued, in one table, with pods that really run.

It waits suspended or gated, is admitted, runs, is scaled where it can be, makes way, comes back as
it was, and ends; nothing of it is left. JobSets and the kinds of Kubeflow have their own
controllers, Jobs, Deployments and StatefulSets those of Kubernetes; the others are played.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest

from e2e import described, job_controllers
from e2e.actors import JOB_SET, OVER, RAY_CLUSTER, RAY_JOB, TRAIN_JOB, acting
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.conftest import launching, wait_collecting
from e2e.contended import make_contended_queue
from e2e.controlplane.build import Binaries
from e2e.jobs import running, wait_job
from e2e.kinds_in_use import (
    MEMBERS,
    POD,
    USES,
    Use,
    create,
    create_part,
    runtime_of,
)
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import PRIORITY_CLASS, Pods, job
from e2e.product import install
from e2e.quota import wait_nothing_held
from e2e.serving import until
from e2e.serving_kinds import GATE, groups_played, refusal
from e2e.wire import ApiError, Object
from e2e.world import World, new_world
from queueing.kinds.paths import ABSENT, value_at
from queueing.kinds.registry import POD as PODS
from queueing.kinds.registry import QUEUED
from tests.kinds.rows import ROWS

REAL = frozenset(use.kind for use in USES.values() if use.operator)
"""Kinds whose own controllers run."""
TRAINED = tuple(use.kind.rpartition("/")[2] for use in USES.values() if use.operator == "training")
PLAYED = tuple(
    use.kind
    for use in USES.values()
    if use.suspend
    and not use.operator
    and use.kind.partition("/")[0] not in described.OF_KUBERNETES
)
TRAIN_JOBS = "trainjobs.trainer.kubeflow.org"
KEPT = {"type": "array", "items": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
LASTING = Pods(cpu="1", run_s=None, drain_s=1)
PODSET = "kueue.x-k8s.io/podset"
ENDED = frozenset({"Succeeded", "Failed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What is special in the life of a kind; most have nothing."""

    injected: bool = True
    """Whether its controller, of the version that can be built, puts what a start writes on the
    pods, and tells of them in the status."""
    below: tuple[str, ...] = ()
    """Kinds that it is made of, and that would be queued if they were by themselves."""
    fails: bool = True


TABLE = {
    **{named: Row() for named in USES},
    "group": Row(fails=False),  # it waits for pods in place of those that failed
    "train": Row(injected=False, below=(JOB_SET, "Job")),
    "jobset": Row(below=("Job",)),
    "ray": Row(below=(RAY_CLUSTER,)),
    "wrapper": Row(below=("Job",)),
}


@pytest.fixture(scope="module")
def queued(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own with all kinds, and a replica that queues them."""
    settings = {
        "integrations": {"frameworks": sorted({*QUEUED, PODS})},
        "featureGates": {"SparkApplicationIntegration": True},
    }
    with ExitStack() as stack:
        cluster = stack.enter_context(control_plane(built))
        make_nodes(cluster.api(), 4, labels=POOL)
        install(cluster)
        launch = stack.enter_context(launching(cluster))
        launch("kinds", settings)
        # After the start: kinds are taken up when their definitions appear.
        for one in (
            job_controllers.mpi(cluster),
            job_controllers.training(cluster, *TRAINED),
            job_controllers.jobset(cluster),
            job_controllers.trainer(cluster),
            described.served(cluster.api(), but=REAL),
        ):
            stack.enter_context(one)
        keep_patches(cluster, kept=True)
        cluster.api().apply(runtime_of(LASTING))
        wait_collecting(cluster)
        yield cluster


@pytest.fixture
def space(queued: Cluster) -> Iterator[World]:
    made = new_world(queued)
    with acting(made, *PLAYED), groups_played(queued.api(), made.namespace):
        yield made
    made.leave()


def test_every_kind_has_a_row() -> None:
    built_in = {described.kind_name(row) for row in ROWS}
    assert built_in == {use.kind for use in USES.values()}


@pytest.mark.parametrize("named", TABLE)
def test_the_life_of_a_kind(space: World, named: str) -> None:
    use, row = replace(USES[named], urgent=False), TABLE[named]
    most = max(use.scaling.sizes.values()) if use.scaling else use.pods
    make_contended_queue(space, {"cpu": str(most), "memory": "1000Gi"})
    before = create_held(space, use, "first")
    open_queue(space)
    wait_running(space, use.pods)
    wait_told(space, "PodsReady" if row.injected else "Admitted")
    assert_charged_once(space, use, row)
    if row.injected:
        assert_injected(space, use)

    scale(space, use, before)
    preempt(space, most)
    wait_made_way(space, use, before)
    space.api.delete("Job", "urgent", space.namespace)
    come_back(space, use)
    wait_running(space, use.pods)

    if use.serves:
        delete_all(space, use)
        return
    end(space, use, "Succeeded")
    assert_finished(space, "Succeeded")
    delete_all(space, use)
    if row.fails:
        create_held(space, use, "second")
        open_queue(space)
        wait_running(space, use.pods)
        end(space, use, "Failed")
        assert_finished(space, "Failed")
        delete_all(space, use)


def create_held(space: World, use: Use, name: str) -> list[Object]:
    """Create an object while its queue is held: it waits, and its Workload has its pod sets."""
    hold(space, "Hold")
    before = create(space, use, name, LASTING)
    until(
        lambda: len(workloads_of(space)) == use.workloads,
        f"{use.workloads} Workloads of {name}",
    )
    if use.kind == TRAIN_JOB:
        # This trainer leaves a JobSet suspended for ever that is resumed while it makes it.
        until(
            lambda: any(holds(one, "Suspended") for one in ours(space, JOB_SET)),
            "a JobSet that waits",
        )
    for workload in workloads_of(space):
        assert not holds(workload, "QuotaReserved")
        sets = {one["name"]: one["count"] for one in workload["spec"]["podSets"]}
        wanted = {name: count for name, count in use.pod_sets.items() if name}
        assert sum(sets.values()) == sum(use.pod_sets.values())
        if wanted:
            assert counted(sets) == counted(wanted)
    for one in before:
        suspended = value_at(one["spec"], use.suspend) if use.suspend else ABSENT
        assert suspended in (True, ABSENT)
    waiting = ours(space, "Pod")
    assert all(map(is_gated, waiting)) if not use.suspend else not waiting
    return before


def counted(sets: dict[str, int]) -> Counter[int]:
    """Return how many pod sets there are of each size: those of a gang have names of their own."""
    return Counter(sets.values())


def open_queue(space: World) -> None:
    hold(space, "None")


def hold(space: World, policy: str) -> None:
    """Stop or open the queue, and wait until that is in force."""
    patch = {"spec": {"stopPolicy": policy}}
    space.api.patch("LocalQueue", "team", patch, namespace=space.namespace)
    space.api.wait(
        "LocalQueue",
        lambda found: all(holds(one, "Active") is (policy == "None") for one in found),
        namespace=space.namespace,
        name="team",
        what=f"stopPolicy {policy} in force",
    )


def ours(space: World, kind: str) -> list[Object]:
    """Leave out what is of the urgent Job."""
    found = space.api.items(kind, space.namespace)
    return [one for one in found if "urgent" not in one["metadata"]["name"]]


def workloads_of(space: World) -> list[Object]:
    return [one for one in ours(space, "Workload") if not holds(one, "Finished")]


def is_gated(pod: Object) -> bool:
    return any(one["name"] == GATE for one in pod["spec"].get("schedulingGates", ()))


def is_alive(pod: Object) -> bool:
    ended = pod["status"].get("phase") in ENDED
    return not (ended or pod["metadata"].get("deletionTimestamp"))


def wait_running(space: World, count: int) -> None:
    """Wait until so many pods run, and none waits."""

    def run() -> bool:
        alive = [one for one in ours(space, "Pod") if is_alive(one)]
        return [one["status"].get("phase") for one in alive] == ["Running"] * count

    until(run, f"{count} pods run")


def wait_told(space: World, kind: str) -> None:
    """Wait until all Workloads have a condition."""
    until(lambda: all(holds(one, kind) for one in workloads_of(space)), f"all {kind}")


def assert_charged_once(space: World, use: Use, row: Row) -> None:
    """See that what it is made of runs, and that nothing of that is queued or charged again."""
    assert len(space.api.items("Workload", space.namespace)) == use.workloads
    for kind in row.below:
        found = ours(space, kind)
        assert found
        assert not any(one["spec"].get("suspend") for one in found), kind

    def as_much(queue: Object) -> bool:
        (used,) = queue["status"]["flavorsUsage"]
        totals = {one["name"]: one["total"] for one in used["resources"]}
        return bool(totals["cpu"] == str(use.pods))

    space.api.wait_one("ClusterQueue", space.name("cq"), as_much, what="charged once")


def assert_injected(space: World, use: Use) -> None:
    """See that its pods are on the nodes of the flavor, tolerate its taints, and are named."""
    pods = ours(space, "Pod")
    for pod in pods:
        assert POOL.items() <= pod["spec"]["nodeSelector"].items()
        assert any(one.get("key") == "spot" for one in pod["spec"]["tolerations"])
    names = Counter(one["metadata"]["labels"][PODSET] for one in pods)
    sizes = [count for count in use.pod_sets.values() for _ in range(use.workloads)]
    assert sum(names.values()) == sum(sizes)
    if len(use.parts) == 0 and all(use.pod_sets):
        assert names == {name: use.workloads * count for name, count in use.pod_sets.items()}


def scale(space: World, use: Use, before: Sequence[Object]) -> None:
    """Give it its other sizes, and in the end the one that it had."""
    if use.scaling is None:
        return
    (first, _), *rest = use.scaling.sizes.items()
    for size, pods in [*rest, (first, use.pods)]:
        name, change = before[0]["metadata"]["name"], use.scaling.patch(size)
        where = {"namespace": space.namespace}
        # One that is still being scaled down is not scaled up.
        until(
            lambda: not refusal(lambda: space.api.patch(use.kind, name, change, **where)),  # noqa: B023
            f"{size} is accepted",
        )
        wait_running(space, pods)
    wait_told(space, "Admitted")


def preempt(space: World, cpu: int) -> None:
    """Have a Job that needs all of the quota run in its place."""
    labels = {PRIORITY_CLASS: space.name("urgent")}
    pods = Pods(cpu="1", run_s=None)
    space.make(
        job(space.namespace, "urgent", queue="team", labels=labels, parallelism=cpu, pods=pods)
    )
    wait_job(space, "urgent", running, "running in its place")


def wait_made_way(space: World, use: Use, before: Sequence[Object]) -> None:
    """See that it waits as it did before: it is restored, or its pods are gated or gone."""
    until(lambda: all(map(is_gated, filter(is_alive, ours(space, "Pod")))), "none of its pods runs")
    if not use.suspend:
        return
    for one in before:
        kind, name = f"{one['apiVersion']}/{one['kind']}", one["metadata"]["name"]
        now = space.api.get(kind, name, space.namespace)
        assert now["spec"] == one["spec"]
    (workload,) = workloads_of(space)
    assert condition(workload, "Evicted")["reason"] == "Preempted"


def come_back(space: World, use: Use) -> None:
    """Make pods anew that nobody else does."""
    if use.kind != POD:
        return
    if not use.parts:
        create(space, use, "again", LASTING)
        return
    for at in range(MEMBERS):
        create_part(space, use, f"again-{at}", "first", LASTING)


def end(space: World, use: Use, outcome: str) -> None:
    """Let all pods end; a RayJob says by itself how it ended."""
    if use.kind == RAY_JOB:
        (thing,) = ours(space, RAY_JOB)
        change = {"metadata": {"annotations": {OVER: outcome}}}
        space.api.patch(RAY_JOB, thing["metadata"]["name"], change, namespace=space.namespace)
        return
    where = {"namespace": space.namespace, "subresource": "status"}
    for pod in filter(is_alive, ours(space, "Pod")):
        try:
            space.api.patch("Pod", pod["metadata"]["name"], {"status": {"phase": outcome}}, **where)
        except ApiError as error:
            if error.status != 404:  # it was deleted because another one failed
                raise


def assert_finished(space: World, outcome: str) -> None:
    """Wait until its Workload tells how it ended, and no quota is held."""

    def told() -> bool:
        found = [condition(one, "Finished") for one in ours(space, "Workload")]
        return any(one.get("reason") == outcome for one in found)

    until(lambda: not workloads_of(space) and told(), f"finished as {outcome}")
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def delete_all(space: World, use: Use) -> None:
    """Delete all that was created, and see that nothing is left."""
    for kind in {use.kind, *(kind for kind, _ in use.parts)}:
        for one in ours(space, kind):
            space.api.delete(kind, one["metadata"]["name"], space.namespace)
    until(
        lambda: not (ours(space, "Workload") or ours(space, "Pod")),
        "no Workload and no pod left",
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_a_trainjob_whose_definition_cannot_hold_a_start_fails_to_start_and_says_so(
    queued: Cluster, space: World
) -> None:
    make_contended_queue(space, {"cpu": "3"})
    keep_patches(queued, kept=False)
    (thing,) = create(space, USES["train"], "old", LASTING)
    until(lambda: any(holds(one, "Finished") for one in ours(space, "Workload")), "finished")
    (over,) = ours(space, "Workload")
    told = condition(over, "Finished")
    assert told["reason"] == "FailedToStart"
    assert "its definition is older" in told["message"]
    assert space.api.get(TRAIN_JOB, "old", space.namespace)["spec"] == thing["spec"]
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
    keep_patches(queued, kept=True)


def test_a_ray_job_that_ray_refuses_leaves_its_quota_to_others(
    queued: Cluster, space: World
) -> None:
    make_contended_queue(space, {"cpu": "3"})
    create(space, USES["ray"], "bad", LASTING)
    wait_running(space, 3)
    change = {"metadata": {"annotations": {OVER: "refused"}}}
    space.api.patch(RAY_JOB, "bad", change, namespace=space.namespace)

    def on_hold() -> bool:
        (one,) = workloads_of(space)
        told = condition(one, "QuotaReserved")
        return (told["reason"], told["message"]) == ("OnHold", "Job is on hold")

    until(on_hold, "on hold")
    space.make(job(space.namespace, "urgent", queue="team", parallelism=3, pods=Pods(run_s=0)))
    wait_job(space, "urgent", lambda one: holds(one, "Complete"), "complete")
    again = {"metadata": {"annotations": {OVER: None}}}
    space.api.patch(RAY_JOB, "bad", again, namespace=space.namespace)
    wait_running(space, 3)


def keep_patches(cluster: Cluster, *, kept: bool) -> None:
    """Let the definition of TrainJobs have runtime patches, as those of later versions do, or not.

    The controller of the version that can be built does not know them, and makes pods without.
    """
    api = cluster.api()
    definition = api.get("CustomResourceDefinition", TRAIN_JOBS)
    (version,) = definition["spec"]["versions"]
    fields = version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
    fields.pop("runtimePatches", None)
    if kept:
        fields["runtimePatches"] = KEPT
    api.replace(definition)

    def keeps() -> bool:
        spec = {
            **USES["train"].spec(LASTING),
            "runtimePatches": [{"manager": "tests.example.com/x"}],
        }
        body = {
            "apiVersion": "trainer.kubeflow.org/v1alpha1",
            "kind": "TrainJob",
            "metadata": {"name": "tried"},
            "spec": spec,
        }
        path = "/apis/trainer.kubeflow.org/v1alpha1/namespaces/default/trainjobs"
        made = api.wire.call("POST", path, query={"dryRun": "All"}, body=body)
        return ("runtimePatches" in made["spec"]) is kept

    until(keeps, "the definition is in force")
