"""What stands in a Lease object, and where it is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import msgspec

from queueing.kube.client import Call, Client
from queueing.kube.errors import NotFoundError
from queueing.kube.resources import LEASES
from queueing_api.meta.time import micro_time_text

ADDRESS = "queueing.dev/visibility-address"
"""Annotation of the Lease: `host:port` at which its holder answers for what only a leader knows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseRecord:
    """A Lease: times in epoch seconds of the writer's clock, `version` "" before it is stored."""

    holder: str
    duration_s: float
    acquired: float
    renewed: float
    transitions: int
    version: str

    @property
    def content(self) -> tuple[str, float, int]:
        """What a renewal changes; an edited label does not count as a sign of life."""
        return self.holder, self.renewed, self.transitions


class LeaseStore(Protocol):
    """Where the record is; raises KubeErrors, and ConflictError for a write on an old version."""

    async def read(self, timeout_s: float) -> LeaseRecord | None:
        """Return the record, None if there is no such object."""
        ...

    async def write(self, record: LeaseRecord, timeout_s: float) -> LeaseRecord:
        """Store the record over the version it names, and return it with its new version."""
        ...


class _Meta(msgspec.Struct, rename="camel"):
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: datetime | None = None
    renew_time: datetime | None = None
    lease_transitions: int | None = None


class _Lease(msgspec.Struct):
    metadata: _Meta
    spec: _Spec | None = None


_LEASES = msgspec.json.Decoder(_Lease)


class KubeLeaseStore:
    """The record as a `coordination.k8s.io` Lease, with what its holder says of itself."""

    def __init__(
        self,
        client: Client,
        name: str,
        namespace: str,
        annotations: Mapping[str, str] | None = None,
    ) -> None:
        self._client = client
        self._told = {"annotations": dict(annotations)} if annotations else {}
        self._name = name
        self._target = LEASES.at(name, namespace)

    async def read(self, timeout_s: float) -> LeaseRecord | None:
        try:
            return _record(await self._client.get(self._target, Call(timeout_s=timeout_s)))
        except NotFoundError:
            return None

    async def write(self, record: LeaseRecord, timeout_s: float) -> LeaseRecord:
        spec = {
            "holderIdentity": record.holder,
            "leaseDurationSeconds": max(1, round(record.duration_s)),
            "acquireTime": micro_time_text(record.acquired),
            "renewTime": micro_time_text(record.renewed),
            "leaseTransitions": record.transitions,
        }
        call = Call(timeout_s=timeout_s)
        if record.version:
            meta = {"resourceVersion": record.version, **self._told}
            patch = {"metadata": meta, "spec": spec}
            return _record(await self._client.patch_merge(self._target, patch, call))
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {
                "name": self._name,
                "namespace": self._target.namespace,
                **self._told,
            },
            "spec": spec,
        }
        collection = LEASES.within(self._target.namespace)
        return _record(await self._client.create(collection, lease, call))


def _record(body: bytes) -> LeaseRecord:
    lease = _LEASES.decode(body)
    spec = lease.spec or _Spec()
    return LeaseRecord(
        holder=spec.holder_identity or "",
        duration_s=float(spec.lease_duration_seconds or 0),
        acquired=spec.acquire_time.timestamp() if spec.acquire_time else 0.0,
        renewed=spec.renew_time.timestamp() if spec.renew_time else 0.0,
        transitions=spec.lease_transitions or 0,
        version=lease.metadata.resource_version,
    )
