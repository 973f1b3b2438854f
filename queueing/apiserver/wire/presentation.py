"""The form in which objects are shown: whole, metadata only, or as rows of a table."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.apiserver.tree import Object, metadata
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import JSON
from queueing.apiserver.wire.tables import table

META = "meta.k8s.io/v1"


class Form(StrEnum):
    """What the client can read best."""

    WHOLE = "whole"
    METADATA = "PartialObjectMetadata"
    METADATA_LIST = "PartialObjectMetadataList"
    TABLE = "Table"


@dataclass(frozen=True, slots=True)
class Negotiated:
    """The form chosen from an Accept header, and the content type that says so."""

    form: Form
    content_type: str


def shape_of(accept: str) -> Negotiated:
    """Return the first form in an Accept header that we speak; whole objects when none is named."""
    for part in accept.split(","):
        words = dict(word.strip().partition("=")[::2] for word in part.split(";")[1:])
        if (
            words.get("as") in (Form.TABLE, Form.METADATA, Form.METADATA_LIST)
            and words.get("v") == "v1"
        ):
            return Negotiated(Form(words["as"]), JSON)
        if part.split(";")[0].strip() in (JSON, "*/*"):
            break
    return Negotiated(Form.WHOLE, JSON)


def presented(asked: KindRequest, obj: Object) -> tuple[Object, str]:
    """Return one object in the form that the client asked for."""
    shape = shape_of(asked.call.accept)
    if shape.form is Form.TABLE:
        return table(
            asked, [obj], {"resourceVersion": metadata(obj).get("resourceVersion", "")}
        ), shape.content_type
    if shape.form is Form.METADATA:
        return _partial(obj), shape.content_type
    return obj, shape.content_type


def presented_list(asked: KindRequest, objects: list[Object], meta: Object) -> tuple[Object, str]:
    """Return a list in the form that the client asked for."""
    shape = shape_of(asked.call.accept)
    if shape.form is Form.TABLE:
        return table(asked, objects, meta), shape.content_type
    if shape.form is Form.METADATA_LIST:
        items = [_partial(obj) for obj in objects]
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": META,
            "metadata": meta,
            "items": items,
        }, JSON
    resource = asked.resource
    if not resource.custom:
        objects = [
            {name: value for name, value in obj.items() if name not in ("apiVersion", "kind")}
            for obj in objects
        ]
    api_version = resource.api_version(asked.version.name)
    return {
        "kind": resource.list_kind,
        "apiVersion": api_version,
        "metadata": meta,
        "items": objects,
    }, JSON


def _partial(obj: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": META, "metadata": metadata(obj)}
