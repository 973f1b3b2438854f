import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from queueing.apiserver.memory.store import Store
from queueing.apiserver.memory.writes import DeleteOptions
from queueing.apiserver.server import serve
from queueing.apiserver.simulation.cluster import simulate
from queueing.apiserver.simulation.jobs import members, ranges
from queueing.apiserver.simulation.nodes import NodeShape
from queueing.apiserver.tree import Object, dig, with_value

NODES = (
    NodeShape(name="cpu-1", allocatable={"cpu": "4", "memory": "8Gi"}, labels={"kind": "cpu"}),
    NodeShape(
        name="gpu-1",
        allocatable={"cpu": "8", "memory": "8Gi", "nvidia.com/gpu": "2"},
        labels={"kind": "gpu"},
        taints=({"key": "gpu", "value": "yes", "effect": "NoSchedule"},),
    ),
)


def job(name: str, *, cpu: str = "1", seconds: str = "1", **spec: Any) -> Object:
    pod: Object = {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i:1", "resources": {"requests": {"cpu": cpu}}}],
    }
    pod |= spec.pop("pod", {})
    meta = {"annotations": {"queueing.dev/simulate-seconds": seconds, **spec.pop("notes", {})}}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"template": {"metadata": meta, "spec": pod}, **spec},
    }


class Room:
    def __init__(self, store: Store, server: Any) -> None:
        self.store, self.server = store, server
        self.jobs = store.catalog.builtin("batch", "jobs")
        self.pods = store.catalog.builtin("", "pods")
        self.events = store.catalog.builtin("", "events")

    def job(self, name: str) -> Object:
        return self.store.read(self.jobs, "default", name)

    async def until(self, name: str, test: Callable[[Object], bool]) -> Object:
        async with asyncio.timeout(10):
            while not test(self.job(name)):
                await asyncio.sleep(0.002)
        return self.job(name)

    def said(self, name: str) -> list[tuple[str, str]]:
        """Return type and reason of the Events about a Job, in the order of their creation."""
        found = [
            one for one in self.store.items(self.events) if one["involvedObject"]["name"] == name
        ]
        found.sort(key=lambda one: one["metadata"]["name"])
        return [(one["type"], one["reason"]) for one in found for _ in range(one["count"])]

    async def until_said(self, name: str, *want: str) -> None:
        async with asyncio.timeout(10):
            while not {reason for _, reason in self.said(name)}.issuperset(want):
                await asyncio.sleep(0.002)

    def change(self, name: str, path: tuple[str, ...], value: Any) -> None:
        self.server.api.writes.update(with_value(self.job(name), path, value))


def has(kind: str) -> Callable[[Object], bool]:
    return lambda found: any(
        c["type"] == kind and c["status"] == "True"
        for c in dig(found, "status", "conditions", default=[])
    )


@pytest.fixture
async def room() -> AsyncIterator[Room]:
    async with serve() as server, simulate(server.store, nodes=NODES, speed=50):
        yield Room(server.store, server)


async def test_a_job_runs_to_completion(room: Room) -> None:
    room.server.load([job("j", parallelism=2, completions=5)])
    done = await room.until("j", has("Complete"))
    assert done["status"]["succeeded"] == 5
    assert "active" not in done["status"]
    assert done["status"]["completionTime"]


async def test_a_suspended_job_has_no_pods_until_it_is_resumed(room: Room) -> None:
    room.server.load([job("j", suspend=True)])
    await room.until("j", has("Suspended"))
    assert not room.store.items(room.pods)
    room.change("j", ("spec", "suspend"), value=False)
    await room.until("j", has("Complete"))


async def test_suspending_a_running_job_deletes_its_pods(room: Room) -> None:
    room.server.load([job("j", seconds="100000", parallelism=2)])
    await room.until("j", lambda found: dig(found, "status", "ready") == 2)
    room.change("j", ("spec", "suspend"), value=True)
    await room.until("j", has("Suspended"))
    await room.until("j", lambda found: not dig(found, "status", "terminating"))
    assert not room.store.items(room.pods)
    assert not room.job("j")["status"].get("startTime")


async def test_more_parallelism_makes_more_pods_and_less_deletes_the_newest(room: Room) -> None:
    room.server.load([job("j", seconds="100000", parallelism=1)])
    await room.until("j", lambda found: dig(found, "status", "active") == 1)
    room.change("j", ("spec", "parallelism"), value=3)
    await room.until("j", lambda found: dig(found, "status", "active") == 3)
    room.change("j", ("spec", "parallelism"), value=1)
    await room.until("j", lambda found: dig(found, "status", "active") == 1)


async def test_a_failing_job_fails_after_its_backoff_limit(room: Room) -> None:
    room.server.load(
        [job("j", seconds="0", backoffLimit=1, notes={"queueing.dev/simulate-failure": "true"})]
    )
    done = await room.until("j", has("Failed"))
    assert done["status"]["failed"] == 2


async def test_an_indexed_job_completes_every_index(room: Room) -> None:
    room.server.load([job("j", parallelism=2, completions=4, completionMode="Indexed")])
    done = await room.until("j", has("Complete"))
    assert done["status"]["completedIndexes"] == "0-3"


async def test_pods_wait_for_room_and_use_what_is_freed(room: Room) -> None:
    room.server.load([job("big", cpu="4", seconds="10"), job("next", cpu="3", seconds="1")])
    await room.until("big", has("Complete"))
    await room.until("next", has("Complete"))
    nodes = {dig(pod, "spec", "nodeName") for pod in room.store.items(room.pods)}
    assert nodes == {"cpu-1"}


async def test_a_taint_lets_in_only_who_tolerates_it(room: Room) -> None:
    toleration = {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}
    room.server.load([job("g", pod={"nodeSelector": {"kind": "gpu"}, "tolerations": [toleration]})])
    await room.until("g", has("Complete"))
    assert dig(room.store.items(room.pods)[0], "spec", "nodeName") == "gpu-1"


async def test_a_deadline_ends_a_job(room: Room) -> None:
    room.server.load([job("j", seconds="100000", activeDeadlineSeconds=1)])
    done = await room.until("j", has("Failed"))
    assert [c["reason"] for c in done["status"]["conditions"]] == ["DeadlineExceeded"] * 2


async def test_a_finished_job_goes_after_its_time_to_live(room: Room) -> None:
    room.server.load([job("j", ttlSecondsAfterFinished=1)])
    async with asyncio.timeout(10):
        while room.store.items(room.jobs) or room.store.items(room.pods):
            await asyncio.sleep(0.002)


async def test_a_job_says_what_became_of_it_and_of_its_pods(room: Room) -> None:
    room.server.load([job("j", suspend=True)])
    await room.until_said("j", "Suspended")
    room.change("j", ("spec", "suspend"), value=False)
    await room.until_said("j", "Completed")
    assert room.said("j") == [
        ("Normal", "Suspended"),
        ("Normal", "SuccessfulCreate"),
        ("Normal", "Resumed"),
        ("Normal", "Completed"),
    ]


async def test_a_job_that_is_suspended_again_says_so_once_more_in_the_same_event(
    room: Room,
) -> None:
    room.server.load([job("j", seconds="100000", suspend=True)])
    await room.until("j", has("Suspended"))
    room.change("j", ("spec", "suspend"), value=False)
    await room.until("j", lambda found: dig(found, "status", "ready") == 1)
    room.change("j", ("spec", "suspend"), value=True)
    await room.until_said("j", "SuccessfulDelete")
    await room.until("j", has("Suspended"))
    (suspended,) = [one for one in room.store.items(room.events) if one["reason"] == "Suspended"]
    assert (suspended["count"], suspended["message"]) == (2, "Job suspended")
    assert suspended["source"] == {"component": "job-controller"}
    # Events of others about the Job are named by the time alone.
    assert suspended["metadata"]["name"].startswith("j.job-controller.")


async def test_a_job_that_fails_says_why(room: Room) -> None:
    failing = {"queueing.dev/simulate-failure": "true"}
    room.server.load([job("j", seconds="0", backoffLimit=0, notes=failing)])
    await room.until("j", has("Failed"))
    assert room.said("j")[-1] == ("Warning", "BackoffLimitExceeded")


async def test_a_job_whose_pods_are_refused_says_so(room: Room) -> None:
    refused = job("j")
    refused["spec"]["template"]["metadata"]["annotations"]["not a name"] = "x"
    room.server.load([refused])
    await room.until_said("j", "FailedCreate")
    for event in room.store.items(room.events):
        assert event["message"].startswith("Error creating: Pod ")
    assert set(room.said("j")) == {("Warning", "FailedCreate")}


async def test_many_pods_are_told_of_in_few_events(room: Room) -> None:
    room.server.load([job("j", cpu="10m", seconds="100000", parallelism=30)])
    await room.until("j", lambda found: dig(found, "status", "active") == 30)
    events = room.store.items(room.events)
    assert len(events) == 11
    assert sum(one["count"] for one in events) == 30
    combined = [one for one in events if one["count"] > 1]
    assert [one["message"].partition("Created")[0] for one in combined] == [
        "(combined from similar events): "
    ]


async def test_a_job_in_a_namespace_that_goes_away_says_nothing_and_goes(room: Room) -> None:
    home = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
    of_team = job("j", seconds="100000")
    of_team["metadata"]["namespace"] = "team"
    room.server.load([home, of_team])
    await room.until_said("j", "SuccessfulCreate")
    namespaces = room.store.catalog.builtin("", "namespaces")
    team = room.store.read(namespaces, "", "team")
    room.server.api.writes.delete(namespaces, team, DeleteOptions())
    async with asyncio.timeout(10):
        while room.store.peek(namespaces, "", "team"):
            await asyncio.sleep(0.002)
    assert room.said("j") == []


@pytest.mark.parametrize(
    ("indexes", "text"),
    [
        pytest.param({0, 1, 2, 3}, "0-3", id="one range"),
        pytest.param({0, 2, 3, 7}, "0,2-3,7", id="gaps"),
        pytest.param(set(), "", id="none"),
    ],
)
def test_indexes_and_ranges_are_inverse(indexes: set[int], text: str) -> None:
    assert ranges(indexes) == text
    assert members(text) == indexes
