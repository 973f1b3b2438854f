"""Creates the ResourceClaimTemplates, ResourceClaims and ComputeDomains that a start needs.

They are named by a digest of their contents, so that creating one twice creates it once. Before a
spec is used for the first time in a term, it is created as a dry run: the API server then compiles
its CEL selectors, whose errors the scheduler would meet only much later.
"""

import asyncio
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

import msgspec

from queueing.controller.jobs.start_errors import DevicesRefusedError, NamespaceFullError
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.devices.memory.objects import DeviceMemory
from queueing.devices.rules.messages import NO_DOMAINS, QUOTA_IS_FULL, DeviceReason
from queueing.devices.wire import objects as wire
from queueing.devices.wire.names import COMPUTE_DOMAIN, PLAN, digest, workload_uid
from queueing.kube.client import Call
from queueing.kube.deletion import this_life
from queueing.kube.errors import (
    AlreadyExistsError,
    BadRequestError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    NotPermittedError,
    NotSentError,
)
from queueing.kube.resources import (
    COMPUTE_DOMAINS,
    RESOURCE_CLAIM_TEMPLATES,
    RESOURCE_CLAIMS,
    Resource,
)
from queueing.translate.wire.meta import Meta

TRIED_MAX = 4096
"""How many specs are remembered as tried; a thousand Jobs with one spec are tried once."""
_NO_NAMESPACE = "namespaces "
_RESOURCES = {one.kind: one for one in (RESOURCE_CLAIM_TEMPLATES, RESOURCE_CLAIMS, COMPUTE_DOMAINS)}
_template = msgspec.json.Decoder(wire.ResourceClaimTemplate)
_claim = msgspec.json.Decoder(wire.ResourceClaim)


_named = msgspec.json.Decoder(wire.ComputeDomain)  # any object, read for whose it is


@dataclass(slots=True)
class Claims:
    """Creates, compares and deletes these objects, in one term."""

    memory: DeviceMemory
    writes: LeaderWrites
    _tried: dict[str, None] = field(default_factory=dict)
    """Digests of specs that the server accepted in a dry run."""
    _trials: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)
    """Dry runs under way, by digest; further starts with the same spec wait for their outcome."""

    async def make(self, wanted: dict[str, Any]) -> None:
        """Create an object, given as JSON fields, unless it exists as wanted.

        Raises DevicesRefusedError when it cannot be created as it is, NamespaceFullError when a
        ResourceQuota does not allow it now, and other KubeErrors to be called again.
        """
        if self._is_there(wanted):
            return
        meta = wanted["metadata"]
        target = _RESOURCES[wanted["kind"]].within(meta["namespace"])
        spec = digest(wanted["kind"], meta["namespace"], _claim_spec(wanted))
        if wanted["kind"] != COMPUTE_DOMAINS.kind:
            await self._try(wanted, spec)
        try:
            reply = await self.writes.create(target, msgspec.json.encode(wanted))
        except AlreadyExistsError:
            await self._compare(wanted, target.resource)
        except NotPermittedError:
            raise
        except (InvalidError, BadRequestError, ForbiddenError) as error:
            self._tried.pop(spec, None)  # the server's rules changed since it was tried
            raise _refusal(error) from error
        except NotFoundError as error:
            if wanted["kind"] != COMPUTE_DOMAINS.kind or _NO_NAMESPACE in error.message:
                raise
            raise DevicesRefusedError(DeviceReason.NO_DOMAINS, NO_DOMAINS) from error
        else:
            self._absorb(wanted["kind"], reply)

    def _is_there(self, wanted: dict[str, Any]) -> bool:
        """Say whether the object is known to exist as it is wanted."""
        meta = wanted["metadata"]
        key = Key(f"{meta['namespace']}/{meta['name']}")
        if wanted["kind"] == COMPUTE_DOMAINS.kind:
            domain = self.memory.domains.get(key)
            return domain is not None and _is_equal(domain, meta)
        shared = wanted["kind"] == RESOURCE_CLAIMS.kind
        known = self.memory.claims.get(key) if shared else self.memory.templates.get(key)
        return known is not None and _is_equal(known.metadata, meta)

    async def _try(self, wanted: dict[str, Any], spec: str) -> None:
        """Create an object as a dry run, unless its spec was accepted before in this term."""
        async with self._trials.setdefault(spec, asyncio.Lock()):
            if spec in self._tried:
                return
            meta = wanted["metadata"]
            target = _RESOURCES[wanted["kind"]].within(meta["namespace"])
            unnamed = {key: value for key, value in meta.items() if key != "name"}
            trial = {**wanted, "metadata": {**unnamed, "generateName": "kq-trial-"}}
            body = msgspec.json.encode(trial)
            try:
                await self.writes.client.create(target, body, Call(dry_run=True))
            except NotPermittedError:
                raise
            except (InvalidError, BadRequestError, ForbiddenError) as error:
                raise _refusal(error) from error
            self._tried[spec] = None
            if len(self._tried) > TRIED_MAX:
                del self._tried[next(iter(self._tried))]

    async def _compare(self, wanted: dict[str, Any], resource: Resource) -> None:
        """Read the object that has the name already, and store it if it is as wanted.

        One of an earlier start of ours is deleted when none of that start's claims is allocated,
        and NotSentError is raised. One of somebody else raises DevicesRefusedError.
        """
        meta = wanted["metadata"]
        target = resource.at(meta["name"], meta["namespace"])
        reply = await self.writes.client.get(target)
        found = _named.decode(reply).metadata
        if _is_equal(found, meta):
            self._absorb(wanted["kind"], reply)
            return
        if not workload_uid(found):
            told = f"{target.label} exists and is not of this admission: delete it, or rename yours"
            raise DevicesRefusedError(DeviceReason.NAME_CONFLICT, told)
        if any(one.status.allocation for one in self.memory.claims_of(workload_uid(found))):
            raise NotSentError(f"{target.label} is of an earlier start whose pods are not gone yet")
        try:
            await self.writes.delete(target, this_life(found.uid))
        finally:
            self.memory.drop_template(found.key)
        raise NotSentError(f"{target.label} of an earlier start is being replaced")

    def _absorb(self, kind: str, reply: bytes) -> None:
        if kind == COMPUTE_DOMAINS.kind:
            found = _named.decode(reply).metadata
            self.memory.domains[found.key] = found
        elif kind == RESOURCE_CLAIMS.kind:
            self.memory.put_claim(_claim.decode(reply))
        else:
            self.memory.put_template(_template.decode(reply))

    async def remove(self, resource: Resource, meta: Meta) -> None:
        """Delete a template or claim of ours, by its uid, and before it its ComputeDomain."""
        if meta.deleting:
            return
        domain = meta.annotations.get(COMPUTE_DOMAIN)
        if domain:
            self.memory.domains.pop(Key(f"{meta.namespace}/{domain}"), None)
            await self.writes.delete(COMPUTE_DOMAINS.at(domain, meta.namespace))
        await self.writes.delete(resource.at(meta.name, meta.namespace), this_life(meta.uid))
        if resource is RESOURCE_CLAIM_TEMPLATES:
            self.memory.drop_template(meta.key)  # gone at once; a claim may have finalizers


def _claim_spec(wanted: dict[str, Any]) -> Any:
    spec = wanted["spec"]
    return spec["spec"] if wanted["kind"] == RESOURCE_CLAIM_TEMPLATES.kind else spec


def _is_equal(found: Meta, wanted: dict[str, Any]) -> bool:
    owners = {one.uid for one in found.owner_references}
    return (
        not found.deleting
        and found.annotations.get(PLAN) == wanted["annotations"][PLAN]
        and wanted["ownerReferences"][0]["uid"] in owners
    )


def _refusal(error: InvalidError | BadRequestError | ForbiddenError) -> Exception:
    """Return the error for a refusal: NamespaceFullError if a ResourceQuota is the reason."""
    if isinstance(error, ForbiddenError) and QUOTA_IS_FULL in error.message:
        return NamespaceFullError(error.message)
    return DevicesRefusedError(DeviceReason.INVALID, error.message)
