"""Deliberate faults of the rules of one round and of the quota tree, one at least for each law."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from tests.properties import test_quota_formulas as formulas
from tests.properties import test_quota_tree as tree
from tests.properties import test_round_laws as rounds
from tests.properties.faults import Made, always


@dataclass(frozen=True)
class Misstep:
    """Something wrong in the rules of one round or of the quota tree, and the test that notices."""

    says: str
    where: str
    made: Made
    test: Callable[..., None]
    given: tuple[st.SearchStrategy[Any], ...]
    """What the test is given."""


def _without_limit(_: Any) -> Any:
    def available(self: Any) -> int:
        if self.parent is None:
            return int(self.quota - self.usage)
        return int(self.local_available() + self.parent.available())

    return available


def _forgets_its_sums(_: Any) -> Any:
    def detach(self: Any) -> None:
        self.parent = None

    return detach


def _charges_all_the_way_up(_: Any) -> Any:
    def charge(_: Any, cell: Any, amount: int) -> None:
        while cell is not None:
            cell.usage += amount
            cell = cell.parent

    return charge


def _first_twice(right: Any) -> Any:
    def borrowers_last(lending: Any, entries: Any) -> Any:
        for at, entry in enumerate(right(lending, entries)):
            yield entry
            if not at:
                yield entry

    return borrowers_last


FORESTS = (formulas.forests(), st.integers(0, 40))
CHANGES = (tree.changes,)
WORLDS = (rounds.worlds(), st.none())


MISSTEPS = [
    Misstep(
        "A borrowing limit is ignored",
        "queueing.core.quota.node:Cell.available",
        _without_limit,
        formulas.test_every_number_of_a_queue_equals_its_formula,
        FORESTS,
    ),
    Misstep(
        "A queue that leaves a cohort leaves its quota and usage behind",
        "queueing.core.quota.node:Cell.detach",
        _forgets_its_sums,
        tree.test_a_tree_kept_step_by_step_equals_one_built_at_once,
        CHANGES,
    ),
    Misstep(
        "A cohort is charged for what its children keep to themselves",
        "queueing.core.quota.tree:QuotaTree.charge",
        _charges_all_the_way_up,
        tree.test_usage_is_conserved_at_every_cohort,
        CHANGES,
    ),
    Misstep(
        "An attempt is not undone",
        "queueing.core.quota.tree:QuotaTree.attempt",
        lambda _: lambda _: nullcontext(),
        tree.test_an_attempt_leaves_no_trace,
        (tree.changes, st.lists(st.tuples(st.sampled_from(tree.QUEUES), tree.amounts))),
    ),
    Misstep(
        "One unit more than there is counts as available",
        "queueing.core.quota.node:Cell.available",
        lambda right: lambda self: right(self) + 1,
        tree.test_taking_what_is_available_never_overspends_a_tree,
        (tree.changes, st.lists(st.sampled_from(tree.QUEUES))),
    ),
    Misstep(
        "Potential capacity leaves out what cohorts lend",
        "queueing.core.quota.node:Cell.potential",
        lambda _: lambda self: self.quota,
        tree.test_what_is_available_never_exceeds_what_could_ever_be,
        CHANGES,
    ),
    Misstep(
        "A removed charge stays",
        "queueing.core.quota.tree:QuotaTree.remove_usage",
        always(None),
        tree.test_charges_add_up_and_are_undone_by_their_opposite,
        (tree.changes, tree.amounts, tree.amounts),
    ),
    Misstep(
        "An entry does not see what others of its round took",
        "queueing.core.processing:Draft.admit",
        always(answer=None),
        rounds.check_no_over_admission,
        WORLDS,
    ),
    Misstep(
        "Victims that turn out not to be needed are not spared",
        "queueing.core.preemption.room:Room.fill_back",
        lambda _: lambda _, targets, **__: list(targets),
        rounds.check_victims_are_needed,
        WORLDS,
    ),
    Misstep(
        "Entries keep the order in which they are given",
        "queueing.core.rounds:entry_key",
        always(lambda _: 0),
        rounds.check_order_of_arrival_is_irrelevant,
        WORLDS,
    ),
    Misstep(
        "What a round claims stays charged",
        "queueing.core.quota.tree:QuotaTree.attempt",
        lambda _: lambda _: nullcontext(),
        rounds.check_only_admissions_are_charged,
        WORLDS,
    ),
    Misstep(
        "The first entry of a round is decided twice",
        "queueing.core.rounds:LendLast.borrowers_last",
        _first_twice,
        rounds.check_every_head_is_decided_once,
        WORLDS,
    ),
]
