"""Laws of rest: without news everything comes to an end, and nothing is left behind.

With the differences from Kueue off preemption may go on for ever: a victim may be back before its
preemptor starts, and policies may go in circles. Nothing else may.
"""

from collections import Counter
from collections.abc import Callable
from functools import partial
from math import inf

import pytest
from typing_extensions import override

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Cycle, Outcome, Verdict
from queueing.core.facts import Fact
from queueing.core.rounds import Pause
from queueing.core.settings import Compatibility, Settings
from queueing.reports import queues as reports
from queueing.state.engine import Engine
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import play
from tests.lives.living import LivingCluster, NeverRestsError
from tests.lives.random_events import GENTLE, Life
from tests.lives.random_worlds import MODES
from tests.properties.profiles import AT_BOTH_LENGTHS, Hold, Law

CIRCLES_MIN = 20
"""How often, at least, somebody is preempted for the same head where preemption never ends."""


def rests(cluster: LivingCluster, budget: int | None = None) -> bool:
    """Let a cluster come to rest; False when preemption goes in a circle, as it may in Kueue."""
    cluster.preemptions.clear()
    try:
        cluster.rest(budget)
    except NeverRestsError:
        pairs = Counter((one.uid, one.preemptor_uid) for one in cluster.preemptions)
        circles = max(pairs.values(), default=0) >= CIRCLES_MIN
        if cluster.settings.compatibility is not Compatibility.KUEUE or not circles:
            raise
        return False
    return True


def comes_to_rest(life: Life, budget: int | None = None) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
    rests(cluster, budget)
    check_invariants(cluster.engine)


class Attentive(Engine):
    """Notes whether anything asked for the next cycle; one that nothing did must decide nothing."""

    __slots__ = ("_asked", "_wake_at")

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings)
        self._asked, self._wake_at = False, inf

    @override
    def observe(self, fact: Fact | CreditFact) -> bool:
        asks = super().observe(fact)
        self._asked = self._asked or asks
        return asks

    @override
    def settle(self, outcome: Outcome) -> None:
        super().settle(outcome)
        gave_back = outcome.verdict in {Verdict.REFUSED, Verdict.WITHDRAWN}
        self._asked = self._asked or gave_back

    @override
    def cycle(self, now: float, budget: int | None = None, pause: Pause | None = None) -> Cycle:
        asked = self._asked or now >= self._wake_at
        found = super().cycle(now, budget, pause)
        assert asked or not found.rounds
        self._asked = not found.finished
        self._wake_at = inf if found.wake_at is None else found.wake_at
        return found


class WatchedCluster(LivingCluster):
    engines: Callable[[Settings], Engine] = Attentive


def a_cycle_that_nothing_asked_for_decides_nothing(life: Life) -> None:
    cluster = WatchedCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()
    rests(cluster)


def all_that_ended_leaves_nothing(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
    still = rests(cluster)
    while still and (running := cluster.running()):
        for key in running:
            cluster.finish(key)
        still = rests(cluster)
    if not still:
        return
    check_invariants(cluster.engine)
    memory = cluster.engine._memory
    assert not memory.ledger.charges
    assert not memory.ledger.promised
    for queue in cluster.queues():
        view = reports.cluster_queue(cluster.engine.memory, queue.name)
        assert view is not None
        assert not any(one.total for one in view.reservation.values())


def hearing_everything_again_changes_nothing(life: Life) -> None:
    """But for those who are held back after refusals: for them any news is a reason to try."""
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
    if not rests(cluster) or cluster.engine._memory.writes.punished:
        return
    cluster.cycle()  # it hears of the credit ledgers that the last one wrote
    for _ in ("the reasons to wait, which it gave itself, are new in statuses", "all is known"):
        cluster.engine.changed()
        for fact in cluster.facts():
            cluster.engine.observe(fact)
        cycle = cluster.engine.cycle(cluster.now)
        assert (cycle.rounds, cycle.judged, cycle.finished) == ((), 0, True)
    told = cluster.engine.changed()
    assert (told.cluster_queues, told.local_queues, told.cohorts) == ((), (), ())


LAWS = [
    pytest.param(comes_to_rest, id="comes to rest"),
    pytest.param(partial(comes_to_rest, budget=2), id="comes to rest, two heads at a time"),
    pytest.param(a_cycle_that_nothing_asked_for_decides_nothing, id="nothing is missed"),
    pytest.param(all_that_ended_leaves_nothing, id="nothing is left"),
    pytest.param(hearing_everything_again_changes_nothing, id="nothing new in the same facts"),
]


@AT_BOTH_LENGTHS
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("law", LAWS)
def test_a_cluster_left_alone(hold: Hold, law: Law, mode: str) -> None:
    hold(law, mode, GENTLE)
