"""A victim goes a moment after it was chosen, and stays if nobody needs it to go by then."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

from queueing.controller.decisions.late_evictions import (
    ASKED_AGAIN_S,
    EVICTED_AFTER_S,
    LateEvictions,
)
from queueing.controller.term import Term
from queueing.core.decisions import Admit, Outcome, Preempt, Verdict
from queueing.core.facts import Condition, PreemptionPolicy
from queueing.core.names import Key
from queueing.testing.builders import admitted, cluster_queue, preemption, workload
from queueing.testing.invariants import check_invariants
from queueing.testing.obedient import ObedientCluster
from queueing.testing.virtual_time import LoopClock, in_no_time
from queueing.testing.worlds import world

OTHER, VICTIM, PREEMPTOR = Key("team/other"), Key("team/low"), Key("team/high")


class Scene:
    """A full queue of 10 CPUs: a victim of 4, one of a priority too high for it, a preemptor."""

    def __init__(self, clock: LoopClock, *, is_stored: bool) -> None:
        within = preemption(within=PreemptionPolicy.LOWER_PRIORITY)
        self.cluster = ObedientCluster(world(cluster_queue(preemption=within)))
        self.cluster.observe(admitted("other", {"cpu": 6_000}, priority=2))
        low = admitted if is_stored else workload
        self.cluster.observe(low("low", {"cpu": 4_000}))
        self.admissions = self.cluster.engine.cycle(1.0).decisions
        self.cluster.observe(workload("high", {"cpu": 4_000}, priority=1))
        self.queues = SimpleNamespace(cycle=asyncio.Event())
        self.evicted: list[Key] = []
        term = SimpleNamespace(engine=self.cluster.engine, clock=clock, queues=self.queues)
        self.late = LateEvictions(cast("Term", term), self._evict)

    def _evict(self, decision: Preempt, _decided: float) -> None:
        self.evicted.append(decision.workload)
        self.cluster.evict(decision)

    def choose(self) -> None:
        """Let the engine choose the victim."""
        for decision in self.cluster.engine.cycle(1.0).decisions:
            if isinstance(decision, Preempt):
                self.late.hold(decision, 1.0)


async def _nothing(_: Scene) -> None:
    pass


def played(
    meanwhile: Callable[[Scene], object],
    later: Callable[[Scene], Awaitable[None]] = _nothing,
    *,
    is_stored: bool = True,
) -> Scene:
    """Return a scene in which something happens between the choice and the eviction, or later."""

    async def whole(clock: LoopClock) -> Scene:
        scene = Scene(clock, is_stored=is_stored)
        running = asyncio.create_task(scene.late.run())
        scene.choose()
        await asyncio.sleep(EVICTED_AFTER_S / 2)
        assert not scene.evicted
        meanwhile(scene)
        await asyncio.sleep(EVICTED_AFTER_S)
        await later(scene)
        running.cancel()
        check_invariants(scene.cluster.engine)
        return scene

    return in_no_time(whole)


def test_a_victim_goes_when_its_time_has_come() -> None:
    scene = played(lambda _: None)
    assert scene.evicted == [VICTIM]


def test_a_victim_that_has_ended_is_not_evicted() -> None:
    scene = played(lambda scene: scene.cluster.finish(VICTIM))
    assert not scene.evicted
    scene.cluster.cycle()
    assert scene.cluster.running() == [PREEMPTOR, OTHER]


def test_a_victim_stays_when_others_gave_its_preemptor_room() -> None:
    def other_ends(scene: Scene) -> None:
        scene.cluster.finish(OTHER)
        scene.cluster.cycle()

    scene = played(other_ends)
    assert not scene.evicted
    assert scene.cluster.running() == [PREEMPTOR, VICTIM]
    assert scene.queues.cycle.is_set(), "others may be judged again"


def test_a_victim_stays_when_its_preemptor_is_gone() -> None:
    scene = played(lambda scene: scene.cluster.finish(PREEMPTOR))
    assert not scene.evicted
    assert scene.cluster.running() == [VICTIM, OTHER]


def test_a_victim_that_somebody_else_tells_to_leave_is_not_told_again() -> None:
    def is_deactivated(scene: Scene) -> None:
        fact = scene.cluster.workloads[VICTIM]
        told = Condition(type="Evicted", status=True, reason="Deactivated", changed=1.0)
        conditions = {**fact.conditions, "Evicted": told}
        scene.cluster.observe(replace(fact, active=False, conditions=conditions))

    assert not played(is_deactivated).evicted


def test_while_a_round_pauses_nobody_is_asked_whether_a_victim_is_needed() -> None:
    """Promises may be taken back until the round ends."""

    def pauses(scene: Scene) -> None:
        engine = scene.cluster.engine
        scene.cluster.observe(workload("third", {"cpu": 5_000}, priority=3))
        engine.cycle(1.0, pause=lambda: True)
        assert engine.is_within_round

    async def goes_on(scene: Scene) -> None:
        assert not scene.evicted, "its time has come, but the round has not ended"
        while scene.cluster.engine.is_within_round:
            scene.cluster.engine.cycle(1.0, pause=lambda: False)
        await asyncio.sleep(ASKED_AGAIN_S)

    assert played(pauses, goes_on).evicted == [VICTIM]


def test_a_victim_whose_admission_is_not_stored_yet_gets_as_much_time_again() -> None:
    async def is_stored_late(scene: Scene) -> None:
        assert not scene.evicted
        scene.cluster.observe(admitted("low", {"cpu": 4_000}))
        await asyncio.sleep(EVICTED_AFTER_S)

    assert played(lambda _: None, is_stored_late, is_stored=False).evicted == [VICTIM]


def test_who_was_admitted_in_vain_is_not_evicted() -> None:
    def is_refused(scene: Scene) -> None:
        (admission,) = scene.admissions
        assert isinstance(admission, Admit)
        scene.cluster.engine.settle(Outcome(decision=admission, verdict=Verdict.REFUSED))

    async def waits(_: Scene) -> None:
        await asyncio.sleep(EVICTED_AFTER_S)

    assert not played(is_refused, waits, is_stored=False).evicted
