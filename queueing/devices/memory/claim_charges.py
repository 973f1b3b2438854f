"""What allocated ResourceClaims are charged as quota, for all Workloads of one term.

The claims that Kubernetes makes for pods from users' own templates carry no label of ours. Their
pods do, so a claim's Workload is found by its pod. What a claim is charged is worked out once per
allocation, because devices that change later do not change what was allocated.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from queueing.controller.stores.indexes import Index as Keys
from queueing.core.names import Key
from queueing.devices.rules.index import Device, DeviceName
from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.given import Amounts, amounts_of
from queueing.devices.wire.names import WORKLOAD_UID, pod_of
from queueing.devices.wire.node_terms import is_by_scheduler
from queueing.devices.wire.objects import Allocation, ResourceClaim
from queueing.devices.wire.true_up import NO_CHARGES, Charges, Possession, given, settled
from queueing.translate.labels import POD_SET
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class PodOrigin:
    """The Workload, by uid, and the pod set that a pod's labels name; empty where they do not."""

    workload: str
    pod_set: str


@dataclass(slots=True)
class Holdings:
    """Pods with their claims, the amounts of claims, and what Workloads are charged for them."""

    _pods: dict[str, PodOrigin] = field(default_factory=dict)
    """By uid of the pod."""
    _claims: dict[Key, ResourceClaim] = field(default_factory=dict)
    """Claims that belong to a pod and carry no label of ours."""
    _claims_of: Keys[str] = field(default_factory=Keys)
    """Keys of these claims, by uid of the pod."""
    _pods_of: Keys[str] = field(default_factory=Keys)
    """Uids of pods, by uid of their Workload."""
    _amounts: dict[str, tuple[Allocation | None, Amounts]] = field(default_factory=dict)
    """By uid of the claim: an allocation of it, and the quota that this one counts as."""
    _charges: dict[str, tuple[float, Charges]] = field(default_factory=dict)
    """By uid of the Workload: when it reserved quota, and what its claims were charged last."""
    unreckoned: dict[str, None] = field(default_factory=dict)
    """Uids of Workloads with a claim whose amounts cannot be worked out yet: it is not allocated,
    or its device or rule is unknown."""
    grown: set[str] = field(default_factory=set)
    """Uids of Workloads whose claims came to hold more than was charged before."""

    # Pods and their claims --------------------------------------------------------------------

    def put_pod(self, found: Meta) -> str:
        """Store a pod; return the uid of its Workload if it has claims, else an empty string."""
        place = PodOrigin(found.labels.get(WORKLOAD_UID, ""), found.labels.get(POD_SET, ""))
        self.drop_pod(found.uid)
        self._pods[found.uid] = place
        self._pods_of.add(place.workload, Key(found.uid))
        return place.workload if self._claims_of[found.uid] else ""

    def drop_pod(self, uid: str) -> None:
        """Forget a deleted pod."""
        place = self._pods.pop(uid, None)
        if place is not None:
            self._pods_of.drop(place.workload, Key(uid))

    def put_claim(self, found: ResourceClaim) -> str:
        """Store a pod's claim; return the uid of the pod's Workload, empty while it is unknown."""
        self.drop_claim(found.metadata.key)
        self._claims[found.metadata.key] = found
        pod = pod_of(found.metadata)
        self._claims_of.add(pod, found.metadata.key)
        return self._workload_of(pod)

    def drop_claim(self, key: Key) -> str:
        """Forget a pod's claim; return the uid of the pod's Workload, empty where it is unknown."""
        found = self._claims.pop(key, None)
        if found is None:
            return ""
        pod = pod_of(found.metadata)
        self._claims_of.drop(pod, key)
        return self._workload_of(pod)

    def forget_amounts(self, claim: str) -> None:
        """Forget the amounts of a deleted claim, given by its uid."""
        self._amounts.pop(claim, None)

    def _workload_of(self, pod: str) -> str:
        place = self._pods.get(pod)
        return "" if place is None else place.workload

    def of_pods(self, workload: str) -> Iterator[Possession]:
        """Yield the claims that the pods of a Workload, given by uid, have of users' templates."""
        for pod in self._pods_of[workload]:
            for key in self._claims_of[pod]:
                if not is_by_scheduler(self._claims[key]):
                    yield Possession(self._pods[pod].pod_set, self._claims[key])

    def claims(self) -> Iterator[ResourceClaim]:
        """Yield all claims that pods have of users' templates."""
        return iter(self._claims.values())

    # What is charged --------------------------------------------------------------------------

    def forget(self, workload: str) -> None:
        """Forget the charges of a Workload, given by uid: it is deleted, or holds no quota."""
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
        """Return what a Workload is charged for devices, by the allocations of its claims.

        Empty where the admission's own amounts hold. Notes the Workload in `grown` when the charge
        rises, and in `unreckoned` while a claim's amounts are unknown.
        """
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
