"""The pods that placed Workloads started, as they were last seen."""

from collections.abc import Callable

import msgspec

from queueing.controller.stores.indexes import Index
from queueing.core.names import Key
from queueing.kube.reflector import Added, Deleted, Modified, Synced, WatchEvent
from queueing.translate.jobs.placed_pods import PlacedPod
from queueing.translate.jobs.slices import name_of_workload

_POD = msgspec.json.Decoder(PlacedPod)
Hear = Callable[[Key, PlacedPod], None]
"""Told the name on a pod that changed or was deleted, with its namespace, and the pod."""


class Pods:
    """Handles watch events of pods."""

    def __init__(self) -> None:
        self.hear: list[Hear] = []
        """Told of those that changed."""
        self._pods: dict[Key, dict[str, PlacedPod]] = {}
        """Workload, by the name that its pods have → pods by uid."""
        self._of: dict[str, Key] = {}
        self._gated: Index[Key] = Index()
        """Uids by Workload, of pods that are gated."""

    def of(self, name: Key) -> list[PlacedPod]:
        """Return the pods of a Workload, by its name on them, in the order of their own names."""
        return sorted(self._pods.get(name, {}).values(), key=lambda one: one.metadata.name)

    def are_gated(self, name: Key) -> bool:
        """Say whether any pod of a Workload is gated."""
        return name in self._gated.groups

    def absorb(self, reply: bytes) -> None:
        """Note a pod as the server stored it: those looked at next must not get its place, too."""
        found = _POD.decode(reply)
        if found.metadata.uid in self._of:
            self.on_pod(Modified(object=found))

    def on_pod(self, event: WatchEvent[PlacedPod]) -> None:
        match event:
            case Added(object=found) | Modified(object=found):
                name = Key(f"{found.metadata.namespace}/{name_of_workload(found.metadata)}")
                known = self._pods.get(name, {}).get(found.metadata.uid)
                if known is not None and known.metadata.is_newer_than(found.metadata):
                    return
                self._of[found.metadata.uid] = name
                self._pods.setdefault(name, {})[found.metadata.uid] = found
                (self._gated.add if found.is_gated else self._gated.drop)(
                    name, Key(found.metadata.uid)
                )
                self._tell(name, found)
            case Deleted(uid=uid):
                self._drop(uid)
            case Synced():
                pass

    def _drop(self, uid: str) -> None:
        name = self._of.pop(uid, None)
        if name is None:
            return
        pods = self._pods[name]
        gone = pods.pop(uid)
        self._gated.drop(name, Key(uid))
        if not pods:
            del self._pods[name]
        self._tell(name, gone)

    def _tell(self, name: Key, pod: PlacedPod) -> None:
        for hear in self.hear:
            hear(name, pod)
