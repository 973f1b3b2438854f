"""Laws of LocalQueues that take turns, on random worlds and histories."""

from dataclasses import replace

from hypothesis import HealthCheck, given
from hypothesis import settings as tries

from queueing.core.decisions import Decision
from queueing.core.facts import ClusterQueueFact, Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import AdmissionFairSharing, Settings
from queueing.testing.builders import local_queue
from queueing.testing.obedient import ObedientCluster
from queueing.testing.random_worlds import Event, Step, histories, worlds

SETTINGS = Settings(
    admission_fair_sharing=AdmissionFairSharing(half_life_s=600.0, sampling_interval_s=60.0)
)


def shared(facts: list[Fact]) -> list[Fact]:
    """Give each queue a second LocalQueue, and let the two take turns."""
    queues = [one for one in facts if isinstance(one, ClusterQueueFact)]
    rest = [one for one in facts if one not in queues]
    doors = [local_queue(f"team/{one.name}-second", one.name) for one in queues]
    return [*(replace(one, admission_fair_sharing=True) for one in queues), *rest, *doors]


def second(step: WorkloadFact) -> WorkloadFact:
    """Send every other workload through the second LocalQueue."""
    if int(step.key[-2:]) % 2:
        return replace(step, local_queue=Key(f"{step.local_queue}-second"))
    return step


def lives(facts: list[Fact], history: list[Step]) -> tuple[list[Decision], ObedientCluster]:
    """Let a cluster live through a history, a third of a minute per step."""
    cluster = ObedientCluster(shared(facts), SETTINGS)
    decided: list[Decision] = []
    for step in history:
        cluster.now += 20.0
        match step:
            case WorkloadFact():
                cluster.observe(second(step))
            case Event("finish", pick) if running := cluster.running():
                cluster.finish(running[pick % len(running)])
            case Event("drain", pick) if draining := cluster.draining():
                cluster.drain(draining[pick % len(draining)])
            case Event("restart"):
                cluster.restart()
            case _:
                pass
        decided += cluster.cycle().decisions
        cluster.engine.check()
    return decided, cluster


@tries(
    max_examples=30,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(worlds(), histories())
def test_the_same_facts_at_the_same_times_give_the_same_decisions(
    facts: list[Fact], history: list[Step]
) -> None:
    one, cluster = lives(facts, history)
    other, _ = lives(facts, history)
    assert one == other
    assert cluster.rest() > 0
    cluster.engine.check()
