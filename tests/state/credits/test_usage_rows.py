"""Rows of usage: the sum of what was held, hour by hour, whoever counts it and when."""

from collections.abc import Iterable
from dataclasses import replace
from random import Random

import pytest

from queueing.core.credits.facts import (
    HOUR,
    MICRO,
    PART,
    SavedFact,
    UsageRecordFact,
    UsageRow,
)
from queueing.core.credits.holding import holding_of
from queueing.core.facts import Condition, Gone, Kind
from queueing.core.names import Key, Uid
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import cluster_queue, local_queue, quota, workload
from tests.state.credits.ledgers import SETTINGS, START, finish, policy, two_queues, world

TERMS = policy(keeps_usage=True)
OVER = int(START) // HOUR * HOUR + HOUR
"""When the first hour is over."""
SEEDS = 3


def submit(
    made: SimulatedCluster, name: str, queue: str, cores: int, now: float, *, user: str = ""
) -> None:
    fact = workload(name, {"cpu": cores * 1000}, local_queue=f"team/{queue}", created=now)
    made.observe(replace(fact, user=user))
    made.cycle(now)


def tell(made: SimulatedCluster, name: str, kind: str, now: float, *, status: bool = True) -> None:
    fact = made.workloads[Key(f"team/{name}")]
    found = Condition(type=kind, status=status, reason=kind, changed=now)
    made.observe(replace(fact, conditions={**fact.conditions, kind: found}))


def rows_of(records: Iterable[UsageRecordFact]) -> dict[tuple[str, str, str], UsageRow]:
    """Add up what records say, by queue, LocalQueue and user."""
    found: dict[tuple[str, str, str], UsageRow] = {}
    for record in records:
        for row in record.rows:
            name = (row.name.holder.name, row.name.local_queue, row.name.user)
            known = found.get(name, UsageRow(name=row.name))
            sums = {
                each: getattr(known, each) + getattr(row, each)
                for each in ("used", "borrowed", "idle", "wasted", "cost", "quota", "lent")
            }
            found[name] = UsageRow(name=row.name, **sums)
    return found


def of_door(made: SimulatedCluster, queue: str, user: str = "") -> UsageRow:
    return rows_of(made.engine.credits.usage())[queue, f"team/{queue}", user]


def test_what_was_used_and_borrowed_stands_by_local_queue_and_user_with_its_cost() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 3, START, user="ada")
    submit(made, "two", "a", 3, START, user="bob")
    made.cycle(START + 100)
    ada = of_door(made, "a", "ada")
    assert (ada.used, ada.cost) == (3000 * 100, 3 * 100 * MICRO)
    assert ada.borrowed == of_door(made, "a", "bob").borrowed == 3000 * 100 * (PART // 3)


def test_a_sibling_lends_what_is_borrowed_and_no_more_than_it_leaves_idle() -> None:
    made = world(terms=TERMS)
    submit(made, "big", "a", 6, START)
    made.cycle(START + 100)
    submit(made, "own", "b", 1, START + 100)
    made.cycle(START + 200)
    lender = rows_of(made.engine.credits.usage())["b", "", ""]
    assert lender.lent == pytest.approx(PART * 2000 * 200, rel=1e-6)
    assert lender.quota == 4000 * 200


def test_without_being_asked_to_a_policy_keeps_no_rows() -> None:
    made = world(terms=policy())
    submit(made, "one", "a", 3, START)
    made.cycle(START + 100)
    assert made.engine.credits.usage() == ()


def test_a_queue_in_no_cohort_has_rows_too() -> None:
    alone = cluster_queue("c", {"default": {"cpu": quota(4000)}})
    made = world(*two_queues(), alone, local_queue("team/c", "c"), terms=TERMS)
    submit(made, "one", "c", 3, START)
    made.cycle(START + 100)
    assert of_door(made, "c").used == 3000 * 100


def test_an_hour_that_is_over_is_closed_with_all_that_happened_in_it() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 2, START)
    made.cycle(OVER + 50)
    first, second = made.engine.credits.usage()
    assert (first.start, first.as_of) == (OVER - HOUR, OVER)
    assert (second.start, second.as_of) == (OVER, OVER + 50)
    used = [rows_of([one])["a", "team/a", ""].used for one in (first, second)]
    assert used == [2000 * (OVER - int(START)), 2000 * 50]
    made.engine.observe(first)
    assert [one.start for one in made.engine.credits.usage()] == [OVER]


def test_hours_in_which_nothing_ran_are_not_told_of() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 2, START)
    finish(made, "team/one", START + 10)
    made.cycle(START + 10)
    made.cycle(START + 5 * HOUR)
    submit(made, "two", "a", 2, START + 5 * HOUR)
    made.cycle(START + 5 * HOUR + 30)
    starts = [one.start for one in made.engine.credits.usage()]
    assert starts == [OVER - HOUR, OVER + 4 * HOUR]
    assert of_door(made, "a").used == 2000 * 40


def test_what_was_held_before_all_pods_ran_is_idle() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 2, START)
    made.cycle(START + 20)
    assert of_door(made, "a").idle == 0, "nobody knows yet"
    tell(made, "one", "PodsReady", START + 15)
    made.cycle(START + 60)
    assert of_door(made, "a").idle == 2000 * 15


def test_what_never_ran_was_idle_all_the_time_and_what_an_eviction_lost_is_wasted() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 6, START)
    made.observe(workload("own", {"cpu": 4000}, local_queue="team/b", created=START + 20))
    made.cycle(START + 20)
    made.cycle(START + 30)
    made.drain(START + 60)
    made.cycle(START + 61)
    row = of_door(made, "a")
    assert row.idle == row.wasted == 6000 * 60


def test_work_that_was_saved_is_not_wasted() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 6, START)
    life = made.workloads[Key("team/one")].uid
    made.engine.observe(SavedFact(name="team/one-1", uid=Uid(life), at=int(START) + 45))
    made.observe(workload("own", {"cpu": 4000}, local_queue="team/b", created=START + 20))
    made.cycle(START + 20)
    made.cycle(START + 30)
    made.drain(START + 60)
    made.cycle(START + 61)
    assert of_door(made, "a").wasted == 6000 * 15


def test_an_end_is_covered_once_a_row_that_knows_it_was_stored() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 2, START)
    finish(made, "team/one", START + 40)
    made.cycle(START + 41)
    for one in made.engine.credits.accounts():
        made.engine.observe(one)
    assert not made.engine.credits.covers(Key("team/one"))
    for record in made.engine.credits.usage():
        made.engine.observe(record)
    assert made.engine.credits.covers(Key("team/one"))


def test_rows_of_a_tree_that_is_no_more_wait_until_they_are_stored() -> None:
    made = world(terms=TERMS)
    submit(made, "one", "a", 2, START)
    made.engine.observe(replace(TERMS, keeps_usage=False))
    made.cycle(START + 50)
    [record] = made.engine.credits.usage()
    assert rows_of([record])["a", "team/a", ""].used == 2000 * 50
    made.engine.observe(record)
    assert made.engine.credits.usage() == ()


# Starting anew --------------------------------------------------------------------------------


class Kills:
    """A world whose controller is killed now and then; what it stored, and statuses, remain."""

    def __init__(self) -> None:
        self.made = world(terms=TERMS)
        self.stored: dict[tuple[str, int], UsageRecordFact] = {}
        self.accounts = self.made.engine.credits.accounts()
        self.held: dict[tuple[Uid, int], tuple[str, int, int | None]] = {}
        """Queue, amount and end of every stay, as statuses told."""
        self.store()

    def store(self) -> None:
        self.accounts = self.made.engine.credits.accounts()
        for one in self.accounts:
            self.made.engine.observe(one)
        for record in self.made.engine.credits.usage():
            self.stored[record.root.name, record.start] = record
            self.made.engine.observe(record)

    def kill(self) -> None:
        anew = SimulatedCluster((), settings=SETTINGS)
        for fact in [*two_queues(), *self.made.workloads.values()]:
            anew.observe(fact)
        for account in self.accounts:
            anew.engine.observe(account)
        for record in self.stored.values():
            anew.engine.observe(record)
        anew.engine.observe(TERMS)
        self.made = anew

    def look(self) -> None:
        """Note who holds quota, and who does no more."""
        for fact in self.made.workloads.values():
            found = holding_of(fact)
            if found is not None:
                amount = sum(found.usage.values())
                self.held[fact.uid, found.since] = (found.queue, amount, found.until)
            reserved = fact.conditions.get("QuotaReserved")
            for (uid, since), (queue, amount, until) in self.held.items():
                if uid == fact.uid and until is None and reserved and not reserved.status:
                    self.held[uid, since] = (queue, amount, int(reserved.changed))

    def used(self, queue: str, at: int) -> int:
        return sum(
            amount * (min(at if until is None else until, at) - since)
            for (_, since), (where, amount, until) in self.held.items()
            if where == queue and since < at
        )


def drain(kills: Kills, now: float) -> None:
    """Let evicted workloads give their quota back, once what they hold is named."""
    made = kills.made
    made.cycle(now)
    kills.store()
    evicted = [one.key for one in made.workloads.values() if one.is_true("Evicted")]
    if all(made.engine.credits.names(one) for one in evicted):
        made.drain(now)
        kills.look()
        made.cycle(now)
        kills.store()


def step(kills: Kills, random: Random, number: int, now: float) -> None:
    """Let one thing happen, by the protocol that the controller keeps to."""
    made = kills.made
    match random.choice(("submit", "submit", "finish", "drain", "ready", "store", "kill")):
        case "submit":
            fact = workload(
                f"w{number}",
                {"cpu": random.randrange(1, 7) * 1000},
                local_queue=f"team/{random.choice('ab')}",
                created=now,
            )
            made.observe(replace(fact, user=random.choice(("ada", "bob"))))
        case "finish":
            for key in [one.key for one in made.workloads.values() if one.holds_quota][:1]:
                if not made.workloads[key].is_true("Evicted"):
                    finish(made, key, now)
        case "drain":
            drain(kills, now)
        case "ready":
            for one in [one for one in made.workloads.values() if one.holds_quota][:1]:
                if not one.is_true("Evicted") and not one.is_true("PodsReady"):
                    tell(made, one.key.partition("/")[2], "PodsReady", now)
        case "store":
            kills.store()
            for key in [one.key for one in made.workloads.values() if one.is_true("Finished")]:
                if made.engine.credits.covers(key):
                    made.observe(Gone(Kind.WORKLOAD, key))
        case _:
            kills.kill()


def stop_pods(made: SimulatedCluster, now: float) -> None:
    """Say of the pods of evicted workloads that they are not ready, as an eviction does."""
    for one in list(made.workloads.values()):
        if one.is_true("Evicted") and one.is_true("PodsReady"):
            tell(made, one.key.partition("/")[2], "PodsReady", now, status=False)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_killed_at_any_time_the_rows_are_what_was_held(seed: int) -> None:
    random, kills, now = Random(seed), Kills(), START
    for number in range(120):
        now += random.choice((0, 1, 7, 60, 600))
        step(kills, random, number, now)
        kills.made.cycle(now)
        kills.look()
        stop_pods(kills.made, now)
    kills.made.cycle(now + 10)
    kills.store()
    rows = rows_of(kills.stored.values())
    for queue in "ab":
        told = sum(row.used for name, row in rows.items() if name[0] == queue)
        assert told == kills.used(queue, int(now) + 10)
    assert sum(row.cost for row in rows.values()) * 1000 == MICRO * sum(
        row.used for row in rows.values()
    )
    lent, borrowed = (
        sum(getattr(row, one) for row in rows.values()) for one in ("lent", "borrowed")
    )
    assert lent == pytest.approx(borrowed, rel=1e-6), "siblings have all that is borrowed here"
    assert all(0 <= row.idle <= row.used for row in rows.values())
