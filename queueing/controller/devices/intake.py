"""Takes in what happens to devices, their rules, templates and claims."""

from collections.abc import Callable
from dataclasses import dataclass

from queueing.controller.stores.by_name import keep
from queueing.controller.stores.devices import DeviceMemory
from queueing.core.names import Key
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.devices.index import slice_of
from queueing.translate.devices.names import pod_of, workload_uid
from queueing.translate.wire import devices as wire
from queueing.translate.wire.meta import Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Who hears of what changed."""

    rules: Callable[[], None]
    hardware: Callable[[], None]
    users: Callable[[str], None]
    """A template or claim of a user's own changed, in this namespace."""
    ours: Callable[[str], None]
    """A template or claim changed that stands for a Workload of this uid."""


class Intake:
    """Keeps the memory up to date."""

    def __init__(self, memory: DeviceMemory, callbacks: Callbacks) -> None:
        self._memory, self._callbacks = memory, callbacks

    def on_flavor(self, event: WatchEvent[wire.DeviceFlavor]) -> None:
        """Take in a DeviceFlavor."""
        if keep(event, self._memory.flavors):
            self._callbacks.rules()

    def on_class(self, event: WatchEvent[wire.DeviceClass]) -> None:
        """Take in a DeviceClass."""
        if keep(event, self._memory.classes):
            self._callbacks.rules()

    def on_slice(self, event: WatchEvent[wire.ResourceSlice]) -> None:
        """Take in a ResourceSlice; it is read once, not at every look at its devices."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._memory.slices[found.metadata.name] = slice_of(found)
            case Deleted(key=name):
                self._memory.slices.pop(name, None)
            case Synced():
                return
        self._callbacks.hardware()

    def on_node(self, event: WatchEvent[wire.Node]) -> None:
        """Take in a node; only its labels say something of devices."""
        nodes = self._memory.nodes
        match event:
            case Added(object=found) | Modified(object=found):
                name, labels = found.metadata.name, found.metadata.labels
                if nodes.get(name) == labels:
                    return
                nodes[name] = labels
            case Deleted(key=gone):
                nodes.pop(gone, None)
            case Synced():
                return
        self._callbacks.hardware()

    def on_template(self, event: WatchEvent[wire.ResourceClaimTemplate]) -> None:
        """Take in a ResourceClaimTemplate."""
        memory = self._memory
        match event:
            case Added(object=found) | Modified(object=found):
                memory.put_template(found)
                self._tell(found.metadata)
            case Deleted(key=key):
                known = memory.templates.get(Key(key))
                memory.drop_template(Key(key))
                if known is not None:
                    self._tell(known.metadata)
            case Synced():
                pass

    def on_claim(self, event: WatchEvent[wire.ResourceClaim]) -> None:
        """Take in a ResourceClaim; of pods' own claims of users' templates only what they hold."""
        memory = self._memory
        match event:
            case Added(object=found) | Modified(object=found):
                if workload_uid(found.metadata) or not pod_of(found.metadata):
                    memory.put_claim(found)
                    self._tell(found.metadata)
                else:
                    self._tell_of(memory.holdings.put_claim(found))
            case Deleted(key=key, uid=uid):
                memory.holdings.forget_amounts(uid)
                known = memory.claims.get(Key(key))
                memory.drop_claim(Key(key))
                if known is not None:
                    self._tell(known.metadata)
                else:
                    self._tell_of(memory.holdings.drop_claim(Key(key)))
            case Synced():
                pass

    def on_domain(self, event: WatchEvent[wire.ComputeDomain]) -> None:
        """Take in a ComputeDomain of ours; one that is gone may be needed again."""
        domains = self._memory.domains
        match event:
            case Added(object=found) | Modified(object=found):
                domains[found.metadata.key] = found.metadata
            case Deleted(key=key):
                known = domains.pop(Key(key), None)
                if known is not None:
                    self._tell(known)
            case Synced():
                pass

    def on_pod(self, event: WatchEvent[wire.Pod]) -> None:
        """Take in a pod that has claims of its user's own; only whose it is matters."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._tell_of(self._memory.holdings.put_pod(found.metadata))
            case Deleted(uid=uid):
                self._memory.holdings.drop_pod(uid)
            case Synced():
                pass

    def _tell_of(self, workload: str) -> None:
        if workload:
            self._callbacks.ours(workload)

    def _tell(self, meta: Meta) -> None:
        uid = workload_uid(meta)
        if uid:
            self._callbacks.ours(uid)
        else:
            self._callbacks.users(meta.namespace)
