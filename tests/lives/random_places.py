"""Random lives in which topologies place pods, on nodes that come and go beside pods of others."""

from collections.abc import Sequence
from dataclasses import replace

from queueing.core.facts import (
    Fact,
    FlavorFact,
    Gone,
    Kind,
    NodeDevicesFact,
    NodeUsageFact,
    PodSet,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import FlavorName, ResourceName
from queueing.core.selectors import Taint
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.requests import (
    NOTHING_ASKED,
    PODS,
    Layer,
    Placeable,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.tree import Node
from tests.lives.random_contention import some_contention
from tests.lives.random_events import Event, Life, Step, some_life
from tests.lives.random_worlds import DEFAULT, GOLD, MODES, SPOT, Choose

RACK, BLOCK = "rack", "block"
LEVELS = ((RACK, HOSTNAME), (BLOCK, RACK, HOSTNAME), (BLOCK, RACK, HOSTNAME), (RACK,))
EDITED = (*LEVELS, (BLOCK, HOSTNAME), (HOSTNAME,))
"""What a Topology is edited to while it is in use, more than the API server would let through."""
PLACED = ((DEFAULT, SPOT), (DEFAULT, SPOT, GOLD), (DEFAULT,))
"""Which flavors have the topology."""
SERVED = ((), (DEFAULT,), (DEFAULT, SPOT))
"""Of which flavors GPUs are devices."""
HOSTS = 7
CPU, MEMORY, GPU = map(ResourceName, ("cpu", "memory", "gpu"))
_TAINT = Taint(key="broken", effect="NoSchedule")


def some_places(choose: Choose, *, modes: Sequence[str] = MODES, size: int = 30) -> Life:
    """Choose a life of another sort, with nodes under it."""
    life = choose((some_contention, some_contention, some_life))(choose, modes=modes, size=size)
    levels, placed, served = choose(LEVELS), choose(PLACED), choose(SERVED)
    facts = [_with_topology(fact, placed, served) for fact in life.facts]
    facts.append(TopologyFact(name="dc", levels=levels))
    nodes = range(choose(range(4, HOSTS + 1)))
    facts += [_node(choose, at) for at in nodes]
    facts += [_devices(choose, at) for at in nodes]
    steps: list[Step] = []
    for step in life.steps:
        asks = isinstance(step, WorkloadFact)
        steps.append(_asking(choose, step, levels) if isinstance(step, WorkloadFact) else step)
        if not asks and choose((False, False, True)):
            steps.append(Event("object", to=_news(choose)))
    return Life(life.settings, facts, steps, life.terms)


def _with_topology(fact: Fact, placed: Sequence[str], served: Sequence[str]) -> Fact:
    if isinstance(fact, FlavorFact) and fact.name in placed:
        on_nodes = {GPU: 0} if fact.name in served else {}
        return replace(fact, topology="dc", on_nodes=on_nodes)
    return fact


def _devices(choose: Choose, at: int) -> NodeDevicesFact:
    """Choose which devices of a node are free; flavors whose GPUs are no devices pay no heed."""
    free = {FlavorName(one): {GPU: choose((3, 3, 2, 1, 0))} for one in (DEFAULT, SPOT)}
    return NodeDevicesFact(name=f"n{at}", free=free)


def _node(choose: Choose, at: int) -> Node:
    rack = choose(range(3))
    labels = {HOSTNAME: f"n{at}", RACK: f"r{rack}", BLOCK: f"b{rack // 2}"}
    room = {CPU: choose((1, 1, 2, 3)), MEMORY: 3, GPU: 3, PODS: choose((9, 9, 9, 2))}
    return Node(
        name=f"n{at}",
        labels={**labels, "tier": choose((DEFAULT, DEFAULT, DEFAULT, SPOT, GOLD))},
        capacity=room,
        taints=choose((*((),) * 5, (_TAINT,))),
        schedulable=choose((True,) * 5 + (False,)),
    )


def _news(choose: Choose) -> Fact:
    """Choose a node that comes, changes or goes, or what pods of others use of it."""
    at = choose(range(HOSTS))
    match choose(("node", "gone", "others", "others", "devices", "no devices", "levels")):
        case "levels":
            return TopologyFact(name="dc", levels=choose(EDITED))
        case "devices":
            return _devices(choose, at)
        case "no devices":
            return Gone(Kind.NODE_DEVICES, f"n{at}")
        case "node":
            return _node(choose, at)
        case "gone":
            return Gone(Kind.NODE, f"n{at}")
        case _:
            usage = choose(({}, {CPU: 1, PODS: 1}, {CPU: 3, PODS: 2}, {PODS: 8}))
            return NodeUsageFact(name=f"n{at}", usage=usage)


def _asking(choose: Choose, fact: WorkloadFact, levels: Sequence[str]) -> WorkloadFact:
    asks = choose(
        (
            NOTHING_ASKED,
            TopologyRequest(required=RACK),
            TopologyRequest(required=RACK),
            TopologyRequest(required=levels[-1]),
            TopologyRequest(preferred=RACK),
            TopologyRequest(unconstrained=True),
            TopologyRequest(required=levels[0], slices=(Layer(levels[-1], 2),)),
            TopologyRequest(slices=(Layer(RACK, 2),)),
            TopologyRequest(required=RACK, group="one"),
        )
    )
    divides = choose((False, True, True))
    pod_sets = map(_divided, fact.pod_sets) if divides else fact.pod_sets
    return replace(fact, pod_sets=tuple(_with_request(one, asks) for one in pod_sets))


def _divided(pods: PodSet) -> PodSet:
    """Return as many times more pods as each asks for cpu, which then ask for 1."""
    times = pods.requests.get(CPU, 0)
    if times < 2 or len(pods.requests) > 1:
        return pods
    least = None if pods.min_count is None else pods.min_count * times
    return replace(pods, count=pods.count * times, min_count=least, requests={CPU: 1})


def _with_request(pods: PodSet, asks: TopologyRequest) -> PodSet:
    return replace(
        pods,
        wants_topology=asks is not NOTHING_ASKED,
        topology=asks,
        group=asks.group or pods.group,
        placeable=Placeable(requests=in_order(pods.requests)),
        shape=f"{pods.shape} {asks}",
    )
