"""From what a client sent to what is stored at first."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from queueing.apiserver.failures import bad_request, invalid
from queueing.apiserver.resources.resource import Generation, Resource, ServedVersion
from queueing.apiserver.rules.kinds import KINDS
from queueing.apiserver.rules.names import metadata_violations
from queueing.apiserver.schema.structural import violations
from queueing.apiserver.tree import ROOT_FIELDS, Object, metadata, without, without_fields
from queueing_api.crd.defaulting import with_defaults, without_nulls

_SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_SUFFIX_LENGTH = 5
_NAME_MAX = 63


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """What a write takes from outside: the time in the wire's form, and a source of new ids."""

    now: str
    new_uid: Callable[[], str]


_SERVERS_OWN = frozenset(
    {
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
        "selfLink",
        "resourceVersion",
        "managedFields",
        "generation",
    }
)
"""Metadata that a client may send along and that counts for nothing."""


def created(resource: Resource, namespace: str, obj: Object, moment: Moment) -> Object:
    """Return the object with the server's metadata; status dropped where it is separate."""
    meta = _metadata_of_new(resource, namespace, metadata(obj), moment)
    made = {
        **obj,
        "metadata": {key: value for key, value in meta.items() if value not in (None, {}, [])},
    }
    if _hides_status(resource):
        made = without(made, ("status",))
    rule = KINDS.get(resource.key)
    return rule.on_create(made) if rule else made


def _metadata_of_new(resource: Resource, namespace: str, given: Object, moment: Moment) -> Object:
    """Return the metadata of a new object: what was given, and what is the server's to say."""
    asked = given.get("namespace")
    if resource.namespaced and asked and namespace and asked != namespace:
        raise bad_request(
            "the namespace of the provided object does not match the namespace sent on the request"
        )
    if given.get("resourceVersion"):
        raise bad_request("resourceVersion should not be set on objects to be created")
    meta = {name: value for name, value in given.items() if name not in _SERVERS_OWN}
    uid = moment.new_uid()
    meta.update(uid=uid, creationTimestamp=moment.now)
    if resource.namespaced:
        meta["namespace"] = namespace or asked or "default"
    else:
        meta.pop("namespace", None)
    if not meta.get("name") and meta.get("generateName"):
        meta["name"] = _generated(str(meta["generateName"]), uid)
    if resource.generation is not Generation.NEVER:
        meta["generation"] = 1
    return meta


def _hides_status(resource: Resource) -> bool:
    return resource.stored.has_status and resource.key != "nodes"


def _generated(prefix: str, uid: str) -> str:
    number = int(uid.replace("-", ""), 16)
    letters = ""
    for _ in range(_SUFFIX_LENGTH):
        number, rest = divmod(number, len(_SUFFIX_LETTERS))
        letters += _SUFFIX_LETTERS[rest]
    return prefix[: _NAME_MAX - _SUFFIX_LENGTH] + letters


def defaulted(resource: Resource, version: ServedVersion, obj: Object) -> Object:
    """Return the object with the defaults of its schema, or of its built-in kind."""
    if resource.custom:
        bare: Object = without_nulls(version.schema, obj)
        filled: Object = with_defaults(version.schema, bare) if version.defaults else bare
        return filled
    rule = KINDS.get(resource.key)
    return rule.default(obj) if rule else obj


def check(
    resource: Resource, version: ServedVersion, obj: Object, old: Object | None = None
) -> None:
    """Refuse (422) an object that breaks its schema, its metadata's rules or its kind's."""
    causes = list(metadata_violations(resource, obj))
    if resource.custom and version.schema:
        causes += violations(version.schema, without_fields(obj, ROOT_FIELDS))
        causes += _named_metadata(version.schema, obj)
    rule = KINDS.get(resource.key)
    if rule:
        causes += rule.check(obj, old)
    if causes:
        raise invalid(resource.group, resource.kind, str(metadata(obj).get("name") or ""), causes)


def _named_metadata(schema: Mapping[str, Any], obj: Object) -> list[Any]:
    """Check what a CRD may restrict of the metadata: the name alone."""
    part = ((schema.get("properties") or {}).get("metadata") or {}).get("properties") or {}
    if "name" not in part:
        return []
    return list(violations(part["name"], metadata(obj).get("name"), "metadata.name"))
