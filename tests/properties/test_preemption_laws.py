"""Laws of preemption, asked of every pending workload at every point of random lives."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from queueing.core.decisions import Preempt
from queueing.core.entries import Ruling
from queueing.core.facts import Admission, Condition, Fact, WorkloadFact
from queueing.core.fair_sharing.shares import weighted_share
from queueing.core.names import Key
from queueing.core.nomination import World, nominate
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.state.scheduler.heads import as_head
from queueing.state.scheduler.wake import wake_waiting
from queueing.testing.arena import whole_round
from queueing.testing.trees import picture
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.lives.random_worlds import MODES
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold, Law, seeded


def world_of(memory: Memory) -> World:
    return World(
        tree=memory.tree,
        rules=memory.objects.rules,
        holders=memory.ledger,
        settings=memory.settings,
    )


def memories(life: Life) -> Iterator[tuple[LivingCluster, Memory]]:
    """Give, after each step, what a new engine knows of a cluster before its first cycle."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        memory = cluster.successor()._memory
        wake_waiting(memory)
        yield cluster, memory


def judgements(memory: Memory) -> Iterator[Ruling]:
    """Judge every pending workload alone."""
    for key in sorted(memory.items):
        item = memory.items[key]
        if memory.objects.is_active(item.peers.queue):
            yield judged_alone(memory, item)


def judged_alone(memory: Memory, item: Item) -> Ruling:
    """Judge one workload on the tree as it stands."""
    return whole_round([as_head(memory, item)], world_of(memory))[0]


def fits(memory: Memory, judgement: Ruling, *, borrowing: bool) -> bool:
    node = memory.tree.queue(judgement.head.queue)
    return all(
        amount <= node.available(one) and (borrowing or not node.borrowing_with(one, amount))
        for one, amount in judgement.entry.usage.items()
    )


def every_victim_is_needed(life: Life) -> None:
    """Leave any one out and the head does not fit, in the way in which it was to fit.

    Not with fair sharing: there a victim may also be taken for the sake of the shares.
    """
    for cluster, memory in memories(life):
        if cluster.settings.fair_sharing is not None:
            return
        for judgement in list(judgements(memory)):
            if judgement.preemptions:
                assert_all_are_needed(memory, judgement)


def assert_all_are_needed(memory: Memory, judgement: Ruling) -> None:
    holders = [memory.ledger.charges[one.workload].holder for one in judgement.preemptions]
    tree = memory.tree
    with tree.attempt():
        assert not fits(memory, judgement, borrowing=True)
        for victim in holders:
            tree.remove_usage(victim.queue, victim.usage)
        assert fits(memory, judgement, borrowing=True)
        borrowing = not fits(memory, judgement, borrowing=False)
        for victim in holders:
            with tree.attempt():
                tree.add_usage(victim.queue, victim.usage)
                assert not fits(memory, judgement, borrowing=borrowing), victim.key


def a_question_leaves_no_trace(life: Life) -> None:
    for _, memory in memories(life):
        before = picture(memory.tree)
        shares = [weighted_share(memory.tree.queue(name)) for name in memory.objects.queues]
        first = [answer(memory, key) for key in sorted(memory.items)]
        assert picture(memory.tree) == before
        again = [answer(memory, key) for key in sorted(memory.items)]
        assert first == again
        assert picture(memory.tree) == before
        assert shares == [weighted_share(memory.tree.queue(name)) for name in memory.objects.queues]


def answer(memory: Memory, key: Key) -> object:
    """Nominate a pending workload: whom it would preempt, and what it would get."""
    item = memory.items[key]
    if not memory.objects.is_active(item.peers.queue):
        return None
    world = world_of(memory)
    entry = nominate(as_head(memory, item), world, world.reach())
    targets = [(target.holder.key, target.reason) for target in entry.targets]
    return targets, entry.assignment.pod_sets(), entry.assignment.message


def no_victim_answers_with_the_reverse(life: Life) -> None:
    for cluster, memory in memories(life):
        for judgement in list(judgements(memory)):
            for one in judgement.preemptions:
                assert_stays(cluster, judgement, one)


def assert_stays(cluster: LivingCluster, judgement: Ruling, preempt: Preempt) -> None:
    """Let a head be admitted and its victims queue again: none takes it back with all its pods.

    With fewer it may ask for no more than what is its own.
    """
    head = judgement.head.workload
    gone = {one.workload for one in judgement.preemptions}
    facts: list[Fact] = list(cluster.objects.values())
    for fact in cluster.workloads.values():
        if fact.key == head.key:
            facts.append(admitted(fact, judgement, cluster.now))
        elif fact.key == preempt.workload:
            evicted = {name: one for name, one in fact.conditions.items() if name == "Evicted"}
            whole = tuple(replace(one, min_count=None) for one in fact.pod_sets)
            asked = replace(fact, pod_sets=whole, admission=None, conditions=evicted, checks=())
            facts.append(asked)
        elif fact.holds_quota and fact.key not in gone:
            facts.append(fact)
    cycle = cluster.successor(facts).cycle(cluster.now)
    back = [one for one in cycle.decisions if isinstance(one, Preempt) and one.workload == head.key]
    assert back == [], f"{preempt.workload} was preempted for {preempt.reason}"


def admitted(fact: WorkloadFact, judgement: Ruling, now: float) -> WorkloadFact:
    wait = judgement.decision
    return replace(
        fact,
        admission=Admission(
            cluster_queue=judgement.head.queue,
            pod_sets=getattr(wait, "nominated", ()),
        ),
        conditions={
            name: Condition(type=name, status=True, changed=now)
            for name in ("QuotaReserved", "Admitted")
        },
    )


EVERYWHERE = [
    pytest.param(every_victim_is_needed, id="every victim is needed"),
    pytest.param(a_question_leaves_no_trace, id="a question leaves no trace"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", EVERYWHERE)
def test_preemption(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode)


@AT_BOTH_LENGTHS
def test_no_victim_answers_with_the_reverse(hold: Hold) -> None:
    hold(no_victim_answers_with_the_reverse, "fair sharing")


def test_a_victim_that_asks_for_less_may_take_back_what_is_its_own() -> None:
    no_victim_answers_with_the_reverse(seeded(2355472000, "fair sharing"))
