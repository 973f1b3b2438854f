"""Laws of the quota tree, over any forest and any sequence of changes."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.names import CohortName, FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort, quota
from queueing.testing.trees import check, picture

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
Steps = list[tuple[str, Any]]
QUEUES = ("a", "b", "c", "d")
COHORTS = ("p", "q", "r")
FEW = settings(max_examples=100, derandomize=True, deadline=None)

amounts = st.integers(0, 12)
limits = st.one_of(st.none(), st.integers(0, 12))
quotas = st.builds(
    lambda nominal, borrowing, lending: quota(nominal, borrowing=borrowing, lending=lending),
    amounts,
    limits,
    limits,
)
queues = st.builds(
    lambda name, parent, one: cluster_queue(name, {"default": {"cpu": one}}, cohort=parent),
    st.sampled_from(QUEUES),
    st.one_of(st.none(), st.sampled_from(COHORTS)),
    quotas,
)
cohorts = st.builds(
    lambda name, parent, one: cohort(name, parent, quotas={"default": {"cpu": one}}),
    st.sampled_from(COHORTS),
    st.one_of(st.none(), st.sampled_from(COHORTS)),
    quotas,
)
changes = st.lists(
    st.one_of(
        st.tuples(st.just("queue"), queues),
        st.tuples(st.just("cohort"), cohorts),
        st.tuples(st.just("drop queue"), st.sampled_from(QUEUES)),
        st.tuples(st.just("drop cohort"), st.sampled_from(COHORTS)),
        st.tuples(st.just("use"), st.tuples(st.sampled_from(QUEUES), amounts)),
        st.tuples(st.just("release"), st.tuples(st.sampled_from(QUEUES), amounts)),
    ),
    max_size=25,
)


def play(steps: Steps) -> QuotaTree:
    tree = QuotaTree()
    for what, how in steps:
        match what:
            case "queue":
                tree.put_queue(how)
            case "cohort":
                tree.put_cohort(how)
            case "drop queue":
                tree.drop_queue(QueueName(how))
            case "drop cohort":
                tree.drop_cohort(CohortName(how))
            case _:
                name, amount = QueueName(how[0]), how[1]
                if not tree.has_queue(name):
                    continue
                held = tree.queue(name).cell(CPU).usage
                change = amount if what == "use" else -min(amount, held)
                tree.add_usage(name, {CPU: change})
    return tree


def nodes(tree: QuotaTree) -> list[QuotaNode]:
    found = [tree.queue(QueueName(name)) for name in QUEUES if tree.has_queue(QueueName(name))]
    above = [tree.cohort(CohortName(name)) for name in COHORTS]
    return found + [one for one in above if one is not None]


@FEW
@given(changes)
def test_a_tree_kept_step_by_step_equals_one_built_at_once(steps: Steps) -> None:
    check(play(steps))


@FEW
@given(changes)
def test_usage_is_conserved_at_every_cohort(steps: Steps) -> None:
    for node in nodes(play(steps)):
        children = list(node.children())
        if children:
            usage, held = zip(*(child.cell(CPU).gives()[1:3] for child in children), strict=True)
            assert (node.cell(CPU).usage, node.cell(CPU).held) == (sum(usage), sum(held))


@FEW
@given(changes, st.lists(st.tuples(st.sampled_from(QUEUES), amounts), max_size=8))
def test_an_attempt_leaves_no_trace(steps: Steps, spent: list[tuple[str, int]]) -> None:
    tree = play(steps)
    before = picture(tree)
    with tree.attempt():
        for name, amount in spent:
            if tree.has_queue(QueueName(name)):
                tree.add_usage(QueueName(name), {CPU: amount})
                with tree.attempt():
                    tree.add_usage(QueueName(name), {CPU: 3})
    assert picture(tree) == before


@FEW
@given(changes, st.lists(st.sampled_from(QUEUES), max_size=12))
def test_taking_what_is_available_never_overspends_a_tree(steps: Steps, takers: list[str]) -> None:
    tree = play(steps)
    with tree.attempt():
        for name in takers:
            if tree.has_queue(QueueName(name)):
                node = tree.queue(QueueName(name))
                root = node.root
                before = root.cell(CPU).quota - root.cell(CPU).usage
                tree.add_usage(QueueName(name), {CPU: node.available(CPU)})
                assert root.cell(CPU).quota - root.cell(CPU).usage >= min(0, before)
                assert node.available(CPU) == 0


@FEW
@given(changes)
def test_what_is_available_never_exceeds_what_could_ever_be(steps: Steps) -> None:
    for node in nodes(play(steps)):
        if node.is_queue:
            assert node.available(CPU) <= node.cell(CPU).potential()


@FEW
@given(changes, amounts, amounts)
def test_charges_add_up_and_are_undone_by_their_opposite(
    steps: Steps, one: int, other: int
) -> None:
    tree = play(steps)
    before = picture(tree)
    for name in QUEUES:
        if tree.has_queue(QueueName(name)):
            tree.add_usage(QueueName(name), {CPU: one})
            tree.add_usage(QueueName(name), {CPU: other})
            tree.remove_usage(QueueName(name), {CPU: one + other})
    assert picture(tree) == before
