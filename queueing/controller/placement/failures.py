"""Notes in Workloads which of their nodes failed; the engine finds other places for the pods.

A node is judged for each Workload alone (`core.topology.health`): whether pods of it still run
there may decide. The name of a failed node is written into `status.unhealthyNodes`, and removed if
the node recovers before the pods have another place. With a second failed node the Workload is
evicted. Of a family the variants are judged, by the pods of their parent. Pods that are bound for a
node which they can never start on are ended, so that others are made for the new place.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from queueing.controller.placement.placed_workloads import PlacedWorkloads, named
from queueing.controller.placement.pods import Pods
from queueing.controller.term import Term
from queueing.controller.writing.leader_writes import all_of
from queueing.core.names import Key
from queueing.core.selectors import Toleration
from queueing.core.topology.assignment import HOSTNAME
from queueing.core.topology.health import FINE, HealthRules, NodeHealth, Verdict, verdict
from queueing.kube.errors import NotFoundError
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.kube.resources import PODS
from queueing.kube.workqueue import WorkQueue
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.inbound.given_hosts import hosts_of, tolerations_on
from queueing.translate.inbound.placement import health
from queueing.translate.jobs.placed_pods import PlacedPod, is_bound_for
from queueing.translate.jobs.variants import has_variants
from queueing.translate.labels import POD_SET
from queueing.translate.outbound import admissions
from queueing.translate.outbound import workloads as outbound
from queueing.translate.outbound.pods import NEVER_STARTS, end
from queueing.translate.wire.nodes import Node
from queueing.translate.wire.workloads import Workload


class Failures:
    """Handles watch events of nodes, and looks at Workloads that were given one that is unwell."""

    def __init__(self, term: Term, placed: PlacedWorkloads, pods: Pods, rules: HealthRules) -> None:
        self._term, self._placed, self._pods, self._rules = term, placed, pods, rules
        self._nodes: dict[str, dict[str, NodeHealth | None]] = {}
        """Hostname → node → how it is: the first by name speaks for those that share a hostname."""
        self._hosts: dict[str, str] = {}
        """Node → hostname."""
        self._marked: set[Key] = set()
        """Workloads of which a node had failed when they last changed."""
        self.queue: WorkQueue[Key] = WorkQueue()

    def on_node(self, event: WatchEvent[Node]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                name = found.metadata.name
                host = found.metadata.labels.get(HOSTNAME, name)
                if self._hosts.get(name, host) != host:
                    self._forget(name)
                self._hosts[name] = host
                nodes, now = self._nodes.setdefault(host, {}), health(found)
                if name not in nodes or nodes[name] != now:
                    nodes[name] = now
                    self._attend(host)
            case Deleted(key=name):
                self._forget(name)
            case Synced():
                pass

    def _forget(self, name: str) -> None:
        host = self._hosts.pop(name, None)
        if host is None:
            return
        del self._nodes[host][name]
        if not self._nodes[host]:
            del self._nodes[host]
        self._attend(host)

    def _attend(self, host: str) -> None:
        for key in self._placed.on(host):
            self.queue.add(key)

    def workload_changed(self, workload: Workload) -> None:
        """Look at a placed Workload that has changed if a node of it may fail it, or did."""
        key, marked = workload.metadata.key, bool(workload.status.unhealthy_nodes)
        if marked or key in self._marked or self._may_fail(workload, hosts_of(workload)):
            self.queue.add(key)
        self._marked.discard(key)
        if marked:
            self._marked.add(key)

    def forget(self, key: Key) -> None:
        """Forget a Workload that is not placed any more."""
        self._marked.discard(key)

    def pod_changed(self, name: Key, pod: PlacedPod) -> None:
        """Look at the Workload of a pod if the node that it is on, or bound for, may fail it."""
        host = self._hosts.get(pod.spec.node_name) or pod.spec.node_selector.get(HOSTNAME, "")
        if pod.is_gated:
            return
        for workload in self._placed.started(name):
            if not host or self._may_fail(workload, [host]):
                self.queue.add(workload.metadata.key)
        for key in self._placed.variants(name):
            self.queue.add(key)

    def _may_fail(self, workload: Workload, hosts: Iterable[str]) -> bool:
        """Say whether one of some nodes would fail a Workload of which no pod runs there."""
        pod_sets = [one.name for one in workload.spec.pod_sets]
        tolerations = tolerations_on(workload, pod_sets, self._term.objects.flavors)
        return any(self._judge(one, tolerations, runs=False) != FINE for one in hosts)

    def _health(self, host: str) -> NodeHealth | None:
        nodes = self._nodes.get(host)
        return nodes[min(nodes)] if nodes else None

    async def look(self, key: Key) -> None:
        """Note which nodes of a Workload failed. Raises KubeError to be called again."""
        workload = self._placed.get(key)
        if workload is None or has_variants(workload.metadata):  # a parent
            return
        started = self._pods.of(named(workload)) if self._placed.has_pods(workload) else ()
        pods = [one for one in started if not one.has_ended]
        occupied = {
            self._hosts.get(one.spec.node_name) for one in pods if not one.metadata.deleting
        }
        hosts = {host: tuple(pod_sets) for host, pod_sets in hosts_of(workload).items()}
        flavors = self._term.objects.flavors
        tolerated = {one: tolerations_on(workload, one, flavors) for one in set(hosts.values())}
        judged = {
            host: self._judge(host, tolerated[pod_sets], runs=host in occupied)
            for host, pod_sets in hosts.items()
        }
        times = [one.look_again_at for one in judged.values() if one.look_again_at is not None]
        if times:
            self.queue.add_after(key, min(times) - self._term.clock.now())
        if not await self._note(workload, judged):
            sent = {name for pod_sets in hosts.values() for name in pod_sets}
            mine = [one for one in pods if one.metadata.labels.get(POD_SET) in sent]
            await all_of(map(self._end, _never_to_start(mine, judged)))

    def _judge(
        self, host: str, tolerations: Iterable[Sequence[Toleration]], *, runs: bool
    ) -> Verdict:
        now = self._term.clock.now()
        return verdict(self._health(host), tolerations, self._rules, runs=runs, now=now)

    async def _note(self, workload: Workload, judged: Mapping[str, Verdict]) -> bool:
        """Write which nodes failed, or evict for a second one; True if it is evicted."""
        before = [one.name for one in workload.status.unhealthy_nodes]
        open_still = [one for one in before if one in judged and judged[one].fails is not False]
        failed = [one for one in judged if judged[one].fails and one not in before]
        names, now = [*open_still, *failed], self._term.clock.now()
        if len(names) > 1:
            await self._evict(workload, names)
            return True
        if names != before:
            body = admissions.note_failed_nodes(workload, names, now)
            await self._term.writes.patch_workload(workload, body)
        return False

    async def _evict(self, workload: Workload, names: Sequence[str]) -> None:
        told = ", ".join(names)
        step = Evict(
            reason=EvictionReason.NODE_FAILURES,
            message="Workload eviction triggered due to multiple TAS assigned node failures,"
            f" including: {told}",
        )
        body = outbound.evict(workload, step, self._term.clock.now())
        await self._term.writes.patch_workload(workload, body)
        self._term.events.evicted(workload.metadata, step)
        self._term.reporter.evicted(workload, step.reason, step.cause)

    async def _end(self, pod: PlacedPod) -> None:
        meta, now = pod.metadata, self._term.clock.now()
        try:
            target = PODS.at(meta.name, meta.namespace, "status")
            await self._term.writes.patch(target, end(pod, now))
        except NotFoundError:
            return
        self._term.events.pod(meta, "PodTerminatedByKueue", NEVER_STARTS)


def _never_to_start(
    pods: Iterable[PlacedPod], judged: Mapping[str, Verdict]
) -> Iterator[PlacedPod]:
    """Yield pods that are bound for a failed node, or for one that their Workload left.

    They must be of pod sets that nodes were chosen for: others may name a node of their own.
    """
    for pod in pods:
        host = is_bound_for(pod)
        if host and (host not in judged or judged[host].ends_waiting):
            yield pod
