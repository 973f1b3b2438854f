"""Random small worlds and histories, for laws that must hold in all of them (needs hypothesis)."""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from queueing.core.facts import (
    ClusterQueueFact,
    Fact,
    Preemption,
    PreemptionPolicy,
    Quota,
    Strategy,
    WorkloadFact,
)
from queueing.testing.builders import cluster_queue, cohort, preemption, quota, workload
from queueing.testing.worlds import world

QUEUES = ("a", "b", "c")
EVENTS = ("cycle", "rest", "finish", "drain", "gone", "quota", "priority", "restart")
_NEVER = PreemptionPolicy.NEVER
_LOWER = PreemptionPolicy.LOWER_PRIORITY
_WITHIN = (_NEVER, _LOWER, PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY)
_RECLAIM = (_NEVER, _LOWER, PreemptionPolicy.ANY)


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happens: a kind of `EVENTS`, and a number that picks to whom."""

    kind: str
    pick: int


Step = WorkloadFact | Event


@st.composite
def policies(draw: st.DrawFn) -> Preemption:
    """Draw what a queue may preempt."""
    taking = draw(st.sampled_from(_RECLAIM))
    return preemption(
        within=draw(st.sampled_from(_WITHIN)),
        reclaim=taking,
        borrow=_NEVER if taking is _NEVER else draw(st.sampled_from([_NEVER, _LOWER])),
        threshold=draw(st.none() | st.integers(0, 2)),
    )


@st.composite
def queues(draw: st.DrawFn, name: str) -> ClusterQueueFact:
    """Draw a queue of one or two flavors and resources, alone or in a cohort."""
    parent = draw(st.sampled_from([None, "left", "left", "right"]))
    resources = draw(st.sampled_from([("cpu",), ("cpu", "gpu")]))
    flavors = draw(st.sampled_from([("default",), ("spot", "default")]))
    return cluster_queue(
        name,
        {
            one: {name: draw(_quotas(lonely=parent is None)) for name in resources}
            for one in flavors
        },
        cohort=parent,
        strategy=draw(st.sampled_from([Strategy.BEST_EFFORT_FIFO, Strategy.STRICT_FIFO])),
        preemption=draw(policies()),
    )


@st.composite
def worlds(draw: st.DrawFn) -> list[Fact]:
    """Draw up to three queues in up to two levels of cohorts."""
    names = QUEUES[: draw(st.integers(1, len(QUEUES)))]
    extra = draw(st.integers(0, 4))
    return world(
        cohort("left", draw(st.sampled_from([None, "top"])), quotas={"default": {"cpu": extra}}),
        cohort("right", draw(st.sampled_from([None, "top"]))),
        cluster_queues=[draw(queues(name)) for name in names],
    )


@st.composite
def jobs(draw: st.DrawFn, number: int) -> WorkloadFact:
    """Draw a pending workload; some may run with fewer pods."""
    requests = {"cpu": draw(st.integers(1, 5))}
    if draw(st.booleans()):
        requests["gpu"] = draw(st.integers(0, 3))
    made = workload(
        f"job-{number:02}",
        requests,
        local_queue=f"team/{draw(st.sampled_from(QUEUES))}",
        priority=draw(st.integers(0, 3)),
        created=float(draw(st.integers(0, 5))),
    )
    if draw(st.integers(0, 4)):
        return made
    count = draw(st.integers(2, 4))
    shrinking = replace(made.pod_sets[0], count=count, min_count=draw(st.integers(1, count)))
    return replace(made, pod_sets=(shrinking,))


@st.composite
def histories(draw: st.DrawFn, size: int = 14) -> list[Step]:
    """Draw jobs to submit, in turn with other events."""
    steps: list[Step] = []
    for number in range(draw(st.integers(1, size))):
        steps.append(draw(jobs(number)))
        if draw(st.booleans()):
            steps.append(Event(draw(st.sampled_from(EVENTS)), draw(st.integers(0, 5))))
    return steps


@st.composite
def _quotas(draw: st.DrawFn, *, lonely: bool) -> Quota:
    nominal = draw(st.integers(0, 8))
    if lonely:
        return quota(nominal)
    return quota(
        nominal,
        borrowing=draw(st.none() | st.integers(0, 6)),
        lending=draw(st.none() | st.integers(0, nominal)),
    )
