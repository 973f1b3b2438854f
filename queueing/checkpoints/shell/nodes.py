"""Evicts Workloads from a node that will go away, while their pods can still save.

A taint of the node tells of its end (`rules.interruptions`). Only Workloads with a
usable CheckpointPolicy are evicted; the others run until their pods are ended.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queueing.checkpoints.rules.interruptions import interruption
from queueing.checkpoints.shell.effective_terms import effective
from queueing.checkpoints.shell.observing import owners
from queueing.checkpoints.wire.nodes import Node, message, taints
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.kube.listing import list_all
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.kube.resources import PODS
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.labels import POD_JOB_UID, POD_SET, POD_WORKLOAD
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.meta import Identified, Meta
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReconciler:
    """Stores which nodes will go away, and reconciles one node at a time."""

    term: Term

    def on_node(self, event: WatchEvent[Node]) -> None:
        """Handle a watch event of a node; only whether it will go away is stored."""
        nodes = self.term.objects.checkpoints.nodes
        match event:
            case Added(object=found) | Modified(object=found):
                name = found.metadata.name
                known = nodes.get(name)
                end = interruption(taints(found), self.term.clock.now())
                if known is not None and end is not None and known.taint == end.taint:
                    return
                nodes[name] = end
                if known != end:
                    self.term.queues.nodes.add(Key(name))
            case Deleted(key=key):
                nodes.pop(key, None)
            case Synced():
                pass

    async def look(self, key: Key) -> None:
        """Evict the Workloads of a node that will go away. Raises KubeError to be called again.

        For a node that stays after all, ask for all open requests to be reconciled: some may have
        been made because of it.
        """
        checkpoints = self.term.objects.checkpoints
        end = checkpoints.nodes.get(key)
        if end is None:
            for asked in dict.fromkeys(checkpoints.open_workloads()):
                self.term.queues.checkpoints.add(asked)
            return
        if not checkpoints.policies:
            return
        for workload in await self._concerned(key):
            step = Evict(reason=EvictionReason.NODE_FAILURES, message=message(key, end))
            body = outbound.evict(workload, step, self.term.clock.now())
            await self.term.writes.patch_workload(workload, body)
            self.term.events.evicted(workload.metadata, step, warning=True)
            self.term.reporter.evicted(workload, step.reason, step.cause)

    async def _concerned(self, node: str) -> list[Workload]:
        """Return the admitted Workloads with pods on a node that have terms and are not evicted."""
        pods = await list_all(
            self.term.writes.client,
            PODS.within(),
            Identified,
            label_selector=POD_SET,
            field_selector=f"spec.nodeName={node}",
        )
        found = {one.metadata.key: one for one in self._running(pods)}
        return [found[key] for key in sorted(found)]

    def _running(self, pods: Iterable[Identified]) -> Iterator[Workload]:
        objects = self.term.objects
        for key in dict.fromkeys(key for pod in pods for key in self._workloads_of(pod.metadata)):
            workload = objects.workloads.get(key)
            if workload is None or not workload.status.is_true("Admitted"):
                continue
            if workload.status.is_true("Evicted"):
                continue
            jobs = owners(objects, workload)
            if effective(objects, workload, jobs).terms is not None:
                yield workload

    def _workloads_of(self, pod: Meta) -> Iterator[Key]:
        """Yield the Workload that a pod was started by; one of another controller may not say."""
        named = pod.annotations.get(POD_WORKLOAD)
        if named:
            yield Key(f"{pod.namespace}/{named}")
        for one in self.term.objects.workloads_for(pod.labels.get(POD_JOB_UID, "")):
            yield one.metadata.key
