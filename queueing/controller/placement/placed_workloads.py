"""Admitted Workloads that topologies placed: by the name on their pods, and by the hosts they got.

Handles no event itself: `composition` tells it of each Workload that changed, before it asks others
to look at it.
"""

from collections.abc import Sequence

from queueing.controller.stores.indexes import Entries, Entry, Index
from queueing.controller.stores.objects import Objects
from queueing.core.names import Key
from queueing.translate.inbound.given_hosts import hosts_of, is_placed
from queueing.translate.jobs.slices import name_on_pods
from queueing.translate.jobs.variants import parent_of, runs_by
from queueing.translate.wire.workloads import Workload


class PlacedWorkloads:
    """Kept up to date by `changed`; a Workload is in it from its admission to its eviction."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._by_name: Index[Key] = Index()
        self._variants: Index[Key] = Index()
        """Variants by the name on the pods of their parent: they have no pods of their own."""
        self._on_host: Index[str] = Index()
        self._entries = Entries()

    def changed(self, key: Key) -> Workload | None:
        """Take in a Workload as it is now; return it if it is placed."""
        found = self._objects.workloads.get(key)
        if found is None or not is_placed(found):
            self._entries.drop(key)
            return None
        by_name = self._by_name if parent_of(found.metadata) is None else self._variants
        entries: list[Entry] = [(by_name, named(found))]
        entries += [(self._on_host, host) for host in hosts_of(found)]
        self._entries.put(key, entries)
        return found

    def started(self, name: Key) -> Sequence[Workload]:
        """Return the Workloads whose pods have this name: one, or slices of one elastic job."""
        return [self._objects.workloads[key] for key in self._by_name[name]]

    def variants(self, name: Key) -> Sequence[Key]:
        """Return the variants of the parent whose pods have this name."""
        return self._variants[name]

    def has_pods(self, workload: Workload) -> bool:
        """Say whether pods run by the admission of a Workload; False for a variant that waits."""
        if parent_of(workload.metadata) is None:
            return True
        parent = self._objects.workloads.get(named(workload))
        return parent is not None and runs_by(parent, workload)

    def on(self, host: str) -> Sequence[Key]:
        """Return the Workloads that were given a host."""
        return self._on_host[host]

    def get(self, key: Key) -> Workload | None:
        """Return a Workload if it is placed."""
        found = self._objects.workloads.get(key)
        return found if found is not None and is_placed(found) else None


def named(workload: Workload) -> Key:
    """Return the name on a Workload's pods, of a variant its parent's pods, with the namespace."""
    meta = workload.metadata
    above = parent_of(meta)
    return Key(f"{meta.namespace}/{name_on_pods(meta) if above is None else above.name}")
