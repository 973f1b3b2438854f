"""Cycles are sampled as workloads are: by the id of the trace that is exported."""

from dataclasses import dataclass, field

from queueing.controller.telemetry.traces import WorkloadTraces
from queueing.core.decisions import Cycle
from queueing.observe.spans import SpanPlan
from queueing.observe.traces import Tracer, TraceSettings

CYCLES = 200


@dataclass
class Kept:
    """Keeps what it is sent."""

    plans: list[SpanPlan] = field(default_factory=list)

    def send(self, plan: SpanPlan) -> None:
        self.plans.append(plan)

    def close(self) -> None:
        """There is nothing left."""


def exported(ratio: float) -> set[str]:
    """Return the traces of many cycles that are exported where a share of all is wanted."""
    kept = Kept()
    traces = WorkloadTraces(Tracer(TraceSettings("", ratio), kept), "a")
    for number in range(CYCLES):
        traces.judged(
            Cycle(number=number, now=1.0, rounds=(), judged=1, finished=True, wake_at=None)
        )
    return {plan.ref.trace_id for plan in kept.plans}


def test_of_the_traces_of_cycles_those_are_kept_that_any_sampler_keeps() -> None:
    every = exported(1.0)
    assert len(every) == CYCLES
    share = {one for one in every if int(one[16:], 16) < 2**62}
    assert exported(0.25) == share
    assert 0 < len(share) < CYCLES
