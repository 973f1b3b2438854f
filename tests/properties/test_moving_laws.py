"""The laws of moving: lives of gangs that need whole racks, among workloads that may be moved."""

from functools import partial
from itertools import product

import pytest
from typing_extensions import override

from queueing.core.decisions import Cycle, Preempt, PreemptionReason
from queueing.core.settings import Compatibility
from queueing.core.topology.requests import PODS
from queueing.core.topology.usage import places_of
from queueing.testing.invariants import check_invariants
from tests.lives.happenings import lived, play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.lives.random_moves import some_moves
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import QUEUEING, Law, look_until, others_each_time, try_lives
from tests.properties.test_placed_laws import an_admission_takes_only_what_is_free_on_nodes
from tests.properties.test_rest_laws import comes_to_rest
from tests.properties.test_usage_laws import is_told

MANY = 60


def moving(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    return some_moves(by_seed(seed), modes=[mode])


class Watched(LivingCluster):
    """A cluster that looks at everybody who is moved."""

    @override
    def write(self, cycle: Cycle) -> None:
        if is_told(self):
            for one in cycle.decisions:
                if isinstance(one, Preempt) and one.reason is PreemptionReason.MOVED:
                    self._look_at(one)
        super().write(cycle)

    def _look_at(self, move: Preempt) -> None:
        self.seen["moved"] += 1
        assert self.settings.compatibility is Compatibility.QUEUEING
        victim, gang = self.workloads[move.workload], self.workloads[move.preemptor]
        assert victim.priority <= gang.priority
        assert victim.stake is not None
        assert victim.stake.movable
        assert victim.stake.saves
        assert victim.holds_quota
        memory = self.engine._memory
        kept = memory.ledger.moving[move.workload]
        before = memory.ledger.charges[move.workload].holder.usage
        assert dict(kept) == dict(before)
        (place,) = places_of(kept)
        assert sum(pods[PODS] for pods in place.usage.values()) == victim.pod_sets[0].count
        assert not memory.tree.forest.is_overdrawn(place)


def who_is_moved_keeps_its_quota_and_has_another_place(life: Life) -> None:
    """And is movable, and has no higher priority than the gang."""
    cluster = Watched.of(life)
    for step in life.steps:
        play(cluster, step)
        check_invariants(cluster.engine)


LAWS = [
    pytest.param(law, mode, id=f"{law.__name__}, {mode}")
    for law, modes in (
        (who_is_moved_keeps_its_quota_and_has_another_place, MODES),
        (an_admission_takes_only_what_is_free_on_nodes, QUEUEING),
        (comes_to_rest, QUEUEING),
    )
    for mode in modes
]


@pytest.mark.parametrize(("law", "mode"), LAWS)
def test_laws_hold_where_workloads_are_moved(law: Law, mode: str) -> None:
    try_lives(law, partial(moving, mode=mode), mode, [1, 2])


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), LAWS)
def test_laws_hold_where_workloads_are_moved_at_length(law: Law, mode: str) -> None:
    try_lives(law, partial(moving, mode=mode), mode, others_each_time(MANY))


def test_moving_lives_move_somebody() -> None:
    lives = product(range(8), QUEUEING)
    look_until({"moved": 4}, (lived(Watched, moving(seed, mode)).seen for seed, mode in lives))
