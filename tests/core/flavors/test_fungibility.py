"""When the search over flavors stops, and which of those tried it keeps."""

import pytest

from queueing.core.decisions import Admit, Wait
from queueing.core.facts import PreemptionPolicy
from queueing.core.flavor_quotas import FlavorPolicy, FlavorPreference, Fungibility
from queueing.core.settings import Settings
from queueing.testing.arena import Arena
from queueing.testing.builders import admitted, cluster_queue, preemption, workload

STOP, NEXT = FlavorPolicy.MAY_STOP_SEARCH, FlavorPolicy.TRY_NEXT_FLAVOR
BORROW_FIRST = FlavorPreference.BORROWING_OVER_PREEMPTION
PREEMPT_FIRST = FlavorPreference.PREEMPTION_OVER_BORROWING


def chosen(arena: Arena) -> tuple[str, bool]:
    """Return the flavor nominated for one workload of 4, and whether it was admitted."""
    [judgement] = arena.round(workload("one", {"cpu": 4}, local_queue="team/main", priority=9))
    decision = judgement.decision
    pod_sets = decision.pod_sets if isinstance(decision, Admit) else decision.nominated
    return str(pod_sets[0].flavors["cpu"]), isinstance(decision, Admit)  # type: ignore[index]


def world(fungibility: Fungibility, quotas: dict[str, int], *used: tuple[str, int]) -> Arena:
    """A queue that may preempt its own lower priorities and borrow; others lend 10 of each."""
    return Arena(
        cluster_queue(
            quotas={name: {"cpu": amount} for name, amount in quotas.items()},
            cohort="c",
            fungibility=fungibility,
            preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY),
        ),
        cluster_queue(
            "lender", {name: {"cpu": 10} for name in quotas if name.startswith("lent")}, cohort="c"
        ),
        *(
            admitted(f"low-{number}", {"cpu": amount}, queue="main", flavor=name)
            for number, (name, amount) in enumerate(used)
        ),
    )


@pytest.mark.parametrize(
    ("when_can_borrow", "quotas", "want"),
    [
        pytest.param(STOP, {"lent": 2, "own": 9}, "lent", id="borrowing ends the search"),
        pytest.param(NEXT, {"lent": 2, "own": 9}, "own", id="or the search goes on to own quota"),
        pytest.param(NEXT, {"lent": 2, "own": 3}, "lent", id="and returns to borrowing"),
    ],
)
def test_when_a_flavor_needs_borrowing(
    when_can_borrow: FlavorPolicy, quotas: dict[str, int], want: str
) -> None:
    assert chosen(world(Fungibility(when_can_borrow=when_can_borrow), quotas)) == (want, True)


@pytest.mark.parametrize(
    ("when_can_preempt", "want"),
    [
        pytest.param(STOP, ("first", False), id="preemption ends the search"),
        pytest.param(NEXT, ("second", True), id="or the search goes on to free quota"),
    ],
)
def test_when_a_flavor_needs_preemption(
    when_can_preempt: FlavorPolicy, want: tuple[str, bool]
) -> None:
    arena = world(
        Fungibility(when_can_preempt=when_can_preempt), {"first": 5, "second": 5}, ("first", 5)
    )
    assert chosen(arena) == want


@pytest.mark.parametrize(
    ("preference", "want"),
    [
        pytest.param(BORROW_FIRST, ("lent", True), id="borrow rather than preempt"),
        pytest.param(PREEMPT_FIRST, ("own", False), id="preempt rather than borrow"),
    ],
)
def test_the_preference_ranks_flavors_that_borrow_or_preempt(
    preference: FlavorPreference, want: tuple[str, bool]
) -> None:
    rules = Fungibility(when_can_borrow=NEXT, when_can_preempt=NEXT, preference=preference)
    assert chosen(world(rules, {"lent": 2, "own": 5}, ("own", 5))) == want


def test_a_flavor_without_candidates_is_better_than_none_and_worse_than_any() -> None:
    rules = Fungibility(when_can_preempt=STOP)
    arena = Arena(
        cluster_queue(
            quotas={"stuck": {"cpu": 5}, "ripe": {"cpu": 5}},
            fungibility=rules,
            preemption=preemption(within=PreemptionPolicy.LOWER_PRIORITY),
        ),
        admitted("high", {"cpu": 5}, queue="main", flavor="stuck", priority=99),
        admitted("low", {"cpu": 5}, queue="main", flavor="ripe"),
    )
    assert chosen(arena) == ("ripe", False)


def test_without_fungibility_the_first_best_mode_wins_and_no_progress_is_kept() -> None:
    arena = world(Fungibility(when_can_borrow=NEXT), {"lent": 2, "own": 9})
    arena.settings = Settings(flavor_fungibility=False)
    assert chosen(arena) == ("lent", True)


def test_the_last_flavor_tried_lets_the_next_search_start_over() -> None:
    arena = world(Fungibility(), {"own": 5}, ("own", 5))
    [judgement] = arena.round(workload("one", {"cpu": 4}, local_queue="team/main", priority=9))
    assert isinstance(judgement.decision, Wait)
    assert judgement.progress is None
