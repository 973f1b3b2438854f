"""Laws of chains of preemptions: who waits for whom never goes in a circle."""

from dataclasses import replace

import pytest

from queueing.core.facts import ClusterQueueFact, WorkloadFact
from queueing.core.stakes import Stake
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.profiles import QUEUEING, Law, hold, hold_at_length


def nobody_waits_and_is_waited_for(life: Life) -> None:
    """A preemptor holds no quota and a victim does, so that no chain of claims has two links."""
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
        memory = cluster.engine._memory
        owners = {claim.owner for claim in memory.claims}
        victims = {victim for claim in memory.claims for victim in claim.victims}
        assert not owners & victims
        assert not owners & memory.ledger.charges.keys()
        assert victims <= memory.ledger.charges.keys()


def costs_limits_and_runtimes_leave_nobody_behind(life: Life) -> None:
    """With all of them in force preemption comes to rest, and the memory stays sound."""
    cluster = LivingCluster(life.facts, life.settings)
    for step in life.steps:
        play(cluster, step)
        for fact in cluster.facts():
            if isinstance(fact, ClusterQueueFact) and fact.preemptions_max is None:
                cluster.put(replace(fact, preemptions_max=1))
            if isinstance(fact, WorkloadFact) and fact.holds_quota and fact.stake is None:
                runs_s = 60.0 * (len(fact.key) % 3)
                stake = Stake(saves=bool(fact.priority), save_s=30, minimum_runtime_s=runs_s)
                cluster.put(replace(fact, stake=stake))
        cluster.tell()
        cluster.cycle()
        cluster.engine.check()
    cluster.now += 3_600.0
    cluster.rest()
    cluster.engine.check()


LAWS = [
    pytest.param(nobody_waits_and_is_waited_for, id="nobody waits and is waited for"),
    pytest.param(costs_limits_and_runtimes_leave_nobody_behind, id="all of it comes to rest"),
]


@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_chains(law: Law, mode: str) -> None:
    hold(law, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_chains_at_length(law: Law, mode: str) -> None:
    hold_at_length(law, mode)
