"""Random lives of gangs that need whole racks, among small workloads that may be moved."""

from collections.abc import Sequence
from dataclasses import replace

from queueing.core.facts import Fact, PreemptionPolicy, TopologyFact, WorkloadFact
from queueing.core.names import ResourceName
from queueing.core.stakes import Stake
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.requests import PODS, Placeable, TopologyRequest, in_order
from queueing.core.topology.tree import Node
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    preemption,
    workload,
)
from tests.lives.random_events import PICKS, Event, Life, Step, Table
from tests.lives.random_worlds import MODES, Choose, some_settings

CPU = ResourceName("cpu")
RACK = "rack"
QUEUES = ("a", "b")
_STAKES = (
    *(Stake(saves=True, movable=True),) * 4,
    Stake(saves=True),
    Stake(movable=True, saves=True, minimum_runtime_s=60.0),
    None,
)
_POLICIES = (PreemptionPolicy.NEVER, PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY)
_ASKS = (TopologyRequest(unconstrained=True), TopologyRequest(required=RACK))
_RARE: Table = {
    "priority": range(3),
    "time": (1.0, 61.0),
    "gone": (None,),
    "refuse": (None,),
    "restart": (None,),
    "unknown": (True, False),
}
_DAILY = ("cycle",) * 3 + ("drain",) * 3 + ("finish",) * 2 + ("rest",)


def some_moves(choose: Choose, *, modes: Sequence[str] = MODES, size: int = 30) -> Life:
    """Choose three racks of two hosts, two queues of one cohort, and who comes and goes."""
    facts: list[Fact] = [namespace(), TopologyFact(name="dc", levels=(RACK, HOSTNAME))]
    facts.append(flavor(topology="dc"))
    for name in QUEUES:
        policy = preemption(
            within=choose((PreemptionPolicy.NEVER, PreemptionPolicy.LOWER_PRIORITY))
        )
        quota = {"default": {"cpu": choose((4, 7, 9))}}
        facts.append(cluster_queue(name, quota, cohort="all", preemption=policy))
        facts.append(local_queue(f"team/{name}", name))
    facts += [_node(choose, at) for at in range(6)]
    small = [_pods(choose, f"s{at}", choose((1, 1, 2))) for at in range(choose(range(7, 11)))]
    ended = (Event("finish", choose(PICKS)) for _ in range(choose(range(2, 6))))
    steps: list[Step] = [*small, Event("cycle"), *ended]
    for at in range(choose(range(6, size))):
        steps += _some_step(choose, at)
    return Life(some_settings(choose, modes), facts, steps)


def _some_step(choose: Choose, at: int) -> list[Step]:
    match choose(("gang", "small", "daily", "daily", "daily", "daily", "rare")):
        case "gang":
            gang = _pods(choose, f"g{at}", choose((4, 4, 3, 5)), TopologyRequest(required=RACK))
            return [gang, Event("cycle")]
        case "small":
            return [_pods(choose, f"t{at}", choose((1, 2)))]
        case "daily":
            return [Event(choose(_DAILY), choose(PICKS))]
        case _:
            kind = choose((*_RARE, "node"))
            if kind == "node":
                return [Event("object", to=_node(choose, choose(range(6))))]
            return [Event(kind, choose(PICKS), choose(_RARE[kind]))]


def _node(choose: Choose, at: int) -> Node:
    return Node(
        name=f"n{at}",
        labels={HOSTNAME: f"n{at}", RACK: f"r{at // 2}"},
        capacity={CPU: choose((2, 2, 2, 3)), PODS: 9},
    )


def _pods(
    choose: Choose, name: str, count: int, request: TopologyRequest | None = None
) -> WorkloadFact:
    """Choose a workload of so many pods of one core, by default one that may be moved."""
    stake = choose(_STAKES) if request is None else choose((None, _STAKES[0]))
    made = workload(
        name,
        {"cpu": 1},
        count,
        local_queue=f"team/{choose(QUEUES)}",
        priority=choose((0, 0, 0, 1)),
        stake=stake,
    )
    asks = request or choose(_ASKS)
    (one,) = made.pod_sets
    pods = replace(
        one,
        wants_topology=True,
        topology=asks,
        placeable=Placeable(requests=in_order(one.requests)),
        shape=f"{one.shape} {asks}",
    )
    return replace(made, pod_sets=(pods,))
