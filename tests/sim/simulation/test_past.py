"""Workloads that came once, as new ones that ask for the same."""

import random
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from queueing.core.facts import WorkloadFact
from queueing.core.names import FlavorName, Uid
from queueing.core.stakes import Stake
from queueing.core.variants import Variant
from queueing.sim.forecast.newcomers import streams
from queueing.sim.simulation.past import arrivals_of
from queueing.testing.builders import admitted, condition

MARKS: Mapping[str, Any] = {
    "active": False,
    "preemption_gated": True,
    "requeue_count": 3,
    "requeue_at": 9.0,
    "past_execution_s": 50,
    "deleting": True,
    "slice_of": "team/elastic",
    "unhealthy": ("node-1",),
    "has_variants": True,
    "stake": Stake(saves=True, started=1.0, saved_at=2.0),
}
"""What may have happened to a workload."""


def ended(**marks: Any) -> WorkloadFact:
    made = admitted("a", max_execution_s=100, created=1.0)
    done = condition("Finished", changed=60.0)
    return replace(made, conditions={**made.conditions, "Finished": done}, **marks)


@pytest.mark.parametrize("mark", MARKS)
def test_a_workload_that_comes_again_is_as_if_nothing_had_happened_to_it(mark: str) -> None:
    like = ended(**{mark: MARKS[mark]})
    plain = replace(ended(), admission=None, conditions={})
    if mark == "stake":
        plain = replace(plain, stake=Stake(saves=True))
    (arrival,) = arrivals_of([like], 0.0)
    assert arrival.fact == replace(plain, key=arrival.fact.key, uid=arrival.fact.uid)


def test_who_is_expected_to_come_is_as_if_nothing_had_happened_to_it() -> None:
    like = ended(**MARKS)
    (stream,) = streams([like], 3.0)
    first = next(stream.newcomers(random.Random(1), 3.0, 0.9))
    told = (first.deleting, first.preemption_gated, first.has_variants, first.past_execution_s)
    assert told == (False, False, False, 0)


def test_a_variant_does_not_come_beside_its_parent() -> None:
    variant = Variant(parent=Uid("a"), flavor=FlavorName("default"))
    like = replace(ended(), variant=variant)
    assert not arrivals_of([like], 0.0)
    assert not streams([like], 2.0)
