"""A simulated cluster in which all that can be decided at once has been decided."""

from collections.abc import Iterable

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Wait
from queueing.core.facts import Fact
from queueing.core.settings import Settings
from queueing.sim.plan import STABLE_ROUNDS_MAX
from queueing.sim.world import SimulatedCluster


def at_rest(
    facts: Iterable[Fact | CreditFact], *, settings: Settings, now: float
) -> SimulatedCluster:
    """Decide until nothing more is decided; victims keep their quota, as their pods still run."""
    world = SimulatedCluster(facts, settings=settings)
    for _ in range(STABLE_ROUNDS_MAX):
        cycle = world.cycle(now)
        if cycle.finished and all(isinstance(one, Wait) for one in cycle.decisions):
            break
    return world
