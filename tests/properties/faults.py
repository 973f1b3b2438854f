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

from queueing.core.decisions import PreemptionReason
from queueing.core.holders import Holders
from queueing.core.names import QueueName
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.room import Room
from queueing.core.quota.tree import QuotaTree
from tests.lives.random_events import EVERYTHING, GENTLE, Life, Table
from tests.properties import test_bad_input_laws as bad_input
from tests.properties import test_kueue_laws as kueue
from tests.properties import test_placed_laws as places
from tests.properties import test_preemption_laws as preemption
from tests.properties import test_promise_laws as promises
from tests.properties import test_reach_laws as reach
from tests.properties import test_rebuild_laws as rebuild
from tests.properties import test_remedy_laws as remedies
from tests.properties import test_rest_laws as rest
from tests.properties import test_rich_laws as rich
from tests.properties import test_shared_claim_laws as shared_claims
from tests.properties import test_turn_laws as turns
from tests.properties import test_usage_laws as usage
from tests.properties.profiles import Law, seeded
from tests.properties.test_contended_laws import contended

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
    lives: Callable[[int, str], Life] | None = None
    """Lives of another sort, by number and mode, if it takes these."""

    def life(self, seed: int) -> Life:
        """Return a life in which it may show."""
        if self.lives is not None:
            return self.lives(seed, self.mode)
        return seeded(seed, self.mode, self.rare)


def always(answer: object) -> Made:
    """Answer the same, whatever is asked, and do nothing."""
    return lambda _: lambda *_, **__: answer


def place_of(where: str) -> tuple[Any, str]:
    """Return what holds a function, and by which name; KeyError when it holds none."""
    module, _, path = where.partition(":")
    owner: Any = import_module(module)
    *outer, name = path.split(".")
    for one in outer:
        owner = getattr(owner, one)
    if name not in owner.__dict__:
        raise KeyError(f"{where} is not there")
    return owner, name


@contextmanager
def at_work(where: str, made: Made) -> Iterator[None]:
    """Let something be wrong for a while."""
    owner, name = place_of(where)
    right = owner.__dict__[name]
    setattr(owner, name, made(right))
    try:
        yield
    finally:
        setattr(owner, name, right)


# What the wrong functions do.


def _queue_by_queue_later(right: Any) -> Any:
    def queues_in_turn(memory: Any) -> Any:
        found = right(memory)
        if memory.cycles < 2:
            return found
        return [(place, [name]) for place, names in found for name in names]

    return queues_in_turn


def _whatever_the_shares(_: Any) -> Any:
    def fair_targets(query: Query, tree: QuotaTree, holders: Holders, **_: object) -> list[Target]:
        with tree.attempt():
            room = Room(tree, query)
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

    def note(self: Any, preemptor: str, victim: str) -> bool:
        if (preemptor, victim) in seen:
            return bool(right(self, preemptor, victim))
        seen.add((preemptor, victim))
        return False

    return note


def _unknown_before(right: Any) -> Any:
    def observe_workload(memory: Any, fact: Any) -> object:
        memory.workloads.pop(fact.key, None)
        return right(memory, fact)

    return observe_workload


def _by_chance(right: Any) -> Any:
    numbers = count()
    return lambda self, key: right(self, key) + next(numbers) % 7


def _without_its_shape(right: Any) -> Any:
    return lambda fact, settings: replace(right(fact, settings), usage={})


FAULTS = [
    Fault(
        "A refused write stays charged",
        "queueing.state.intake.outcomes:give_back",
        always(None),
        usage.usage_is_the_sum_of_live_reservations_at_every_node,
    ),
    Fault(
        "An entry of a round does not see what the entries before it took",
        "queueing.core.processing:Draft.fits",
        always(answer=True),
        usage.an_admission_takes_only_what_was_available,
        seed=1,
    ),
    Fault(
        "An entry of a round does not see the places that the entries before it took",
        "queueing.core.topology.forest:Forest.has_room",
        always(answer=True),
        places.an_admission_takes_only_what_is_free_on_nodes,
        lives=places.placed,
    ),
    Fault(
        "A node that is gone stays in the tree",
        "queueing.core.topology.tree:Tree.drop_node",
        always(None),
        places.what_is_free_is_kept_as_if_it_was_counted_anew,
        seed=2,
        lives=places.placed,
    ),
    Fault(
        "Victims that are not needed are preempted, too",
        "queueing.core.preemption.room:Room.fill_back",
        lambda _: lambda _, targets, **__: list(targets),
        preemption.every_victim_is_needed,
        seed=22,
    ),
    Fault(
        "A what-if on the tree is not undone",
        "queueing.core.quota.tree:QuotaTree.attempt",
        lambda _: lambda _: nullcontext(),
        preemption.a_question_leaves_no_trace,
    ),
    Fault(
        "Victims are chosen and spared without regard to the shares",
        "queueing.core.nomination:fair_targets",
        _whatever_the_shares,
        preemption.no_victim_answers_with_the_reverse,
        FAIR,
    ),
    Fault(
        "Released quota wakes nobody",
        "queueing.state.scheduler.wake:_within_trees",
        always(set[QueueName]()),
        rebuild.nobody_waits_whom_a_new_engine_would_admit,
    ),
    Fault(
        "Victims are chosen in the order in which their facts arrived",
        "queueing.core.holders:_rank",
        always(()),
        rebuild.the_order_of_arrival_is_irrelevant,
        seed=9,
    ),
    Fault(
        "The rest of a cycle that a budget cut splits the heads of one tree",
        "queueing.state.scheduler.schedule:queues_in_turn",
        _queue_by_queue_later,
        rebuild.a_budget_changes_the_pace_only,
        seed=1,
    ),
    Fault(
        "The rest of a cycle that paused splits the heads of one tree",
        "queueing.state.scheduler.schedule:queues_in_turn",
        _queue_by_queue_later,
        rebuild.a_pause_changes_the_pace_only,
        seed=1,
    ),
    Fault(
        "Released quota is not taken off the tree",
        "queueing.state.usage.ledger:Ledger._weigh",
        lambda right: lambda self, holder, sign: right(self, holder, 1) if sign > 0 else None,
        kueue.who_waits_is_all_that_a_new_engine_must_know,
        KUEUE,
        seed=2,
    ),
    Fault(
        "Preemptions are not remembered",
        "queueing.state.memory.pairs:Pairs.victims_of",
        always(frozenset()),
        rest.comes_to_rest,
        TURNS,
        seed=759,
        rare=GENTLE,
    ),
    Fault(
        "Whoever has ended stays charged",
        "queueing.state.intake.workloads:give_back",
        always(None),
        rest.all_that_ended_leaves_nothing,
        seed=41,
        rare=GENTLE,
    ),
    Fault(
        "A known fact counts as a change",
        "queueing.state.engine:observe_workload",
        _unknown_before,
        rest.hearing_everything_again_changes_nothing,
        rare=GENTLE,
    ),
    Fault(
        "News of workloads asks for no cycle",
        "queueing.state.engine:Engine._has_to_decide",
        always(False),
        rest.a_cycle_that_nothing_asked_for_decides_nothing,
    ),
    Fault(
        "A preemption is remembered only the second time",
        "queueing.state.memory.pairs:Pairs.note",
        _from_the_second_time_on,
        promises.nobody_is_preempted_twice_for_the_same_head,
        TURNS,
        seed=1468,
        rare=GENTLE,
    ),
    Fault(
        "The first preemption of a pair is forgotten",
        "queueing.state.memory.pairs:Pairs.note",
        _from_the_second_time_on,
        promises.nobody_is_evicted_twice_for_the_same_head,
        seed=39,
        lives=contended,
    ),
    Fault(
        "A new leader does not look at who is named by victims",
        "queueing.state.scheduler.nominated:unjudged",
        always(()),
        promises.a_new_leader_judges_first_whom_victims_name,
        seed=9,
        lives=contended,
    ),
    Fault(
        "Whoever is admitted keeps its promise",
        "queueing.state.usage.ledger:Ledger.break_promise",
        always(None),
        promises.a_promise_is_given_once_and_is_no_usage,
        seed=13,
    ),
    Fault(
        "Preemptions are not remembered, with costs, limits and runtimes",
        "queueing.state.memory.pairs:Pairs.victims_of",
        always(frozenset()),
        promises.costs_limits_and_runtimes_leave_nobody_behind,
        seed=68,
        lives=contended,
    ),
    Fault(
        "What could be had leaves out victims",
        "queueing.state.scheduler.reach:Reach.most",
        lambda most: lambda self, name, resource, _: most(self, name, resource, -(10**9)),
        reach.who_is_out_of_reach_gets_nothing,
    ),
    Fault(
        "LocalQueues are ordered at random",
        "queueing.state.usage.turns:Turns.usage",
        _by_chance,
        turns.the_same_facts_at_the_same_times_give_the_same_decisions,
        TURNS,
        seed=6,
    ),
    Fault(
        "A reservation that contradicts its spec charges nothing",
        "queueing.state.intake.workloads:holder_of",
        _without_its_shape,
        bad_input.a_broken_object_harms_nobody_else,
        rare=GENTLE,
    ),
    Fault(
        "Every user of a claim is charged all of it",
        "queueing.state.usage.sharing:Users.priced",
        lambda _: lambda _self, holder: holder,
        shared_claims.a_claim_is_charged_once,
        lives=shared_claims.shared,
    ),
    Fault(
        "A user of a claim is judged as if nobody held it",
        "queueing.state.usage.ledger:Ledger.commons",
        always(None),
        shared_claims.nobody_preempts_one_whose_claim_it_uses,
        mode=FAIR,
        lives=shared_claims.shared,
    ),
    Fault(
        "A user of a claim needs room for all of it",
        "queueing.core.flavors.search:savings",
        always({}),
        shared_claims.who_adds_nothing_preempts_nobody,
        lives=shared_claims.shared_in_deep_cohorts,
    ),
    Fault(
        "A high priority may borrow, whatever the policy says",
        "queueing.core.credits.restraint:Restraint.bars",
        always(None),
        rich.who_may_not_borrow_stays_within_nominal_quota,
        lives=rich.restrained,
    ),
    Fault(
        "A change counts as a remedy whatever is decided after it",
        "queueing.explain.remedies:helps",
        always(True),
        remedies.every_remedy_works,
        rare=GENTLE,
    ),
]


def named(law: Any) -> str:
    """Return the name of a law, also of one with options."""
    return str(law.func.__name__ if isinstance(law, partial) else law.__name__)
