"""What was paid for work that a preemption lost."""

from dataclasses import replace

import pytest

from queueing.core.credits.facts import (
    MICRO,
    PART,
    CreditAccountFact,
    SavedFact,
)
from queueing.core.facts import Condition
from queueing.core.names import Key, Uid
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cohort,
    flavor,
    local_queue,
    namespace,
)
from tests.state.credits.rivals import (
    QUEUES,
    SETTINGS,
    START,
    balances,
    end,
    evict,
    queue,
    run,
    world,
)
from tests.state.members import LASTING

# Preempted work ---------------------------------------------------------------------------------


def choose(made: SimulatedCluster, name: str, at: float) -> None:
    """Let a workload be evicted that still holds its quota."""
    fact = made.workloads[Key(f"team/{name}")]
    evicted = Condition(type="Evicted", status=True, reason="Preempted", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Evicted": evicted}))


def saved(name: str, at: float) -> SavedFact:
    return SavedFact(name=f"team/{name}-1", uid=Uid(f"team/{name}"), at=int(at))


def child(made: SimulatedCluster, name: str) -> tuple[float, float]:
    """Return what a queue has, and what evictions lost of its work."""
    [account] = made.engine.credits.accounts()
    [one] = [each for each in account.children if each.member.name == name]
    return round(one.balance / PART / MICRO, 2), one.wasted / PART / MICRO


@pytest.mark.parametrize(
    ("save_at", "balance", "wasted"),
    [
        pytest.param(None, -4000, 8000, id="nothing saved: nothing back, all is lost"),
        pytest.param(900, -4000 + 400, 800, id="saved: what was paid since comes back"),
        pytest.param(1000, -4000, 0, id="saved at the end: nothing was lost"),
        pytest.param(10, -4000 + 3600, 7920, id="saved long ago: a quarter of an hour at most"),
    ],
)
def test_what_was_paid_for_work_since_its_checkpoint_comes_back(
    save_at: int | None, balance: float, wasted: float
) -> None:
    made = world()
    run(made, "victim", "a", 8, at=START)
    if save_at is not None:
        made.engine.observe(saved("victim", START + save_at))
    evict(made, "victim", START + 1000)
    balances(made, START + 1100)
    assert child(made, "a") == (balance, wasted)


def test_saving_without_being_preempted_gains_nothing() -> None:
    made = world()
    run(made, "own", "a", 8, at=START)
    made.engine.observe(saved("own", START + 50))
    end(made, "own", START + 100)
    balances(made, START + 200)
    assert child(made, "a") == (-400, 0)


@pytest.mark.parametrize("written_at", [950, 1000, 1050])
def test_a_restart_refunds_and_counts_waste_once(written_at: int) -> None:
    made = world()
    stored: tuple[CreditAccountFact, ...] = ()
    run(made, "victim", "a", 8, at=START)
    run(made, "other", "a", 2, at=START)
    save = saved("victim", START + 900)
    for at in range(0, 1101, 50):
        if at == 900:
            made.engine.observe(save)
        if at == 950:
            choose(made, "victim", START + at)
            choose(made, "other", START + at)
        if at == 1000:
            evict(made, "victim", START + at)
            evict(made, "other", START + at)
        made.cycle(START + at)
        if at <= written_at:
            stored = made.engine.credits.accounts()
    again = SimulatedCluster([cohort("all"), flavor(), namespace()], settings=SETTINGS)
    for name in QUEUES:
        again.observe(queue(name))
        again.observe(local_queue(f"team/{name}", name))
    for fact in made.workloads.values():
        again.observe(fact)
    again.engine.observe(LASTING)
    again.engine.observe(save)
    for account in stored:
        again.engine.observe(account)
    again.cycle(START + 1100)
    assert child(again, "a") == child(made, "a")
