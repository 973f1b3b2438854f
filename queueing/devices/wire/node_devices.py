"""Which devices of each node are free for the flavors that place pods by a topology.

Kept pool by pool: a slice or a claim that changes costs what is in its pool, and touches the nodes
that have devices of it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.core.facts import Gone, Kind, NodeDevicesFact
from queueing.core.names import FlavorName, Key, ResourceName
from queueing.core.topology.tree import Amounts
from queueing.devices.rules.index import Device, DeviceIndex, DeviceName, Pool, Slice, index_of
from queueing.devices.rules.matching import candidates
from queueing.devices.rules.on_nodes import counters_left, free_count
from queueing.devices.wire.catalog import NO_CATALOG, DeviceCatalog
from queueing.devices.wire.names import pod_of, workload_uid
from queueing.devices.wire.node_terms import (
    NodeTerms,
    Served,
    held_by,
    is_by_scheduler,
    resources_of_admission,
    resources_of_scheduler,
    terms_on_nodes,
)
from queueing.devices.wire.objects import ResourceClaim
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

NO_NODE = ""
"""The node of devices that several nodes reach."""


class _Holding(NamedTuple):
    """What a claim holds, and the resources for which it counts already, as use of placed pods."""

    devices: Mapping[DeviceName, Mapping[str, int]]
    counted: frozenset[str]


_NOTHING = _Holding({}, frozenset())


@dataclass(slots=True)
class _Pool:
    slices: dict[str, Slice] = field(default_factory=dict)
    index: DeviceIndex | None = None
    """None while it has to be read anew."""
    matching: dict[tuple[str, Served], tuple[Device, ...]] = field(default_factory=dict)
    """Devices by node and what they serve."""
    free: dict[str, dict[Served, int]] = field(default_factory=dict)
    """By node."""


class DevicesOnNodes:
    """Told of slices, of claims and of pods of Workloads, and by whom devices are asked for.

    `workload_of` returns a Workload by its uid.
    """

    def __init__(self, workload_of: Callable[[str], Workload | None] = lambda _: None) -> None:
        self.workload_of = workload_of
        self._catalog, self._is_needed = NO_CATALOG, False
        self._terms: dict[Served, NodeTerms] = {}
        self._pools: dict[Pool, _Pool] = {}
        self._pool_of: dict[str, Pool] = {}
        self._on: dict[str, dict[Pool, None]] = {}
        """Pools by the nodes that have devices of them."""
        self._claims: dict[Key, ResourceClaim] = {}
        """Those that are allocated."""
        self._held: dict[Key, _Holding] = {}
        """What claims hold that does not count already for all resources."""
        self._holders: dict[Pool, dict[Key, None]] = {}
        self._placed: set[str] = set()
        """Uids of pods that a topology placed."""
        self._claims_of: dict[str, dict[Key, None]] = {}
        """Allocated claims by the uid of whom they were made for: pod or Workload."""
        self._stale: dict[Pool, None] = {}
        self._changed: dict[str, None] = {}
        """Nodes of which other devices are free than was told."""
        self._told: dict[str, NodeDevicesFact] = {}

    # What is told.

    def put_slice(self, found: Slice) -> None:
        self.drop_slice(found.name)
        pool = self._pools.setdefault(found.pool, _Pool())
        pool.slices[found.name], pool.index = found, None
        self._pool_of[found.name] = found.pool
        self._stale[found.pool] = None

    def drop_slice(self, name: str) -> None:
        of = self._pool_of.pop(name, None)
        if of is not None:
            del self._pools[of].slices[name]
            self._pools[of].index = None
            self._stale[of] = None

    def put_claim(self, found: ResourceClaim) -> bool:
        """Store a claim in place of the one seen before; True if free devices may differ."""
        key = found.metadata.key
        before = self._claims.get(key)
        if before is None and found.status.allocation is None:
            return False
        self._forget(key)
        if found.status.allocation is not None:
            self._claims[key] = found
            self._claims_of.setdefault(_owner(found), {})[key] = None
        return self._hold(key)

    def drop_claim(self, key: Key) -> bool:
        self._forget(key)
        return self._hold(key)

    def put_pod(self, found: Meta) -> bool:
        """Take in a pod of a Workload; True if free devices may differ."""
        if found.uid in self._placed or not found.is_placed:
            return False
        self._placed.add(found.uid)
        return self.judge(found.uid)

    def judge(self, owner: str) -> bool:
        """Look again at claims of a pod or Workload, by uid; True if free devices may differ."""
        differing = [key for key in self._claims_of.get(owner, ()) if self._hold(key)]
        return bool(differing)

    def drop_pod(self, uid: str) -> None:
        self._placed.discard(uid)

    def set_rules(self, catalog: DeviceCatalog, *, needed: bool) -> bool:
        """Say what there are rules for, and if any flavor has a topology; True if that is new."""
        if catalog is self._catalog and needed == self._is_needed:
            return False
        self._catalog, self._is_needed = catalog, needed
        self._terms = terms_on_nodes(catalog) if needed else {}
        for pool in self._pools.values():
            pool.index = None
        self._stale = dict.fromkeys(self._pools)
        for key in self._claims:
            self._hold(key)
        return True

    def _forget(self, key: Key) -> None:
        before = self._claims.pop(key, None)
        if before is not None:
            owner = _owner(before)
            del self._claims_of[owner][key]
            if not self._claims_of[owner]:
                del self._claims_of[owner]

    def _hold(self, key: Key) -> bool:
        """Find what a claim holds now that does not count already; say whether that is new."""
        claim, before = self._claims.get(key), self._held.pop(key, _NOTHING)
        now = _NOTHING
        if claim is not None:
            counted = self._counted(claim)
            if not all(self._is_used(served, counted) for served in self._terms):
                now = _Holding(held_by(claim), counted)
        if now.devices:
            self._held[key] = now
        else:
            now = _NOTHING
        if now == before:
            return False
        for pool in {(one.driver, one.pool) for one in before.devices}:
            self._holders[pool].pop(key)
            self._stale[pool] = None
        for pool in {(one.driver, one.pool) for one in now.devices}:
            self._holders.setdefault(pool, {})[key] = None
            self._stale[pool] = None
        return True

    def _counted(self, claim: ResourceClaim) -> frozenset[str]:
        """Return the resources of placed pods that a claim was made for: there its use counts."""
        if not is_by_scheduler(claim):
            return resources_of_admission(claim, self.workload_of(workload_uid(claim.metadata)))
        is_placed = pod_of(claim.metadata) in self._placed
        return resources_of_scheduler(claim, self._catalog) if is_placed else frozenset()

    # What is asked.

    def beside(self, flavor: FlavorName) -> Amounts:
        """Return resources of a flavor that are devices, and those that are of no single node.

        Every node offers these beside its own, whoever holds some of them.
        """
        self._refresh()
        found = {resource: 0 for of, resource in self._terms if of == flavor}
        for pool in self._on.get(NO_NODE, ()):
            for (of, resource), count in self._pools[pool].free[NO_NODE].items():
                if of == flavor:
                    found[resource] += count
        return found

    def changes(self) -> Iterator[NodeDevicesFact | Gone]:
        """Yield what differs from what was yielded before, node by node."""
        self._refresh()
        changed, self._changed = self._changed, {}
        for node in changed:
            free: dict[FlavorName, dict[ResourceName, int]] = {}
            for pool in self._on.get(node, ()):
                for (flavor, resource), count in self._pools[pool].free[node].items():
                    mine = free.setdefault(flavor, {})
                    mine[resource] = mine.get(resource, 0) + count
            fact = NodeDevicesFact(name=node, free=free)
            if free and self._told.get(node) != fact:
                self._told[node] = fact
                yield fact
            elif not free and self._told.pop(node, None) is not None:
                yield Gone(Kind.NODE_DEVICES, node)

    def _refresh(self) -> None:
        """Count again in pools of which anything changed."""
        stale, self._stale = self._stale, {}
        for name in stale:
            pool = self._pools.get(name)
            if pool is None:
                continue
            before, now = pool.free, self._count(name, pool)
            pool.free = now
            for node in before.keys() - now.keys():
                del self._on[node][name]
            for node in now.keys() - before.keys():
                self._on.setdefault(node, {})[name] = None
            differing = (one for one in {**before, **now} if before.get(one) != now.get(one))
            self._changed.update((one, None) for one in differing if one != NO_NODE)
            if not pool.slices:
                del self._pools[name]

    def _count(self, name: Pool, pool: _Pool) -> dict[str, dict[Served, int]]:
        if pool.index is None:
            pool.index = index_of(pool.slices.values())
            pool.matching = self._match(pool.index.devices)
        published = pool.index.counters.get(name, {})
        taken = {one: self._taken(name, one) for one in self._terms}
        left = {one: counters_left(published, pool.index.devices, by) for one, by in taken.items()}
        found: dict[str, dict[Served, int]] = {}
        for (node, served), devices in pool.matching.items():
            terms, held = self._terms[served], taken[served] if node else {}
            count = free_count(devices, terms.way, held, dict(left[served]))
            found.setdefault(node, {})[served] = count * terms.pods
        return found

    def _is_used(self, served: Served, counted: frozenset[str]) -> bool:
        """Say whether the use of placed pods tells of what a claim holds, where that is served."""
        return served[1] in counted and not self._terms[served].is_shared

    def _taken(self, name: Pool, served: Served) -> dict[DeviceName, dict[str, int]]:
        """Return what claims hold of a pool, but for what the use of placed pods tells."""
        taken: dict[DeviceName, dict[str, int]] = {}
        for key in self._holders.get(name, ()):
            devices, counted = self._held[key]
            for device, sizes in () if self._is_used(served, counted) else devices.items():
                sums = taken.setdefault(device, {})
                for one, size in sizes.items():
                    sums[one] = sums.get(one, 0) + size
        return taken

    def _match(self, devices: Sequence[Device]) -> dict[tuple[str, Served], tuple[Device, ...]]:
        found: dict[tuple[str, Served], list[Device]] = {}
        for served, terms in self._terms.items():
            for one in candidates(terms.way, devices, self._catalog.classes).devices:
                found.setdefault((one.node, served), []).append(one)
        return {key: tuple(several) for key, several in found.items()}


def _owner(claim: ResourceClaim) -> str:
    return pod_of(claim.metadata) if is_by_scheduler(claim) else workload_uid(claim.metadata)
