"""Without a policy or a budget, no code of credits runs while workloads come, run and go."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from queueing.core.credits.facts import CreditGone, CreditKind
from queueing.core.facts import Gone, Kind
from queueing.core.names import Key
from queueing.sim.world import SimulatedCluster
from tests.state.credits.ledgers import START, account, finish, policy, submit, two_queues, world

OURS = ("/queueing/state/credits/", "/queueing/core/credits/")


@contextmanager
def calls() -> Iterator[Counter[str]]:
    """Count the calls of functions of credits, by name."""
    found: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and any(one in frame.f_code.co_filename for one in OURS):
            found[frame.f_code.co_qualname] += 1

    before: Callable[..., Any] | None = sys.getprofile()
    sys.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(before)


def lived(made: SimulatedCluster, start: float) -> None:
    """Let workloads come, be admitted, preempt each other, finish and be deleted."""
    for number, cores in enumerate((3, 4, 2, 8)):
        submit(made, f"at-{start:.0f}-{number}", "ab"[number % 2], cores, now=start + 10 * number)
    for key in list(made.workloads):
        if made.workloads[key].holds_quota:
            finish(made, key, start + 100)
    made.cycle(start + 100)
    for key in list(made.workloads):
        made.observe(Gone(Kind.WORKLOAD, Key(key)))
    made.cycle(start + 110)


def test_without_a_policy_a_life_calls_nothing_of_credits() -> None:
    made = world(*two_queues())
    with calls() as found:
        lived(made, START)
    assert not found


def test_with_a_policy_it_does() -> None:
    made = world(*two_queues(), terms=policy())
    with calls() as found:
        lived(made, START)
    assert found["Credits.advance"]


def test_after_the_last_policy_has_gone_one_more_cycle_closes_the_ledgers() -> None:
    made = world(*two_queues(), terms=replace(policy(), minimum_runtime_s=60))
    lived(made, START)
    assert account(made).children
    made.engine.observe(CreditGone(CreditKind.POLICY, "default"))
    made.cycle(START + 200)
    with calls() as found:
        lived(made, START + 300)
    assert not found
    assert made.engine.credits.accounts() == ()
