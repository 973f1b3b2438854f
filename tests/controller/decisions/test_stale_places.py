"""What a second pass decided is written only while the engine stands by it."""

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest

from queueing.controller.decisions.effects import EffectDependencies, Effects
from queueing.core.decisions import Cycle, Outcome, Place, Strand, Verdict
from queueing.core.names import Key, QueueName, Uid
from queueing.kube import outcome as kube
from queueing.kube.writer import Job
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.workloads import Workload

W, UID, QUEUE = Key("team/w"), Uid("w"), QueueName("q")
PLACE = Place(workload=W, uid=UID, cluster_queue=QUEUE, pod_sets=(), left=("n1",))
STRAND = Strand(workload=W, uid=UID, cluster_queue=QUEUE, message="", left=("n1",), evicts=True)
FAILED = read(
    Workload,
    {
        "metadata": {"name": "w", "namespace": "team", "uid": "w", "resourceVersion": "1"},
        "spec": {"podSets": [{}]},
        "status": {
            "admission": {"clusterQueue": "q", "podSetAssignments": []},
            "conditions": [{"type": "Admitted", "status": "True"}],
            "unhealthyNodes": [{"name": "n1"}],
        },
    },
)


@pytest.mark.parametrize("stands", [True, False])
@pytest.mark.parametrize("decision", [PLACE, STRAND])
async def test_only_what_the_engine_stands_by_is_written(
    decision: Place | Strand, *, stands: bool
) -> None:
    jobs, written, settled = list[Job](), list[str](), list[Outcome]()

    async def perform(kind: str, _: kube.Write) -> kube.Done:
        await asyncio.sleep(0)
        written.append(kind)
        return kube.Done(b"{}")

    quiet = SimpleNamespace
    term = quiet(
        objects=quiet(workloads={W: FAILED}),
        engine=quiet(stands_by=lambda one: stands and one == decision, settle=settled.append),
        writes=quiet(perform=perform),
        events=quiet(workload=lambda *_: None, evicted=lambda *_: None),
        reporter=quiet(judged=lambda *_: None, decided=lambda *_: None),
        clock=quiet(now=lambda: 1_000.0),
        queues=quiet(cycle=asyncio.Event()),
    )
    writer = quiet(submit=lambda _key, _class, job: jobs.append(job))
    pump = quiet(absorb_workload=lambda _: None)
    effects = Effects(
        cast("EffectDependencies", quiet(term=term, writer=writer, pump=pump, waiting_reasons=None))
    )
    rounds = ((decision,),)
    effects.carry_out(
        Cycle(number=1, now=1.0, rounds=rounds, judged=1, finished=True, wake_at=None), 0.0
    )
    await jobs[0]()
    assert written == ([type(decision).__name__.lower()] if stands else [])
    assert [one.verdict for one in settled] == [Verdict.DONE if stands else Verdict.REFUSED]
    assert term.queues.cycle.is_set() is not stands, "whoever was refused is judged again"
