"""What earlier rounds of a cycle found is not looked for again, and decides nothing otherwise."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from typing_extensions import override

from queueing.core.facts import PreemptionPolicy, WorkloadFact
from queueing.core.holders import Ranked
from queueing.core.names import QueueName
from queueing.core.nomination import World
from queueing.core.recall import Recall, Recalls
from queueing.core.rounds import Judgement, decide_round, nominations
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, preemption, workload

LOWER = preemption(within=PreemptionPolicy.LOWER_PRIORITY)


class Asked(Arena):
    """Counts how often somebody looked for victims."""

    searches = 0

    @override
    def ranked(self, queue: QueueName) -> Ranked:
        self.searches += 1
        return super().ranked(queue)


def arena() -> Asked:
    running = [
        admitted(f"low-{number}", {"cpu": 1000}, local_queue="team/a", queue="a", priority=number)
        for number in range(4)
    ]
    return Asked(cluster_queue("a", {"default": {"cpu": 4000}}, preemption=LOWER), *running)


def preemptor(name: str, cores: int, priority: int) -> WorkloadFact:
    return workload(name, {"cpu": cores * 1000}, local_queue="team/a", priority=priority)


def judge(made: Asked, heads: Sequence[WorkloadFact], recalls: Recalls | None) -> list[Judgement]:
    world = World(
        tree=made.tree,
        rules=made.rules,
        holders=made,
        settings=made.settings,
        recalls=recalls,
    )
    entries = nominations([made.head(one) for one in heads], world, lambda _: None)
    return decide_round(list(entries), world)


FIRST, SECOND, THIRD = preemptor("one", 2, 7), preemptor("two", 1, 6), preemptor("three", 1, 9)


def test_a_round_like_the_last_looks_for_nobody() -> None:
    made = arena()
    recalls = {made.tree.queue(QueueName("a")): Recall()}
    before = judge(made, [FIRST, SECOND], recalls)
    asked = made.searches
    assert asked
    assert judge(made, [FIRST, SECOND], recalls) == before
    assert made.searches == asked


@pytest.mark.parametrize(
    "then",
    [
        pytest.param([THIRD, FIRST, SECOND], id="another comes before them"),
        pytest.param([FIRST, THIRD, SECOND], id="another comes between them"),
        pytest.param([SECOND], id="one of them is not judged any more"),
        pytest.param([preemptor("one", 3, 7), SECOND], id="one of them asks for more"),
        pytest.param([preemptor("one", 2, 2), SECOND], id="one of them has a lower priority"),
    ],
)
def test_what_is_recalled_decides_nothing_otherwise(then: list[WorkloadFact]) -> None:
    made = arena()
    recalls = {made.tree.queue(QueueName("a")): Recall()}
    judge(made, [FIRST, SECOND], recalls)
    assert judge(made, then, recalls) == judge(made, then, None)


def test_it_does_not_matter_in_which_order_the_same_was_taken() -> None:
    made = arena()
    recalls = {made.tree.queue(QueueName("a")): Recall()}
    earlier, later = preemptor("first", 1, 9), preemptor("second", 1, 8)
    judge(made, [FIRST], recalls)
    judge(made, [earlier, later, FIRST], recalls)
    swapped = [replace(earlier, priority=8), replace(later, priority=9)]
    assert judge(made, [*swapped, FIRST], recalls) == judge(made, [*swapped, FIRST], None)
