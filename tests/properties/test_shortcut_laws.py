"""What spares work changes no decision: shelves, the memo of plain fits, and plain lacks."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest

from queueing.core.decisions import Reason
from queueing.core.facts import ClusterQueueFact, Fact, Preemption
from queueing.core.flavors.grades import Grade
from queueing.core.flavors.plain import plain_fit, plain_lack
from queueing.core.flavors.search import Search
from queueing.core.reasons import describe_missing
from queueing.state.memory import Memory
from queueing.state.selection import is_active
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.profiles import QUEUEING, hold, hold_at_length, seeded


def assert_nobody_whose_lack_is_known_is_covered(memory: Memory) -> None:
    for name, queue in memory.queues.items():
        if not is_active(memory, name) or name not in memory.roots:
            continue
        node, first = memory.tree.queue(name), queue.front()
        for peers in queue.waiting:
            if first is not None and first.peers is not peers:
                continue
            for resource, asked in peers.lacks:
                free = node.available(resource)
                assert free < asked, f"{peers.wait}: {free} of {resource} are free"


def assert_the_memo_says_what_the_search_says(memory: Memory) -> None:
    for name, queue in memory.queues.items():
        rules = memory.objects.rules.get(name)
        if rules is None:
            continue
        node = memory.tree.queue(name)
        for peers in queue.peers.values():
            found = plain_fit(rules, node, peers.demand, memory.settings)
            if found is not None:
                search = Search(rules, node, oracle=None, settings=memory.settings)
                assert found.fits
                assert found == search.assign(found.demand)
                assert found.demand.shape == peers.demand.shape


def assert_a_plain_lack_is_what_the_search_finds(memory: Memory) -> int:
    """Compare them for all who wait; return how many lacked plainly."""
    found = 0
    for name, queue in memory.queues.items():
        rules = memory.objects.rules.get(name)
        if rules is None:
            continue
        node = memory.tree.queue(name)
        for peers in queue.peers.values():
            outline = rules.offer.outline(peers.demand, memory.settings.quota_check)
            short = plain_lack(rules, node, outline)
            if short is None or outline.only_way is None:
                continue
            found += 1
            searched = Search(rules, node, oracle=None, settings=memory.settings).assign(
                peers.demand
            )
            told = describe_missing(
                peers.demand.pod_sets[0].pod_set.name, [(one, less) for one, _, less in short]
            )
            assert searched.grade is Grade.NO_CANDIDATES
            assert searched.progress is None
            assert (searched.reason, searched.message) == (Reason.WAITING_FOR_QUOTA, told)
            assert [(one.resource, one.asked) for one in searched.lacks()] == [
                (resource, asked) for resource, asked, _ in short
            ]
            assert searched.usage == outline.usage
            assert searched.pod_sets() == outline.spelled[1, *outline.only_way]
    return found


def shortcuts_change_nothing(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        finished = cluster.cycle().finished
        memory = cluster.engine._memory
        if not memory.reshaped:
            assert_the_memo_says_what_the_search_says(memory)
        tidings = memory.ledger.tidings
        if finished and not (memory.reshaped or tidings.released or tidings.newcomers):
            assert_nobody_whose_lack_is_known_is_covered(memory)


@pytest.mark.parametrize("mode", QUEUEING)
def test_shortcuts_change_nothing(mode: str) -> None:
    hold(shortcuts_change_nothing, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
def test_shortcuts_change_nothing_at_length(mode: str) -> None:
    hold_at_length(shortcuts_change_nothing, mode)


def without_choice(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Give a world whose queues preempt nobody, and have one flavor for each resource."""
    for fact in facts:
        if isinstance(fact, ClusterQueueFact):
            groups = tuple(replace(one, flavors=one.flavors[:1]) for one in fact.groups)
            yield replace(fact, preemption=Preemption(), groups=groups)
        else:
            yield fact


@pytest.mark.parametrize("mode", QUEUEING)
def test_a_plain_lack_is_what_the_search_finds(mode: str) -> None:
    found = 0
    for seed in range(12):
        life = seeded(seed, mode)
        cluster = LivingCluster(without_choice(life.facts), life.settings)
        for step in life.steps:
            play(cluster, step)
            cluster.cycle()
            memory = cluster.engine._memory
            if not memory.reshaped:
                found += assert_a_plain_lack_is_what_the_search_finds(memory)
    assert found
