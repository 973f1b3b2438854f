"""The scale subresource of custom kinds: replicas, seen as autoscaling/v1 Scale."""

from queueing.apiserver.change import json_patch, merge_patch
from queueing.apiserver.failures import bad_request, unsupported_media
from queueing.apiserver.memory.writes import Author
from queueing.apiserver.resources.jsonpath import first_value
from queueing.apiserver.rules.creation import check
from queueing.apiserver.tree import Object, dig, metadata, with_value
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import Reply, decoded, object_body, reply

_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


async def get(asked: KindRequest) -> Reply:
    """Answer a GET of the scale."""
    return reply(_scale(asked, await asked.shown(asked.current())))


async def update(asked: KindRequest) -> Reply:
    """Answer a PUT of the scale."""
    return await _set(asked, object_body(asked.call.body, asked.call.content_type))


async def patch(asked: KindRequest) -> Reply:
    """Answer a PATCH of the scale."""
    body = decoded(asked.call.body, asked.call.content_type)
    view = _scale(asked, await asked.shown(asked.current()))
    if "json-patch" in asked.call.content_type:
        return await _set(asked, json_patch.patched(view, body))
    if "merge-patch" in asked.call.content_type:
        return await _set(asked, merge_patch.merged(view, body))
    raise unsupported_media(
        asked.call.content_type, ("application/json-patch+json", "application/merge-patch+json")
    )


def _paths(asked: KindRequest) -> dict[str, str]:
    return dict(asked.version.scale or {})


def _scale(asked: KindRequest, obj: Object) -> Object:
    paths = _paths(asked)
    status: Object = {"replicas": first_value(obj, paths["statusReplicasPath"]) or 0}
    if "labelSelectorPath" in paths:
        status["selector"] = first_value(obj, paths["labelSelectorPath"]) or ""
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata(obj)[name] for name in _SHOWN if name in metadata(obj)},
        "spec": {"replicas": first_value(obj, paths["specReplicasPath"]) or 0},
        "status": status,
    }


async def _set(asked: KindRequest, scale: Object) -> Reply:
    replicas = dig(scale, "spec", "replicas")
    if not isinstance(replicas, int):
        raise bad_request("spec.replicas must be a whole number")
    old = asked.current()
    path = tuple(_paths(asked)["specReplicasPath"].strip(".").split("."))
    wanted = with_value(await asked.shown(old), path, replicas)
    version = dig(scale, "metadata", "resourceVersion")
    if version:
        wanted = with_value(wanted, ("metadata", "resourceVersion"), version)
    new = asked.api.writes.prepare_update(asked.resource, old, await asked.stored(wanted), "")
    check(asked.resource, asked.resource.stored, new, old)
    author = Author(name=asked.call.manager, subresource="scale", dry_run=asked.call.dry_run)
    stored = asked.api.writes.commit_update(asked.resource, old, new, author)
    return reply(_scale(asked, await asked.shown(stored)))
