"""JobSets under their own controller, with its webhooks: what their description reads of them."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.job_controllers import jobset
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import Pods
from e2e.wire import Object
from e2e.world import World, new_world
from queueing.kinds.registry import kind_of
from queueing.kinds.view import View, read

KIND = kind_of("jobset.x-k8s.io/jobset")
JOBSET = f"{KIND.api_version}/{KIND.name}"


@pytest.fixture(scope="module")
def simulated(built: Binaries) -> Iterator[Cluster]:
    """Lend a control plane of its own where JobSets run."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 4, labels=POOL)
        with jobset(cluster):
            yield cluster


@pytest.fixture
def space(simulated: Cluster) -> Iterator[World]:
    made = new_world(simulated)
    yield made
    made.leave()


def job_set(space: World, name: str, *, drivers: Pods, workers: Pods) -> Object:
    """Return a JobSet of a driver and two workers of two pods each."""
    replicated = [
        {"name": "driver", "template": {"spec": {"template": drivers.template()}}},
        {
            "name": "workers",
            "replicas": 2,
            "template": {
                "spec": {
                    "parallelism": 2,
                    "completions": 2,
                    "backoffLimit": 0,
                    "template": workers.template(),
                }
            },
        },
    ]
    return {
        "apiVersion": KIND.api_version,
        "kind": KIND.name,
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"suspend": True, "replicatedJobs": replicated},
    }


def seen(thing: Object) -> View:
    return read(KIND, msgspec.json.encode(thing))


def until(space: World, name: str, holds: Callable[[View], bool], what: str) -> View:
    found = space.api.wait_one(
        JOBSET, name, lambda one: holds(seen(one)), namespace=space.namespace, what=what
    )
    return seen(found)


def resume(space: World, name: str, *, suspend: bool = False) -> None:
    change = {"spec": {"suspend": suspend}}
    space.api.patch(JOBSET, name, change, namespace=space.namespace)


def test_states_of_a_jobset_that_runs_is_stopped_and_succeeds(space: World) -> None:
    endless, short = Pods(run_s=None), Pods(run_s=3)
    space.make(job_set(space, "train", drivers=endless, workers=short))
    first = until(space, "train", lambda one: one.suspended, "suspended")
    assert {one.name: one.count for one in first.pod_sets} == {"driver": 1, "workers": 4}
    assert not first.active
    assert first.ended is None

    resume(space, "train")
    until(space, "train", lambda one: one.active, "active")
    until(space, "train", lambda one: one.reclaimable == {"workers": 4}, "workers have succeeded")
    resume(space, "train", suspend=True)
    stopped = until(space, "train", lambda one: one.suspended and not one.active, "stopped")
    assert stopped.ended is None
    space.api.wait(
        "Pod",
        lambda pods: all(one["status"]["phase"] in ("Succeeded", "Failed") for one in pods),
        namespace=space.namespace,
        what="no pod runs",
    )


@pytest.mark.parametrize(
    ("workers", "succeeded"), [(Pods(run_s=1), True), (Pods(run_s=None, fail_s=1), False)]
)
def test_how_a_jobset_ends(space: World, workers: Pods, succeeded: bool) -> None:
    space.make(job_set(space, "train", drivers=Pods(run_s=1), workers=workers))
    resume(space, "train")
    over = until(space, "train", lambda one: one.ended is not None and not one.active, "over")
    assert over.ended is not None
    assert over.ended.succeeded is succeeded


def test_a_jobset_whose_pods_run_is_ready(space: World) -> None:
    endless = Pods(run_s=None)
    space.make(job_set(space, "train", drivers=endless, workers=endless))
    resume(space, "train")
    ready = until(space, "train", lambda one: one.ready, "ready")
    assert ready.active
    assert not ready.reclaimable
