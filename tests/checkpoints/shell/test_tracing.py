"""What the trace of a request tells, also of one that somebody else led before."""

from dataclasses import dataclass, field, replace

import msgspec
import pytest

from queueing.checkpoints.memory import SeenCheckpoint
from queueing.checkpoints.rules.phases import Phase
from queueing.checkpoints.rules.record import Record, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.checkpoints.shell.telemetry import CheckpointTelemetry
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.traces import WorkloadTraces
from queueing.core.names import Key
from queueing.observe.metric_rows import ReplicaRole
from queueing.observe.metrics import Metrics
from queueing.observe.spans import SpanPlan
from queueing.observe.traces import Tracer, TraceSettings
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import ClusterQueue
from queueing.translate.wire.workloads import Workload
from tests.batch_jobs import batch_job

ASKED = 1_000.0
REQUEST = SaveRequest.made(
    "r", 1, StopCause("Preempted"), terms=Terms(driver=Driver.ANNOTATION), now=ASKED
)
STOPPING = Record(
    request=REQUEST,
    phase=Phase.SUSPENDING,
    outcome=SaveOutcome.SAVED,
    notified_at=1_001.0,
    accepted_at=1_002.0,
    suspended_at=1_010.0,
)
META = {"name": "w", "namespace": "team", "uid": "w"}
HOLDS = msgspec.convert(
    {"metadata": META, "status": {"admission": {"clusterQueue": "cq"}}}, Workload
)
FREED = msgspec.convert({"metadata": META}, Workload)
SUSPENDED = batch_job({"metadata": {"name": "j", "namespace": "team"}, "spec": {"suspend": True}})


@dataclass
class Sink:
    """Keeps what is to be exported."""

    plans: list[SpanPlan] = field(default_factory=list)

    def send(self, plan: SpanPlan) -> None:
        self.plans.append(plan)

    def close(self) -> None:
        self.plans.clear()


def telemetry_into(sink: Sink) -> CheckpointTelemetry:
    objects = Objects()
    queue = {"metadata": {"name": "cq"}, "spec": {"cohortName": "all"}}
    objects.cluster_queues["cq"] = msgspec.convert(queue, ClusterQueue)
    tracer = Tracer(TraceSettings(endpoint="", ratio=1.0), sink)
    return CheckpointTelemetry(objects, Metrics(ReplicaRole.LEADER), WorkloadTraces(tracer))


def seen(record: Record) -> SeenCheckpoint:
    return SeenCheckpoint(
        meta=Meta(name="c", namespace="team"),
        workload=Key("team/w"),
        workload_uid="w",
        policy="team/save",
        record=record,
    )


@pytest.mark.parametrize(
    ("drained_by_us", "parts", "cohort"),
    [
        pytest.param(True, "notify ack save suspend drain release", "all", id="one leader"),
        pytest.param(False, "notify ack save drain", None, id="one that came when pods were gone"),
    ],
)
def test_the_trace_of_a_victim_is_told_once_with_what_its_leader_saw(
    drained_by_us: bool, parts: str, cohort: str | None
) -> None:
    sink = Sink()
    telemetry, drained = telemetry_into(sink), replace(STOPPING, phase=Phase.DRAINED)
    if drained_by_us:
        telemetry.halting(STOPPING, [SUSPENDED], 1_011.0)
        telemetry.halting(STOPPING, [SUSPENDED], 1_012.0)
        telemetry.stepped(seen(STOPPING), HOLDS, drained, 1_020.0)
    assert sink.plans == [], "its quota is not free yet"
    released = replace(STOPPING, phase=Phase.RELEASED)
    telemetry.stepped(seen(drained), FREED, released, 1_021.0)
    over = replace(released, phase=Phase.REQUEUED, ended_at=1_030.0)
    telemetry.stepped(seen(released), FREED, over, 1_030.0)
    whole, *inside = (one.timed for one in sink.plans)
    assert (whole.name, whole.began, whole.ended) == ("eviction", 1_000.0, 1_021.0)
    assert [one.name for one in inside] == parts.split()
    assert whole.attributes.get("queueing.cohort") == cohort
    assert whole.attributes["queueing.save_s"] == 10.0
    if drained_by_us:
        assert [one.began for one in inside[3:]] == [1_010.0, 1_011.0, 1_020.0]
