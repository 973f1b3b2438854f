"""The API server fails in part, or says nothing: what happened meanwhile is caught up with.

Replicas that fail are in `test_failover`; here nobody of ours fails.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from typing_extensions import override

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.gate import Blow, Gate
from e2e.identities import CONTROLLER
from e2e.jobs import running, wait_job, wait_workload
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.proxy import Cable
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

FOREVER = Pods(run_s=None)
SHORT = Pods(run_s=0.5)
SILENCE_S = 12.0
"""Longer than a leader goes on without a renewal of its Lease."""
WEATHER_S = 4.0
CAUGHT_UP_S = 60.0
"""The Lease, its margin, and requests that wait for their time-out, on a machine under load."""
SHARE = 0.2
JOBS = 6
BLOWS = (
    Blow(429),
    Blow(500),
    Blow(503),
    Blow(504, late=True),
    Blow(late=True),
)


class Weather(Gate):
    """Lets a part of all requests fail, before or after they were done, while it is bad."""

    bad = False
    _dice = random.Random(29)

    @override
    def instead(self, method: str, path: str) -> Blow | None:
        if not self.bad or "watch=true" in path or self._dice.random() > SHARE:
            return None
        return self._dice.choice(BLOWS)


@pytest.fixture
def queue(space: World) -> World:
    """Lend a queue of four CPUs."""
    space.make(
        flavor(space.name("any")),
        cluster_queue(space.name("own"), {space.name("any"): {"cpu": "4"}}),
        local_queue(space.namespace, "own", space.name("own")),
    )
    return space


@contextmanager
def storm(weather: Weather) -> Iterator[None]:
    weather.bad = True
    yield
    time.sleep(WEATHER_S)
    weather.bad = False


@contextmanager
def silence(cable: Cable) -> Iterator[None]:
    cable.hush()
    yield
    time.sleep(SILENCE_S)
    cable.speak()


def through(weather: Weather, cable: Cable) -> Path:
    """Return a kubeconfig that leads through the cable to the weather."""
    direct = weather.kubeconfig
    path = direct.with_name(f"muted-{direct.name}")
    path.write_text(direct.read_text().replace(f":{weather.port}", f":{cable.port}"))
    return path


def trouble(space: World, lasting: AbstractContextManager[None], name: str) -> float:
    """Let Jobs go while it lasts, one leaving its Workload behind, and others come.

    Returns how long it took from then until those that left hold nothing, and all others ran.
    """
    workloads = {}
    for policy in ("Orphan", "Background"):
        short = f"{name}-{policy.lower()}"
        space.make(job(space.namespace, short, queue="own", pods=FOREVER, parallelism=2))
        wait_job(space, short, running, "running")
        found = wait_workload(space, short, lambda one: holds(one, "Admitted"), "admitted")
        workloads[policy] = found["metadata"]["name"]
    with lasting:
        for policy in workloads:
            short = f"{name}-{policy.lower()}"
            space.api.delete("Job", short, space.namespace, propagation=policy)
        for number in range(JOBS):
            short = f"{name}-{number}"
            space.make(job(space.namespace, short, queue="own", pods=SHORT, parallelism=2))
    since = time.monotonic()
    space.api.wait_gone("Workload", workloads["Background"], space.namespace)
    space.api.wait_one(
        "Workload",
        workloads["Orphan"],
        lambda one: holds(one, "Finished") and not one["metadata"].get("finalizers"),
        namespace=space.namespace,
    )
    space.api.wait("Job", all_complete, namespace=space.namespace, what="all others ran")
    wait_nothing_held(space.api, space.namespace, [space.name("own")])
    return time.monotonic() - since


def all_complete(found: list[Object]) -> bool:
    return all(holds(one, "Complete") for one in found)


def test_what_happened_while_the_server_failed_or_said_nothing_is_caught_up_with(
    queue: World, installed: Cluster, controllers: Callable[..., Controller]
) -> None:
    with Weather(installed, CONTROLLER) as weather, Cable(weather.port) as cable:
        controllers("stalled", kubeconfig=through(weather, cable))
        took = [
            trouble(queue, storm(weather), "storm"),
            trouble(queue, silence(cable), "silence"),
        ]
    print("caught up after", took)
    assert max(took) < CAUGHT_UP_S, f"caught up after {took}"
