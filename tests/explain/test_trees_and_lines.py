"""What is told of cohorts with all below them, and of who waits in a queue or holds its quota."""

from pathlib import Path

import pytest

from queueing.core.names import CohortName, Key, QueueName
from queueing.explain import answers
from queueing.explain.model import Line, LineRow, TreeNode
from queueing.state.engine import Engine
from tests.explain.case import Case

WORLD = """
cohorts:
  lab: {cpu: 2}
  vision: {parent: lab}
queues:
  train: {cpu: 4, cohort: vision}
  infer: {cpu: 4, cohort: vision}
  alone: {cpu: 1}
running:
  t1: {queue: train, cpu: 3}
  t2: {queue: train, cpu: 3}
pending:
  w1: {queue: train, cpu: 5}
  w2: {queue: train, cpu: 6, priority: 5}
  w3: {queue: train, cpu: 6}
ask: []
told: ""
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    file = tmp_path / "world.yaml"
    file.write_text(WORLD)
    return Case(file).cluster().engine


def nodes(engine: Engine, name: str | None) -> dict[str, TreeNode]:
    found = answers.cohort(engine, None if name is None else CohortName(name))
    assert found is not None
    return {one.name: one for one in found.nodes}


def line(engine: Engine, queue: str, at: int, limit: int, *, holding: bool = False) -> Line:
    name = Key(queue) if "/" in queue else QueueName(queue)
    found = answers.line(engine, name, (at, limit), holding=holding)
    assert found is not None
    return found


def names(rows: tuple[LineRow, ...]) -> list[str]:
    return [one.name for one in rows]


def test_all_trees_are_told_parents_first(engine: Engine) -> None:
    found = nodes(engine, None)
    assert [(one.name, one.parent, one.depth) for one in found.values()] == [
        ("lab", "", 0),
        ("vision", "lab", 1),
        ("infer", "vision", 2),
        ("train", "vision", 2),
        ("alone", "", 0),
    ]


def test_a_cohort_tells_the_sums_of_all_below_it(engine: Engine) -> None:
    found = nodes(engine, None)
    (cpu,) = found["lab"].quotas
    assert (cpu.nominal, cpu.used, cpu.borrowed) == ("10", "6", "0")
    assert (found["lab"].pending, found["lab"].holding) == (3, 2)


def test_what_a_queue_borrows_its_siblings_lend(engine: Engine) -> None:
    found = nodes(engine, "vision")
    assert [(one.borrowed, one.lent) for one in found["train"].quotas] == [("2", "0")]
    assert [(one.borrowed, one.lent) for one in found["infer"].quotas] == [("0", "2")]
    assert found["vision"].depth == 0


def test_a_row_of_a_tree_says_what_the_queue_itself_says(engine: Engine) -> None:
    told = answers.cluster_queue(engine, QueueName("train"))
    assert told is not None
    assert nodes(engine, None)["train"].quotas == told.quotas


def test_a_cohort_that_is_not_there_is_not_told_of(engine: Engine) -> None:
    assert answers.cohort(engine, CohortName("nowhere")) is None


def test_a_line_is_in_the_order_of_its_queue_with_place_and_reason(engine: Engine) -> None:
    found = line(engine, "train", 0, 10)
    assert names(found.rows) == ["w2", "w1", "w3"]
    assert [one.position for one in found.rows] == [0, 1, 2]
    assert {one.reason for one in found.rows} == {"WaitingForQuota"}
    assert all("insufficient" in one.message for one in found.rows)


@pytest.mark.parametrize(
    ("at", "limit", "want"),
    [
        pytest.param(0, 2, ["w2", "w1"], id="the first part"),
        pytest.param(2, 2, ["w3"], id="the last part"),
        pytest.param(7, 2, [], id="behind the end"),
    ],
)
def test_a_line_is_told_in_parts(engine: Engine, at: int, limit: int, want: list[str]) -> None:
    found = line(engine, "train", at, limit)
    assert (names(found.rows), found.in_all) == (want, 3)
    assert [one.position for one in found.rows] == list(range(at, at + len(want)))


def test_a_local_queue_tells_its_own_line(engine: Engine) -> None:
    assert names(line(engine, "team/train", 0, 10).rows) == ["w2", "w1", "w3"]
    assert line(engine, "team/infer", 0, 10).in_all == 0


def test_who_holds_quota_is_told_with_what_it_holds(engine: Engine) -> None:
    found = line(engine, "train", 0, 10, holding=True)
    assert [(one.name, one.state, one.uses) for one in found.rows] == [
        ("t1", "Admitted", {"cpu of default": "3"}),
        ("t2", "Admitted", {"cpu of default": "3"}),
    ]


def test_a_queue_that_is_not_there_has_no_line(engine: Engine) -> None:
    assert answers.line(engine, QueueName("nowhere"), (0, 10), holding=False) is None
    assert answers.line(engine, Key("team/nowhere"), (0, 10), holding=True) is None
