"""Who is not woken could not be helped: the bound on what can be had never says no wrongly."""

from hypothesis import HealthCheck, given
from hypothesis import settings as tries
from hypothesis import strategies as st

from queueing.core.decisions import Admit
from queueing.core.facts import Fact, WorkloadFact
from queueing.core.rounds import Judgement, World, judge_round
from queueing.core.settings import FairSharing, Settings
from queueing.state.memory import Memory
from queueing.state.pending import Item
from queueing.state.selection import head_of, is_active
from queueing.state.supply import Supply
from queueing.testing.obedient import ObedientCluster
from queueing.testing.random_worlds import Event, Step, histories, worlds

FAIR = Settings(
    fair_sharing=FairSharing(strategies=("LessThanOrEqualToFinalShare", "LessThanInitialShare"))
)


def judged_alone(memory: Memory, item: Item) -> Judgement:
    """Judge one workload on the tree as it stands, and leave the tree as it was."""
    world = World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
    )
    with memory.tree.attempt():
        return judge_round([head_of(memory, item)], world)[0]


def assert_the_hopeless_wait(memory: Memory) -> None:
    for name, queue in memory.queues.items():
        if not is_active(memory, name) or name not in memory.roots:
            continue
        supply = Supply(memory, memory.roots[name])
        for peers in queue.peers.values():
            item = peers.top()
            if item is None or supply.may_cover(peers):
                continue
            judgement = judged_alone(memory, item)
            assert not isinstance(judgement.decision, Admit)
            assert judgement.preemptions == ()


@tries(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(worlds(), histories(), st.sampled_from([Settings(), FAIR]))
def test_whoever_cannot_be_covered_is_neither_admitted_nor_preempts(
    facts: list[Fact], history: list[Step], settings: Settings
) -> None:
    cluster = ObedientCluster(facts, settings)
    for step in history:
        match step:
            case WorkloadFact():
                cluster.observe(step)
            case Event("finish", pick) if running := cluster.running():
                cluster.finish(running[pick % len(running)])
            case Event("drain", pick) if draining := cluster.draining():
                cluster.drain(draining[pick % len(draining)])
            case _:
                cluster.cycle()
        if not cluster.engine._memory.reshaped:
            assert_the_hopeless_wait(cluster.engine._memory)
