"""What tests ask of, and do to, one workload of the namespace `team` in a world."""

from dataclasses import replace

from queueing.core.decisions import Wait
from queueing.core.facts import Condition
from queueing.core.names import Key
from queueing.sim.world import World


def runs(made: World, name: str) -> bool:
    """Say whether a workload holds quota."""
    return made.workloads[Key(f"team/{name}")].holds_quota


def finish(made: World, name: str, at: float) -> None:
    """End a workload, and let the engine take that in."""
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
    made.cycle(at)


def waits(made: World, name: str) -> Wait:
    """Return why a workload waits."""
    found = made.engine.waiting(Key(f"team/{name}"))
    assert found is not None
    return found
