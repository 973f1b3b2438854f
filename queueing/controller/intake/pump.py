"""Handles watch events of Workloads and Jobs: stores the object, passes its fact to the engine.

Called by the reflectors of a term at each watch event, and by those who wrote, with the reply.

`Pump` also handles LimitRanges, RuntimeClasses and devices, on which a Workload's requests depend.
What admins write comes in by `admin_objects`.

Nothing here awaits, so that stores and engine agree whenever another task runs. The reply to a
write of ours is handled like a watch event of the object; whichever of the two comes second has the
same resourceVersion and changes nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol, TypeVar

import msgspec

from queueing.controller.intake.requests import Requests
from queueing.controller.stores.by_name import keep
from queueing.controller.stores.objects import Objects, owner_uids
from queueing.controller.work_queues import WorkQueues
from queueing.core.facts import Fact, FlavorFact, Gone, Kind, WorkloadFact
from queueing.core.names import FlavorName, Key
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.inbound import surroundings
from queueing.translate.inbound.workloads import workload_asking
from queueing.translate.jobs.composition import GroupKind, JobKind, job_of
from queueing.translate.jobs.gang_keys import gang_of_workload, is_of_pods
from queueing.translate.jobs.pods.view import PodJob
from queueing.translate.jobs.view import JobView
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.cluster import LimitRange, RuntimeClass
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload

_DEAD_MAX = 10_000
"""How many uids of deleted objects are remembered, so that the late reply to a write does not bring
such an object back."""


J = TypeVar("J", bound=JobView)


def _ignore() -> None:
    """Do nothing when called."""


class FactObserver(Protocol):
    """What the pump needs of the engine."""

    def observe(self, fact: Fact) -> bool: ...


class Pump:
    """Keeps `objects` and the engine up to date, and adds keys of what to look at to `queues`."""

    def __init__(
        self, objects: Objects, engine: FactObserver, queues: WorkQueues, rules: ResourceRules
    ) -> None:
        self._objects, self._engine, self._queues = objects, engine, queues
        self._additions = queues.features.facts
        self._requests = Requests(objects, rules)
        self._places_pods = rules.places_pods
        self._dead: dict[str, None] = {}
        self._held: set[Key] = set()
        self.readers: dict[GroupKind, Callable[[bytes], JobView]] = {}
        """What reads an object of a kind that is watched."""
        self.sees_variants: Callable[[], None] = _ignore
        """Called when a Workload is seen that has variants or is one."""
        self._workloads = msgspec.json.Decoder(Workload)

    # Workloads and Jobs -----------------------------------------------------------------------

    def on_workload(self, event: WatchEvent[Workload]) -> None:
        """Handle a watch event of a Workload."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._take_workload(found)
            case Deleted(key=key, uid=uid):
                self._lose_workload(Key(key), uid)
            case Synced():
                pass

    def absorb_workload(self, reply: bytes) -> None:
        """Handle the Workload that the API server returned to a write or a read."""
        self._take_workload(self._workloads.decode(reply))

    def absorb_made(self, reply: bytes) -> None:
        """Handle the Workload that was just made of one Job as it is: that needs no look for it."""
        self._take_workload(self._workloads.decode(reply), made=True)

    def hold(self, key: Key) -> None:
        """Keep a Workload's facts from the engine until `let_go`: a write's outcome is unknown.

        The engine would take the next fact for the answer, and a watch event may be older.
        """
        self._held.add(key)

    def let_go(self, key: Key) -> None:
        """Pass a Workload's facts to the engine again, beginning with the one as last seen."""
        self._held.discard(key)
        found = self._objects.workloads.get(key)
        if found is not None:
            self._observe_workload(key, found)

    def on_job(self, event: WatchEvent[J]) -> None:
        """Handle a watch event of an object of any kind of job."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._take_job(found)
            case Deleted(uid=uid):
                key = self._objects.job_keys.get(uid)
                known = self._objects.jobs.get(key) if key is not None else None
                if isinstance(known, PodJob) and known.may_go_on:
                    self.put_anew(replace(known, unseen=True))
                else:
                    self._lose_job(key, uid)
            case Synced():
                pass

    def lose_job(self, found: JobView) -> None:
        """Handle that a job is gone for good."""
        self._lose_job(found.key, found.metadata.uid)

    def forget_job(self, found: JobView) -> None:
        """Forget a job that is none of ours any more, unless it becomes one again."""
        self.attend_job(found.key)
        self._objects.drop_job(found.key)

    def absorb_job(self, reply: bytes, kind: JobKind) -> None:
        """Handle the object that the API server returned to a write or a read."""
        if (read := self.readers.get(kind.group_kind)) is not None:
            found = read(reply)
            known = self._objects.jobs.get(found.key)
            # That of a deletion may come after the watch has told of it.
            if isinstance(known, PodJob) and known.unseen and isinstance(found, PodJob):
                found = replace(found, unseen=found.is_marked)
            self._take_job(found)

    def _take_workload(self, found: Workload, *, made: bool = False) -> None:
        meta, objects = found.metadata, self._objects
        known = objects.workload_keys.get(meta.uid)
        is_old = known is not None and not meta.is_newer_than(objects.workloads[known].metadata)
        if is_old or meta.uid in self._dead:
            return
        key = objects.put_workload(found)
        self._observe_workload(key, found)
        if made:
            self._queues.workload(key)
        else:
            self._look_at(key, found, objects.gangs.of_workload.get(key))

    def _lose_workload(self, key: Key, uid: str) -> None:
        self._bury(uid)
        found = self._objects.workloads.get(key)
        if found is None or found.metadata.uid != uid:
            return
        self._objects.drop_workload(key)
        self._objects.devices.holdings.forget(uid)
        self._requests.forget(key)
        self.observe(Gone(Kind.WORKLOAD, key))
        self._look_at(key, found, gang_of_workload(found.metadata))

    def attend(self, found: Workload) -> None:
        """Ask for a Workload to be reconciled, with its gang and the Jobs that own or name it."""
        self._look_at(found.metadata.key, found, gang_of_workload(found.metadata))

    def attend_key(self, key: Key) -> None:
        """Ask for the same by the key of a Workload; nothing is done if it is gone."""
        found = self._objects.workloads.get(key)
        if found is not None:
            self.attend(found)

    def _look_at(self, key: Key, found: Workload, gang: Key | None) -> None:
        meta, objects = found.metadata, self._objects
        self._queues.workload(key)
        uids = owner_uids(meta)
        if gang is not None:
            self._queues.gang(gang)
        if gang is not None and not is_of_pods(gang):
            uids = (*uids, *(owner.uid for owner in meta.owner_references))
        jobs = dict.fromkeys(map(objects.job_keys.get, uids))
        for job in (*jobs, *objects.jobs_by_prebuilt.groups.get(key, ())):
            if job is not None:
                self.attend_job(job)

    def _take_job(self, found: JobView) -> None:
        meta, known = found.metadata, self._objects.jobs.get(found.key)
        is_old = known is not None and not meta.is_newer_than(known.metadata)
        if is_old or meta.uid in self._dead:
            return
        if known is not None and found.only_waits_as(known):
            self._objects.jobs[found.key] = found  # what it is found by is as it was
        else:
            self.put_anew(found)

    def put_anew(self, found: JobView) -> None:
        """Store a Job that is new, or read in another way now, in place of the one known before."""
        known = self._objects.jobs.get(found.key)
        left = () if known is None else self._objects.gangs.of(known)
        self._objects.put_job(found)
        self.attend_job(found.key, left)

    def forget_kind(self, of: GroupKind) -> None:
        """Forget all objects of a kind, which are followed no more; look at their Workloads."""
        for key, found in list(self._objects.jobs.items()):
            if found.kind.group_kind == of:
                self.attend_job(key)
                self._objects.drop_job(key)
                for owned in self._objects.workloads_by_owner[found.metadata.uid]:
                    self._queues.workload(owned)

    def attend_workloads_of(self, of: GroupKind) -> None:
        """Ask for the Workloads of a kind to be reconciled: their jobs may be gone with it."""
        for key, found in self._objects.workloads.items():
            job = job_of(found)
            if job is not None and job.group_kind == of:
                self._queues.workload(key)

    def _lose_job(self, key: Key | None, uid: str) -> None:
        self._bury(uid)
        found = self._objects.jobs.get(key) if key is not None else None
        if key is not None and found is not None and found.metadata.uid == uid:
            self.attend_job(key)
            self._objects.drop_job(key)
        for owned in self._objects.workloads_by_owner[uid]:
            self._queues.workload(owned)

    def attend_job(self, key: Key, left: Iterable[Key] = ()) -> None:
        """Ask for a Job to be reconciled, with the Jobs that it owns and the gangs it is in.

        `left` are gangs that it may have left.
        """
        objects = self._objects
        found = objects.jobs.get(key)
        if found is not None:
            uid = found.metadata.uid
            self._queues.job(key)
            for child in objects.jobs_by_owner.groups.get(uid, ()):
                self._queues.job(child)
            for gang in dict.fromkeys((*left, *objects.gangs.of(found))):
                self._queues.gang(gang)

    def _bury(self, uid: str) -> None:
        self._dead[uid] = None
        if len(self._dead) > _DEAD_MAX:
            del self._dead[next(iter(self._dead))]

    # What a Workload's requests depend on -----------------------------------------------------

    def on_limit_range(self, event: WatchEvent[LimitRange]) -> None:
        """Translate the namespace's Workloads again, by its LimitRanges as they are now."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._objects.limit_ranges[found.metadata.key] = found
                self._reobserve(found.metadata.namespace)
            case Deleted(key=key):
                self._objects.limit_ranges.pop(Key(key), None)
                self._reobserve(key.partition("/")[0])
            case Synced():
                pass

    def on_runtime_class(self, event: WatchEvent[RuntimeClass]) -> None:
        """Translate all Workloads again: a RuntimeClass adds its overhead to pods' requests."""
        if keep(event, self._objects.runtime_classes):
            for namespace in self._requests.namespaces():
                self._reobserve(namespace)

    def _reobserve(self, namespace: str) -> None:
        self._requests.changed(namespace)
        for key in self._objects.workloads_by_namespace[namespace]:
            self._observe_workload(key, self._objects.workloads[key])

    def _observe_workload(self, key: Key, found: Workload) -> None:
        fact = self._fact_of(key, found)
        before = self._objects.facts.get(key)
        if fact.unserved != (before.unserved if before is not None else ""):
            self._queues.workload(key)  # its conditions say so
        if fact.has_variants or fact.variant is not None:
            self.sees_variants()
        self._objects.facts[key] = fact
        self._objects.workload_counts.put(fact)
        if key not in self._held:
            self.observe(fact)

    def _fact_of(self, key: Key, found: Workload) -> WorkloadFact:
        asks, around = self._requests.of(key, found)
        if asks.shapes and self._objects.devices.learn(asks.shapes):
            self._observe_flavors()
        fact = workload_asking(found, asks, key)
        if asks.shapes and not fact.holds_quota:
            fact = replace(fact, unserved=self._objects.devices.lack(asks.shapes))
        for add in self._additions:
            fact = add(found, fact, around)
        return fact

    def charge_anew(self, key: Key) -> None:
        """Pass a Workload's fact to the engine again if what features add to it has changed."""
        found, fact = self._objects.workloads.get(key), self._objects.facts.get(key)
        if found is not None and fact is not None and self._fact_of(key, found) != fact:
            self._observe_workload(key, found)

    def weigh_anew(self) -> None:
        """Pass facts of Workloads that hold quota to the engine again if their stakes have changed.

        A stake is what preempting the Workload would cost (`core.stakes`). It depends on the
        CheckpointPolicy that is effective for it.
        """
        for key, fact in list(self._objects.facts.items()):
            if fact.holds_quota:
                self.charge_anew(key)

    # Devices (DRA) ----------------------------------------------------------------------------

    def flavor(self, found: ResourceFlavor) -> FlavorFact:
        """Return the fact of a ResourceFlavor, with what its devices offer for each request."""
        devices = self._objects.devices
        beside = devices.on_nodes.beside(FlavorName(found.metadata.name))
        return surroundings.flavor(
            found, devices.offers_of(found), beside, places_pods=self._places_pods
        )

    def _observe_flavors(self) -> None:
        """Pass all ResourceFlavors to the engine again, with what their devices offer now."""
        for found in self._objects.flavors.values():
            self.observe(self.flavor(found))

    def devices_changed(self, *, rules: bool) -> None:
        """Work out again what flavors offer, because devices changed.

        With `rules`, DeviceFlavors or DeviceClasses changed too, so that Workloads are translated
        again.
        """
        devices = self._objects.devices
        devices.forget_shapes_but(self._requests.shapes())
        if rules:
            self.translate_anew()
        self._observe_flavors()
        self._observe_lacks()

    def translate_anew(self) -> None:
        """Translate all Workloads again, because what is read of their pods has changed."""
        self._requests.changed()
        for key, found in list(self._objects.workloads.items()):
            self._observe_workload(key, found)

    def _observe_lacks(self) -> None:
        """Pass on the facts of Workloads for which the cluster has too few devices, or had."""
        for key, shapes in list(self._requests.with_devices()):
            found, fact = self._objects.workloads[key], self._objects.facts[key]
            if not fact.holds_quota and fact.unserved != self._objects.devices.lack(shapes):
                self._observe_workload(key, found)

    def claims_changed(self, found: Workload) -> None:
        """Pass a Workload's fact to the engine again, charged for what its claims hold now."""
        self._observe_workload(found.metadata.key, found)

    def forget_users_devices(self, namespace: str) -> None:
        """Translate Workloads that come from now on by a namespace's claims as they are now.

        Called at once when users' claims or templates changed; `users_devices_changed` follows a
        moment later for the Workloads that were translated before.
        """
        self._requests.changed(namespace)

    def users_devices_changed(self, namespace: str) -> None:
        """Translate a namespace's Workloads again, by users' claims and templates as they are."""
        self._reobserve(namespace)

    def observe(self, fact: Fact) -> None:
        """Pass a fact to the engine, and ask for a cycle if it has to decide something."""
        if self._engine.observe(fact):
            self._queues.cycle.set()
