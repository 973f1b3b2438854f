"""What a single decision costs at worst: many candidates for one head, many queues in one tree."""

import time

from bench.core_alone import ROUND, Run
from bench.results import Result, percentile
from queueing.controller.process.garbage_collection import postponed
from queueing.core.decisions import Admit, Outcome, Preempt, Verdict
from queueing.core.facts import Fact, PreemptionPolicy
from queueing.core.settings import Settings
from queueing.sim import transitions
from queueing.state.engine import Engine
from queueing.testing.builders import cluster_queue, cohort, preemption, quota, workload
from queueing.testing.worlds import Deep, world

COHORTS, QUEUES, EACH = 10, 5, 100
"""5,000 candidates: so many cohorts below the root, queues in each, and workloads in each."""
NOMINAL = 90_000
ASKED = COHORTS * QUEUES * (EACH * 1_000 - NOMINAL)
"""All that the queues borrow."""
REPEATS = 9


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


def _full(settings: Settings) -> Engine:
    """Let each queue run one workload of one CPU after the other, the last ones by borrowing."""
    engine = Engine(settings)
    jobs = [
        workload(f"job-{at}-{queue}-{one}", {"cpu": 1_000}, local_queue=f"team/queue-{at}-{queue}")
        for at in range(COHORTS)
        for queue in range(QUEUES)
        for one in range(EACH)
    ]
    facts = {one.key: one for one in jobs}
    for fact in (*_tree(), *jobs):
        engine.observe(fact)
    for decision in engine.cycle(1.0).decisions:
        if isinstance(decision, Admit):
            engine.settle(Outcome(decision=decision, verdict=Verdict.DONE))
            engine.observe(transitions.admitted(facts[decision.workload], decision, now=1.0))
    engine.cycle(2.0)
    return engine


def _tree() -> list[Fact]:
    """Give a root, cohorts below it, and queues that borrow all that one queue has and leaves."""
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
    owner = cluster_queue(
        "owner",
        {"default": {"cpu": quota(ASKED)}},
        cohort="cohort-0",
        preemption=reclaims,
    )
    cohorts = [cohort(f"cohort-{number}", "root") for number in range(COHORTS)]
    return world(cohort("root"), *cohorts, cluster_queues=[*queues, owner])
