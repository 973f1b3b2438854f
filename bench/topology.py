"""What a placement by topology costs as clusters grow: the core alone, at nine tenths full.

Which gangs of a mix fit, and over how many domains, differs by size. So equal gangs are compared:
in clusters full of such gangs, and asked for once after each change of the mix, which takes more
where larger gangs come and go.
"""

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import TypeVar

from bench.results import Result, percentile
from queueing.controller.process.garbage_collection import postponed
from queueing.core.names import FlavorName, PodSetName, ResourceName
from queueing.core.topology.assignment import HOSTNAME, Assignment, Occupancy
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import place
from queueing.core.topology.requests import (
    Placeable,
    PodSetRequest,
    Profile,
    TopologyRequest,
    in_order,
)
from queueing.core.topology.searching import SearchTerms
from queueing.core.topology.tree import Node, Usage

SIZES = ((10, 4, 16), (25, 10, 20), (125, 20, 20))
"""Blocks, racks of a block, hosts of a rack: 640, 5,000 and 50,000 nodes."""
CPU, MEMORY, GPU, PODS = map(ResourceName, ("cpu", "memory", "nvidia.com/gpu", "pods"))
GPUS = 8
OFFERS = {CPU: 96_000, MEMORY: 256 << 30, GPU: GPUS, PODS: 110}
SHAPES = tuple(
    Placeable(requests=in_order({CPU: gpus * 8_000, MEMORY: gpus << 34, GPU: gpus}))
    for gpus in (1, 2, 4, 8)
)
HALF = SHAPES[2]
PODS_MAX = 512
EQUAL = (8, 64)
"""Pods of each gang where all are equal."""
FULL = 0.9
TURNS = 2_000
FLAVOR, MAIN = FlavorName("gpu"), PodSetName("main")
ANYWHERE = TopologyRequest(unconstrained=True)
TERMS = SearchTerms(profile=Profile())
AIM = "at most twice that of 640 nodes"
MICRO = 1e6
Found = TypeVar("Found")


@dataclass(slots=True)
class World:
    """A cluster, and the gangs that run there."""

    blocks: int
    racks: int
    hosts: int
    random: Random
    equal: int = 0
    """Pods of each gang; 0 for a mix."""
    forest: Forest = field(default_factory=Forest)
    running: list[tuple[Usage, int]] = field(default_factory=list)
    """What each gang uses, and of these the devices."""
    used: int = 0

    @property
    def nodes(self) -> int:
        return self.blocks * self.racks * self.hosts

    @property
    def is_full(self) -> bool:
        return self.used >= FULL * GPUS * self.nodes

    def node(self, at: int) -> Node:
        rack = at // self.hosts
        labels = {"block": f"b{rack // self.racks}", "rack": f"r{rack}", HOSTNAME: f"n{at}"}
        return Node(name=f"n{at}", labels=labels, capacity=OFFERS)

    def build(self) -> None:
        self.forest.put_flavor(FLAVOR, "default", ("block", "rack", HOSTNAME))
        for at in range(self.nodes):
            self.forest.put_node(self.node(at))

    def gang(self) -> PodSetRequest:
        """Return a gang of 1 to 512 pods; those of 1 pod are as frequent as those of 2 or 3.

        Equal gangs have pods of half a host, and prefer a rack.
        """
        if self.equal:
            rack = TopologyRequest(preferred="rack")
            return PodSetRequest(name=MAIN, count=self.equal, pod=HALF, topology=rack)
        random = self.random
        count = int(2 ** random.uniform(0, PODS_MAX.bit_length() - 1))
        level = random.choice(("block", "rack"))
        request = random.choice(
            (
                TopologyRequest(required=level),
                TopologyRequest(preferred=level),
                ANYWHERE,
            )
        )
        pod = random.choice(SHAPES)
        return PodSetRequest(name=MAIN, count=count, pod=pod, topology=request)

    def admit(self, gang: PodSetRequest, found: Assignment) -> None:
        usage = found.usage(in_order(dict(gang.pod.requests), pods=1))
        self.forest.charge(Occupancy((FLAVOR,), hosts=True, usage=usage))
        gpus = dict(gang.pod.requests)[GPU] * gang.count
        self.running.append((usage, gpus))
        self.used += gpus

    def release(self) -> None:
        usage, gpus = self.running.pop(self.random.randrange(len(self.running)))
        self.forest.charge(Occupancy((FLAVOR,), hosts=True, usage=usage), -1)
        self.used -= gpus

    def ask(self, gang: PodSetRequest) -> Assignment | None:
        found = place(self.forest, {FLAVOR: [gang]}, TERMS)[MAIN]
        return found if isinstance(found, Assignment) else None

    def fill(self) -> None:
        while not self.is_full:
            gang = self.gang()
            found = self.ask(gang)
            if found is not None:
                self.admit(gang, found)


def sizes(most: int) -> list[Result]:
    """Measure clusters of up to so many nodes."""
    return [
        _measured(World(*one, Random(1)))
        for one in SIZES
        if one[0] * one[1] * one[2] <= max(most, SIZES[0][0] * SIZES[0][1] * SIZES[0][2])
    ]


def _of_equal(mixed: World, count: int) -> dict[str, float]:
    """Return what a placement costs of gangs that are equal, alone and in a cluster of others."""
    alone = World(mixed.blocks, mixed.racks, mixed.hosts, Random(1), equal=count)
    alone.build()
    alone.fill()
    placed, _, _, domains = _turns(alone)
    return {
        f"gangs of {count} alone: CPU us per placement, median": percentile(placed, 0.5) * MICRO,
        f"gangs of {count} alone: CPU us per placement, p99": percentile(placed, 0.99) * MICRO,
        f"gangs of {count} alone: domains of a placement, mean": sum(domains) / len(domains),
        f"gangs of {count} among others: CPU us per placement, median": _among(mixed, alone.gang()),
    }


def _among(mixed: World, gang: PodSetRequest) -> float:
    """Return what it costs to find a place for a gang after others came and went."""
    found = list[float]()
    for _ in range(TURNS // 2):
        while mixed.is_full:
            mixed.release()
        other = mixed.gang()
        place_of_other = mixed.ask(other)
        if place_of_other is not None:
            mixed.admit(other, place_of_other)
        taken, placed = _cpu(partial(mixed.ask, gang))
        found += [taken] if placed is not None else []
    return percentile(found, 0.5) * MICRO


def _measured(world: World) -> Result:
    with postponed():
        tracemalloc.start()
        world.build()
        empty = tracemalloc.get_traced_memory()[0]
        for shape in SHAPES:
            world.ask(PodSetRequest(name=MAIN, count=1, pod=shape, topology=ANYWHERE))
        counted = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        world.fill()
        placed, refused, changes, domains = _turns(world)
        node = _each(lambda at: world.forest.put_node(world.node(at * 7 % world.nodes)))
        pod = _each(
            lambda at: world.forest.set_others(f"n{at * 7 % world.nodes}", {CPU: at % 2 * 500})
        )
        running = len(world.running)
        of_equal = [_of_equal(world, one) for one in EQUAL]
    whole = placed + refused
    return Result(
        scenario=f"topology, {world.nodes} nodes",
        numbers={
            "gangs running": running,
            "placed": len(placed),
            "domains of a placement, mean": sum(domains) / len(domains),
            "placements tried per CPU second": len(whole) / sum(whole),
            "CPU us per placement, mean": sum(placed) / len(placed) * MICRO,
            "CPU us per placement, median": percentile(placed, 0.5) * MICRO,
            "CPU us per placement, p99": percentile(placed, 0.99) * MICRO,
            "CPU us per domain placed": sum(placed) / sum(domains) * MICRO,
            "CPU us per refusal, mean": sum(refused) / max(1, len(refused)) * MICRO,
            "CPU us to admit or release, mean": sum(changes) / len(changes) * MICRO,
            "CPU us per change of a node": node * MICRO,
            "CPU us per change of other pods": pod * MICRO,
            "MiB of the tree": empty / 2**20,
            "MiB of the counts of one shape": (counted - empty) / len(SHAPES) / 2**20,
            **of_equal[0],
            **of_equal[1],
        },
        aims={name: AIM for one in of_equal for name in one if name.endswith("median")},
    )


def _turns(world: World) -> tuple[list[float], list[float], list[float], list[int]]:
    """Place and release gangs in turns; return what each cost, and how many domains it got."""
    placed, refused, changes, domains = list[float](), list[float](), list[float](), list[int]()
    for turn in range(TURNS):
        if world.is_full or turn % 3 == 0:
            changes.append(_cpu(world.release)[0])
        gang = world.gang()
        taken, found = _cpu(partial(world.ask, gang))
        if found is None:
            refused.append(taken)
            continue
        placed.append(taken)
        domains.append(len(found.domains))
        changes.append(_cpu(partial(world.admit, gang, found))[0])
    return placed, refused, changes, domains


def _each(change: Callable[[int], object]) -> float:
    begin = time.thread_time()
    for at in range(TURNS):
        change(at)
    return (time.thread_time() - begin) / TURNS


def _cpu(work: Callable[[], Found]) -> tuple[float, Found]:
    begin = time.thread_time()
    found = work()
    return time.thread_time() - begin, found
