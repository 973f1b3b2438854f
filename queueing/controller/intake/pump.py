"""Watch events → objects → facts → engine, and the keys that reconcilers must look at again.

`Pump` takes in Workloads, Jobs, and what a Workload's requests depend on; what admins write comes
by `admin_objects`.

Synchronous throughout: between two awaits of the process everybody sees the same world. Replies to
our own writes come in the same way as events, and whichever comes second changes nothing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import msgspec

from queueing.controller.checkpoints.effective_terms import stake_of
from queueing.controller.checkpoints.hook_charges import used_beside
from queueing.controller.intake.requests import Requests
from queueing.controller.stores.by_name import keep
from queueing.controller.stores.objects import Objects, owner_uids
from queueing.core.facts import Fact, FlavorFact, Gone, Kind
from queueing.core.names import Key
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.inbound import surroundings
from queueing.translate.inbound.workloads import workload_asking
from queueing.translate.jobs.gang import gang_key
from queueing.translate.transformations import ResourceRules
from queueing.translate.wire.cluster import LimitRange, RuntimeClass
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload

_DEAD_MAX = 10_000
"""Lives remembered as over, so that a late reply does not bring an object back."""


class Watched(Protocol):
    """An object with metadata."""

    @property
    def metadata(self) -> Meta: ...


W = TypeVar("W", bound=Watched)


class FactObserver(Protocol):
    """What the pump needs of the engine."""

    def observe(self, fact: Fact) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Whom to tell that something must be looked at again."""

    job: Callable[[Key], None]
    workload: Callable[[Key], None]
    gang: Callable[[Key], None]
    finalizers: Callable[[], None]
    """Queues and flavors may have become free, or have to be held."""
    cycle: Callable[[], None]
    cohort: Callable[[Meta, str], None]
    """A Cohort says something that cannot be used, and what that is."""


class Pump:
    """Takes in what happens, and keeps `objects` and the engine up to date."""

    def __init__(
        self, objects: Objects, engine: FactObserver, attention: Attention, rules: ResourceRules
    ) -> None:
        self._objects, self._engine, self._attention = objects, engine, attention
        self._requests = Requests(objects, rules, self._observe_flavors)
        self._places_pods = rules.places_pods
        self._dead: dict[str, None] = {}
        self._held: set[Key] = set()
        self._workloads = msgspec.json.Decoder(Workload)
        self._jobs = msgspec.json.Decoder(Job)

    # Workloads and Jobs -----------------------------------------------------------------------

    def on_workload(self, event: WatchEvent[Workload]) -> None:
        """Take in a watch event of a Workload."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._take_workload(found)
            case Deleted(key=key, uid=uid):
                self._lose_workload(Key(key), uid)
            case Synced():
                pass

    def absorb_workload(self, reply: bytes) -> None:
        """Take in a Workload as a write returned it."""
        self._take_workload(self._workloads.decode(reply))

    def hold(self, key: Key) -> None:
        """Tell the engine nothing of a Workload until `let_go`: nobody knows what was written."""
        self._held.add(key)

    def let_go(self, key: Key) -> None:
        """Tell the engine of a Workload again, beginning with what is known by now."""
        self._held.discard(key)
        found = self._objects.workloads.get(key)
        if found is not None:
            self._observe_workload(found)

    def on_job(self, event: WatchEvent[Job]) -> None:
        """Take in a watch event of a Job."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._take_job(found)
            case Deleted(key=key, uid=uid):
                self._lose_job(Key(key), uid)
            case Synced():
                pass

    def absorb_job(self, reply: bytes) -> None:
        """Take in a Job as a write returned it."""
        self._take_job(self._jobs.decode(reply))

    def _take_workload(self, found: Workload) -> None:
        key = found.metadata.key
        if self._is_old(found.metadata, self._objects.workloads.get(key)):
            return
        self._objects.put_workload(found)
        self._observe_workload(found)
        self._look_at(found)

    def _lose_workload(self, key: Key, uid: str) -> None:
        self._bury(uid)
        found = self._objects.workloads.get(key)
        if found is None or found.metadata.uid != uid:
            return
        self._objects.drop_workload(key)
        self._objects.devices.holdings.forget(uid)
        self._requests.forget(key)
        self.observe(Gone(Kind.WORKLOAD, key))
        self._look_at(found)

    def attend(self, found: Workload) -> None:
        """Have a Workload looked at, and all that it belongs to."""
        self._look_at(found)

    def _look_at(self, found: Workload) -> None:
        self._attention.workload(found.metadata.key)
        gang = gang_key(found.metadata)
        if gang is not None:
            self._attention.gang(gang)
        uids = dict.fromkeys(owner_uids(found.metadata))
        if gang is not None:
            uids |= dict.fromkeys(owner.uid for owner in found.metadata.owner_references)
        for uid in uids:
            job = self._objects.job_keys.get(uid)
            if job is not None:
                self.attend_job(job)
        for named in self._objects.jobs_by_prebuilt[found.metadata.key]:
            self.attend_job(named)

    def _take_job(self, found: Job) -> None:
        key = found.metadata.key
        if self._is_old(found.metadata, self._objects.jobs.get(key)):
            return
        self.attend_job(key)  # the gang that it may have left
        self._objects.put_job(found.detached())
        self.attend_job(key)

    def _lose_job(self, key: Key, uid: str) -> None:
        self._bury(uid)
        found = self._objects.jobs.get(key)
        if found is not None and found.metadata.uid == uid:
            self.attend_job(key)
            self._objects.drop_job(key)
        for owned in self._objects.workloads_by_owner[uid]:
            self._attention.workload(owned)

    def attend_job(self, key: Key) -> None:
        """Have a Job looked at, and the gangs that it has to do with."""
        found = self._objects.jobs.get(key)
        if found is not None:
            self._attention.job(key)
            for child in self._objects.jobs_by_owner[found.metadata.uid]:
                self._attention.job(child)
            for gang in self._objects.gangs.of_job(found):
                self._attention.gang(gang)

    def _is_old(self, meta: Meta, known: Watched | None) -> bool:
        if meta.uid in self._dead:
            return True
        return known is not None and not meta.is_newer_than(known.metadata)

    def _bury(self, uid: str) -> None:
        self._dead[uid] = None
        if len(self._dead) > _DEAD_MAX:
            del self._dead[next(iter(self._dead))]

    # What a Workload's requests depend on -----------------------------------------------------

    def on_limit_range(self, event: WatchEvent[LimitRange]) -> None:
        """Judge the namespace's Workloads by its new limits."""
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
        """Count every pod's overhead anew."""
        if keep(event, self._objects.runtime_classes):
            for namespace in self._requests.namespaces():
                self._reobserve(namespace)

    def _reobserve(self, namespace: str) -> None:
        self._requests.changed(namespace)
        for key in self._objects.workloads_by_namespace[namespace]:
            self._observe_workload(self._objects.workloads[key])

    def _observe_workload(self, found: Workload) -> None:
        meta, fact = found.metadata, workload_asking(found, self._requests.asks_of(found))
        stake, around = stake_of(self._objects, found), self._requests.around(meta.namespace)
        given = self._objects.devices.charges_of(found, around.devices)
        beside = used_beside(self._objects, found, around)
        if stake is not None or given or beside:
            fact = replace(fact, stake=stake, given=given, beside=beside)
        self._objects.facts[meta.key] = fact
        self._objects.workload_counts.put(fact)
        if meta.key not in self._held:
            self.observe(fact)

    def charge_anew(self, key: Key) -> None:
        """Tell the engine of a Workload for which somebody saves from outside, or no longer."""
        found, fact = self._objects.workloads.get(key), self._objects.facts.get(key)
        if found is None or fact is None:
            return
        around = self._requests.around(found.metadata.namespace)
        if used_beside(self._objects, found, around) != fact.beside:
            self._observe_workload(found)

    def weigh_anew(self) -> None:
        """Tell the engine of all who hold quota: what is at stake in them may be another."""
        for key, fact in list(self._objects.facts.items()):
            if fact.holds_quota and stake_of(self._objects, self._objects.workloads[key]) != (
                fact.stake
            ):
                self._observe_workload(self._objects.workloads[key])

    # What devices are to those who ask for them --------------------------------------------

    def flavor(self, found: ResourceFlavor) -> FlavorFact:
        """Return what a ResourceFlavor says, with what its devices offer."""
        offers = self._objects.devices.offers_of(found)
        return surroundings.flavor(found, offers, places_pods=self._places_pods)

    def _observe_flavors(self) -> None:
        """Tell the engine what devices are to those who ask for them."""
        for found in self._objects.flavors.values():
            self.observe(self.flavor(found))

    def devices_changed(self, *, rules: bool) -> None:
        """Judge by other devices, and with `rules` also by other rules of what asks for them."""
        devices = self._objects.devices
        devices.forget_shapes_but(self._requests.shapes())
        if rules:
            self._requests.changed()
            for found in list(self._objects.workloads.values()):
                self._observe_workload(found)
        self._observe_flavors()

    def claims_changed(self, found: Workload) -> None:
        """Charge a Workload for what its claims hold now."""
        self._observe_workload(found)

    def forget_users_devices(self, namespace: str) -> None:
        """Judge what comes next in a namespace by its templates and claims as they are now."""
        self._requests.changed(namespace)

    def users_devices_changed(self, namespace: str) -> None:
        """Judge the namespace's Workloads by its templates and claims."""
        self._reobserve(namespace)

    def observe(self, fact: Fact) -> None:
        """Tell the engine, and have it decide anew."""
        self._engine.observe(fact)
        self._attention.cycle()
