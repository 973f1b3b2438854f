"""Create, update, patch."""

from typing import Any

from queueing.apiserver.admission.webhooks import Review
from queueing.apiserver.change import json_patch, merge_patch, strategic_patch
from queueing.apiserver.change.apply_patch import Application, applied
from queueing.apiserver.change.ownership import Manager
from queueing.apiserver.failures import (
    ApiFailure,
    bad_request,
    invalid,
    invalid_value,
    not_found,
    required,
    unsupported_media,
)
from queueing.apiserver.memory.writes import Author, structure_of, wire_time
from queueing.apiserver.rules.creation import check, defaulted
from queueing.apiserver.rules.updating import updated
from queueing.apiserver.schema.declared import misfit
from queueing.apiserver.schema.structure import Structure
from queueing.apiserver.tree import (
    ROOT_FIELDS,
    Object,
    metadata,
    name_of,
    with_value,
    without,
    without_fields,
)
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import Reply, decoded, object_body, reply
from queueing.apiserver.wire.strictness import admitted_fields

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"
_PATCH_TYPES = (JSON_PATCH, MERGE, APPLY)
_RETRIES = 5


async def create(asked: KindRequest) -> Reply:
    """Answer a POST to a collection."""
    body = object_body(asked.call.body, asked.call.content_type)
    return await _create(asked, body, 201)


async def _create(
    asked: KindRequest, body: Object, status: int, entries: list[Object] | None = None
) -> Reply:
    writes, resource = asked.api.writes, asked.resource
    _check_type(asked, body)
    warnings: list[str] = []
    body = await asked.stored(admitted_fields(asked, body, warnings))
    made = writes.prepare_create(resource, asked.namespace, body)
    if entries is not None:
        made = with_value(made, ("metadata", "managedFields"), entries)
    review = _review(asked, made, None)
    made = await _mutated(asked, review, made)
    check(resource, resource.stored, made)
    warnings += await asked.api.admission.validated(review.with_object(made))
    stored = writes.commit_create(resource, made, _author(asked))
    return await _answer(asked, stored, status, warnings)


def _review(asked: KindRequest, made: Object, old: Object | None) -> Review:
    return Review(
        resource=asked.resource,
        operation="CREATE" if old is None else "UPDATE",
        obj=made,
        old=old,
        namespace=asked.namespace,
        name=name_of(made),
        subresource="" if old is None else asked.target.subresource,
        dry_run=asked.call.dry_run,
    )


async def _mutated(asked: KindRequest, review: Review, made: Object) -> Object:
    changed = await asked.api.admission.mutated(review)
    if changed is None or changed is made:
        return made
    return defaulted(asked.resource, asked.resource.stored, changed)


async def _answer(asked: KindRequest, stored: Object, status: int, warnings: list[str]) -> Reply:
    answer = reply(await asked.shown(stored), status)
    answer.warnings = warnings
    return answer


def _author(asked: KindRequest) -> Author:
    return Author(
        name=asked.call.manager,
        subresource=asked.target.subresource,
        dry_run=asked.call.dry_run,
        api_version=asked.resource.api_version(asked.version.name),
    )


def _check_type(asked: KindRequest, body: Object) -> None:
    """Refuse a body of another kind or version than the path's; fill in absent words."""
    wanted = asked.resource.api_version(asked.version.name)
    body.setdefault("apiVersion", wanted)
    body.setdefault("kind", asked.resource.kind)
    if not isinstance(body.get("metadata", {}), dict):
        raise bad_request("metadata must be an object")
    if body["apiVersion"] != wanted:
        message = (
            f"the API version in the data ({body['apiVersion']}) does not match the "
            f"expected API version ({wanted})"
        )
        raise bad_request(message)
    if body["kind"] != asked.resource.kind and asked.resource.custom:
        kind, cause = str(body["kind"]), f"must be {asked.resource.kind}"
        causes = [invalid_value("kind", f'"{kind}"', cause)]
        raise invalid(asked.resource.group, kind, name_of(body), causes)
    if body["kind"] != asked.resource.kind:
        raise bad_request(
            f"the kind in the data ({body['kind']}) does not match the expected kind "
            f"({asked.resource.kind})"
        )


async def update(asked: KindRequest) -> Reply:
    """Answer a PUT of an object or of its status."""
    body = object_body(asked.call.body, asked.call.content_type)
    _check_type(asked, body)
    _check_name(asked, body)
    warnings: list[str] = []
    old = asked.current()
    body = await asked.stored(admitted_fields(asked, body, warnings))
    if asked.resource.custom and not metadata(body).get("resourceVersion"):
        cause = invalid_value("metadata.resourceVersion", "0", "must be specified for an update")
        raise invalid(asked.resource.group, asked.resource.plural, asked.name, [cause])
    return await _replace(asked, old, body, warnings)


async def _replace(asked: KindRequest, old: Object, new: Object, warnings: list[str]) -> Reply:
    resource, writes = asked.resource, asked.api.writes
    subresource = asked.target.subresource
    made = writes.prepare_update(resource, old, new, subresource)
    review = _review(asked, made, old)
    changed = await _mutated(asked, review, made)
    if changed is not made:
        made = updated(resource, old, changed, subresource)
    check(resource, resource.stored, made, old)
    warnings += await asked.api.admission.validated(review.with_object(made))
    author = _author(asked)
    if _patch_type(asked) == APPLY:
        author = Author(name="", dry_run=author.dry_run)
    stored = writes.commit_update(resource, old, made, author)
    return await _answer(asked, stored, 200, warnings)


def _patch_type(asked: KindRequest) -> str:
    return asked.call.content_type.partition(";")[0].strip() if asked.call.method == "PATCH" else ""


async def patch(asked: KindRequest) -> Reply:
    """Answer a PATCH; without a resourceVersion in it, a lost race is tried again."""
    kind = _patch_type(asked)
    if kind not in (*_PATCH_TYPES, *(() if asked.resource.custom else (STRATEGIC,))):
        raise unsupported_media(kind, _PATCH_TYPES)
    body = decoded(asked.call.body, kind)
    for attempt in range(_RETRIES):
        try:
            return await _patch_once(asked, kind, body)
        except ApiFailure as failure:
            if (
                failure.reason != "Conflict"
                or attempt == _RETRIES - 1
                or not _lost_race(kind, body, failure)
            ):
                raise
    raise AssertionError("the last attempt returns or raises")


def _lost_race(kind: str, body: Any, failure: ApiFailure) -> bool:
    """Tell whether a conflict is ours: another write came between read and write."""
    if kind == APPLY or "Precondition" in failure.message or not isinstance(body, dict):
        return kind == JSON_PATCH and "modified" in failure.message and not _names_version(body)
    return not (body.get("metadata") or {}).get("resourceVersion")


def _names_version(operations: Any) -> bool:
    return any(operation.get("path") == "/metadata/resourceVersion" for operation in operations)


async def _patch_once(asked: KindRequest, kind: str, body: Any) -> Reply:
    if kind == APPLY:
        return await _apply(asked, body)
    live = asked.current()
    view = await asked.shown(live)
    if kind == JSON_PATCH:
        made = json_patch.patched(view, body)
    elif kind == STRATEGIC:
        made = strategic_patch.merged(Structure(None), view, body)
    else:
        made = merge_patch.merged(view, body)
    if not isinstance(made, dict) or not isinstance(made.get("metadata"), dict):
        raise bad_request("the patch leaves no object behind")
    warnings: list[str] = []
    new = await asked.stored(admitted_fields(asked, made, warnings))
    return await _replace(asked, live, new, warnings)


async def _apply(asked: KindRequest, config: Any) -> Reply:
    resource = asked.resource
    _check_application(asked, config)
    now = wire_time(asked.api.clock())
    warnings: list[str] = []
    config = _applicable(asked, _declared(asked, config, warnings))
    manager = Manager(
        name=asked.call.query["fieldManager"],
        operation="Apply",
        api_version=resource.api_version(asked.version.name),
        subresource=asked.target.subresource,
    )
    order = Application(config=config, manager=manager, force=asked.call.flag("force"), now=now)
    structure = Structure(asked.version.schema) if resource.custom else structure_of(resource)
    live = asked.api.store.peek(resource, asked.namespace, asked.name)
    if live is None:
        if (
            asked.target.subresource
            or metadata(config).get("uid")
            or metadata(config).get("resourceVersion")
        ):
            raise not_found(resource.group, resource.plural, asked.name)
        blank = {
            "apiVersion": config["apiVersion"],
            "kind": config["kind"],
            "metadata": {"name": asked.name},
        }
        made = applied(structure, blank, order)
        return await _create(asked, made, 201, metadata(made).get("managedFields") or [])
    made = applied(structure, await asked.shown(live), order)
    if metadata(config).get("resourceVersion"):
        made = with_value(
            made, ("metadata", "resourceVersion"), metadata(config)["resourceVersion"]
        )
    return await _replace(asked, live, await asked.stored(made), warnings)


def _declared(asked: KindRequest, config: Object, warnings: list[str]) -> Object:
    """Refuse (500, as the API does) a custom configuration with fields that nobody declared."""
    if not asked.resource.custom:
        return admitted_fields(asked, config, warnings)
    sentence = misfit(asked.version.schema, without_fields(config, ROOT_FIELDS))
    if sentence:
        what = f"{asked.namespace}/{asked.name}; {config['apiVersion']}, Kind={asked.resource.kind}"
        text = f"failed to create typed patch object ({what}): {sentence}"
        raise ApiFailure(500, "InternalError", text)
    return config


def _applicable(asked: KindRequest, config: Object) -> Object:
    """Return the part of a configuration that its path may own."""
    if asked.target.subresource == "status":
        meta = metadata(config)
        named = {
            name: meta[name] for name in ("name", "namespace", "resourceVersion") if name in meta
        }
        words = ("apiVersion", "kind", "status")
        kept: Object = {name: config[name] for name in words if name in config}
        return {**kept, "metadata": named}
    return without(config, ("status",)) if asked.version.has_status else config


def _check_application(asked: KindRequest, config: Any) -> None:
    if not isinstance(config, dict):
        raise bad_request("the body of an apply patch must be an object")
    if not asked.call.query.get("fieldManager"):
        cause = required("fieldManager", "is required for apply patch")
        raise invalid("meta.k8s.io", "PatchOptions", "", [cause])
    if not config.get("apiVersion") or not config.get("kind"):
        raise bad_request("error decoding YAML: Object 'Kind' and 'apiVersion' must be set")
    _check_type(asked, config)
    if metadata(config).get("managedFields") is not None:
        raise bad_request("metadata.managedFields must be nil")
    if name_of(config):
        _check_name(asked, config)


def _check_name(asked: KindRequest, body: Object) -> None:
    if name_of(body) != asked.name:
        raise bad_request(
            f"the name of the object ({name_of(body)}) does not match the name on the URL "
            f"({asked.name})"
        )
