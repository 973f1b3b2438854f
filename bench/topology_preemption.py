"""What a head costs that preempts for a place: it needs a rack, and all racks are full."""

import time
from collections.abc import Iterator
from dataclasses import replace
from random import Random

from bench.results import Result, percentile
from queueing.controller.process.garbage_collection import postponed
from queueing.core.decisions import Preempt
from queueing.core.facts import (
    Admission,
    Fact,
    PodSet,
    PodSetAssignment,
    PreemptionPolicy,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import FlavorName, QueueName, ResourceName
from queueing.core.settings import Settings
from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain
from queueing.core.topology.requests import PODS, Placeable, TopologyRequest, in_order
from queueing.core.topology.tree import Node
from queueing.state.engine import Engine
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    pod_set,
    preemption,
    quota,
    workload,
)

BLOCKS, RACKS, HOSTS = 10, 10, 20
"""2,000 nodes: so many blocks, racks of each, and hosts of each rack."""
GANGS = (3, 3, 3, 3, 3, 3, 2)
"""Hosts of the gangs that run in each rack: 700 in all."""
QUEUES = 7
GPUS = 8
GPU, FLAVOR = ResourceName("nvidia.com/gpu"), FlavorName("default")
RACK = TopologyRequest(required="rack")
REPEATS = 5
ASKED = {"a whole rack": HOSTS, "half a rack": HOSTS // 2}


def heads(settings: Settings, *, name: str) -> list[Result]:
    """Measure heads that ask for a rack, or half of one, each in a cluster of its own."""
    return [
        _measured(settings, pods, name=f"preemption in a topology, {what}, {name}")
        for what, pods in ASKED.items()
    ]


def _measured(settings: Settings, pods: int, *, name: str) -> Result:
    taken: list[float] = []
    victims = 0
    for seed in range(REPEATS):
        with postponed():
            engine = Engine(settings)
            for fact in (*_objects(), *_running(Random(seed))):
                engine.observe(fact)
            engine.cycle(1.0)
            engine.observe(
                workload("head", pod_sets=(_gang(pods),), local_queue="team/owner", priority=9)
            )
        begin = time.thread_time()
        cycle = engine.cycle(10_000.0)
        taken.append(time.thread_time() - begin)
        victims = sum(isinstance(one, Preempt) for one in cycle.decisions)
    return Result(
        scenario=name,
        numbers={
            "nodes": BLOCKS * RACKS * HOSTS,
            "candidates": BLOCKS * RACKS * len(GANGS),
            "victims": victims,
            "CPU ms, median": percentile(taken, 0.5) * 1e3,
            "CPU ms, worst": max(taken) * 1e3,
        },
        aims={"CPU ms, worst": "under 200"},
    )


def _objects() -> Iterator[Fact]:
    yield namespace("team")
    yield TopologyFact(name="dc", levels=("block", "rack", HOSTNAME))
    yield replace(flavor(), topology="dc")
    for at in range(BLOCKS * RACKS * HOSTS):
        rack = at // HOSTS
        labels = {"block": f"b{rack // RACKS}", "rack": f"r{rack}", HOSTNAME: f"n{at}"}
        yield Node(name=f"n{at}", labels=labels, capacity={GPU: GPUS, PODS: 110})
    whole = BLOCKS * RACKS * HOSTS * GPUS
    rules = preemption(within=PreemptionPolicy.LOWER_PRIORITY, reclaim=PreemptionPolicy.ANY)
    for name, own in (("owner", whole), *((f"q{at}", 0) for at in range(QUEUES))):
        table = {str(FLAVOR): {str(GPU): quota(own)}}
        yield cluster_queue(name, table, cohort="all", preemption=rules)
        yield local_queue(f"team/{name}", name)


def _gang(pods: int) -> PodSet:
    placeable = Placeable(requests=in_order({GPU: GPUS}))
    made = pod_set({GPU: GPUS}, pods, wants_topology=True)
    return replace(made, topology=RACK, placeable=placeable)


def _running(random: Random) -> Iterator[WorkloadFact]:
    """Yield gangs that fill all racks, which began in any order."""
    times = list(range(BLOCKS * RACKS * len(GANGS)))
    random.shuffle(times)
    host = 0
    for at, created in enumerate(times):
        pods = GANGS[at % len(GANGS)]
        hosts = tuple(Domain((f"n{host + one}",), 1) for one in range(pods))
        host += pods
        held = PodSetAssignment(
            name=_gang(pods).name,
            count=pods,
            flavors={GPU: FLAVOR},
            usage={GPU: pods * GPUS},
            placement=Assignment((HOSTNAME,), hosts),
        )
        queue = f"q{at % QUEUES}"
        yield admitted(
            f"gang-{at}",
            pod_sets=(_gang(pods),),
            local_queue=f"team/{queue}",
            created=float(created),
            admission=Admission(cluster_queue=QueueName(queue), pod_sets=(held,)),
        )
