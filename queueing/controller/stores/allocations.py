"""What claims were given, and what is charged for it, of one term.

Claims that pods got of users' own templates bear no label of ours: their pods do, which tells whose
they are. What a claim counts as is worked out once: devices that change later change no allocation.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from queueing.controller.stores.indexes import Index as Keys
from queueing.core.names import Key
from queueing.translate.devices.asks import DeviceSurroundings
from queueing.translate.devices.given import Amounts, amounts_of
from queueing.translate.devices.index import Device, DeviceName
from queueing.translate.devices.names import WORKLOAD_UID, pod_of
from queueing.translate.devices.true_up import (
    NO_CHARGES,
    Charges,
    Possession,
    given,
    settled,
)
from queueing.translate.labels import POD_SET
from queueing.translate.wire.devices import Allocation, ResourceClaim
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Place:
    """Where a pod belongs."""

    workload: str
    """Uid."""
    pod_set: str


@dataclass(slots=True)
class Holdings:
    """Claims of pods, what claims count as, and what was charged by them so far."""

    _pods: dict[str, Place] = field(default_factory=dict)
    """By uid."""
    _claims: dict[Key, ResourceClaim] = field(default_factory=dict)
    """Those that belong to a pod, and are not labelled by us."""
    _claims_of: Keys[str] = field(default_factory=Keys)
    """By uid of the pod."""
    _pods_of: Keys[str] = field(default_factory=Keys)
    """Uids of pods, by that of their Workload."""
    _amounts: dict[str, tuple[Allocation | None, Amounts]] = field(default_factory=dict)
    """By uid of the claim: what it counts as by one allocation."""
    _charges: dict[str, tuple[float, Charges]] = field(default_factory=dict)
    """By uid of the Workload: since when it holds quota, and what is charged of it."""
    unreckoned: dict[str, None] = field(default_factory=dict)
    """Uids of Workloads with a claim of which it is not known what it counts as."""
    grown: set[str] = field(default_factory=set)
    """Uids of Workloads whose claims came to hold more than was charged."""

    # Pods and their claims --------------------------------------------------------------------

    def put_pod(self, found: Meta) -> str:
        """Note whose a pod is; return the uid of its Workload if claims of it are known."""
        place = Place(found.labels.get(WORKLOAD_UID, ""), found.labels.get(POD_SET, ""))
        self.drop_pod(found.uid)
        self._pods[found.uid] = place
        self._pods_of.add(place.workload, Key(found.uid))
        return place.workload if self._claims_of[found.uid] else ""

    def drop_pod(self, uid: str) -> None:
        """Forget a pod."""
        place = self._pods.pop(uid, None)
        if place is not None:
            self._pods_of.drop(place.workload, Key(uid))

    def put_claim(self, found: ResourceClaim) -> str:
        """Replace a claim of a pod; return the uid of the Workload that it is for, if known."""
        self.drop_claim(found.metadata.key)
        self._claims[found.metadata.key] = found
        pod = pod_of(found.metadata)
        self._claims_of.add(pod, found.metadata.key)
        return self._workload_of(pod)

    def drop_claim(self, key: Key) -> str:
        """Forget a claim of a pod; return the uid of the Workload that it was for, if known."""
        found = self._claims.pop(key, None)
        if found is None:
            return ""
        pod = pod_of(found.metadata)
        self._claims_of.drop(pod, key)
        return self._workload_of(pod)

    def forget_amounts(self, claim: str) -> None:
        """Forget what a claim, by its uid, counted as."""
        self._amounts.pop(claim, None)

    def _workload_of(self, pod: str) -> str:
        place = self._pods.get(pod)
        return "" if place is None else place.workload

    def of_pods(self, workload: str) -> Iterator[Possession]:
        """Yield the claims of a Workload's pods that are not labelled by us."""
        for pod in self._pods_of[workload]:
            for key in self._claims_of[pod]:
                yield Possession(self._pods[pod].pod_set, self._claims[key])

    def claims(self) -> Iterator[ResourceClaim]:
        """Yield all claims of pods that are not labelled by us."""
        return iter(self._claims.values())

    # What is charged --------------------------------------------------------------------------

    def forget(self, workload: str) -> None:
        """Forget what was charged for a Workload: it is gone, or holds nothing."""
        self._charges.pop(workload, None)
        self.unreckoned.pop(workload, None)
        self.grown.discard(workload)

    def charges(
        self,
        workload: Workload,
        held: Iterable[Possession],
        around: DeviceSurroundings,
        devices: Mapping[DeviceName, Device],
    ) -> Charges:
        """Return what is charged for a Workload's devices, by what its claims were given."""
        uid, admission = workload.metadata.uid, workload.status.admission
        since = _reserved_at(workload)
        known_since, before = self._charges.get(uid, (since, NO_CHARGES))
        if known_since != since:
            before = NO_CHARGES
        self.unreckoned.pop(uid, None)

        def amounts(claim: ResourceClaim) -> Amounts | None:
            life, allocation = claim.metadata.uid, claim.status.allocation
            by, known = self._amounts.get(life, (None, None))
            if known is not None and by == allocation:
                return known
            now = amounts_of(claim, devices, around.catalog)
            if now is None:
                self.unreckoned[uid] = None
            else:
                self._amounts[life] = (allocation, now)
            return now

        found = given(workload, held, around, amounts)
        if admission is None or (not found and not before):
            return NO_CHARGES
        now = settled(before, found, admission.pod_set_assignments)
        if now:
            self._charges[uid] = since, now
        if _is_more(now, before):
            self.grown.add(uid)
        return now


def _reserved_at(workload: Workload) -> float:
    return workload.status.changed("QuotaReserved") or 0.0


def _is_more(now: Charges, before: Charges) -> bool:
    return any(
        now[pod_set].get(resource, 0) > amount
        for pod_set, amounts in before.items()
        for resource, amount in amounts.items()
    )
