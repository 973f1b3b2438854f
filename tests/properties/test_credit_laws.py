"""Laws of ledgers within queues: sums are zero, and the same facts give the same decisions."""

from queueing.core.credits.facts import MICRO, CreditAccountFact, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Decision
from queueing.core.names import ResourceName
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold

POLICY = CreditPolicyFact(
    name="within",
    prices=Prices({(None, ResourceName(one)): MICRO for one in ("cpu", "gpu")}),
    horizon_s=300,
    half_life_s=4000,
    orders_local_queues=True,
)


def decided(life: Life) -> list[Decision]:
    """Let a cluster live, a third of a minute per step; accounts are stored at each."""
    cluster = LivingCluster.of(life)
    engine, found = None, list[Decision]()
    stored: tuple[CreditAccountFact, ...] = ()
    for step in life.steps:
        cluster.now += 20.0
        play(cluster, step)
        if cluster.engine is not engine:
            engine = cluster.engine
            for one in stored:
                engine.observe(one)
            engine.observe(POLICY)
        found += cluster.cycle().decisions
        check_invariants(engine)
        stored = engine.credits.accounts()
        for one in stored:
            assert sum(child.balance for child in one.children) + sum(one.sinks.values()) == 0
            engine.observe(one)
    return found


def credits_within_queues_are_exact_and_the_same_facts_give_the_same_decisions(
    life: Life,
) -> None:
    assert decided(life) == decided(life)


@AT_BOTH_LENGTHS
def test_credits_within_queues_are_exact(hold: Hold) -> None:
    hold(credits_within_queues_are_exact_and_the_same_facts_give_the_same_decisions, "taking turns")
