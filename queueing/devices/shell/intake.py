"""Handles watch events of devices: rules, hardware, templates, claims and pods."""

from collections.abc import Callable
from dataclasses import dataclass

from queueing.controller.stores.by_name import keep
from queueing.core.names import Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import pod_of, workload_uid
from queueing.devices.wire.slices import slice_of
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.wire.meta import Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class Callbacks:
    """Called when something changed."""

    rules: Callable[[], None]
    """A DeviceFlavor or DeviceClass."""
    hardware: Callable[[], None]
    """A ResourceSlice, or the labels of a node."""
    users: Callable[[str], None]
    """A user's own template or claim, in this namespace."""
    ours: Callable[[str], None]
    """A template or claim of the Workload with this uid."""
    free: Callable[[], None]
    """Claims of others hold other devices than before."""


class DeviceIntake:
    """Keeps `DeviceMemory` up to date."""

    def __init__(self, memory: DeviceMemory, callbacks: Callbacks) -> None:
        self._memory, self._callbacks = memory, callbacks

    def on_flavor(self, event: WatchEvent[wire.DeviceFlavor]) -> None:
        """Handle a watch event of a DeviceFlavor."""
        if keep(event, self._memory.flavors):
            self._callbacks.rules()

    def on_class(self, event: WatchEvent[wire.DeviceClass]) -> None:
        """Handle a watch event of a DeviceClass."""
        if keep(event, self._memory.classes):
            self._callbacks.rules()

    def on_slice(self, event: WatchEvent[wire.ResourceSlice]) -> None:
        """Handle a watch event of a ResourceSlice, which is translated here, once."""
        match event:
            case Added(object=found) | Modified(object=found):
                read = self._memory.slices[found.metadata.name] = slice_of(found)
                self._memory.on_nodes.put_slice(read)
            case Deleted(key=name):
                self._memory.slices.pop(name, None)
                self._memory.on_nodes.drop_slice(name)
            case Synced():
                return
        self._callbacks.hardware()

    def on_node(self, event: WatchEvent[wire.Node]) -> None:
        """Handle a watch event of a node; only its labels matter for devices."""
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
        """Handle a watch event of a ResourceClaimTemplate."""
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
        """Handle a watch event of a ResourceClaim.

        Claims that Kubernetes made for pods from users' templates are kept in `Holdings`, the
        others in `DeviceMemory`.
        """
        memory = self._memory
        match event:
            case Added(object=found) | Modified(object=found):
                if workload_uid(found.metadata) or not pod_of(found.metadata):
                    memory.put_claim(found)
                    self._tell(found.metadata)
                else:
                    self._tell_of(memory.holdings.put_claim(found))
                self._tell_free(differs=memory.on_nodes.put_claim(found))
            case Deleted(key=key, uid=uid):
                self._tell_free(differs=memory.on_nodes.drop_claim(Key(key)))
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
        """Handle a watch event of a ComputeDomain of ours; a deleted one may be needed again."""
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
        """Handle a watch event of a Workload's pod, whose labels tell whose its claims are."""
        match event:
            case Added(object=found) | Modified(object=found):
                self._tell_of(self._memory.holdings.put_pod(found.metadata))
                self._tell_free(differs=self._memory.on_nodes.put_pod(found.metadata))
            case Deleted(uid=uid):
                self._memory.holdings.drop_pod(uid)
                self._memory.on_nodes.drop_pod(uid)
            case Synced():
                pass

    def _tell_free(self, *, differs: bool) -> None:
        if differs:
            self._callbacks.free()

    def _tell_of(self, workload: str) -> None:
        if workload:
            self._callbacks.ours(workload)

    def _tell(self, meta: Meta) -> None:
        uid = workload_uid(meta)
        if uid:
            self._callbacks.ours(uid)
        else:
            self._callbacks.users(meta.namespace)
