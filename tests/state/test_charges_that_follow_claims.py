"""Charges that are lowered to what devices were given, and go up again with what is held."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from queueing.core.facts import Fact
from queueing.core.names import Key, PodSetName, QueueName, ResourceName
from queueing.core.settings import Settings
from queueing.core.usage import held_usage
from queueing.reports import queues as reports
from queueing.sim.world import SimulatedCluster
from queueing.testing.builders import (
    cluster_queue,
    cohort,
    flavor,
    local_queue,
    namespace,
    pod_set,
    quota,
    workload,
)
from queueing.testing.invariants import check_invariants

NOMINAL = 10
NAMES = "abcdef"
WHO = st.sampled_from(NAMES)
STEPS = st.lists(st.tuples(WHO, st.integers(0, 8)), max_size=12)


def world() -> SimulatedCluster:
    facts: list[Fact] = [
        namespace(),
        flavor(),
        cohort("pool"),
        *(
            cluster_queue(name, {"default": {"gpu": quota(NOMINAL // 2)}}, cohort="pool")
            for name in "xy"
        ),
        *(local_queue(f"team/{name}", name) for name in "xy"),
    ]
    made = SimulatedCluster(facts, settings=Settings())
    for number, name in enumerate(NAMES):
        asked = workload(
            name,
            local_queue="team/" + "xy"[number % 2],
            pod_sets=(pod_set({"gpu": 4}, count=1),),
            created=float(number),
        )
        made.observe(asked)
    return made


def usage(made: SimulatedCluster) -> int:
    views = [reports.cluster_queue(made.engine.memory, QueueName(name)) for name in "xy"]
    return sum(one.total for view in views if view is not None for one in view.usage.values())


@settings(max_examples=30)
@given(STEPS)
def test_the_tree_follows_what_is_held_and_takes_nobody_in_beyond_its_quota(
    steps: list[tuple[str, int]],
) -> None:
    made = world()
    made.round(0.0)
    for when, (name, amount) in enumerate(steps, start=1):
        fact = made.workloads[Key(f"team/{name}")]
        if fact.admission is not None:
            given_now = {PodSetName("main"): {ResourceName("gpu"): amount}}
            made.observe(replace(fact, given=given_now))
        before = usage(made)
        check_invariants(made.engine)
        made.round(float(when))
        check_invariants(made.engine)
        held = sum(sum(held_usage(one).values()) for one in made.workloads.values())
        assert usage(made) == held
        assert held <= NOMINAL or held == before, "somebody was taken in without room"


def test_what_is_released_lets_the_next_one_in() -> None:
    made = world()
    made.round(0.0)
    assert usage(made) == 8
    fact = made.workloads[Key("team/a")]
    made.observe(replace(fact, given={PodSetName("main"): {ResourceName("gpu"): 2}}))
    made.round(1.0)
    assert usage(made) == 10
    assert made.workloads[Key("team/c")].admission is not None
