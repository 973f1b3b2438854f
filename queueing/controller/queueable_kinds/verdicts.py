"""Whether a described kind can be queued, and in which words its condition says why not. Pure."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec
from pydantic import ValidationError

from queueing.kinds.compiler import DescriptionError, Kind, compiled
from queueing.kinds.paths import spelled
from queueing.kinds.roles import cluster_role
from queueing.kinds.schemas import Astray
from queueing.kinds.support import not_supported
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKindSpec

_SHOWN_MAX = 5
"""How many mistakes of one sort a message names."""


class Reason(StrEnum):
    """Reasons of the condition Active."""

    QUEUED = "Queued"
    INVALID = "InvalidDescription"
    UNSUPPORTED = "NotSupported"
    TAKEN = "AlreadyDescribed"
    NOT_SERVED = "NotServed"
    ASTRAY = "PathNotFound"
    NOT_PERMITTED = "NotPermitted"
    STARTING = "Starting"
    LEAVING = "Terminating"


class Verdict(NamedTuple):
    """Reason and message of the condition Active."""

    reason: Reason
    message: str

    @property
    def active(self) -> bool:
        """Whether the condition is True."""
        return self.reason in (Reason.QUEUED, Reason.LEAVING)


QUEUED = Verdict(Reason.QUEUED, "Objects with a queue name are queued")
STARTING = Verdict(Reason.STARTING, "The objects that are there are being read")


def read(spec: msgspec.Raw) -> Kind | Verdict:
    """Compile a description as an object holds it, or return what is wrong with it."""
    try:
        return compiled(QueueableKindSpec.model_validate_json(bytes(spec)))
    except ValidationError as error:
        found = [
            f"{spelled(('spec', *one['loc']))}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_url=False)
        ]
    except DescriptionError as error:
        found = [f"{spelled(one.field)}: {one.problem}" for one in error.problems]
    return Verdict(Reason.INVALID, _listed(found))


def unsupported(kind: Kind) -> Verdict | None:
    """Return why a kind cannot be queued by its description; None when it can."""
    found = not_supported(kind.spec)
    return Verdict(Reason.UNSUPPORTED, found) if found else None


def not_served(kind: Kind) -> Verdict:
    """Say that the API server does not know a kind."""
    named = kind.spec.resource
    resource = ".".join(filter(None, (named.plural, named.group)))
    told = f"{kind.api_version} {kind.name} is not served in namespaces"
    way = f"install CustomResourceDefinition {resource}, version {named.version}"
    other = f"or APIService {named.version}.{named.group}" if named.group else ""
    return Verdict(Reason.NOT_SERVED, ", ".join(filter(None, (f"{told}; {way}", other))))


def unavailable(kind: Kind, words: str) -> Verdict:
    """Say that the API server that serves a kind does not answer."""
    return Verdict(Reason.NOT_SERVED, f"{kind.api_version} does not answer: {words}")


def refused(words: str) -> Verdict:
    """Say why the API server does not list a kind."""
    return Verdict(Reason.NOT_PERMITTED, f"The objects cannot be listed: {words}")


def kept(wrong: Verdict) -> Verdict:
    """Say that objects are read by an earlier description while the present one is wrong."""
    told = f"{wrong.message}; until then the description in status.inUse stays in force"
    return Verdict(wrong.reason, told)


def leaving(verdict: Verdict, needed: Sequence[str]) -> Verdict:
    """Say which Workloads a description that is being deleted is still needed for."""
    many = f"{len(needed)} Workload{'s' * (len(needed) > 1)}"
    told = f"In force until no Workload needs it: {many}, such as {needed[0]}"
    if verdict.reason is Reason.QUEUED:
        return Verdict(Reason.LEAVING, told)
    return Verdict(verdict.reason, f"{verdict.message}. {told}")


def astray(found: Sequence[Astray]) -> Verdict:
    """Say which paths lead nowhere."""
    return Verdict(Reason.ASTRAY, _listed([str(one) for one in found]))


def not_permitted(kind: Kind, missing: Mapping[str, Sequence[str]]) -> Verdict:
    """Say which verbs are missing, by resource, and how to grant them."""
    denied = "; ".join(f"{', '.join(verbs)} {what}" for what, verbs in missing.items())
    role: Any = msgspec.json.encode(cluster_role(kind.spec)).decode()
    told = f"The controller may not {denied}. This ClusterRole grants it: {role}"
    return Verdict(Reason.NOT_PERMITTED, told)


def _listed(found: Sequence[str]) -> str:
    more = len(found) - _SHOWN_MAX
    return "; ".join((*found[:_SHOWN_MAX], *([f"and {more} more"] if more > 0 else ())))
