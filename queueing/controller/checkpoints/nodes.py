"""Workloads on a node that goes away are evicted while their pods can still save.

Only those for which a policy holds: the others are left to whoever ends their pods.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from queueing.clock import Clock
from queueing.controller.checkpoints.effective_terms import effective
from queueing.controller.checkpoints.observing import owners
from queueing.controller.stores.objects import Objects
from queueing.controller.writing.events import Events
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.checkpoints.interruptions import interruption
from queueing.core.lifecycle.steps import Evict, EvictionReason
from queueing.core.names import Key
from queueing.kube.listing import list_all
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.kube.resources import PODS
from queueing.translate.checkpoints.nodes import Node, message, taints
from queueing.translate.labels import POD_JOB_UID
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import Meta, Wire
from queueing.translate.wire.workloads import Workload


class _Pod(Wire, frozen=True):
    metadata: Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """Who hears what happens to nodes."""

    node: Callable[[Key], None]
    """Has a node looked at."""
    workload: Callable[[Key], None]
    """Has the requests to a Workload looked at."""
    evicted: Callable[[Workload, str, str], None]
    """Hears of each eviction."""


class NodeReconciler:
    """Looks at one node at a time."""

    def __init__(
        self,
        objects: Objects,
        writes: LeaderWrites,
        events: Events,
        *,
        clock: Clock,
        hearing: Hearing,
    ) -> None:
        self._objects, self._writes, self._events = objects, writes, events
        self._clock, self._hearing = clock, hearing

    def on_node(self, event: WatchEvent[Node]) -> None:
        """Take in a node: whether it stays."""
        nodes = self._objects.checkpoints.nodes
        match event:
            case Added(object=found) | Modified(object=found):
                name = found.metadata.name
                known = nodes.get(name)
                end = interruption(taints(found), self._clock.now())
                if known is not None and end is not None and known.taint == end.taint:
                    return
                nodes[name] = end
                if known != end:
                    self._hearing.node(Key(name))
            case Deleted(key=key):
                nodes.pop(key, None)
            case Synced():
                pass

    async def look(self, key: Key) -> None:
        """Evict who should save before a node ends. Raises KubeError to be called again later."""
        checkpoints = self._objects.checkpoints
        end = checkpoints.nodes.get(key)
        if end is None:
            for asked in dict.fromkeys(checkpoints.open_workloads()):
                self._hearing.workload(asked)
            return
        if not checkpoints.policies:
            return
        for workload in await self._concerned(key):
            step = Evict(reason=EvictionReason.NODE_FAILURES, message=message(key, end))
            body = outbound.evict(workload, step, self._clock.now())
            await self._writes.patch_workload(workload, body)
            reason = f"EvictedDueTo{step.wire_reason}"
            self._events.workload(workload.metadata, reason, step.message, warning=True)
            self._hearing.evicted(workload, step.reason, step.cause)

    async def _concerned(self, node: str) -> list[Workload]:
        """Return the Workloads that run there, are to be asked, and do not leave already."""
        pods = await list_all(
            self._writes.client,
            PODS.within(),
            _Pod,
            label_selector=POD_JOB_UID,
            field_selector=f"spec.nodeName={node}",
        )
        found = {one.metadata.key: one for one in self._running(pods)}
        return [found[key] for key in sorted(found)]

    def _running(self, pods: Iterable[_Pod]) -> Iterator[Workload]:
        objects = self._objects
        for uid in dict.fromkeys(pod.metadata.labels[POD_JOB_UID] for pod in pods):
            for workload in objects.workloads_of(uid):
                status = workload.status
                if not status.is_true("Admitted") or status.is_true("Evicted"):
                    continue
                jobs = owners(objects, workload)
                if effective(objects, workload, jobs).terms is not None:
                    yield workload
