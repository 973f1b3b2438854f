"""Small worlds of a topology, written as `block/rack/host:cpu`."""

from collections.abc import Iterable

from queueing.core.names import FlavorName, PodSetName, ResourceName
from queueing.core.selectors import Taint
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain, Occupancy
from queueing.core.topology.forest import Forest
from queueing.core.topology.requests import (
    Layer,
    Placeable,
    PodSetRequest,
    Profile,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.tree import Node, Usage

CPU, PODS, GPU = ResourceName("cpu"), ResourceName("pods"), ResourceName("gpu")
FLAVOR, MAIN = FlavorName("default"), PodSetName("main")
LEVELS = ("block", "rack", HOSTNAME)
TERMS = SearchTerms(profile=Profile())
S = "a/r1/n1:3 a/r1/n2:1 a/r2/n3:2 a/r2/n4:4 b/r3/n5:5"


def node(text: str, levels: tuple[str, ...] = LEVELS, name: str | None = None) -> Node:
    """Read `block/rack/host:cpu`, then perhaps `/pods` and `!taint` (key, value and effect)."""
    text, _, taint = text.partition("!")
    place, _, amounts = text.partition(":")
    cpu, _, pods = amounts.partition("/")
    values = place.split("/")
    taints: tuple[Taint, ...] = ()
    if taint:
        first, _, effect = taint.partition(":")
        key, _, value = first.partition("=")
        taints = (Taint(key=key, value=value, effect=effect),)
    return Node(
        name=name or values[-1],
        labels=dict(zip(levels, values, strict=True)),
        capacity={CPU: round(float(cpu) * 1000), PODS: int(pods or 100)},
        taints=taints,
    )


def forest(nodes: str = S, levels: tuple[str, ...] = LEVELS) -> Forest:
    """Return a forest of one flavor; nodes of a topology without hosts are named by their place."""
    made = Forest()
    made.put_flavor(FLAVOR, "T", levels)
    for at, one in enumerate(nodes.split()):
        name = None if levels[-1] == HOSTNAME else f"node-{at}"
        assert not made.put_node(node(one, levels, name))
    return made


def used(usage: Usage, *, hosts: bool = True) -> Occupancy:
    """Return what a workload in the flavor uses of leaves."""
    return Occupancy((FLAVOR,), hosts, usage)


def pods(
    count: int,
    *,
    required: str | None = None,
    preferred: str | None = None,
    unconstrained: bool | None = None,
    slices: Iterable[tuple[str, int]] = (),
    group: str = "",
    cpu: int = 1000,
    name: str = "main",
    implied: bool = False,
    current: str = "",
    pod: Placeable | None = None,
) -> PodSetRequest:
    return PodSetRequest(
        name=PodSetName(name),
        count=count,
        pod=pod or Placeable(requests=in_order({CPU: cpu})),
        topology=TopologyRequest(
            required=required,
            preferred=preferred,
            unconstrained=unconstrained,
            slices=tuple(Layer(*one) for one in slices),
            group=group,
        ),
        implied=implied,
        current=hosts(current) if current else None,
    )


def hosts(text: str) -> Assignment:
    """Read `n1*3 n2*1` as an assignment to hosts."""
    parts = (one.split("*") for one in text.split())
    return Assignment((HOSTNAME,), tuple(Domain((host,), int(count)) for host, count in parts))


def told(answer: object) -> str:
    """Write an assignment as it is read, and a refusal as its reason."""
    if isinstance(answer, Assignment):
        return " ".join(f"{','.join(one.values)}*{one.count}" for one in answer.domains)
    return str(getattr(answer, "reason", answer))
