"""An eviction of which nobody knows whether it was written is settled by the next fact."""

from queueing.core.decisions import Outcome, Preempt, Verdict
from queueing.core.facts import PreemptionPolicy
from queueing.testing.builders import admitted, cluster_queue, preemption, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.worlds import world

LOWER = PreemptionPolicy.LOWER_PRIORITY


def test_an_eviction_that_was_not_written_is_decided_again() -> None:
    queue = cluster_queue(preemption=preemption(within=LOWER))
    cluster = ObedientCluster(world(queue))
    low = admitted("low", {"cpu": 10_000})
    cluster.observe(low)
    cluster.observe(workload("high", priority=1))
    preempt = cluster.engine.cycle(1.0).decisions[0]
    assert isinstance(preempt, Preempt)
    cluster.engine.settle(Outcome(decision=preempt, verdict=Verdict.UNKNOWN))
    assert cluster.engine.cycle(2.0).rounds == ()
    cluster.observe(low)
    check_invariants(cluster.engine)
    assert cluster.engine.cycle(3.0).decisions[0] == preempt


def test_an_eviction_that_was_written_after_all_is_not_decided_again() -> None:
    queue = cluster_queue(preemption=preemption(within=LOWER))
    cluster = ObedientCluster(world(queue))
    cluster.observe(admitted("low", {"cpu": 10_000}))
    cluster.observe(workload("high", priority=1))
    preempt = cluster.engine.cycle(1.0).decisions[0]
    assert isinstance(preempt, Preempt)
    cluster.engine.settle(Outcome(decision=preempt, verdict=Verdict.UNKNOWN))
    cluster.evict(preempt)
    assert not any(isinstance(one, Preempt) for one in cluster.engine.cycle(3.0).decisions)
    cluster.drain(low_key := preempt.workload)
    cluster.cycle()
    assert cluster.running() == ["team/high"]
    assert low_key == "team/low"


def test_a_preemptor_does_not_wait_for_a_victim_that_was_not_evicted_after_all() -> None:
    queue = cluster_queue(preemption=preemption(within=LOWER))
    cluster = ObedientCluster(world(queue))
    spared = admitted("spared", {"cpu": 5_000})
    for fact in (admitted("leaves", {"cpu": 5_000}), spared):
        cluster.observe(fact)
    cluster.observe(workload("high", {"cpu": 10_000}, priority=1))
    chosen = cluster.engine.cycle(1.0).decisions
    both = [one for one in chosen if isinstance(one, Preempt)]
    assert len(both) == 2
    for one in both:
        if one.workload == spared.key:
            cluster.engine.settle(Outcome(decision=one, verdict=Verdict.UNKNOWN))
        else:
            cluster.evict(one)
    cluster.observe(spared)
    again = [one for one in cluster.engine.cycle(2.0).decisions if isinstance(one, Preempt)]
    assert [(one.workload, one.already_evicted) for one in again] == [("team/spared", False)]
