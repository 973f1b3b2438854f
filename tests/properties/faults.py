"""Deliberate faults, one at least for each law: a law that none of them breaks says nothing.

A fault replaces one function of the product by another that is wrong. Each names the law that has
to notice, and a life in which it does; should that life be another one now, more are tried.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from itertools import count
from typing import Any

from hypothesis import strategies as st

from queueing.core.decisions import PreemptionReason
from queueing.core.holders import Holders
from queueing.core.names import QueueName
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.room import Room
from queueing.core.quota.tree import QuotaTree
from queueing.testing.random_events import EVERYTHING, GENTLE, Table
from tests.properties import test_bad_input_laws as bad_input
from tests.properties import test_claim_laws as claims
from tests.properties import test_kueue_laws as kueue
from tests.properties import test_preemption_laws as preemption
from tests.properties import test_quota_formulas as formulas
from tests.properties import test_quota_tree as tree
from tests.properties import test_rebuild_laws as rebuild
from tests.properties import test_rest_laws as rest
from tests.properties import test_round_laws as rounds
from tests.properties import test_shortcut_laws as shortcuts
from tests.properties import test_supply_laws as supply
from tests.properties import test_turn_laws as turns
from tests.properties import test_usage_laws as usage
from tests.properties.profiles import Law

Made = Callable[[Any], Any]
"""Takes the right function and returns the wrong one."""

CLASSICAL, FAIR, TURNS, KUEUE = "classical", "fair sharing", "taking turns", "as Kueue"


@dataclass(frozen=True)
class Fault:
    """Something wrong, in words and as code, and who must notice."""

    says: str
    where: str
    """Module and name of the function, as its caller knows it."""
    made: Made
    law: Law
    mode: str = CLASSICAL
    seed: int = 0
    """A life of that mode in which the law is broken."""
    rare: Table = field(default_factory=lambda: EVERYTHING)


def always(answer: object) -> Made:
    """Answer the same, whatever is asked, and do nothing."""
    return lambda _: lambda *_, **__: answer


@contextmanager
def at_work(where: str, made: Made) -> Iterator[None]:
    """Let something be wrong for a while."""
    module, _, path = where.partition(":")
    owner: Any = import_module(module)
    *outer, name = path.split(".")
    for one in outer:
        owner = getattr(owner, one)
    right = owner.__dict__[name]
    setattr(owner, name, made(right))
    try:
        yield
    finally:
        setattr(owner, name, right)


# What the wrong functions do.


def _cut_to_the_budget(right: Any) -> Any:
    def select(memory: Any, budget: int | None) -> Any:
        selection = right(memory, budget)
        selection.items = selection.items[:budget]
        return selection

    return select


def _whatever_the_shares(_: Any) -> Any:
    def fair_targets(query: Query, tree: QuotaTree, holders: Holders, **_: object) -> list[Target]:
        with tree.attempt():
            room = Room(tree, query.preemptor.node, query.requests)
            targets: list[Target] = []
            for name in ("a", "b", "c", "d"):
                for holder in holders.holders(QueueName(name)):
                    room.clear(holder)
                    targets.append(Target(holder, PreemptionReason.IN_COHORT_FAIR_SHARING))
                    if room.fits(borrowing=True):
                        return room.fill_back(targets, borrowing=True)
        return []

    return fair_targets


def _from_the_second_time_on(right: Any) -> Any:
    seen: set[tuple[str, str]] = set()

    def note(self: Any, preemptor: str, victim: str) -> None:
        if (preemptor, victim) in seen:
            right(self, preemptor, victim)
        seen.add((preemptor, victim))

    return note


def _unknown_before(right: Any) -> Any:
    def observe_workload(memory: Any, fact: Any) -> None:
        memory.workloads.pop(fact.key, None)
        right(memory, fact)

    return observe_workload


def _by_chance(right: Any) -> Any:
    numbers = count()
    return lambda self, key: right(self, key) + next(numbers) % 7


def _one_memo(right: Any) -> Any:
    return lambda key, *args, **more: right((0,) * len(key), *args, **more)


def _without_its_shape(right: Any) -> Any:
    return lambda fact, settings: replace(right(fact, settings), usage={})


FAULTS = [
    Fault(
        "What is refused stays charged",
        "queueing.state.engine:give_back",
        always(None),
        usage.usage_is_the_sum_of_live_reservations_at_every_node,
    ),
    Fault(
        "An entry of a round does not see what the entries before it took",
        "queueing.core.ledger:Ledger.fits",
        always(answer=True),
        usage.an_admission_takes_only_what_was_available,
        seed=1,
    ),
    Fault(
        "Victims that are not needed go, too",
        "queueing.core.preemption.room:Room.fill_back",
        lambda _: lambda _, targets, **__: list(targets),
        preemption.every_victim_is_needed,
        seed=22,
    ),
    Fault(
        "What was tried on the tree stays there",
        "queueing.core.quota.tree:QuotaTree.attempt",
        lambda _: lambda _: nullcontext(),
        preemption.a_question_leaves_no_trace,
    ),
    Fault(
        "Victims are taken and spared whatever that makes of the shares",
        "queueing.core.nomination:fair_targets",
        _whatever_the_shares,
        preemption.no_victim_answers_with_the_reverse,
        FAIR,
    ),
    Fault(
        "Nobody hears that quota was given back",
        "queueing.state.ledger:Tidings.release",
        always(None),
        rebuild.nothing_is_left_to_admit_after_a_cycle,
        seed=15,
    ),
    Fault(
        "Who stands does not look at what the last round left",
        "queueing.state.driver:try_again",
        always(answer=False),
        rebuild.nothing_is_left_to_admit_after_a_cycle,
        seed=50515,
    ),
    Fault(
        "Who is kept off is not told that the other is overtaken",
        "queueing.state.settlement:note_overtaken",
        always(None),
        rebuild.nothing_is_left_to_admit_after_a_cycle,
        TURNS,
        seed=51178,
    ),
    Fault(
        "Nobody hears of new victims",
        "queueing.state.ledger:Tidings.welcome",
        always(None),
        rebuild.a_rebuilt_engine_decides_the_same,
        TURNS,
        seed=30,
    ),
    Fault(
        "Victims are taken in the order in which they were heard of",
        "queueing.core.preemption.candidates:_order",
        always(()),
        rebuild.the_order_of_arrival_is_irrelevant,
        seed=9,
    ),
    Fault(
        "A budget cuts the heads of a tree in two",
        "queueing.state.driver:select",
        _cut_to_the_budget,
        rebuild.a_budget_changes_the_pace_only,
        seed=1,
    ),
    Fault(
        "What is given back is not taken off the tree",
        "queueing.state.ledger:Ledger._withdraw",
        lambda _: lambda self, charge: self._note(charge, -1),
        kueue.who_waits_is_all_that_a_new_engine_must_know,
        KUEUE,
        seed=2,
    ),
    Fault(
        "Nobody remembers who preempted whom",
        "queueing.state.feuds:Feuds.victims_of",
        always(frozenset()),
        rest.comes_to_rest,
        TURNS,
        seed=90,
        rare=GENTLE,
    ),
    Fault(
        "Claims do not hear that their victims are gone",
        "queueing.state.memory:Memory.victim_changed",
        always(None),
        rest.all_that_ended_leaves_nothing,
        seed=41,
        rare=GENTLE,
    ),
    Fault(
        "A fact that is known already counts as news",
        "queueing.state.engine:observe_workload",
        _unknown_before,
        rest.hearing_everything_again_changes_nothing,
        rare=GENTLE,
    ),
    Fault(
        "A preemption is remembered only when it happens again",
        "queueing.state.feuds:Feuds.note",
        _from_the_second_time_on,
        rest.nobody_is_preempted_twice_for_the_same_head,
        TURNS,
        seed=90,
        rare=GENTLE,
    ),
    Fault(
        "The first preemption of a pair is forgotten",
        "queueing.state.feuds:Feuds.note",
        _from_the_second_time_on,
        claims.nobody_is_evicted_twice_for_the_same_head,
        TURNS,
        seed=117,
    ),
    Fault(
        "Whoever is admitted keeps the claim",
        "queueing.state.claims:Claims.drop",
        always(answer=False),
        claims.nobody_waits_and_is_waited_for,
        seed=13,
    ),
    Fault(
        "A new leader does not read the marks of victims",
        "queueing.state.intake:preemptor_of",
        always(None),
        claims.a_new_leader_keeps_the_claims_that_are_marked,
        seed=9,
    ),
    Fault(
        "Nobody remembers who preempted whom, with costs, limits and runtimes",
        "queueing.state.feuds:Feuds.victims_of",
        always(frozenset()),
        claims.costs_limits_and_runtimes_leave_nobody_behind,
        TURNS,
        seed=27,
    ),
    Fault(
        "The bound on what can be had leaves out victims",
        "queueing.state.supply:Supply._most_with_victims",
        lambda _: lambda self, name, one, _: self.most(name, one, None),
        supply.whoever_cannot_be_covered_is_neither_admitted_nor_preempts,
    ),
    Fault(
        "Nobody on a shelf is ever found",
        "queueing.state.shelf:Shelf.first",
        always(None),
        shortcuts.shortcuts_change_nothing,
        seed=15,
    ),
    Fault(
        "An answer is remembered however far it borrowed",
        "queueing.core.flavors.plain:remembered_fit",
        _one_memo,
        shortcuts.shortcuts_change_nothing,
    ),
    Fault(
        "LocalQueues take turns by chance",
        "queueing.state.turns:Turns.usage",
        _by_chance,
        turns.the_same_facts_at_the_same_times_give_the_same_decisions,
        TURNS,
        seed=6,
    ),
    Fault(
        "A reservation that contradicts its spec charges nothing",
        "queueing.state.intake:holder_of",
        _without_its_shape,
        bad_input.a_broken_object_harms_nobody_else,
        rare=GENTLE,
    ),
]


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
    def charge(self: Any, cell: Any, amount: int) -> None:
        while cell is not None:
            self.pretend(cell, cell.usage + amount)
            cell = cell.parent

    return charge


def _first_twice(right: Any) -> Any:
    def ordered(entries: Any, world: Any) -> Any:
        found = list(right(entries, world))
        return [*found[:1], *found]

    return ordered


FORESTS = (formulas.forests(), st.integers(0, 40))
CHANGES = (tree.changes,)
WORLDS = (rounds.worlds(), st.none())


MISSTEPS = [
    Misstep(
        "A borrowing limit is not heeded",
        "queueing.core.quota.cell:Cell.available",
        _without_limit,
        formulas.test_every_number_of_a_queue_equals_its_formula,
        FORESTS,
    ),
    Misstep(
        "Who leaves a cohort leaves its quota and usage behind",
        "queueing.core.quota.cell:Cell.detach",
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
        "One more than there is counts as available",
        "queueing.core.quota.cell:Cell.available",
        lambda right: lambda self: right(self) + 1,
        tree.test_taking_what_is_available_never_overspends_a_tree,
        (tree.changes, st.lists(st.sampled_from(tree.QUEUES))),
    ),
    Misstep(
        "What could ever be had leaves out what cohorts lend",
        "queueing.core.quota.cell:Cell.potential",
        lambda _: lambda self: self.quota,
        tree.test_what_is_available_never_exceeds_what_could_ever_be,
        CHANGES,
    ),
    Misstep(
        "What is removed stays",
        "queueing.core.quota.tree:QuotaTree.remove_usage",
        always(None),
        tree.test_charges_add_up_and_are_undone_by_their_opposite,
        (tree.changes, tree.amounts, tree.amounts),
    ),
    Misstep(
        "An entry does not see what others of its round took",
        "queueing.core.ledger:Ledger.fits",
        always(answer=True),
        rounds.check_no_over_admission,
        WORLDS,
    ),
    Misstep(
        "Nobody is spared who was taken in vain",
        "queueing.core.preemption.room:Room.fill_back",
        lambda _: lambda _, targets, **__: list(targets),
        rounds.check_victims_are_needed,
        WORLDS,
    ),
    Misstep(
        "Entries have their place by the order in which they are given",
        "queueing.core.rounds:entry_key",
        always((0, 0, 0.0, "")),
        rounds.check_order_of_arrival_is_irrelevant,
        WORLDS,
    ),
    Misstep(
        "What is claimed in a round stays charged",
        "queueing.core.quota.tree:QuotaTree.attempt",
        lambda _: lambda _: nullcontext(),
        rounds.check_only_admissions_are_charged,
        WORLDS,
    ),
    Misstep(
        "The first entry of a round is decided twice",
        "queueing.core.rounds:_ordered",
        _first_twice,
        rounds.check_every_head_is_decided_once,
        WORLDS,
    ),
]


def named(law: Any) -> str:
    """Return the name of a law, also of one with options."""
    return str(law.func.__name__ if isinstance(law, partial) else law.__name__)
