"""Quota of a Job that was deleted while its pods still end."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from queueing.apiserver.server import serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.controller.workloads.departing_pods import (
    AGAIN_S,
    FORGOTTEN_S,
    DepartingPods,
    JobPods,
    Pods,
    PodSetPods,
)
from queueing.core.names import Uid
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import PODS
from queueing.testing.hand_clock import HandClock

GONE = JobPods(Uid("gone"))
MEMBER = PodSetPods("gang-g-12345", "worker")


def pod(
    name: str,
    job: str = "gone",
    *,
    owner: str = "gone",
    phase: str = "Running",
    workload: str = "gang-g-12345",
    pod_set: str = "worker",
) -> dict[str, Any]:
    owners = [{"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": owner}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "team",
            "labels": {
                "batch.kubernetes.io/controller-uid": job,
                "kueue.x-k8s.io/podset": pod_set,
            },
            "annotations": {"kueue.x-k8s.io/workload": workload},
            "finalizers": ["example.com/ends-slowly"],
            "ownerReferences": [{**owners[0], "controller": True}] if owner else [],
        },
        "spec": {"containers": [{"name": "c", "image": "i"}]},
        "status": {"phase": phase},
    }


@asynccontextmanager
async def departing(
    clock: HandClock, *pods: dict[str, Any], lists: list[str] | None = None
) -> AsyncIterator[tuple[DepartingPods, Client]]:
    async def note(call: HttpRequest) -> None:
        if lists is not None and call.method == "GET" and call.path.endswith("/pods"):
            lists.append(call.path)

    async with serve(intercept=note) as server, Client(Cluster.plain(server.url)) as client:
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}
        server.load([namespace, *pods])
        for one in pods:
            where = PODS.at(one["metadata"]["name"], "team", "status")
            await client.patch_merge(where, {"status": one["status"]})
        yield DepartingPods(client, clock), client


async def answers(
    asked: DepartingPods, clock: HandClock, jobs: Sequence[Pods] = (GONE,)
) -> list[bool]:
    """Return what is said of each Job a while after it was asked about first."""
    for one in jobs:
        assert await asked.remain("team", one), "nobody has looked yet"
    clock.time += AGAIN_S
    return [await asked.remain("team", one) for one in jobs]


@pytest.mark.parametrize(
    ("pods", "remain"),
    [
        pytest.param([pod("p")], True, id="a pod of it still runs"),
        pytest.param([pod("p", phase="Failed"), pod("q")], True, id="one of two has ended"),
        pytest.param([pod("p", phase="Failed")], False, id="all have ended"),
        pytest.param([pod("p", phase="Succeeded")], False, id="all have succeeded"),
        pytest.param([], False, id="none is left"),
        pytest.param([pod("p", owner="")], False, id="a pod was left behind on purpose"),
        pytest.param([pod("p", "other", owner="other")], False, id="pods of another Job"),
    ],
)
async def test_a_deleted_job_keeps_its_quota_while_it_has_pods(
    pods: Sequence[dict[str, Any]], *, remain: bool
) -> None:
    clock = HandClock()
    async with departing(clock, *pods) as (asked, _):
        assert await answers(asked, clock) == [remain]


async def test_quota_is_free_once_the_last_pod_is_gone() -> None:
    clock = HandClock()
    async with departing(clock, pod("p")) as (asked, client):
        assert await answers(asked, clock) == [True]
        await client.patch_merge(PODS.at("p", "team"), {"metadata": {"finalizers": None}})
        assert await asked.remain("team", GONE), "an answer holds for a while"
        clock.time += AGAIN_S
        assert not await asked.remain("team", GONE)


async def test_jobs_that_are_deleted_together_share_a_list() -> None:
    clock, lists = HandClock(), list[str]()
    jobs = [JobPods(Uid(f"job-{number}")) for number in range(50)]
    async with departing(clock, pod("p", "job-7", owner="job-7"), lists=lists) as (asked, _):
        assert await answers(asked, clock, jobs) == [one.job == "job-7" for one in jobs]
        assert len(lists) == 1


@pytest.mark.parametrize(
    ("pods", "remain"),
    [
        pytest.param([pod("p")], True, id="a pod of it still runs"),
        pytest.param([pod("p", phase="Failed")], False, id="all have ended"),
        pytest.param([pod("p", owner="")], False, id="a pod was left behind on purpose"),
        pytest.param([pod("p", pod_set="ps")], False, id="pods of another member"),
        pytest.param(
            [pod("p", workload="gang-g-67890")], False, id="pods of a member of the same name"
        ),
    ],
)
async def test_a_gang_keeps_its_quota_while_a_deleted_member_has_pods(
    pods: Sequence[dict[str, Any]], *, remain: bool
) -> None:
    clock = HandClock()
    async with departing(clock, *pods) as (asked, _):
        assert await answers(asked, clock, [MEMBER]) == [remain]


async def test_jobs_and_members_of_gangs_are_told_apart() -> None:
    clock, lists = HandClock(), list[str]()
    async with departing(clock, pod("p", "other", owner="other"), lists=lists) as (asked, _):
        assert await answers(asked, clock, [GONE, MEMBER]) == [False, True]
        assert len(lists) == 2, "one by each label"


async def test_what_was_found_gone_is_not_looked_for_again() -> None:
    clock, lists = HandClock(), list[str]()
    async with departing(clock, lists=lists) as (asked, _):
        assert await answers(asked, clock) == [False]
        clock.time += AGAIN_S
        assert not await asked.remain("team", GONE)
        assert len(lists) == 1


async def test_who_was_not_asked_about_for_long_is_listed_no_longer() -> None:
    clock, lists = HandClock(), list[str]()
    async with departing(clock, pod("p"), lists=lists) as (asked, _):
        assert await answers(asked, clock) == [True]
        clock.time += FORGOTTEN_S
        assert await answers(asked, clock, [MEMBER]) == [True]
        assert len(lists) == 2, "one of Jobs, then one of members of gangs"
