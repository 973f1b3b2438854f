"""What spares work changes no decision: shelves, and the memo of plain fits."""

import pytest

from queueing.core.flavors.plain import plain_fit
from queueing.core.flavors.search import Search
from queueing.state.memory import Memory
from queueing.state.selection import is_active
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.profiles import QUEUEING, hold, hold_at_length


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


def shortcuts_change_nothing(life: Life) -> None:
    cluster = LivingCluster(life.facts, life.settings)
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
