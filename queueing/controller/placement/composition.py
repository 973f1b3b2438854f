"""Puts the package together for one term: what it watches once nodes matter for a flavor."""

import asyncio
from typing import Any, NoReturn

from queueing.controller.intake.pump import Pump
from queueing.controller.placement.failures import Failures
from queueing.controller.placement.nodes import Nodes
from queueing.controller.placement.placed_workloads import PlacedWorkloads
from queueing.controller.placement.pods import Pods
from queueing.controller.placement.ungating import Ungating
from queueing.controller.term import Term
from queueing.controller.workers import Workers
from queueing.core.names import Key
from queueing.core.topology.health import HealthRules
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.reflector import Reflector, ReflectorSettings, WatchEvent
from queueing.translate.inbound.surroundings import needs_nodes
from queueing.translate.jobs.placed_pods import PlacedPod
from queueing.translate.labels import POD_SET
from queueing.translate.wire.nodes import BoundPod, Node

FREED_S = 1.0
"""Seconds between two times that the engine is told of room that pods gave back."""
WORKERS = 4
"""For how many Workloads pods are let go at the same time."""
BOUND = "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"


class Placement:
    """The parts of the package in one term of leadership."""

    def __init__(self, term: Term, pump: Pump, rules: HealthRules | None) -> None:
        """`rules` say when nodes fail their pods; None where that changes nothing."""
        self._objects, self._pump = term.objects, pump
        self._nodes = Nodes(pump.observe)
        self._placed, self._pods = PlacedWorkloads(term.objects), Pods()
        self._ungating = Ungating(term, self._placed, self._pods)
        self._failures = None if rules is None else Failures(term, self._placed, self._pods, rules)
        self._queues = term.queues
        self._needed = asyncio.Event()

    def flavors_changed(self) -> None:
        """Take part from now on if it matters for a flavor which nodes there are."""
        places = any(map(needs_nodes, self._objects.flavors.values()))
        if places and not self._objects.places_pods:
            self._objects.places_pods = True
            self._pump.translate_anew()
            self._needed.set()

    async def follow(self, group: asyncio.TaskGroup, client: Client) -> None:
        """Start the reflectors; return when nodes are listed, if any flavor has a topology."""
        if self._needed.is_set():
            await self._start(group, client)
        else:
            group.create_task(self._start_when_needed(group, client), name="nodes to come")

    async def _start_when_needed(self, group: asyncio.TaskGroup, client: Client) -> None:
        await self._needed.wait()
        await self._start(group, client)

    async def _start(self, group: asyncio.TaskGroup, client: Client) -> None:
        """Follow pods first: a node counts with what is used of it."""
        self._pods.hear.append(self._ungating.pod_changed)
        if self._failures is not None:
            self._pods.hear.append(self._failures.pod_changed)
        for key in self._objects.workloads:
            self._workload_changed(key)
        self._queues.features.workload_changed.append(self._workload_changed)
        pods = resources.PODS.within()
        marked = ReflectorSettings(label_selector=POD_SET)
        bound = ReflectorSettings(field_selector=BOUND)
        first: list[Reflector[Any]] = [
            Reflector(client, pods, BoundPod, self._nodes.on_pod, bound),
            Reflector(client, pods, PlacedPod, self._pods.on_pod, marked),
        ]
        for one in first:
            group.create_task(one.run(), name="reflector pods")
        for one in first:
            await one.synced.wait()
        nodes = Reflector(client, resources.NODES.within(), Node, self._on_node)
        group.create_task(nodes.run(), name="reflector nodes")
        await nodes.synced.wait()
        Workers("placed pods", self._ungating.queue, self._ungating.look, WORKERS).start(group)
        if self._failures is not None:
            Workers("nodes", self._failures.queue, self._failures.look, WORKERS).start(group)
        group.create_task(self._tell_freed(), name="room on nodes")

    def _on_node(self, event: WatchEvent[Node]) -> None:
        self._nodes.on_node(event)
        if self._failures is not None:
            self._failures.on_node(event)

    def _workload_changed(self, key: Key) -> None:
        found = self._placed.changed(key)
        if found is not None:
            self._ungating.workload_changed(found)
        if self._failures is None:
            return
        if found is None:
            self._failures.forget(key)
        else:
            self._failures.workload_changed(found)

    async def _tell_freed(self) -> NoReturn:
        while True:
            await asyncio.sleep(FREED_S)
            self._nodes.tell_freed()
