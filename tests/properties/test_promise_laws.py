"""Laws of promises and pairs: a promise is no usage, and nobody is preempted twice for the same."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from typing_extensions import override

from queueing.core.decisions import Admit, Cycle, Wait
from queueing.core.facts import ClusterQueueFact, Fact, Strategy, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.core.stakes import Stake
from queueing.state.intake.marks import preemptor_of
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Event, Life
from tests.properties.profiles import AT_BOTH_LENGTHS, QUEUEING, Hold, Law, seeded


class Counting(LivingCluster):
    """A cluster that counts preemptions anew when quota is given back for another reason.

    Such news may entitle a preemptor once more, whenever it comes.
    """

    @override
    def drain(self, key: Key) -> None:
        if self.workloads[key].conditions["Evicted"].reason != "Preempted":
            self.preemptions.clear()
        super().drain(key)

    def assert_nobody_was_preempted_twice(self) -> None:
        pairs = Counter((one.uid, one.preemptor_uid) for one in self.preemptions)
        assert [pair for pair, times in pairs.items() if times > 1] == []


class Weighing(Counting):
    """The same where balances bend weights otherwise than before: others have the right then."""

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


QUIET = ("cycle", "rest", "drain", "time", "late", "refuse", "unknown")
"""Steps that are no news from outside; so is a new workload."""


def nobody_is_evicted_twice_for_the_same_head(life: Life) -> None:
    """No head has a victim leave again that came back, as long as nothing but time goes by.

    Others may come. A new leader does not know who preempted whom before, and begins to count anew.
    """
    cluster = Weighing.of(life)
    for step in life.steps:
        play(cluster, step)
        if isinstance(step, Event) and step.kind not in QUIET:
            cluster.preemptions.clear()
        cluster.assert_nobody_was_preempted_twice()


def nobody_is_preempted_twice_for_the_same_head(life: Life) -> None:
    """So it is while a cluster that is left alone comes to rest."""
    cluster = Counting.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.preemptions.clear()
        cluster.rest()
        cluster.assert_nobody_was_preempted_twice()


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
        check_invariants(cluster.engine)
    cluster.now += 3_600.0
    cluster.rest()
    check_invariants(cluster.engine)


def a_promise_is_given_once_and_is_no_usage(life: Life) -> None:
    """Whoever is promised something is pending, and nothing is charged for that."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()
        check_invariants(cluster.engine)
        memory = cluster.engine._memory
        promised = memory.ledger.promised
        assert not promised.keys() & memory.ledger.charges.keys()
        assert promised.keys() <= memory.items.keys()


def a_new_leader_judges_first_whom_victims_name(life: Life) -> None:
    """So they are promised again what their victims give back, before others ask for it.

    But in StrictFIFO queues nobody goes before the head, so others of these are not looked at.
    """
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.answer()
        named = set(named_by_victims(cluster))
        strict = {one.name for one in cluster.queues() if one.strategy is Strategy.STRICT_FIFO}
        judged = [
            one.workload
            for one in cluster.successor().cycle(cluster.now).decisions
            if isinstance(one, Admit) or (isinstance(one, Wait) and one.mode is not None)
            if one.cluster_queue not in strict
        ]
        assert named.issuperset(judged[: len(named.intersection(judged))])


def named_by_victims(cluster: LivingCluster) -> Iterator[Key]:
    """Give the workloads for which others leave, as statuses say, and that wait for quota."""
    keys = {fact.uid: key for key, fact in cluster.workloads.items() if not fact.holds_quota}
    for fact in cluster.workloads.values():
        preempted = fact.conditions.get("Preempted")
        if preempted is not None and preempted.status and fact.is_true("Evicted"):
            uid = preemptor_of(preempted.message)
            if uid in keys:
                yield keys[uid]


LAWS = [
    pytest.param(nobody_is_preempted_twice_for_the_same_head, id="nobody is preempted twice"),
    pytest.param(nobody_is_evicted_twice_for_the_same_head, id="nobody is evicted twice"),
    pytest.param(costs_limits_and_runtimes_leave_nobody_behind, id="all of it comes to rest"),
    pytest.param(a_new_leader_judges_first_whom_victims_name, id="who is named goes first"),
    pytest.param(a_promise_is_given_once_and_is_no_usage, id="a promise is no usage"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", QUEUEING)
@pytest.mark.parametrize("law", LAWS)
def test_promises(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode)


def test_a_life_in_which_one_who_is_named_was_judged_twice() -> None:
    a_new_leader_judges_first_whom_victims_name(seeded(142728427, "classical"))
