"""Handles watch events of what admins write: queues, cohorts, flavors, checks, classes and so on.

Each event becomes a fact for the engine, and the keys of the Workloads and Jobs that must be
reconciled because of it.
"""

from collections.abc import Callable, Iterable, MutableMapping
from typing import TypeVar

from queueing.checkpoints.wire.names import POLICY
from queueing.controller.intake.pump import Pump
from queueing.controller.stores.by_name import keep, known, name_of
from queueing.controller.stores.objects import Objects
from queueing.controller.work_queues import WorkQueues
from queueing.core.facts import Fact, Gone, Kind
from queueing.core.names import Key
from queueing.kube.objects import HasMetadata
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.inbound import queues, surroundings
from queueing.translate.wire import queues as wire
from queueing.translate.wire.cluster import Namespace, PriorityClass
from queueing.translate.wire.meta import Meta

W = TypeVar("W", bound=HasMetadata)


class AdminObjects:
    """The handlers; facts go through the pump, keys to `queues`.

    `misconfigured` is told which part of a Cohort's spec cannot be used.
    """

    def __init__(
        self,
        objects: Objects,
        pump: Pump,
        queues: WorkQueues,
        misconfigured: Callable[[Meta, str], None] = lambda _meta, _text: None,
    ) -> None:
        self._objects, self._pump, self._queues = objects, pump, queues
        self._misconfigured = misconfigured

    def on_cluster_queue(self, event: WatchEvent[wire.ClusterQueue]) -> None:
        """Store a ClusterQueue; reconcile its Workloads if what changed of it concerns them.

        Another CheckpointPolicy changes what preemption would cost, so that is worked out again.
        """
        store = self._objects.cluster_queues
        before = known(event, store)
        self._admin(event, store, queues.cluster_queue, Kind.CLUSTER_QUEUE)
        after = known(event, store)
        if before is None or after is None or _changes_lives(before, after):
            for key in self._objects.concerned_by(name_of(event)):
                self._queues.workload(key)
        if _policy_of(before) != _policy_of(after):
            self._pump.weigh_anew()
        self._queues.finalizers.set()

    def on_local_queue(self, event: WatchEvent[wire.LocalQueue]) -> None:
        """Store a LocalQueue; reconcile its Workloads if its stop policy changed."""
        match event:
            case Added(object=found) | Modified(object=found):
                key = found.metadata.key
                before = self._objects.local_queues.get(key)
                self._objects.local_queues[key] = found
                self._pump.observe(queues.local_queue(found))
                if before is None or before.spec.stop_policy != found.spec.stop_policy:
                    self._tell_queue(key)
            case Deleted(key=gone):
                self._objects.local_queues.pop(Key(gone), None)
                self._pump.observe(Gone(Kind.LOCAL_QUEUE, gone))
            case Synced():
                pass

    def on_cohort(self, event: WatchEvent[wire.Cohort]) -> None:
        """Store a Cohort; record an Event if a part of a new spec cannot be used and is ignored."""
        store = self._objects.cohorts
        before = known(event, store)
        self._admin(event, store, queues.cohort, Kind.COHORT)
        after = known(event, store)
        if after is not None and (before is None or before.spec != after.spec):
            trouble = queues.cohort(after).misconfigured
            if trouble:
                self._misconfigured(after.metadata, trouble)

    def on_flavor(self, event: WatchEvent[wire.ResourceFlavor]) -> None:
        """Store a ResourceFlavor; its node labels decide which devices it offers."""
        self._objects.devices.forget_flavor(name_of(event))
        self._admin(event, self._objects.flavors, self._pump.flavor, Kind.FLAVOR)
        self._queues.finalizers.set()

    def on_check(self, event: WatchEvent[wire.AdmissionCheck]) -> None:
        """Store an AdmissionCheck."""
        self._admin(event, self._objects.checks, surroundings.check, Kind.CHECK)
        self._queues.finalizers.set()

    def on_topology(self, event: WatchEvent[wire.Topology]) -> None:
        """Store a Topology."""
        self._admin(event, self._objects.topologies, surroundings.topology, Kind.TOPOLOGY)
        self._queues.finalizers.set()

    def on_namespace(self, event: WatchEvent[Namespace]) -> None:
        """Store a Namespace; if its labels changed, reconcile its Jobs, which may be managed."""
        store = self._objects.namespaces
        before = known(event, store)
        self._admin(event, store, surroundings.namespace, Kind.NAMESPACE)
        after = known(event, store)
        if after is not None and (
            before is None or before.metadata.labels != after.metadata.labels
        ):
            self._tell_jobs(self._objects.jobs_by_namespace[name_of(event)])

    def on_workload_priority_class(self, event: WatchEvent[wire.WorkloadPriorityClass]) -> None:
        """Store a WorkloadPriorityClass; reconcile its Workloads, and Jobs that may wait for it."""
        if not keep(event, self._objects.workload_priority_classes):
            return
        name = name_of(event)
        for key, found in self._objects.workloads.items():
            reference = found.spec.priority_class_ref
            if reference is not None and reference.name == name:
                self._queues.workload(key)
        self._tell_jobs(self._objects.jobs)

    def on_priority_class(self, event: WatchEvent[PriorityClass]) -> None:
        """Store a PriorityClass; reconcile all Jobs, some of which may wait for it."""
        if keep(event, self._objects.priority_classes):
            self._tell_jobs(self._objects.jobs)

    def _admin(
        self,
        event: WatchEvent[W],
        store: MutableMapping[str, W],
        translate: Callable[[W], Fact],
        kind: Kind,
    ) -> None:
        if not keep(event, store):
            return
        found = store.get(name_of(event))
        self._pump.observe(translate(found) if found is not None else Gone(kind, name_of(event)))

    def _tell_queue(self, key: Key) -> None:
        for workload in self._objects.workloads_by_queue[key]:
            self._queues.workload(workload)

    def _tell_jobs(self, keys: Iterable[Key]) -> None:
        for key in list(keys):
            self._pump.attend_job(key)


def _policy_of(queue: wire.ClusterQueue | None) -> str:
    """Return the CheckpointPolicy that a ClusterQueue's annotation names; empty without one."""
    return "" if queue is None else queue.metadata.annotations.get(POLICY, "")


def _changes_lives(before: wire.ClusterQueue, after: wire.ClusterQueue) -> bool:
    """Say whether the Workloads of a queue must be reconciled: evicted, checked or warned anew."""
    return (
        before.spec.stop_policy != after.spec.stop_policy
        or before.spec.admission_checks_strategy != after.spec.admission_checks_strategy
        or _offers(before) != _offers(after)
    )


def _offers(queue: wire.ClusterQueue) -> list[tuple[list[str], list[str]]]:
    """Return the resources and flavors that a queue has quota for, whatever the amounts."""
    return [
        (group.covered_resources, [one.name for one in group.flavors])
        for group in queue.spec.resource_groups
    ]
