"""What tests ask of, and do to, one workload of the namespace `team`, and terms of credits."""

from dataclasses import replace

from queueing.core.credits.facts import MICRO, CreditPolicyFact
from queueing.core.credits.prices import Prices
from queueing.core.decisions import Wait
from queueing.core.facts import Condition
from queueing.core.names import Key, ResourceName
from queueing.sim.world import SimulatedCluster

CORE_PRICES = Prices({(None, ResourceName("cpu")): MICRO})
"""A credit is a second of one core."""
LASTING = CreditPolicyFact(name="p", prices=CORE_PRICES, half_life_s=10**9)
"""Balances do not shrink for as long as a test looks."""


def runs(made: SimulatedCluster, name: str) -> bool:
    """Say whether a workload holds quota."""
    return made.workloads[Key(f"team/{name}")].holds_quota


def finish(made: SimulatedCluster, name: str, at: float) -> None:
    """End a workload, and let the engine take that in."""
    fact = made.workloads[Key(f"team/{name}")]
    done = Condition(type="Finished", status=True, reason="Succeeded", changed=at)
    made.observe(replace(fact, conditions={**fact.conditions, "Finished": done}))
    made.cycle(at)


def waits(made: SimulatedCluster, name: str) -> Wait:
    """Return why a workload waits."""
    found = made.engine.waiting(Key(f"team/{name}"))
    assert found is not None
    return found
