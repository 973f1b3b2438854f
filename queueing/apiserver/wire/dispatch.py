"""From a request to the verb that answers it."""

from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

from queueing.apiserver.failures import bad_request, method_not_allowed, no_such_path
from queueing.apiserver.wire import deleting, listing, openapi, reviews, scaling, writing
from queueing.apiserver.wire.api import Api, KindRequest, asked
from queueing.apiserver.wire.bodies import Reply, reply
from queueing.apiserver.wire.call import HttpRequest, ResourcePath, target_of
from queueing.apiserver.wire.discovery import VERSION, discover

Verb = Callable[[KindRequest], Awaitable[Reply]]

_COLLECTION: Mapping[str, Verb] = MappingProxyType(
    {"GET": listing.list_objects, "POST": writing.create, "DELETE": deleting.delete_collection}
)
_OBJECT: Mapping[str, Verb] = MappingProxyType(
    {"GET": listing.get, "PUT": writing.update, "PATCH": writing.patch, "DELETE": deleting.delete}
)
_STATUS: Mapping[str, Verb] = MappingProxyType(
    {"GET": listing.get, "PUT": writing.update, "PATCH": writing.patch}
)
_SCALE: Mapping[str, Verb] = MappingProxyType(
    {"GET": scaling.get, "PUT": scaling.update, "PATCH": scaling.patch}
)
_HEALTH = frozenset({"/healthz", "/readyz", "/livez"})


async def answer(api: Api, call: HttpRequest) -> Reply:
    """Answer any call but a watch."""
    target = target_of(call.path)
    if target is None or call.path in reviews.PATHS:
        return _other(api, call)
    request = asked(api, call, target)
    verb = verbs_for(target).get(call.method)
    if verb is None and request.resource.custom and not target.name:
        raise bad_request("name must be provided")
    if verb is None:
        raise method_not_allowed()
    made = await verb(request)
    if request.version.deprecation:
        made.warnings.append(request.version.deprecation)
    return made


def verbs_for(target: ResourcePath) -> Mapping[str, Verb]:
    """Return the verbs of a path, by method."""
    if target.subresource == "scale":
        return _SCALE
    if target.subresource:
        return _STATUS
    return _OBJECT if target.name else _COLLECTION


def watched(api: Api, call: HttpRequest) -> KindRequest | None:
    """Return what a call watches; None when it is no watch."""
    if call.method != "GET" or not call.flag("watch"):
        return None
    target = target_of(call.path)
    if target is None:
        raise no_such_path()
    return asked(api, call, target)


def _other(api: Api, call: HttpRequest) -> Reply:
    """Paths that are about the server itself."""
    path = call.path.rstrip("/") or "/"
    if call.method == "POST" and path in reviews.PATHS:
        return reviews.review(call)
    if call.method not in ("GET", "HEAD"):
        raise no_such_path()
    if path in _HEALTH:
        return Reply(body=b"ok", content_type="text/plain")
    if path == "/version":
        return reply(VERSION)
    if path.startswith("/openapi"):
        return openapi.document(api, call)
    if path.split("/")[1] in ("api", "apis"):
        return discover(api, call)
    if path == "/":
        return reply(
            {
                "paths": [
                    "/api",
                    "/apis",
                    "/healthz",
                    "/livez",
                    "/openapi/v2",
                    "/openapi/v3",
                    "/readyz",
                    "/version",
                ]
            }
        )
    raise no_such_path()
