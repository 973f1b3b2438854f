"""The form in which objects are shown: whole, metadata only, or as rows of a table."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.apiserver.tree import Object, metadata, without_fields
from queueing.apiserver.wire.api import KindRequest
from queueing.apiserver.wire.bodies import JSON
from queueing.apiserver.wire.tables import META, partial, table


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
        return partial(obj), shape.content_type
    return obj, shape.content_type


def presented_list(asked: KindRequest, objects: list[Object], meta: Object) -> tuple[Object, str]:
    """Return a list in the form that the client asked for."""
    shape = shape_of(asked.call.accept)
    if shape.form is Form.TABLE:
        return table(asked, objects, meta), shape.content_type
    if shape.form is Form.METADATA_LIST:
        items = [partial(obj) for obj in objects]
        return {
            "kind": "PartialObjectMetadataList",
            "apiVersion": META,
            "metadata": meta,
            "items": items,
        }, JSON
    if not asked.resource.custom:
        objects = [without_fields(obj, ("apiVersion", "kind")) for obj in objects]
    return asked.listed(objects, meta), JSON
