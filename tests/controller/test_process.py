import asyncio
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace

from queueing.controller.app import App, Options
from queueing.controller.telemetry.reporter import Readiness
from queueing.explain.model import QueueExplanation, WorkloadExplanation
from queueing.kube.config import Cluster
from queueing.kube.resources import LEASES
from queueing.serving.frames import PendingPart, PendingRow, Subject
from queueing.serving.read_models import NoAnswerError, ReadModels, listening
from queueing.testing.ports import free_ports
from queueing.translate.labels import QUEUE_NAME
from queueing_api.config.load import from_document
from tests.controller.harness import (
    CONFIGURATION,
    FLAVOR,
    LOCAL_QUEUE,
    MakeWorld,
    World,
    cluster_queue,
    job,
    true,
)

ELECTION = {"leaderElect": True, "retryPeriod": "100ms"}
CQ = PendingPart(cluster_queue="cq", limit=10)
LQ = PendingPart(local_queue="team/lq", limit=10)
FOLLOWED = (
    'kueue_pending_workloads{cluster_queue="cq",',
    'kueue_reserving_active_workloads{cluster_queue="cq",',
    'kueue_cluster_queue_status{cluster_queue="cq",',
    'kueue_local_queue_admitted_active_workloads{name="lq",namespace="team",',
)
ELSEWHERE = {"namespace": "elsewhere"}
"""The world's own controller competes for another lease, in a namespace that is not there."""


async def eventually(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not holds():
            await asyncio.sleep(0.02)


async def listed(models: ReadModels, part: PendingPart) -> Sequence[PendingRow]:
    found = await models.pending(part)
    assert found is not None
    return found


async def known(models: ReadModels, jobs: set[str]) -> None:
    """Wait until those who are told to wait are the Workloads of these Jobs."""
    async with asyncio.timeout(30):
        while True:
            with suppress(NoAnswerError):
                rows = await models.pending(CQ) or ()
                if {str(row.owners[0]["name"]) for row in rows} == jobs:
                    return
            await asyncio.sleep(0.02)


async def holder(w: World) -> str:
    lease = await w.client.get(LEASES.at("c1f6bfd2.kueue.x-k8s.io", "kueue-system"))
    return str(msgspec.json.decode(lease)["spec"].get("holderIdentity") or "")


async def exposed(app: App) -> str:
    return (await app.reporter.expose()).body.decode()


async def shows(app: App, series: str) -> None:
    """Wait until a process exposes a series whose text begins so."""
    async with asyncio.timeout(30):
        while series not in await exposed(app):
            await asyncio.sleep(0.02)


def electing(url: str) -> Options:
    return Options(
        configuration=from_document({**CONFIGURATION, "leaderElection": ELECTION}),
        cluster=Cluster.plain(url),
        environment={},
    )


async def test_a_standby_takes_over_when_the_leader_steps_down(world: MakeWorld) -> None:
    async with world(leaderElection=ELECTION, **ELSEWHERE) as w:
        await w.make(FLAVOR, cluster_queue("2"), LOCAL_QUEUE)
        async with asyncio.TaskGroup() as group:
            first, second = (App(electing(w.server.url), w.client, w.clock) for _ in "ab")
            leading = group.create_task(first.run())
            await eventually(lambda: first.reporter.readiness.leading)
            standing_by = group.create_task(second.run())
            await eventually(lambda: second.reporter.readiness.ready)
            assert not second.reporter.readiness.leading
            await w.make(job("a"))
            await w.workload("a", true("Admitted"))
            before = await holder(w)
            leading.cancel()
            await eventually(lambda: second.reporter.readiness.leading)
            assert await holder(w) not in ("", before)
            await w.make(job("b"))
            await w.workload("b", true("Admitted"))
            standing_by.cancel()
        assert await holder(w) == ""


async def test_who_does_not_lead_shows_what_it_watches(world: MakeWorld) -> None:
    async with world(leaderElection=ELECTION, **ELSEWHERE) as w:
        await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE)
        async with asyncio.TaskGroup() as group:
            first, second = (App(electing(w.server.url), w.client, w.clock) for _ in "ab")
            leading = group.create_task(first.run())
            await eventually(lambda: first.reporter.readiness.leading)
            standing_by = group.create_task(second.run())
            await w.make(job("runs"))
            await w.workload("runs", true("Admitted"))
            await w.make(job("waits"))
            for series in FOLLOWED:
                await shows(second, f'{series}replica_role="follower"')
            assert "kueue_admitted_workloads_total" not in await exposed(second)
            leading.cancel()
            await eventually(lambda: second.reporter.readiness.leading)
            assert 'replica_role="follower"' not in await exposed(second)
            standing_by.cancel()


async def test_probes_and_metrics_are_served_by_a_single_process(world: MakeWorld) -> None:
    health, scrape = free_ports(2)
    async with (
        world(
            health={"healthProbeBindAddress": f"127.0.0.1:{health}"},
            metrics={"bindAddress": f"127.0.0.1:{scrape}"},
        ) as w,
        aiohttp.ClientSession() as session,
    ):
        await w.make(FLAVOR, cluster_queue(), LOCAL_QUEUE, job("short", seconds=2), job("long"))
        await w.workload("short", true("Finished"))
        await w.workload("long", true("PodsReady"))
        for path in ("/healthz", "/readyz"):
            async with session.get(f"http://127.0.0.1:{health}{path}") as answer:
                assert answer.status == 200
        async with session.get(f"http://127.0.0.1:{scrape}/metrics") as answer:
            text = await answer.text()
    for name in ("admitted_workloads_total", "finished_workloads_total"):
        assert f'kueue_{name}{{cluster_queue="cq"' in text
        assert f'kueue_local_queue_{name}{{name="lq",namespace="team"' in text
    for name in ("admission_wait_time_seconds", "admission_attempt_duration_seconds"):
        assert f"kueue_{name}_bucket" in text
    assert 'queueing_decisions_total{decision="Admit",replica_role="standalone"} 2.0' in text
    assert 'queueing_leader{replica_role="standalone"} 1.0' in text


async def test_the_serving_process_hears_who_waits_and_how_things_are(world: MakeWorld) -> None:
    models = ReadModels()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        async with listening(path, models), world(serving_socket=path) as w:
            await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
            await w.workload("a", true("Admitted"))
            await w.make(job("b"))
            await known(models, {"b"})
            await eventually(lambda: models.ready)
            (row,) = await listed(models, CQ)
            assert (row.namespace, row.local_queue) == ("team", "lq")
            assert row.owners[0]["name"] == "b"
            assert "kueue_pending_workloads" in await models.current_metrics()


async def test_why_somebody_waits_is_told_when_somebody_asks(world: MakeWorld) -> None:
    models = ReadModels()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        async with listening(path, models), world(serving_socket=path) as w:
            await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, job("a"))
            await w.workload("a", true("Admitted"))
            await w.make(job("b"))
            await known(models, {"b"})
            (row,) = await listed(models, CQ)
            about = await models.explanation(Subject("workloads", f"team/{row.name}"))
            assert isinstance(about, WorkloadExplanation)
            assert about.state == "Waiting"
            assert [one.kind for one in about.remedies] == ["RaiseQuota"]
            for kind, name in (("clusterqueues", "cq"), ("localqueues", "team/lq")):
                queue = await models.explanation(Subject(kind, name))
                assert isinstance(queue, QueueExplanation)
                assert (queue.pending, queue.admitted) == (1, 1)
            assert await models.explanation(Subject("workloads", "team/nobody")) is None


async def test_who_waits_is_told_as_it_is_when_somebody_asks(
    world: MakeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("queueing.serving.read_models.SHARED_S", 0.0)
    models = ReadModels()
    other = {**LOCAL_QUEUE, "metadata": {"name": "other", "namespace": "team"}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        async with listening(path, models), world(serving_socket=path) as w:
            await w.make(FLAVOR, cluster_queue("1"), LOCAL_QUEUE, other, job("first"))
            await w.workload("first", true("Admitted"))
            await w.make(job("a"), job("b", labels={QUEUE_NAME: "other"}), job("c"))
            await known(models, {"a", "b", "c"})
            rows = await listed(models, CQ)
            assert [row.position_in_cluster_queue for row in rows] == [0, 1, 2]
            assert await listed(models, replace(CQ, offset=1, limit=1)) == rows[1:2]
            mine = [row for row in rows if row.local_queue == "lq"]
            assert [row.position_in_local_queue for row in mine] == [0, 1]
            assert await listed(models, LQ) == mine
            assert await listed(models, replace(LQ, offset=1)) == mine[1:]
            for absent in (replace(CQ, cluster_queue="none"), replace(LQ, local_queue="none/lq")):
                assert await models.pending(absent) is None
            await w.delete("Job", "a")
            await known(models, {"b", "c"})


async def test_the_serving_process_is_not_ready_before_somebody_leads(world: MakeWorld) -> None:
    models = ReadModels()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s"
        # No lease can be taken where there is no namespace.
        async with (
            listening(path, models),
            world(serving_socket=path, leaderElection=ELECTION, **ELSEWHERE),
        ):
            await eventually(lambda: models.connected)
            assert "queueing_leader" in await models.current_metrics()
            assert not models.ready


def test_work_is_done_by_who_leads_with_policies_in_force_or_by_another() -> None:
    assert not Readiness().ready, "nobody leads yet"
    unguarded = Readiness(elected=True, leading=True)
    assert not unguarded.ready, "the API server does not answer by the policies yet"
    assert Readiness(elected=True, leading=True, policies=True).ready
    assert Readiness(other_leads=lambda: True).ready
