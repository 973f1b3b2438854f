"""The tree against its formulas, written down once more without any shortcut."""

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort, quota
from tests.properties.plain import Plain

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


limits = st.builds(
    lambda nominal, borrowing, lending: quota(nominal, borrowing=borrowing, lending=lending),
    st.integers(0, 12),
    st.one_of(st.none(), st.integers(0, 8)),
    st.one_of(st.none(), st.integers(0, 8)),
)
PARENTS = {"top": None, "left": "top", "right": "top", "deep": "left"}


@st.composite
def forests(draw: st.DrawFn) -> tuple[QuotaTree, dict[str, Plain]]:
    """Build the same four cohorts and five queues twice, with random quotas and usage."""
    tree, plain = QuotaTree(), dict[str, Plain]()
    for name, parent in PARENTS.items():
        one = draw(limits)
        tree.put_cohort(cohort(name, parent, quotas={"default": {"cpu": one}}))
        plain[name] = Plain(name, one, plain.get(parent or ""))
    for name in ("a", "b", "c", "d", "e"):
        parent, one = draw(st.sampled_from((None, *PARENTS))), draw(limits)
        tree.put_queue(cluster_queue(name, {"default": {"cpu": one}}, cohort=parent))
        plain[name] = Plain(name, one, plain.get(parent or ""))
        plain[name].held = draw(st.integers(0, 12))
        tree.add_usage(QueueName(name), {CPU: plain[name].held})
    for node in plain.values():
        if node.parent is not None:
            node.parent.children.append(node)
    return tree, plain


@settings(max_examples=150, derandomize=True, deadline=None)
@given(forests(), st.integers(0, 40))
def test_every_number_of_a_queue_equals_its_formula(
    forest: tuple[QuotaTree, dict[str, Plain]], amount: int
) -> None:
    tree, plain = forest
    for name in ("a", "b", "c", "d", "e"):
        cell, want = tree.queue(QueueName(name)).cell(CPU), plain[name]
        assert cell.available() == want.available()
        assert cell.potential() == want.potential()
        assert cell.height_of_fit(amount) == want.height_of_fit(amount)
        for node in tree.queue(QueueName(name)).ancestors():
            above = plain[node.name]
            assert (node.cell(CPU).quota, node.cell(CPU).usage) == (above.subtree(), above.usage())
            assert node.available(CPU) == above.available()
            assert node.height == above.height()
