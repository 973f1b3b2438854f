"""A budget spends what an integrator finds that adds up second by second, whatever happens."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.credits.facts import BudgetAccountFact, BudgetFact, HolderKind
from queueing.core.credits.holding import Holding
from queueing.core.credits.period import Period
from queueing.core.names import FlavorName, FlavorResource, QueueName, ResourceName, Uid
from queueing.state.credits.purse import BudgetTerms, Purse

HOUR = 600
GRANT = 700
CPU = FlavorResource(FlavorName("default"), ResourceName("cpu"))


@dataclass(frozen=True, slots=True)
class Stay:
    """A holding of some cores, for so many seconds of those that it may last."""

    since: int
    lasts: int
    cores: int
    may_last: int | None

    @property
    def until(self) -> int:
        return self.since + self.lasts


STAYS = st.lists(
    st.builds(
        Stay,
        since=st.integers(0, 2 * HOUR),
        lasts=st.integers(0, HOUR),
        cores=st.integers(0, 4),
        may_last=st.none() | st.integers(0, HOUR),
    ),
    max_size=12,
)


def fact(*, blocks: bool) -> BudgetFact:
    return BudgetFact(
        name="hourly",
        kind=HolderKind.CLUSTER_QUEUE,
        holder="a",
        grant=GRANT,
        period=Period(HOUR),
        blocks=blocks,
    )


def opened(budget: BudgetFact, stored: BudgetAccountFact | None = None) -> Purse:
    """A purse that counts cores; it goes on from what was stored of it."""
    begin = 0 if stored is None or stored.as_of is None else stored.as_of
    return Purse(BudgetTerms(budget, lambda one: sum(one.usage.values())), begin, stored)


def holding(number: int, stay: Stay) -> Holding:
    return Holding(
        uid=Uid(f"u{number:02}"),
        queue=QueueName("a"),
        priority=0,
        usage={CPU: stay.cores},
        since=stay.since,
        may_last=stay.may_last,
    )


def moments(stays: list[Stay]) -> list[tuple[int, int, int]]:
    """Return when each begins (1) and ends (0): in one second, who ends goes first."""
    begins = [(stay.since, 1, number) for number, stay in enumerate(stays)]
    ends = [(stay.until, 0 if stay.lasts else 2, number) for number, stay in enumerate(stays)]
    return sorted(begins + ends)


def played(purse: Purse, stays: list[Stay], *, until: int, since: int = 0) -> Purse:
    """Tell a purse of all that happened until a time, as after a restart: of the past, too."""
    for when, begins, number in moments(stays):
        if when > until:
            break
        if begins != 1:
            purse.advance(when)
            purse.count(number, holding(number, stays[number]), when, -1)
        elif stays[number].until > since:
            purse.advance(when)
            purse.count(number, holding(number, stays[number]), when, 1)
    purse.advance(until)
    return purse


@settings(max_examples=25, deadline=None)
@given(stays=STAYS, until=st.integers(0, 3 * HOUR))
def test_a_blocking_budget_spends_what_an_integrator_finds(stays: list[Stay], until: int) -> None:
    purse = played(opened(fact(blocks=True)), stays, until=until)
    begin = until // HOUR * HOUR
    spent = 0
    for second in range(begin, until):
        spent += sum(stay.cores for stay in stays if stay.since <= second < stay.until)
    assert purse.spent == spent


@settings(max_examples=25, deadline=None)
@given(stays=STAYS, until=st.integers(0, 3 * HOUR))
def test_those_whom_a_demoting_budget_covers_never_spend_more_than_it_grants(
    stays: list[Stay], until: int
) -> None:
    bounded = [
        stay if stay.may_last is None else replace(stay, lasts=min(stay.lasts, stay.may_last))
        for stay in stays
    ]
    purse = opened(fact(blocks=False))
    for second in sorted({*(when for when, _, _ in moments(bounded)), until}):
        if second <= until:
            again = played(opened(fact(blocks=False)), bounded, until=second)
            assert again.spent <= GRANT
            purse = again
    beyond: Mapping[Uid, None] = dict.fromkeys(purse.opportunistic())
    assert all(uid in {holding(n, one).uid for n, one in enumerate(bounded)} for uid in beyond)


@settings(max_examples=25, deadline=None)
@given(
    stays=STAYS,
    written=st.integers(0, 3 * HOUR),
    later=st.integers(0, HOUR),
    blocks=st.booleans(),
)
def test_a_purse_that_is_read_again_goes_on_as_if_nothing_had_been(
    stays: list[Stay], written: int, later: int, blocks: bool
) -> None:
    budget = fact(blocks=blocks)
    before = played(opened(budget), stays, until=written)
    stored = BudgetAccountFact(
        name=budget.name,
        as_of=before.at,
        period_start=before.span.begin,
        spent=before.spent,
        opportunistic=before.opportunistic(),
    )
    end = written + later
    whole = played(opened(budget), stays, until=end)
    again = played(opened(budget, stored), stays, until=end, since=written)
    assert (again.spent, again.span) == (whole.spent, whole.span)
    assert again.opportunistic() == whole.opportunistic()
