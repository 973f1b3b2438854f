"""Laws of claims and feuds: who waits for whom never goes in a circle, and nobody is sent twice."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

import pytest
from typing_extensions import override

from queueing.core.decisions import Cycle
from queueing.core.facts import ClusterQueueFact, Condition, Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.core.stakes import Stake
from queueing.state.memory.claims import preemptor_of
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Event, Life
from tests.properties.profiles import QUEUEING, Law, hold, hold_at_length


def nobody_waits_and_is_waited_for(life: Life) -> None:
    """A preemptor holds no quota and a victim does, so that no chain of claims has two links."""
    cluster = LivingCluster.of(life)
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
    cluster = LivingCluster.of(life)
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


QUIET = ("cycle", "rest", "drain", "time", "late", "refuse", "unknown")
"""Steps that are no news from outside; so is a new workload."""


class Weighing(LivingCluster):
    """A cluster that forgets who was preempted when balances bend weights otherwise than before."""

    def __init__(self, facts: Iterable[Fact] = (), settings: Settings | None = None) -> None:
        super().__init__(facts, settings)
        self.bends: dict[str, Fraction] = {}
        """By the path of a queue or cohort, as of the last cycle."""

    @override
    def write(self, cycle: Cycle) -> None:
        tree = self.engine._memory.tree
        queues = [tree.queue(one.name) for one in self.queues() if tree.has_queue(one.name)]
        nodes = [node for queue in queues for node in (queue, *queue.ancestors())]
        bends = {node.path(): node.bend for node in nodes if node.bend is not None}
        if bends != self.bends:
            self.preemptions.clear()
        self.bends = bends
        super().write(cycle)


def nobody_is_evicted_twice_for_the_same_head(life: Life) -> None:
    """No head has a victim leave again that came back, as long as nothing but time goes by.

    Others may come; but whatever they set off, the head keeps what its victims left. A new leader
    does not know who preempted whom before, and begins to count anew. So does the engine when
    balances, which time moves, give others the right to what there is.
    """
    cluster = Weighing.of(life)
    for step in life.steps:
        loud = isinstance(step, Event) and step.kind not in QUIET
        # Quota that is given back for another reason is news as well, whenever that happens.
        loud = loud or any(map(partial(_leaves_otherwise, cluster), cluster.draining()))
        play(cluster, step)
        if loud:
            cluster.preemptions.clear()
        pairs = Counter((one.uid, one.preemptor_uid) for one in cluster.preemptions)
        assert [pair for pair, times in pairs.items() if times > 1] == []


def _leaves_otherwise(cluster: LivingCluster, key: Key) -> bool:
    """Say whether one is on its way out, and not because it was preempted."""
    return cluster.workloads[key].conditions["Evicted"].reason != "Preempted"


def a_new_leader_keeps_the_claims_that_are_marked(life: Life) -> None:
    """A head has a claim on whoever still holds quota and says that it was evicted for that head.

    Also one whose claim was dropped meanwhile has it again, until it is judged; unless it says that
    it waits for something else. One that waits for victims of others has a claim on nobody.
    """
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        memory = cluster.successor()._memory
        reasons = {key: told_reason(fact) for key, fact in memory.workloads.items()}
        marked = {
            (owner, victim)
            for victim, owner in marks(cluster)
            if owner in memory.items and reasons[owner] not in ELSEWHERE
        }
        claimed = {(claim.owner, victim) for claim in memory.claims for victim in claim.victims}
        assert claimed == marked
        waits = {key for key in memory.items if reasons[key] == "WaitingForPreemptedWorkloads"}
        assert waits <= memory.standing.keys()


ELSEWHERE = (
    "NoMatchingFlavor",
    "WaitingForQuota",
    "ExceedsMaxQuota",
    "TopologyPlacementFailed",
    "BudgetExhausted",
    "MayNotBorrow",
)
"""Reasons of those who found nobody to preempt, or may not run; not of who came too late."""


def told_reason(fact: WorkloadFact) -> str:
    """Return why a workload waits, as its status says; empty when that depends on others only."""
    said = fact.conditions.get("QuotaReserved", Condition(type="QuotaReserved", status=False))
    return "" if "after processing another workload" in said.message else said.reason


def marks(cluster: LivingCluster) -> Iterator[tuple[Key, Key]]:
    """Give all who are on the way out, each with the workload for which its status says so."""
    owners = {fact.uid: key for key, fact in cluster.workloads.items()}
    for key in cluster.draining():
        preempted = cluster.workloads[key].conditions.get("Preempted")
        if preempted is not None and preempted.status:
            uid = preemptor_of(preempted.message)
            if uid is not None and uid in owners:
                yield key, owners[uid]


LAWS = [
    pytest.param(nobody_waits_and_is_waited_for, id="nobody waits and is waited for"),
    pytest.param(nobody_is_evicted_twice_for_the_same_head, id="nobody is evicted twice"),
    pytest.param(a_new_leader_keeps_the_claims_that_are_marked, id="marked claims are kept"),
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
