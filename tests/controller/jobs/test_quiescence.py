"""A Job that was suspended so soon that its status does not tell whether it makes pods."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from queueing.apiserver.server import serve
from queueing.controller.jobs.quiescence import AGAIN_S, LINGER_S, Quiescence
from queueing.kube.client import Client
from queueing.kube.config import Cluster
from queueing.kube.resources import PODS
from queueing.testing.hand_clock import HandClock
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job
from tests.controller.unheard import unheard_writes

BEFORE, ADMITTED, AFTER = (f"2026-01-01T00:00:0{second}Z" for second in (1, 5, 9))
POD: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {
        "name": "p",
        "namespace": "team",
        "labels": {"batch.kubernetes.io/controller-uid": "u"},
    },
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}


@asynccontextmanager
async def asked(clock: HandClock) -> AsyncIterator[tuple[Quiescence, Client]]:
    async with serve() as server, Client(Cluster.plain(server.url)) as client:
        server.load([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}}])
        writes = unheard_writes(client)
        yield Quiescence(writes, clock), client


def job(suspended: str = "True", since: str = BEFORE, **status: Any) -> JobView:
    condition = {"type": "Suspended", "status": suspended, "lastTransitionTime": since}
    document = {
        "metadata": {"name": "train", "namespace": "team", "uid": "u"},
        "spec": {"suspend": True, "template": {}},
        "status": {"conditions": [condition], **status},
    }
    return batch_job(document)


def workload(*true: str) -> Workload:
    conditions = [{"type": one, "status": "True", "lastTransitionTime": ADMITTED} for one in true]
    document = {
        "metadata": {"name": "w", "namespace": "team"},
        "spec": {"queueName": "lq", "podSets": []},
        "status": {"conditions": conditions},
    }
    return read(Workload, document)


HOLDING = workload("QuotaReserved", "Admitted", "Evicted")
SEEN = job("False", startTime=ADMITTED, active=1)


@pytest.mark.parametrize(
    ("stopped", "now", "held", "waits"),
    [
        pytest.param(SEEN, job(since=AFTER), HOLDING, False, id="its start was seen"),
        pytest.param(SEEN, job("False"), HOLDING, True, id="its stop was not seen yet"),
        pytest.param(job(), job(), HOLDING, True, id="its start was not seen"),
        pytest.param(job(), job(), workload("Evicted"), False, id="it holds no quota"),
        pytest.param(None, job(), HOLDING, True, id="suspended before it was admitted"),
        pytest.param(None, job(since=AFTER), HOLDING, False, id="suspended since, by an earlier"),
    ],
)
async def test_a_status_without_pods_counts_only_if_the_start_was_seen(
    stopped: JobView | None, now: JobView, held: Workload, *, waits: bool
) -> None:
    async with asked(HandClock()) as (quiescence, _):
        if stopped is not None:
            quiescence.stopping(stopped)
        assert await quiescence.wait_s(now, held) == (LINGER_S if waits else 0.0)


async def test_quota_is_kept_for_pods_that_were_made_after_the_stop() -> None:
    clock = HandClock()
    async with asked(clock) as (quiescence, client):
        quiescence.stopping(job())
        assert await quiescence.wait_s(job(), HOLDING) == LINGER_S
        await client.create(PODS.within("team"), POD)
        clock.time += LINGER_S
        assert await quiescence.wait_s(job(), HOLDING) == AGAIN_S
        await client.delete(PODS.at("p", "team"))
        assert await quiescence.wait_s(job(), HOLDING) == 0.0


ENDED: dict[str, Any] = {"name": "c", "state": {"terminated": {"exitCode": 0}}}
RUNS: dict[str, Any] = {"name": "helper", "state": {"running": {}}}


@pytest.mark.parametrize(
    ("status", "waits_s"),
    [
        pytest.param({"phase": "Running"}, AGAIN_S, id="it runs"),
        pytest.param(
            {"phase": "Running", "containerStatuses": [ENDED, RUNS]},
            AGAIN_S,
            id="one of its containers has ended, the other still uses the quota",
        ),
        pytest.param({"phase": "Succeeded", "containerStatuses": [ENDED]}, 0.0, id="it has ended"),
        pytest.param({"phase": "Failed"}, 0.0, id="it has failed"),
    ],
)
async def test_quota_is_kept_until_pods_have_ended(status: dict[str, Any], waits_s: float) -> None:
    clock = HandClock()
    async with asked(clock) as (quiescence, client):
        quiescence.stopping(job())
        await quiescence.wait_s(job(), HOLDING)
        await client.create(PODS.within("team"), POD)
        await client.patch_merge(PODS.at("p", "team", "status"), {"status": status})
        clock.time += LINGER_S
        assert await quiescence.wait_s(job(), HOLDING) == waits_s


async def test_of_two_stops_each_is_judged_by_itself() -> None:
    clock = HandClock()
    async with asked(clock) as (quiescence, _):
        quiescence.stopping(job())
        await quiescence.wait_s(job(), HOLDING)
        quiescence.forget(job().metadata.key)
        clock.time += LINGER_S
        quiescence.stopping(job())
        assert await quiescence.wait_s(job(), HOLDING) == LINGER_S
