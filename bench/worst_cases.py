"""What a single decision or call costs at worst: many candidates, queues, or hopeless heads."""

import time
from collections.abc import Iterator
from dataclasses import replace

from bench.core_alone import PORTIONED_AIMS, ROUND, Run
from bench.results import Result, percentile
from queueing.controller.decisions.cycles import BUDGET, PORTION_S
from queueing.controller.process.garbage_collection import postponed
from queueing.core.decisions import Admit, Outcome, Preempt, Verdict
from queueing.core.facts import (
    ClusterQueueFact,
    Condition,
    Fact,
    PreemptionPolicy,
    WorkloadFact,
)
from queueing.core.settings import Settings
from queueing.sim import transitions
from queueing.state.engine import Engine
from queueing.testing.builders import admitted, cluster_queue, cohort, preemption, quota, workload
from queueing.testing.worlds import Deep, world

COHORTS, QUEUES, EACH = 10, 5, 100
"""5,000 candidates: so many cohorts below the root, queues in each, and workloads in each."""
NOMINAL = 90_000
ASKED = COHORTS * QUEUES * (EACH * 1_000 - NOMINAL)
"""All that the queues borrow."""
REPEATS = 9
PREEMPTORS = 100
HELD = 10
"""Workloads that run in each full queue, and that wait there."""


def one_head(settings: Settings, *, name: str) -> Result:
    """One head reclaims what 50 queues of a tree of three levels borrow from its own."""
    taken: list[float] = []
    victims = 0
    for _ in range(REPEATS):
        with postponed():
            engine = _full(settings)
        engine.observe(workload("head", {"cpu": ASKED}, local_queue="team/owner"))
        begin = time.thread_time()
        cycle = engine.cycle(10.0)
        taken.append(time.thread_time() - begin)
        victims = sum(isinstance(one, Preempt) for one in cycle.decisions)
    return Result(
        scenario=name,
        numbers={
            "candidates": COHORTS * QUEUES * EACH,
            "victims": victims,
            "CPU ms, median": percentile(taken, 0.5) * 1e3,
            "CPU ms, worst": max(taken) * 1e3,
        },
    )


def wide_tree(settings: Settings, *, name: str) -> Result:
    """Measure rounds in which 1,000 queues of one cohort each have a head."""
    deep = Deep(each=10, queues_per_cohort=ROUND)
    run = Run(settings)
    with postponed():
        run.observe(deep.objects())
        run.observe(deep.workloads())
    run.to_the_end()
    rounds = run.counts.full_rounds_s
    return Result(
        scenario=name,
        numbers={
            "queues of one cohort": deep.queues,
            "full rounds": len(rounds),
            "round, median CPU ms": percentile(rounds, 0.5) * 1e3,
            "round, p99 CPU ms": percentile(rounds, 0.99) * 1e3,
        },
    )


def hopeless_heads(settings: Settings, *, name: str) -> Result:
    """Measure calls in which 10,000 workloads may preempt and none can, in 1,000 queues of a tree.

    One of ten running workloads is of a lower priority, and too small. At last one ends.
    """
    queues, running, waiting = _hopeless()
    with postponed():
        engine = Engine(settings)
        for fact in (*world(cluster_queues=queues), *running):
            engine.observe(fact)
        engine.cycle(1.0)
        for fact in waiting:
            engine.observe(fact)
    calls = list(_calls(engine, 2.0))
    ended = running[0]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=3.0)
    engine.observe(replace(ended, conditions={**ended.conditions, "Finished": done}))
    released = list(_calls(engine, 3.0))
    return Result(
        scenario=name,
        numbers={
            "hopeless heads": len(waiting),
            "calls": len(calls),
            "CPU seconds": sum(calls),
            "longest stretch, CPU ms": max(calls) * 1e3,
            "after a release: longest stretch, CPU ms": max(released) * 1e3,
        },
        aims=dict(PORTIONED_AIMS),
    )


def _hopeless() -> tuple[list[ClusterQueueFact], list[WorkloadFact], list[WorkloadFact]]:
    """Give full queues of one cohort, what runs in them, and what waits."""
    policies = preemption(reclaim=PreemptionPolicy.ANY, within=PreemptionPolicy.LOWER_PRIORITY)
    queues, running, waiting = [], [], []
    for at in range(ROUND):
        name, door = f"queue-{at:04}", f"team/queue-{at:04}"
        limits = {"default": {"cpu": quota(10_000)}}
        queues.append(cluster_queue(name, limits, cohort="all", preemption=policies))
        for one in range(HELD):
            rank = 0 if one == 0 else 2
            holder = admitted(
                f"run-{at}-{one}", {"cpu": 1_000}, queue=name, local_queue=door, priority=rank
            )
            running.append(holder)
            asks = {"cpu": 5_000 + (7 * at + one) % ROUND}
            waiting.append(workload(f"wait-{at}-{one}", asks, local_queue=door, priority=1))
    return queues, running, waiting


def many_preemptors(settings: Settings, *, name: str) -> Result:
    """Measure the stretches in which 100 heads of one tree all find victims among 5,000."""
    owners = range(PREEMPTORS)
    with postponed():
        engine = _full(settings, owners=PREEMPTORS)
        for at in owners:
            asks = {"cpu": ASKED // PREEMPTORS}
            engine.observe(workload(f"head-{at}", asks, local_queue=f"team/owner-{at}"))
    stretches = list(_calls(engine, 10.0))
    return Result(
        scenario=name,
        numbers={
            "heads": PREEMPTORS,
            "CPU seconds": sum(stretches),
            "longest stretch, CPU ms": max(stretches) * 1e3,
        },
        aims=dict(PORTIONED_AIMS),
    )


def _calls(engine: Engine, now: float) -> Iterator[float]:
    """Decide as the controller does, which pauses; give the CPU seconds of each stretch."""
    finished = False
    while not finished:
        begin = time.thread_time()
        until = begin + PORTION_S
        finished = engine.cycle(now, BUDGET, lambda: time.thread_time() >= until).finished  # noqa: B023 - asked within this turn only
        yield time.thread_time() - begin


def _full(settings: Settings, owners: int = 1) -> Engine:
    """Let each queue run one workload of one CPU after the other, the last ones by borrowing."""
    engine = Engine(settings)
    jobs = [
        workload(f"job-{at}-{queue}-{one}", {"cpu": 1_000}, local_queue=f"team/queue-{at}-{queue}")
        for at in range(COHORTS)
        for queue in range(QUEUES)
        for one in range(EACH)
    ]
    facts = {one.key: one for one in jobs}
    for fact in (*_tree(owners), *jobs):
        engine.observe(fact)
    for decision in engine.cycle(1.0).decisions:
        if isinstance(decision, Admit):
            engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
            engine.observe(transitions.admitted(facts[decision.workload], decision, now=1.0))
    engine.cycle(2.0)
    return engine


def _tree(owners: int) -> list[Fact]:
    """Give a root, cohorts below it, and queues that borrow all that the owners have and leave."""
    reclaims = preemption(reclaim=PreemptionPolicy.ANY, within=PreemptionPolicy.LOWER_PRIORITY)
    queues = [
        cluster_queue(
            f"queue-{cohort_number}-{number}",
            {"default": {"cpu": quota(NOMINAL)}},
            cohort=f"cohort-{cohort_number}",
        )
        for cohort_number in range(COHORTS)
        for number in range(QUEUES)
    ]
    lenders = [
        cluster_queue(
            "owner" if owners == 1 else f"owner-{at}",
            {"default": {"cpu": quota(ASKED // owners)}},
            cohort="cohort-0",
            preemption=reclaims,
        )
        for at in range(owners)
    ]
    cohorts = [cohort(f"cohort-{number}", "root") for number in range(COHORTS)]
    return world(cohort("root"), *cohorts, cluster_queues=[*queues, *lenders])
