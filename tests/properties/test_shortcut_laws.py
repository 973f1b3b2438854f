"""What spares work changes no decision: shelves, memos of plain fits, lacks, lines, recalls."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from typing_extensions import override

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Cycle, Outcome, Reason
from queueing.core.facts import ClusterQueueFact, CohortFact, Fact, Preemption, Strategy
from queueing.core.flavors.grades import Grade
from queueing.core.flavors.plain import plain_fit, plain_lack
from queueing.core.flavors.search import Search
from queueing.core.names import QueueName
from queueing.core.quota.node import Node
from queueing.core.reasons import describe_missing
from queueing.core.recall import Recall
from queueing.core.rounds import World, judge_round
from queueing.core.settings import Settings
from queueing.state.cycle.contest import entrants_of, winners_of
from queueing.state.cycle.prospects import Prospect, foregone, look_at, prospects_of
from queueing.state.cycle.selection import head_of
from queueing.state.engine import Engine
from queueing.state.memory.memory import Memory
from queueing.state.queues.peers import Item
from queueing.testing.happenings import play
from queueing.testing.living import LivingCluster
from queueing.testing.random_events import Life
from tests.properties.crowds import SETTINGS, crowd
from tests.properties.profiles import QUEUEING, hold, hold_at_length, seeded
from tests.properties.test_contended_laws import contended


def assert_nobody_whose_lack_is_known_is_covered(memory: Memory) -> None:
    for name, queue in memory.queues.items():
        if not memory.objects.is_active(name) or name not in memory.roots:
            continue
        node, first = memory.tree.queue(name), queue.lanes.front()
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


def assert_lines_say_what_a_look_at_everybody_says(memory: Memory) -> int:
    """Compare the heads of trees of plain waiters, and their places; return how many there were."""
    found = 0
    for root, names in memory.members.items():
        ready = set(memory.ready)
        prospects = prospects_of(memory, root, names)
        assert memory.ready <= ready
        memory.ready |= ready
        if prospects is None:
            continue
        heads = [head for name in names if (head := first_covered(memory, name)) is not None]
        assert [item for _, item, _ in prospects] == heads
        for item in heads:
            item.footing = None
        anew = [(place, one.needs, one.levels) for place, _, one in looked_at(memory, root, heads)]
        assert [(place, one.needs, one.levels) for place, _, one in prospects] == anew
        found += len(heads)
    return found


def assert_a_contest_admits_whom_a_look_at_all_heads_admits(memory: Memory) -> int:
    """Compare them for trees of plain waiters; return how many were admitted."""
    found = 0
    for root, names in memory.members.items():
        ready = set(memory.ready)
        entrants = entrants_of(memory, root, names)
        if entrants is None:
            continue
        heads, left = len(entrants), set(memory.ready)
        contest = winners_of(memory, root, entrants)
        won = None if contest is None else contest.winners
        memory.ready = set(ready)
        prospects = prospects_of(memory, root, names)
        assert prospects is not None
        assert (len(prospects), memory.ready) == (heads, left)
        assert won == foregone(memory, root, [item for _, item, _ in prospects], prospects)
        memory.ready = ready
        found += len(won or ())
    return found


def assert_who_is_admitted_unjudged_is_whom_a_round_admits(memory: Memory) -> int:
    """Compare them for the heads that nobody looked at yet; return how many were admitted."""
    found = 0
    for root, names in memory.members.items():
        known = [name for name in names if name in memory.queues and memory.objects.is_active(name)]
        items = [head for name in known if (head := memory.queues[name].head()) is not None]
        winners = foregone(memory, root, items, None)
        if winners is None:
            continue
        world = World(
            tree=memory.tree,
            rules=memory.objects.rules,
            holders=memory.ledger,
            settings=memory.settings,
            now=memory.clock,
        )
        with memory.tree.attempt():
            judged = judge_round([head_of(memory, item) for item in items], world)
        assert [one.admit for one in winners] == [one.decision for one in judged]
        found += len(winners)
    return found


def looked_at(memory: Memory, root: Node, heads: list[Item]) -> list[Prospect]:
    prospects = look_at(memory, root, heads)
    assert prospects is not None
    return prospects


def first_covered(memory: Memory, name: QueueName) -> Item | None:
    queue = memory.queues.get(name)
    covered = [
        item
        for peers in (() if queue is None else queue.waiting)
        for resource, asked in peers.lacks
        if (item := peers.top()) is not None
        and asked <= memory.tree.queue(name).cell(resource).available()
    ]
    return min(covered, key=lambda item: item.order, default=None)


def shortcuts_change_nothing(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        finished = cluster.cycle().finished
        memory = cluster.engine._memory
        if not memory.reshaped:
            assert_the_memo_says_what_the_search_says(memory)
        changes = memory.ledger.changes
        if finished and not (memory.reshaped or changes.released or changes.newcomers):
            assert_nobody_whose_lack_is_known_is_covered(memory)


@pytest.mark.parametrize("mode", QUEUEING)
def test_shortcuts_change_nothing(mode: str) -> None:
    hold(shortcuts_change_nothing, mode)


@pytest.mark.slow
@pytest.mark.parametrize("mode", QUEUEING)
def test_shortcuts_change_nothing_at_length(mode: str) -> None:
    hold_at_length(shortcuts_change_nothing, mode)


def what_rounds_recall_changes_no_decision(life: Life) -> None:
    """Compare with an engine that is told the same and finds all anew in each round."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        recalling, forgetful = cluster.successor(), cluster.successor()
        forgetful._memory.recalls = Forgetful()
        want = forgetful.cycle(cluster.now)
        assert recalling.cycle(cluster.now).rounds == want.rounds
        cluster.cycle()


class Forgetful(dict[Node, Recall]):
    """Recalls of which none is kept."""

    @override
    def __setitem__(self, key: Node, value: Recall) -> None:
        """Keep nothing."""


@pytest.mark.parametrize("mode", QUEUEING)
def test_what_rounds_recall_changes_no_decision(mode: str) -> None:
    for seed in range(3):
        what_rounds_recall_changes_no_decision(contended(seed, mode))


class Compared(Engine):
    """An engine beside one that is told the same and finds all anew in each round."""

    def __init__(self, cluster: LivingCluster) -> None:
        super().__init__(cluster.settings)
        self._forgetful = Engine(cluster.settings)
        self._forgetful._memory.recalls = Forgetful()
        for fact in cluster.facts():
            self.observe(fact)
        for credit in (*cluster.terms, *cluster.accounts):
            self.observe_credit(credit)

    @override
    def observe(self, fact: Fact) -> None:
        super().observe(fact)
        self._forgetful.observe(fact)

    @override
    def observe_credit(self, fact: CreditFact) -> None:
        super().observe_credit(fact)
        self._forgetful.observe_credit(fact)

    @override
    def settle(self, outcome: Outcome) -> None:
        super().settle(outcome)
        self._forgetful.settle(outcome)

    @override
    def cycle(self, now: float, budget: int | None = None) -> Cycle:
        want, got = self._forgetful.cycle(now, budget), super().cycle(now, budget)
        assert got == want
        return got


def what_portions_recall_changes_no_decision(life: Life) -> None:
    """Compare over a whole life in portions of a round each, with something new between most."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        if not isinstance(cluster.engine, Compared):
            cluster.engine = Compared(cluster)
        play(cluster, step)
        for _ in range(3):
            cluster.now += 0.25
            cluster.cycle(budget=1)


@pytest.mark.parametrize("mode", QUEUEING)
def test_what_portions_recall_changes_no_decision(mode: str) -> None:
    for seed in range(3):
        what_portions_recall_changes_no_decision(contended(seed, mode))


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


@pytest.mark.parametrize("mode", QUEUEING)
def test_who_is_admitted_unjudged_is_whom_a_round_admits(mode: str) -> None:
    found = 0
    for seed in range(12):
        life = seeded(seed, mode)
        cluster = LivingCluster(life.facts, life.settings)
        for step in life.steps:
            play(cluster, step)
            memory = cluster.engine._memory
            if not (memory.reshaped or memory.refitted or memory.standing):
                found += assert_who_is_admitted_unjudged_is_whom_a_round_admits(memory)
            cluster.cycle(budget=2)
    assert found


def flat(facts: Iterable[Fact]) -> Iterator[Fact]:
    """Give the same world with all queues just below a root, and waiting for quota only."""
    for fact in facts:
        if isinstance(fact, CohortFact):
            yield replace(fact, parent=None)
        elif isinstance(fact, ClusterQueueFact):
            yield replace(fact, checks=(), strategy=Strategy.BEST_EFFORT_FIFO)
        else:
            yield fact


@pytest.mark.parametrize("mode", ["classical", "fair sharing"])
def test_lines_say_what_a_look_at_everybody_says(mode: str) -> None:
    """Where LocalQueues take turns there are no lines: each has a shelf of its own."""
    found = 0
    for seed in range(12):
        life = seeded(seed, mode)
        cluster = LivingCluster(flat(without_choice(life.facts)), life.settings)
        for step in life.steps:
            play(cluster, step)
            memory = cluster.engine._memory
            if not (memory.reshaped or memory.refitted):
                found += assert_lines_say_what_a_look_at_everybody_says(memory)
            cluster.cycle(budget=2)
    assert found


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_contest_admits_whom_a_look_at_all_heads_admits(settings: Settings) -> None:
    found = 0
    for seed in range(12):
        for cluster in crowd(seed, settings):
            memory = cluster.engine._memory
            if not (memory.reshaped or memory.refitted):
                found += assert_a_contest_admits_whom_a_look_at_all_heads_admits(memory)
            if cluster.cycle(budget=None if seed % 2 else 3).finished:
                assert_nobody_whose_lack_is_known_is_covered(memory)
            cluster.engine.check()
    assert found
