"""Laws of LocalQueues that take turns: time and order decide, and nothing else."""

from queueing.core.decisions import Decision
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold


def decided(life: Life) -> list[Decision]:
    """Let a cluster live, a third of a minute per step."""
    cluster = LivingCluster.of(life)
    found: list[Decision] = []
    for step in life.steps:
        cluster.now += 20.0
        play(cluster, step)
        found += cluster.cycle().decisions
        check_invariants(cluster.engine)
    return found


def the_same_facts_at_the_same_times_give_the_same_decisions(life: Life) -> None:
    assert decided(life) == decided(life)


@AT_BOTH_LENGTHS
def test_the_same_facts_at_the_same_times_give_the_same_decisions(hold: Hold) -> None:
    hold(the_same_facts_at_the_same_times_give_the_same_decisions, "taking turns")
