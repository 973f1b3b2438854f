"""Leaders are killed at random moments while objects of all kinds come, are preempted and end."""

import os
import random
import time
from collections.abc import Callable, Iterator

import pytest

from e2e import described
from e2e.actors import APP_WRAPPER, JOB, JOB_SET, OVER, RAY_CLUSTER, RAY_JOB, TRAIN_JOB, acting
from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.controller.test_nesting import ray_of, runtime_of, training_of, wrapping_of
from e2e.ha.history import Audit
from e2e.ha.replicas import SHORT_LEASE, epoch_of, wait_leader
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    QUEUE_NAME,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import Controller
from e2e.quota import Ledger, wait_nothing_held
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.registry import QUEUED

KILLS = int(os.environ.get("QUEUEING_E2E_KILLS", "6"))
"""How many leaders are killed; 50 is a long run, of ten minutes."""
GANG, SIZE = "queueing.dev/gang", "queueing.dev/gang-size"
LONGEST_S = 3.0
"""A leader lives for at most so long after the last objects came."""
END_S = 240.0
SETTINGS = {**SHORT_LEASE, "integrations": {"frameworks": sorted(QUEUED)}}
CPU = "8"
TOP = (JOB, JOB_SET, RAY_JOB, TRAIN_JOB, APP_WRAPPER)
Launch = Callable[..., Controller]


@pytest.fixture
def kinds(installed: Cluster) -> Iterator[None]:
    """Have definitions of all kinds."""
    with described.served(installed.api()):
        yield


class Users:
    """Submit an object of each kind, and a gang of two kinds, at a time."""

    def __init__(self, space: World, seed: int) -> None:
        self._space, self._dice = space, random.Random(seed)
        self.queued = 0
        """Workloads that there will be."""

    def begin(self) -> None:
        space = self._space
        space.make(
            flavor(space.name("any"), nodeLabels=POOL),
            cluster_queue(
                space.name("cq"),
                {space.name("any"): {"cpu": CPU}},
                preemption={"withinClusterQueue": "LowerPriority"},
            ),
            local_queue(space.namespace, "team", space.name("cq")),
            workload_priority(space.name("urgent"), 1000),
        )
        space.api.apply(runtime_of(self._pods()))
        space.wait_for_queue("team")

    def submit(self) -> None:
        number, pods = self.queued, self._pods()
        self._create(JOB_SET, f"set-{number}", set_of(pods))
        self._create(RAY_JOB, f"ray-{number}", ray_of(Pods(run_s=None)))
        self._create(TRAIN_JOB, f"train-{number}", training_of(pods))
        wrapped = wrapping_of(pods)
        wrapped["components"][0]["template"]["metadata"]["name"] = f"wrap-{number}-job"
        self._create(APP_WRAPPER, f"wrap-{number}", wrapped)
        urgent = {PRIORITY_CLASS: self._space.name("urgent")}
        self._make_job(f"urgent-{number}", urgent, {}, parallelism=3)
        gang, size = {GANG: f"g-{number}"}, {SIZE: "2"}
        self._make_job(f"feed-{number}", gang, size)
        self._create(JOB_SET, f"gang-{number}", set_of(pods), labels=gang, annotations=size)
        self.queued += 6

    def end_rays(self) -> None:
        """Let the entry points of RayJobs whose clusters are ready end."""
        for one in self._space.api.items(RAY_JOB, self._space.namespace):
            status = one.get("status", {})
            if status.get("rayClusterStatus", {}).get("state") == "ready":
                change = {"metadata": {"annotations": {OVER: "true"}}}
                name = one["metadata"]["name"]
                self._space.api.patch(RAY_JOB, name, change, namespace=self._space.namespace)

    def _pods(self) -> Pods:
        return Pods(cpu="500m", run_s=self._dice.choice((1.0, 3.0)))

    def _make_job(self, name: str, labels: Object, notes: Object, *, parallelism: int = 1) -> None:
        space = self._space
        made = job(
            space.namespace,
            name,
            queue="team",
            labels=labels,
            parallelism=parallelism,
            pods=Pods(cpu="1", run_s=2.0),
        )
        made["metadata"].setdefault("annotations", {}).update(notes)
        space.api.create(made)

    def _create(
        self,
        named: str,
        name: str,
        spec: Object,
        labels: Object | None = None,
        annotations: Object | None = None,
    ) -> None:
        api_version, _, kind = named.rpartition("/")
        meta = {
            "name": name,
            "namespace": self._space.namespace,
            "labels": {QUEUE_NAME: "team", **(labels or {})},
            "annotations": annotations or {},
        }
        body = {"apiVersion": api_version, "kind": kind, "metadata": meta}
        self._space.api.create({**body, "spec": {**spec, "suspend": True}})


def set_of(pods: Pods) -> Object:
    job_spec = {"parallelism": 2, "completions": 2, "template": pods.template()}
    return {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": job_spec}}]}


def assert_none_runs_unadmitted(space: World) -> None:
    """See it of all objects at a moment when nobody leads; what they are made of follows them."""
    running = {
        one["metadata"]["uid"]: f"{kind} {one['metadata']['name']}"
        for kind in TOP
        for one in space.api.items(kind, space.namespace)
        if not (one["spec"].get("suspend") or has_ended(one))
        and not one["metadata"].get("ownerReferences")
    }
    admitted = {
        owner["uid"]
        for one in space.api.items("Workload", space.namespace)
        if holds(one, "Admitted")
        for owner in one["metadata"].get("ownerReferences", [])
    }
    assert not {name for uid, name in running.items() if uid not in admitted}


def has_ended(one: Object) -> bool:
    status = one.get("status", {})
    ended = any(holds(one, kind) for kind in ("Complete", "Completed", "Failed"))
    return ended or "Succeeded" in (status.get("phase"), status.get("jobStatus", "").capitalize())


def test_killed_leaders_leave_no_half_start_and_lose_nothing_of_any_kind(
    space: World, installed: Cluster, controllers: Launch, kinds: None
) -> None:
    dice = random.Random(2026)
    replicas = [controllers("one", SETTINGS), controllers("two", SETTINGS)]
    wait_leader(installed, replicas)
    users = Users(space, 2026)
    users.begin()
    played = (JOB_SET, RAY_CLUSTER, RAY_JOB, TRAIN_JOB, APP_WRAPPER)
    ledger = Ledger({(frozenset({space.name("cq")}), "cpu"): CPU})
    with (
        Audit(installed, space.namespace, ledger) as audit,
        acting(space, *played, runtime=runtime_of(Pods(cpu="500m", run_s=2.0))),
    ):
        for kill in range(KILLS):
            users.submit()
            time.sleep(dice.uniform(0.0, LONGEST_S))
            leader, epoch = wait_leader(installed, replicas), epoch_of(installed)
            leader.kill()
            assert_none_runs_unadmitted(space)
            replicas.remove(leader)
            replicas.append(controllers(f"after-{kill}", SETTINGS))
            wait_leader(installed, replicas, after=epoch)
            users.end_rays()
        wait_all_finished(space, users)
        wait_nothing_held(space.api, space.namespace, [space.name("cq")])
        audit.check()
    print(f"{users.queued} workloads of all kinds, {KILLS} leaders killed")


def wait_all_finished(space: World, users: Users) -> None:
    """Wait until each Workload has finished well; nothing else is left of those that did not."""
    ends, found = time.monotonic() + END_S, []
    while time.monotonic() < ends:
        users.end_rays()
        found = space.api.items("Workload", space.namespace)
        over = [condition(one, "Finished") for one in found if holds(one, "Finished")]
        if len(over) == len(found) == users.queued:
            assert {one["reason"] for one in over} == {"Succeeded"}
            return
        time.sleep(1.0)
    left = [one["metadata"]["name"] for one in found if not holds(one, "Finished")]
    raise AssertionError(f"{len(found)} of {users.queued} Workloads, not finished: {left}")
