"""The ledger of one cohort: exact, zero-sum, and the same whoever looks, and whenever."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.credits.decay import Decay, shrink
from queueing.core.credits.facts import MICRO, PART, Member, Sink
from queueing.core.credits.group import SiblingAccounts, SiblingShare
from queueing.core.credits.market import Position
from queueing.core.names import FlavorName

A, B, C = (Member("ClusterQueue", name) for name in "abc")
GPU = FlavorName("gpu")
DECAY = Decay(14 * 24 * 3600)
NOTHING = Position(0, 0, 0)


def group(*members: Member, pool: int = 0, decay: Decay = DECAY, at: int = 0) -> SiblingAccounts:
    made = SiblingAccounts(at, decay=decay, debt_limit_s=10**9)
    made.reshape({one: SiblingShare(1, 10 * MICRO) for one in members}, {GPU: pool})
    return made


def worth(made: SiblingAccounts, member: Member) -> float:
    return made.balance(member) / PART / MICRO


def total(made: SiblingAccounts) -> int:
    return sum(made.balance(one) for one in made.accounts) + sum(made.sinks.values())


def test_who_lends_earns_what_the_borrower_pays() -> None:
    made = group(A, B)
    made.place(A, GPU, Position(10 * MICRO, 0, 0))
    made.place(B, GPU, Position(0, 4 * MICRO, 4 * MICRO))
    made.advance(100)
    assert (worth(made, A), worth(made, B)) == pytest.approx((400, -400))


def test_idle_quota_that_nobody_uses_earns_nothing() -> None:
    made = group(A, B)
    made.place(A, GPU, Position(10 * MICRO, 0, 0))
    made.advance(1000)
    assert worth(made, A) == 0


def test_lenders_earn_in_proportion_to_what_they_leave_idle() -> None:
    made = group(A, B, C)
    made.place(A, GPU, Position(9 * MICRO, 0, 0))
    made.place(B, GPU, Position(3 * MICRO, 0, 0))
    made.place(C, GPU, Position(0, 4 * MICRO, 4 * MICRO))
    made.advance(100)
    assert worth(made, A) == pytest.approx(300)
    assert worth(made, B) == pytest.approx(100)


def test_the_pool_is_used_after_siblings_and_belongs_to_all() -> None:
    made = group(A, B, pool=6 * MICRO)
    made.place(A, GPU, Position(2 * MICRO, 0, 0))
    made.place(B, GPU, Position(0, 6 * MICRO, 6 * MICRO))
    made.advance(100)
    assert worth(made, A) == 200 + 200
    assert worth(made, B) == 200 - 600


def test_what_the_cohort_imports_is_paid_to_nobody_inside() -> None:
    made = group(A, B)
    made.place(A, GPU, Position(1 * MICRO, 0, 0))
    made.place(B, GPU, Position(0, 5 * MICRO, 5 * MICRO))
    made.advance(100)
    assert worth(made, A) == 100
    assert made.sinks[Sink.IMPORTED] == 400 * MICRO * PART


def test_a_dear_class_pays_more_and_nobody_earns_it() -> None:
    made = group(A, B)
    made.place(A, GPU, Position(10 * MICRO, 0, 0))
    made.place(B, GPU, Position(0, 4 * MICRO, 6 * MICRO))
    made.advance(100)
    assert (worth(made, A), worth(made, B)) == pytest.approx((400, -600))
    assert made.sinks[Sink.CLASSES] == 200 * MICRO * PART


def test_half_of_a_balance_is_left_after_a_half_life() -> None:
    made = group(A, B)
    made.give(A, 1000 * MICRO * PART)
    made.give(B, -1000 * MICRO * PART)
    made.advance(DECAY.half_life_s // DECAY.step_s * DECAY.step_s)
    assert worth(made, A) == pytest.approx(500, rel=1e-3)
    assert worth(made, B) == pytest.approx(-500, rel=1e-3)


def test_debt_beyond_the_limit_is_forgiven() -> None:
    made = SiblingAccounts(0, decay=DECAY, debt_limit_s=100)
    made.reshape({A: SiblingShare(1, 2 * MICRO), B: SiblingShare(1, 2 * MICRO)}, {})
    made.give(A, -1000 * MICRO * PART)
    made.advance(DECAY.step_s)
    assert worth(made, A) == -200
    assert total(made) == 0


def test_a_newcomer_shares_the_debt_of_its_siblings_and_not_their_surplus() -> None:
    for gift, start in ((-300, -150), (300, 0)):
        made = group(A, B)
        made.give(A, gift * MICRO * PART)
        made.reshape({one: SiblingShare(1, 10 * MICRO) for one in (A, B, C)}, {})
        assert worth(made, C) == start
        assert total(made) == 0


def test_debt_waits_for_who_is_deleted_and_made_again() -> None:
    made = group(A, B)
    made.give(A, -300 * MICRO * PART)
    made.reshape({B: SiblingShare(1, 10 * MICRO)}, {})
    made.advance(1000)
    made.reshape({one: SiblingShare(1, 10 * MICRO) for one in (A, B)}, {})
    assert worth(made, A) == -300


def test_a_tombstone_goes_after_three_half_lives() -> None:
    made = group(A, B)
    made.give(A, -300 * MICRO * PART)
    made.reshape({B: SiblingShare(1, 10 * MICRO)}, {})
    made.advance(DECAY.half_life_s * 3 + DECAY.step_s)
    assert list(made.accounts) == [B]
    assert total(made) == 0


def test_a_surplus_shrinks_with_the_entitlement_and_debt_stays() -> None:
    for gift, left in ((300, 150), (-300, -300)):
        made = group(A, B)
        made.give(A, gift * MICRO * PART)
        made.reshape({A: SiblingShare(1, 5 * MICRO), B: SiblingShare(1, 10 * MICRO)}, {})
        assert worth(made, A) == left


def test_only_what_is_left_of_a_grant_is_taken_back() -> None:
    made = group(A, B)
    made.give(A, 100 * MICRO * PART)
    made.place(A, GPU, Position(0, MICRO, MICRO))
    made.advance(30)
    made.take_back(A, 100 * MICRO * PART)
    assert worth(made, A) == 0
    assert total(made) == 0


def test_who_lent_to_whom_is_told_in_whole_micro_credits() -> None:
    made = group(A, B, C)
    made.place(A, GPU, Position(8 * MICRO, 0, 0))
    made.place(B, GPU, Position(0, 2 * MICRO, 2 * MICRO))
    made.place(C, GPU, Position(0, 2 * MICRO, 2 * MICRO))
    made.advance(100)
    records = {one.member: one for one in made.records({}, {})}
    assert dict(records[A].lent_to) == {
        "ClusterQueue/b": 200 * MICRO,
        "ClusterQueue/c": 200 * MICRO,
    }
    assert dict(records[B].borrowed_from) == {"ClusterQueue/a": 200 * MICRO}


def test_a_ledger_goes_on_from_what_was_stored_as_if_nothing_had_happened() -> None:
    made = group(A, B, pool=3 * MICRO, decay=Decay(5000))
    positions = {A: Position(7 * MICRO, 0, 0), B: Position(0, 9_999_999, 12_345_678)}
    for member, position in positions.items():
        made.place(member, GPU, position)
    made.advance(1234)
    again = SiblingAccounts(1234, decay=Decay(5000), debt_limit_s=10**9)
    again.resume(made.records({}, {}), made.sinks)
    again.reshape({one: SiblingShare(1, 10 * MICRO) for one in (A, B)}, {GPU: 3 * MICRO})
    for member, position in positions.items():
        again.place(member, GPU, position)
    made.advance(9999)
    again.advance(9999)
    assert again.records({}, {}) == made.records({}, {})
    assert again.sinks == made.sinks


# Against a ledger that adds up second by second ---------------------------------------------


@dataclass
class BruteForce:
    """The same rules, one second at a time, with nothing kept but balances."""

    decay: Decay
    pools: dict[FlavorName, int]
    weights: dict[Member, int]
    positions: dict[tuple[Member, FlavorName], Position] = field(default_factory=dict)
    balances: dict[Member, int] = field(default_factory=dict)
    at: int = 0

    def advance(self, to: int) -> None:
        while self.at < to:
            self._second()
            self.at += 1
            if self.at % self.decay.step_s == 0:
                for member, balance in self.balances.items():
                    self.balances[member] = shrink(balance, self.decay.kept)

    def _second(self) -> None:
        pooled_in_all = 0
        for flavor, pool in self.pools.items():
            here = {one: p for (one, name), p in self.positions.items() if name == flavor}
            idle = sum(p.idle for p in here.values())
            borrowed = sum(p.borrowed for p in here.values())
            lent = min(idle, borrowed)
            pooled_in_all += min(pool, borrowed - lent)
            for member, position in here.items():
                self.balances[member] -= PART * position.paying
                if idle:
                    self.balances[member] += position.idle * (PART * lent // idle)
        weights = sum(self.weights.values())
        for member, weight in self.weights.items():
            self.balances[member] += weight * (PART * pooled_in_all // weights)


MEMBERS = (A, B, C, Member("Cohort", "below"))
FLAVORS = (GPU, FlavorName("slow"))
RATES = st.integers(0, 20 * MICRO)
CHANGES = st.lists(
    st.tuples(
        st.integers(0, 150), st.sampled_from(MEMBERS), st.sampled_from(FLAVORS), RATES, RATES, RATES
    ),
    max_size=12,
)


@settings(max_examples=30, deadline=None)
@given(
    changes=CHANGES,
    half_life=st.sampled_from([60, 5000, 400_000]),
    pool=RATES,
    looks=st.lists(st.integers(0, 3000), max_size=5),
)
def test_the_ledger_equals_a_sum_over_seconds_to_the_last_part(
    changes: list[tuple[int, Member, FlavorName, int, int, int]],
    half_life: int,
    pool: int,
    looks: list[int],
) -> None:
    decay = Decay(half_life)
    pools = {GPU: pool, FLAVORS[1]: pool // 3}
    weights = {one: place + 1 for place, one in enumerate(MEMBERS)}
    made = SiblingAccounts(0, decay=decay, debt_limit_s=10**12)
    made.reshape({one: SiblingShare(weight, MICRO) for one, weight in weights.items()}, pools)
    brute = BruteForce(decay, pools, weights, balances=dict.fromkeys(MEMBERS, 0))
    now = 0
    for wait, member, flavor, idle, borrowed, paying in changes:
        for look in looks:
            if now < look < now + wait:
                made.advance(look)
                made.balance(member)
        now += wait
        made.advance(now)
        brute.advance(now)
        made.place(member, flavor, Position(idle, borrowed, paying))
        brute.positions[member, flavor] = Position(idle, borrowed, paying)
    made.advance(now + 99)
    brute.advance(now + 99)
    assert {one: made.balance(one) for one in MEMBERS} == brute.balances
    assert total(made) == 0
