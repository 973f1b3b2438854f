"""Get and list, with selectors, pages and exact versions."""

import base64
from dataclasses import dataclass
from http import HTTPStatus

import msgspec

from queueing.apiserver.failures import ApiFailure, bad_request, expired, forbidden_value, invalid
from queueing.apiserver.memory.selectors import field_match, label_match, selected_name
from queueing.apiserver.tree import Object, name_of, namespace_of
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import Reply, encoded
from queueing.apiserver.wire.presentation import presented, presented_list


@dataclass(frozen=True, slots=True)
class ContinueToken:
    """Where a paged list goes on: the version of its first page, and the last place shown."""

    version: int
    namespace: str
    name: str

    def token(self) -> str:
        return base64.urlsafe_b64encode(
            msgspec.json.encode([self.version, self.namespace, self.name])
        ).decode()


def page_of(token: str) -> ContinueToken:
    """Return the page that a continue token names; 400 when it is none."""
    try:
        version, namespace, name = msgspec.json.decode(
            base64.urlsafe_b64decode(token), type=tuple[int, str, str]
        )
    except (ValueError, msgspec.DecodeError) as error:
        raise bad_request("continue key is not valid: illegal base64 data") from error
    return ContinueToken(version, namespace, name)


async def get(asked: KindRequest) -> Reply:
    """Answer a GET of one object."""
    asked_version = asked.call.number("resourceVersion")
    if asked_version > asked.api.store.version:
        asked.api.store.check_version(asked.resource, asked_version)
    obj = await asked.shown(asked.current())
    content, content_type = presented(asked, obj)
    return Reply(body=encoded(content), content_type=content_type)


def selected(asked: KindRequest, objects: list[Object] | None = None) -> list[Object]:
    """Return the objects (of the path's namespace) that the query's selectors match."""
    query, resource = asked.call.query, asked.resource
    fields = query.get("fieldSelector", "")
    by_label = label_match(query.get("labelSelector", ""))
    by_field = field_match(fields, resource, asked.version)
    if objects is None:
        name = selected_name(fields)
        if name and (asked.namespace or not resource.namespaced):
            found = asked.api.store.peek(resource, asked.namespace, name)
            objects = [found] if found else []
        else:
            objects = asked.api.store.items(resource, asked.namespace)
    return [obj for obj in objects if by_label(obj) and by_field(obj)]


async def list_objects(asked: KindRequest) -> Reply:
    """Answer a GET of a collection."""
    store, call = asked.api.store, asked.call
    limit, token = call.number("limit"), call.query.get("continue", "")
    version, objects = _snapshot(asked, token)
    objects = selected(asked, objects)
    remaining, next_token = 0, ""
    if token:
        page = page_of(token)
        objects = [
            obj
            for obj in objects
            if (namespace_of(obj), name_of(obj)) > (page.namespace, page.name)
        ]
    if limit and len(objects) > limit:
        remaining = len(objects) - limit
        objects = objects[:limit]
        next_token = ContinueToken(
            version or store.version, namespace_of(objects[-1]), name_of(objects[-1])
        ).token()
    meta: Object = {"resourceVersion": str(version or store.version)}
    if next_token:
        meta["continue"] = next_token
        if not call.query.get("labelSelector") and not call.query.get("fieldSelector"):
            meta["remainingItemCount"] = remaining
    content, content_type = presented_list(asked, await asked.shown_all(objects), meta)
    return Reply(body=encoded(content), content_type=content_type)


def _snapshot(asked: KindRequest, token: str) -> tuple[int, list[Object] | None]:
    """Return the version to show and its objects; (0, None) means what is stored now."""
    store = asked.api.store
    match = asked.call.query.get("resourceVersionMatch", "")
    version = asked.call.number("resourceVersion")
    if token:
        _refuse_beside_token(match, version)
        return _continued(asked, token)
    if match and not asked.call.query.get("resourceVersion"):
        raise forbidden_match(
            "resourceVersionMatch is forbidden unless resourceVersion is provided"
        )
    if match not in ("", "Exact", "NotOlderThan"):
        raise forbidden_match(
            f'resourceVersionMatch: Unsupported value: "{match}": supported values: '
            '"Exact", "NotOlderThan", ""'
        )
    if match == "Exact":
        if not version:
            raise forbidden_match(
                'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
            )
        return version, store.items_at(asked.resource, version, asked.namespace)
    if version > store.version:
        store.check_version(asked.resource, version)
    return 0, None


def _refuse_beside_token(match: str, version: int) -> None:
    """Refuse what would contradict a continue token, which names its version itself."""
    if match:
        raise forbidden_match("resourceVersionMatch is forbidden when continue is provided")
    if version:
        raise forbidden_match("specifying resource version is not allowed when using continue")


def _continued(asked: KindRequest, token: str) -> tuple[int, list[Object]]:
    """Return the version that a continue token names, and the objects as they were then."""
    page = page_of(token)
    try:
        found = asked.api.store.items_at(asked.resource, page.version, asked.namespace)
    except ApiFailure as error:
        if error.code != HTTPStatus.GONE:
            raise
        message = "The provided continue parameter is too old to display a consistent list result."
        raise expired(message) from error
    return page.version, found


def forbidden_match(text: str) -> ApiFailure:
    """Return 422 for a resourceVersionMatch that does not go with the rest of a query."""
    cause = forbidden_value("resourceVersionMatch", text)
    return invalid("meta.k8s.io", "ListOptions", "", [cause])
