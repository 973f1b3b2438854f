"""The API as tests use it: read, write, and wait for what should become true.

Waits are bounded, survive dropped watches and restarts of the server, and say what they last saw.
"""

import http.client
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from e2e.kinds import KINDS, Resource
from e2e.wire import Access, ApiError, Object, Wire

FIELD_MANAGER = "queueing-e2e"
WAIT_S = 120.0
WATCH_S = 20.0
RELIST_AFTER_S = 0.25
SEEN_MAX = 25
MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY = "application/apply-patch+yaml"
# No waiting helps against these.
HOPELESS = frozenset({400, 401, 403, 422})


class WaitTimeoutError(AssertionError):
    """What was waited for did not happen in time."""


@dataclass(frozen=True, slots=True)
class _Selection:
    """Which objects: of one kind, in one namespace or all, by label and field selectors."""

    kind: str
    namespace: str | None
    labels: str = ""
    fields: str = ""

    def query(self) -> dict[str, str]:
        chosen = {"labelSelector": self.labels, "fieldSelector": self.fields}
        return {name: value for name, value in chosen.items() if value}


class Api:
    """One identity's view of one API server."""

    def __init__(self, access: Access) -> None:
        self.access = access
        self.wire = Wire(access)
        self._discovered: dict[tuple[str, str], Resource] = {}

    # Reading

    def get(self, kind: str, name: str, namespace: str | None = None) -> Object:
        """Return one object; raises ApiError 404 when there is none."""
        found: Object = self.wire.call("GET", self._path(kind, namespace, name))
        return found

    def find(self, kind: str, name: str, namespace: str | None = None) -> Object | None:
        """Return one object or None."""
        try:
            return self.get(kind, name, namespace)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def items(
        self, kind: str, namespace: str | None = None, *, labels: str = "", fields: str = ""
    ) -> list[Object]:
        """Return all objects of a kind, in one namespace or in all."""
        return self._list(_Selection(kind, namespace, labels, fields))[0]

    # Writing

    def create(self, item: Object) -> Object:
        """Create an object and return it as stored."""
        resource = self._resource_of(item)
        path = resource.path(item["metadata"].get("namespace"))
        query = {"fieldManager": FIELD_MANAGER}
        made: Object = self.wire.call("POST", path, query=query, body=item)
        return made

    def replace(self, item: Object, subresource: str = "") -> Object:
        """Write an object back whole; 409 when somebody else was faster."""
        path = self._resource_of(item).path(
            item["metadata"].get("namespace"), item["metadata"]["name"], subresource
        )
        written: Object = self.wire.call("PUT", path, body=item)
        return written

    def patch(
        self,
        kind: str,
        name: str,
        change: Any,
        *,
        namespace: str | None = None,
        subresource: str = "",
        dry_run: str = "",
    ) -> Object:
        """Patch an object: a mapping is a merge patch, a list a JSON patch; `dry_run` is All."""
        path = self._path(kind, namespace, name, subresource)
        content_type = JSON_PATCH if isinstance(change, list) else MERGE
        query = {"fieldManager": FIELD_MANAGER} | ({"dryRun": dry_run} if dry_run else {})
        written: Object = self.wire.call(
            "PATCH", path, query=query, body=change, content_type=content_type
        )
        return written

    def apply(self, item: Object, *, manager: str = FIELD_MANAGER, force: bool = True) -> Object:
        """Server-side apply."""
        path = self._resource_of(item).path(
            item["metadata"].get("namespace"), item["metadata"]["name"]
        )
        query = {"fieldManager": manager, "force": str(force).lower()}
        written: Object = self.wire.call("PATCH", path, query=query, body=item, content_type=APPLY)
        return written

    def delete(
        self,
        kind: str,
        name: str,
        namespace: str | None = None,
        *,
        propagation: str = "Background",
        grace_s: int | None = None,
    ) -> None:
        """Delete an object; that it is gone already is fine."""
        grace = {} if grace_s is None else {"gracePeriodSeconds": grace_s}
        try:
            self.wire.call(
                "DELETE",
                self._path(kind, namespace, name),
                body={"propagationPolicy": propagation, **grace},
            )
        except ApiError as error:
            if error.status != 404:
                raise

    # Waiting

    def wait(
        self,
        kind: str,
        until: Callable[[list[Object]], bool],
        *,
        namespace: str | None = None,
        name: str = "",
        labels: str = "",
        timeout_s: float = WAIT_S,
        what: str = "",
    ) -> list[Object]:
        """Wait until `until` holds for the objects of a kind, and return them."""
        fields = f"metadata.name={name}" if name else ""
        selection = _Selection(kind, namespace, labels, fields)
        seen: dict[str, Object] = {}
        for seen in self._states(selection, time.monotonic() + timeout_s):
            items = list(seen.values())
            if until(items):
                return items
        wanted = what or f"{kind} {name or labels or 'objects'} as wanted"
        raise WaitTimeoutError(
            f"not in {timeout_s:.0f} s: {wanted}; last seen:\n{summary(seen.values())}"
        )

    def wait_one(
        self,
        kind: str,
        name: str,
        until: Callable[[Object], bool],
        *,
        namespace: str | None = None,
        timeout_s: float = WAIT_S,
        what: str = "",
    ) -> Object:
        """Wait until `until` holds for one object (absent: not yet), and return it."""
        return self.wait(
            kind,
            lambda items: bool(items) and until(items[0]),
            namespace=namespace,
            name=name,
            timeout_s=timeout_s,
            what=what,
        )[0]

    def wait_gone(
        self, kind: str, name: str, namespace: str | None = None, *, timeout_s: float = WAIT_S
    ) -> None:
        """Wait until an object no longer exists."""
        self.wait(
            kind,
            lambda items: not items,
            namespace=namespace,
            name=name,
            timeout_s=timeout_s,
            what=f"{kind} {name} gone",
        )

    def ready(self) -> bool:
        """Tell whether the server answers `/readyz` with ok."""
        try:
            return bool(self.wire.call("GET", "/readyz") == "ok")
        except (ApiError, OSError, http.client.HTTPException):
            return False

    def close(self) -> None:
        self.wire.close()

    # Inside

    def _states(self, selection: _Selection, deadline: float) -> Iterator[dict[str, Object]]:
        """Yield the objects by key, anew after every change, until the deadline."""
        seen: dict[str, Object] = {}
        while time.monotonic() < deadline:
            try:
                found, version = self._list(selection)
                seen = {key_of(item): item for item in found}
                yield seen
                for event in self._watch(selection, version, deadline):
                    _observe(seen, event)
                    yield seen
            except (ApiError, OSError, http.client.HTTPException) as error:
                if isinstance(error, ApiError) and error.status in HOPELESS:
                    raise
                time.sleep(RELIST_AFTER_S)
        yield seen

    def _watch(self, selection: _Selection, version: str, deadline: float) -> Iterator[Object]:
        remaining_s = min(WATCH_S, deadline - time.monotonic())
        if remaining_s <= 0:
            return
        query = {
            "watch": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, int(remaining_s))),
            **selection.query(),
        }
        path = self._path(selection.kind, selection.namespace)
        for event in self.wire.lines(path, query, remaining_s + 1):
            if event["type"] == "ERROR":
                raise ApiError(int(event["object"].get("code", 410)), json.dumps(event["object"]))
            yield event
            if time.monotonic() > deadline:
                return

    def _list(self, selection: _Selection) -> tuple[list[Object], str]:
        path = self._path(selection.kind, selection.namespace)
        answer = self.wire.call("GET", path, query=selection.query())
        resource = self._resource(selection.kind)
        # Members of a list do not say what they are; tests want to write them back.
        kind = {"apiVersion": resource.api_version, "kind": selection.kind.rpartition("/")[2]}
        found = [{**kind, **item} for item in answer["items"]]
        return found, answer["metadata"]["resourceVersion"]

    def _path(
        self, kind: str, namespace: str | None, name: str | None = None, subresource: str = ""
    ) -> str:
        return self._resource(kind).path(namespace, name, subresource)

    def _resource_of(self, item: Mapping[str, Any]) -> Resource:
        return self._resource(f"{item['apiVersion']}/{item['kind']}")

    def _resource(self, kind: str) -> Resource:
        """Find a kind by its name, or by `group/version/Kind` when it is not the usual version."""
        api_version, _, name = kind.rpartition("/")
        known = KINDS.get(name)
        if known and api_version in {"", known.api_version}:
            return known
        if not api_version:
            raise LookupError(f"kind {name} is not in e2e/kinds.py: name it group/version/{name}")
        return self._discovered.get((api_version, name)) or self._discover(api_version, name)

    def _discover(self, api_version: str, name: str) -> Resource:
        root = "/apis" if "/" in api_version else "/api"
        for found in self.wire.call("GET", f"{root}/{api_version}")["resources"]:
            if found["kind"] == name and "/" not in found["name"]:
                resource = Resource(api_version, found["name"], namespaced=found["namespaced"])
                self._discovered[api_version, name] = resource
                return resource
        raise LookupError(f"the server has no kind {name} in {api_version}")


def condition(item: Mapping[str, Any], kind: str) -> Object:
    """Return a condition of an object's status, or an empty one."""
    conditions: Iterable[Object] = item.get("status", {}).get("conditions") or []
    return next((one for one in conditions if one["type"] == kind), {})


def holds(item: Mapping[str, Any], kind: str) -> bool:
    """Tell whether a condition is True."""
    return condition(item, kind).get("status") == "True"


def summary(items: Iterable[Object]) -> str:
    """Say of each object what matters when a wait was in vain."""
    lines = []
    for item in items:
        status = item.get("status", {})
        shown = {name: value for name, value in status.items() if name != "conditions"}
        conditions = [
            f"{one['type']}={one['status']}({one.get('reason', '')}: {one.get('message', '')})"
            for one in status.get("conditions") or []
        ]
        meta = item["metadata"]
        kept = [
            f"{name}={meta[name]}" for name in ("deletionTimestamp", "finalizers") if meta.get(name)
        ]
        told = " ".join((json.dumps(shown)[:300], *kept, *conditions))
        lines.append(f"  {key_of(item)} {told}")
    more = [f"  … and {len(lines) - SEEN_MAX} more"] if len(lines) > SEEN_MAX else []
    return "\n".join(lines[:SEEN_MAX] + more) or "  nothing"


def _observe(seen: dict[str, Object], event: Object) -> None:
    item = event["object"]
    if event["type"] == "DELETED":
        seen.pop(key_of(item), None)
    elif event["type"] != "BOOKMARK":
        seen[key_of(item)] = item


def key_of(item: Mapping[str, Any]) -> str:
    """Return `namespace/name`, or the name of what is cluster-wide."""
    metadata = item["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])
