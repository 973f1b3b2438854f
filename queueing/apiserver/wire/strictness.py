"""Fields that a kind does not know: dropped, warned about, or refused, as the client asked."""

from queueing.apiserver.failures import ApiFailure, bad_request
from queueing.apiserver.resources.fitting import fitted
from queueing.apiserver.resources.shapes import message_of
from queueing.apiserver.schema.pruning import pruned
from queueing.apiserver.tree import Object, without_fields
from queueing.apiserver.wire.api import KindRequest

_METADATA_FIELDS = frozenset(
    {
        "annotations",
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "finalizers",
        "generateName",
        "generation",
        "labels",
        "managedFields",
        "name",
        "namespace",
        "ownerReferences",
        "resourceVersion",
        "selfLink",
        "uid",
    }
)


def admitted_fields(asked: KindRequest, body: Object, warnings: list[str]) -> Object:
    """Return the body less unknown fields; `fieldValidation=Strict` refuses (400) them instead."""
    unknown: list[str] = []
    made = _known_metadata(body, unknown)
    if asked.resource.custom and asked.version.schema:
        made = pruned(asked.version.schema, made, unknown)
    elif message := _message(asked):
        made = _fitted(asked, message, made, unknown)
    if not unknown:
        return made
    word = asked.call.query.get("fieldValidation", "Warn")
    sentences = [f'unknown field "{field}"' for field in unknown]
    if word == "Strict":
        kind, version = asked.resource.kind, asked.version.name
        text = f"strict decoding error: {', '.join(sentences)}"
        raise bad_request(f'{kind} in version "{version}" cannot be handled as a {kind}: {text}')
    if word == "Warn":
        warnings.extend(sentences)
    return made


def _message(asked: KindRequest) -> str:
    """Return the shape to fit into; another group's names for a kind have none."""
    if "/" in asked.version.name:
        return ""
    return message_of(asked.resource.group, asked.resource.kind)


def _fitted(asked: KindRequest, message: str, body: Object, unknown: list[str]) -> Object:
    """Return a built-in object in its shape; a wrong type is a 400 in the API's words."""
    try:
        return fitted(message, body, unknown)
    except ApiFailure as failure:
        kind, version = asked.resource.kind, asked.version.name
        text = f'{kind} in version "{version}" cannot be handled as a {kind}: {failure.message}'
        raise bad_request(text) from failure


def _known_metadata(body: Object, unknown: list[str]) -> Object:
    meta = body.get("metadata")
    if not isinstance(meta, dict):
        return body
    strange = [name for name in meta if name not in _METADATA_FIELDS]
    if not strange:
        return body
    unknown.extend(f"metadata.{name}" for name in strange)
    return {**body, "metadata": without_fields(meta, strange)}
