"""Webhook configurations: defaults and the checks that keep a call well defined."""

from collections.abc import Iterator
from typing import Any

from queueing.apiserver.failures import StatusCause, duplicate, invalid_value, required
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import Object

_WEBHOOK: Object = {
    "failurePolicy": "Fail",
    "matchPolicy": "Equivalent",
    "timeoutSeconds": 10,
    "namespaceSelector": {},
    "objectSelector": {},
}


def validating_defaulted(obj: Object) -> Object:
    """Return a validating configuration with its defaults."""
    return {**obj, "webhooks": [_filled(entry, {}) for entry in obj.get("webhooks") or ()]}


def mutating_defaulted(obj: Object) -> Object:
    """Return a mutating configuration with its defaults."""
    more = {"reinvocationPolicy": "Never"}
    return {**obj, "webhooks": [_filled(entry, more) for entry in obj.get("webhooks") or ()]}


def _filled(entry: Object, more: Object) -> Object:
    made: dict[str, Any] = {**_WEBHOOK, **more, **entry}
    made["rules"] = [{"scope": "*", **rule} for rule in entry.get("rules") or ()]
    service = (entry.get("clientConfig") or {}).get("service")
    if service:
        made["clientConfig"] = {**entry["clientConfig"], "service": {"port": 443, **service}}
    return made


def violations(obj: Object, _old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong with a webhook configuration."""
    seen: set[str] = set()
    for index, entry in enumerate(obj.get("webhooks") or ()):
        path = f"webhooks[{index}]"
        name = str(entry.get("name") or "")
        if name.count(".") < 2:  # noqa: PLR2004 - a webhook's name has three parts at least
            detail = "should be a domain with at least three segments separated by dots"
            yield invalid_value(f"{path}.name", shown(name), detail)
        if name in seen:
            yield duplicate(f"{path}.name", shown(name))
        seen.add(name)
        if entry.get("sideEffects") not in ("None", "NoneOnDryRun"):
            yield required(f"{path}.sideEffects", "must specify one of None, NoneOnDryRun")
        if not entry.get("admissionReviewVersions"):
            yield required(f"{path}.admissionReviewVersions", "must specify one of v1, v1beta1")
        client = entry.get("clientConfig") or {}
        if not client.get("url") and not client.get("service"):
            detail = "exactly one of url or service is required"
            yield required(f"{path}.clientConfig", detail)
