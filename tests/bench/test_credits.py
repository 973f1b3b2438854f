from dataclasses import asdict, replace
from itertools import chain, pairwise

import pytest

from bench import credits as engine
from bench import credits_model, credits_within
from bench.bursts import (
    CAPACITY,
    FAIR_PART,
    HOARD,
    HOARDER,
    Tenant,
    asked_part,
    asks,
    by_class,
    tenants,
)
from bench.credits import Story
from bench.credits_tables import BARS, RANDOM_BARS, table, table_of_draws, verdicts
from bench.credits_ways import ASKED, FIRST_OF_THREE, MODES, PLAIN, WAYS, by_part
from queueing.core.credits.facts import CreditMode

SHORT = Story(mode=CreditMode.BALANCED, slots=8)


def satisfied(known: list[Tenant]) -> dict[float, float]:
    return by_class(known, lambda one: one.used, lambda one: one.asked)


def worst_to_best(known: list[Tenant]) -> float:
    values = satisfied(known).values()
    return min(values) / max(values)


def test_tenants_want_as_much_as_each_other_over_time() -> None:
    for tenant in tenants(1600, load=1.2, seed=1):
        assert sum(tenant.wants) / 1600 == pytest.approx(1.2 * FAIR_PART, rel=0.1)


def test_a_hoarder_asks_for_much_also_when_it_wants_nothing() -> None:
    tenant = Tenant(0.25, wants=[0, 100])
    assert [asks(tenant, slot, hoards=True) for slot in (0, 1)] == [HOARD, 100]
    assert asks(tenant, 0, hoards=False) == 0


@pytest.mark.parametrize("way", ["lost", "waits", "hoards", "long"])
def test_a_story_is_the_same_each_time_it_is_told(way: str) -> None:
    lasts = (1, 2, 4) if way == "long" else (1,)
    story = replace(SHORT, waits=way == "waits", hoards=way == "hoards", lasts=lasts)
    first, again = engine.simulate(story), engine.simulate(story)
    assert first == again
    assert 0 < sum(one.used_up for one in first) <= CAPACITY * story.slots


def test_engine_and_model_serve_whoever_needs_no_more_than_its_quota() -> None:
    for simulate in (engine.simulate, credits_model.simulate):
        for one in simulate(replace(SHORT, waits=True)):
            assert one.used <= one.asked
            assert one.waited >= 0


def test_credits_serve_the_burstiest_better_for_the_same_utilisation() -> None:
    story = Story(mode=CreditMode.OFF, slots=200, seed=28)
    plain = engine.simulate(story)
    balanced = engine.simulate(replace(story, mode=CreditMode.BALANCED))
    ideal = credits_model.simulate(replace(story, mode=CreditMode.BALANCED))
    assert worst_to_best(balanced) > 1.3 * worst_to_best(plain)
    used = [sum(one.used_up for one in known) for known in (plain, balanced)]
    assert used[1] == pytest.approx(used[0], rel=0.02)
    moved = [sum(one.moved for one in known) for known in (plain, balanced)]
    assert moved[1] < 1.25 * moved[0]
    assert sum(one.stopped for one in balanced) < 0.05 * CAPACITY * story.slots
    for duty, value in satisfied(ideal).items():
        assert satisfied(balanced)[duty] == pytest.approx(value, abs=0.08), duty


def test_the_table_says_of_each_bar_whether_it_is_held() -> None:
    numbers = {"worst / best": 0.6, "utilisation": 0.8, "churn": 0.1, "preempted": 0.01}
    numbers |= {"hoarder": 0.5, "hoarder when honest": 1.0, "wait 0.125": 10.0}
    names = ("satisfied 1", "satisfied 0.5", "satisfied 0.25", "satisfied 0.125")
    numbers |= dict.fromkeys((*names, "wait 1", "wait 0.5", "wait 0.25"), 1.0)
    numbers |= {"sketch: wait 0.125": 10.0}
    known = {(who, str(mode)): [numbers, numbers] for who in ("engine", "model") for mode in MODES}
    told = verdicts((*BARS, *RANDOM_BARS), known).splitlines()[2:]
    assert [("held" in one, "missed" in one) for one in told] == [(True, False)] * 4 + [
        (False, True)
    ] * 3
    assert table(known).count("| 0.600 (0.600 to 0.600) ") == 6


def test_a_quotient_of_means_is_not_the_mean_of_quotients() -> None:
    waits = {PLAIN: (10.0, 90.0), ASKED: (10.0, 30.0)}
    known = {
        (who, str(mode)): [{"sketch: wait 0.125": one} for one in waits[mode]]
        for who in ("engine", "model")
        for mode in waits
    }
    of_means, of_quotients = verdicts(RANDOM_BARS, known).splitlines()[2:]
    assert "| 0.400 | held, by 0.2 |" in of_means
    assert "0.667 (0.333 to 1.000)" in of_quotients


def test_a_hoarder_is_a_tenant_that_comes_in_bursts() -> None:
    assert tenants(400, load=1.2, seed=1)[HOARDER].wants.count(0) == 300


def test_bursts_at_random_are_as_long_and_as_rare_as_regular_ones_in_the_mean() -> None:
    draws = [tenants(3000, load=1.0, seed=seed, at_random=True) for seed in range(40)]
    parts = [asked_part(one, load=1.0) for one in draws]
    assert sum(parts) / len(parts) == pytest.approx(1.0, abs=0.15)
    assert min(parts) < 0.7
    assert max(parts) > 1.3
    wants = [one.wants for known in draws for one in known if one.duty == 0.5]
    starts = sum(not a and bool(b) for one in wants for a, b in pairwise(one))
    assert sum(map(bool, chain.from_iterable(wants))) / starts == pytest.approx(50, rel=0.1)


def test_every_mode_is_tried_on_the_same_random_draws() -> None:
    chosen = [WAYS["sketch"](Story(mode=mode, slots=40, seed=2)) for mode in MODES]
    assert {one.seed for one in chosen} == {FIRST_OF_THREE + 1}
    assert {one.slots for one in chosen} == {100}
    wants = [[each.wants for each in engine.drawn(one)] for one in chosen]
    assert all(one == wants[0] for one in wants)


def test_who_asks_for_less_than_the_others_waits_less_with_credits() -> None:
    *classes, all_of_them = by_part(240, 10)
    assert all_of_them.number == 10 == sum(one.number for one in classes)
    rare, often = classes[0], classes[-1]
    assert rare.asked[0.125] / rare.plain[0.125] < often.asked[0.125] / often.plain[0.125]
    lines = table_of_draws([asdict(one) for one in (*classes, all_of_them)]).splitlines()
    assert lines[-1].startswith("| all draws | 10 |")


def test_within_a_queue_all_that_is_asked_for_is_served_while_there_is_room() -> None:
    for order in credits_within.Order:
        first, again = (
            credits_within.simulate(order, slots=4, seed=1, waits=True) for _ in range(2)
        )
        assert first == again
        assert 0 < sum(one.used_up for one in first) <= CAPACITY * 4
        assert all(one.waited >= 0 for one in first)
