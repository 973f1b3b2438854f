"""The tree against its formulas, written down once more without any shortcut."""

from dataclasses import dataclass, field

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.facts import Quota
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName
from queueing.core.quota.tree import QuotaTree
from queueing.testing.builders import cluster_queue, cohort, quota

CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))
UNBOUND = 10**9


@dataclass(eq=False)
class Plain:
    """A node of the plain tree: everything is computed from scratch whenever it is asked for."""

    name: str
    limits: Quota
    parent: "Plain | None" = None
    children: list["Plain"] = field(default_factory=list)
    held: int = 0

    def subtree(self) -> int:
        lent = sum(child.subtree() - child.local() for child in self.children)
        return self.limits.nominal + lent

    def local(self) -> int:
        limit = self.limits.lending_limit
        return 0 if limit is None else max(0, self.subtree() - limit)

    def usage(self) -> int:
        return self.held + sum(max(0, one.usage() - one.local()) for one in self.children)

    def local_available(self) -> int:
        return max(0, self.local() - self.usage())

    def available(self) -> int:
        if self.parent is None:
            return self.subtree() - self.usage()
        limit = self.limits.borrowing_limit
        most = UNBOUND
        if limit is not None:
            stored = self.subtree() - self.local()
            most = stored - max(0, self.usage() - self.local()) + limit
        return self.local_available() + min(self.parent.available(), most)

    def potential(self) -> int:
        if self.parent is None:
            return self.subtree()
        limit = self.limits.borrowing_limit
        most = UNBOUND if limit is None else self.subtree() + limit
        return min(self.local() + self.parent.potential(), most)

    def height(self) -> int:
        return max((child.height() + 1 for child in self.children), default=0)

    def height_of_fit(self, amount: int) -> tuple[int, bool]:
        if self.parent is None or self.subtree() >= self.usage() + amount:
            return 0, self.parent is not None
        amount -= self.local_available()
        node = self.parent
        while node.subtree() < node.usage() + amount and node.parent is not None:
            amount -= node.local_available()
            node = node.parent
        return node.height(), node.parent is not None


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
            assert (node.quota(CPU), node.usage(CPU)) == (above.subtree(), above.usage())
            assert node.available(CPU) == above.available()
            assert node.height == above.height()
