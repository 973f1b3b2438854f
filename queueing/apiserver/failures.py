"""What the server answers when it does not do as asked: Status objects with reason and causes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from typing_extensions import override

from queueing.apiserver.tree import Object


@dataclass(frozen=True, slots=True)
class StatusCause:
    """One broken rule: the wire reason (`FieldValueInvalid` …), a sentence and the field path."""

    reason: str
    message: str
    field: str

    def wire(self) -> Object:
        return {"reason": self.reason, "message": self.message, "field": self.field}

    @override
    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class ApiFailure(Exception):  # noqa: N818 - an answer, not a fault of this program
    """A request that ends in a Status of kind Failure."""

    def __init__(self, code: int, reason: str, message: str, **details: Any) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = {key: value for key, value in details.items() if value not in (None, "")}

    def status(self) -> Object:
        body: Object = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if self.details:
            body["details"] = self.details
        return {**body, "code": self.code}


def qualified(group: str, plural: str) -> str:
    """Return `plural.group`, or the plural alone for the core group."""
    return f"{plural}.{group}" if group else plural


def not_found(group: str, plural: str, name: str) -> ApiFailure:
    """Return 404 for an object that does not exist."""
    message = f'{qualified(group, plural)} "{name}" not found'
    return ApiFailure(404, "NotFound", message, name=name, group=group, kind=plural)


def no_such_path() -> ApiFailure:
    """Return 404 for a path that names nothing served."""
    message = "the server could not find the requested resource"
    return ApiFailure(404, "NotFound", message)


def already_exists(group: str, plural: str, name: str) -> ApiFailure:
    """Return 409 for a creation under a taken name."""
    message = f'{qualified(group, plural)} "{name}" already exists'
    return ApiFailure(409, "AlreadyExists", message, name=name, group=group, kind=plural)


def conflict(group: str, plural: str, name: str, why: str | None = None) -> ApiFailure:
    """Return 409 for a write that comes too late."""
    why = why or (
        "the object has been modified; please apply your changes to the latest "
        "version and try again"
    )
    message = f'Operation cannot be fulfilled on {qualified(group, plural)} "{name}": {why}'
    return ApiFailure(409, "Conflict", message, name=name, group=group, kind=plural)


def bad_request(message: str) -> ApiFailure:
    """Return 400 for what cannot be understood."""
    return ApiFailure(400, "BadRequest", message)


def forbidden(group: str, plural: str, name: str, why: str) -> ApiFailure:
    """Return 403 for what this server never does."""
    message = f'{qualified(group, plural)} "{name}" is forbidden: {why}'
    return ApiFailure(403, "Forbidden", message, name=name, group=group, kind=plural)


def invalid(group: str, kind: str, name: str, causes: Sequence[StatusCause]) -> ApiFailure:
    """Return 422 with every broken rule."""
    sentences = list(dict.fromkeys(str(cause) for cause in causes))
    text = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    message = f'{qualified(group, kind)} "{name}" is invalid: {text}'
    details = {"name": name, "group": group, "kind": kind}
    return ApiFailure(422, "Invalid", message, **details, causes=[cause.wire() for cause in causes])


def unsupported_media(content_type: str, accepted: Sequence[str]) -> ApiFailure:
    """Return 415 with the content types that would do."""
    message = (
        f"the body of the request was in an unknown format - accepted media types include: "
        f"{', '.join(accepted)}"
    )
    del content_type
    return ApiFailure(415, "UnsupportedMediaType", message)


def method_not_allowed() -> ApiFailure:
    """Return 405 for a verb that the path does not have."""
    message = "the server does not allow this method on the requested resource"
    return ApiFailure(405, "MethodNotAllowed", message)


def expired(message: str) -> ApiFailure:
    """Return 410 for a version that is forgotten."""
    return ApiFailure(410, "Expired", message)


def version_ahead(asked: int, current: int) -> ApiFailure:
    """Return 504 for a version that is not reached yet."""
    message = f"Too large resource version: {asked}, current: {current}"
    cause = StatusCause("ResourceVersionTooLarge", "Too large resource version", "").wire()
    return ApiFailure(504, "Timeout", message, causes=[cause], retryAfterSeconds=1)


def invalid_value(field: str, shown: str, detail: str) -> StatusCause:
    """Return the cause for a value that breaks a rule."""
    return StatusCause("FieldValueInvalid", f"Invalid value: {shown}: {detail}", field)


def required(field: str, detail: str = "") -> StatusCause:
    """Return the cause for a field that is missing."""
    return StatusCause(
        "FieldValueRequired", f"Required value: {detail}" if detail else "Required value", field
    )


def forbidden_value(field: str, detail: str) -> StatusCause:
    """Return the cause for a field that may not be set, or not be changed, in this way."""
    return StatusCause("FieldValueForbidden", f"Forbidden: {detail}", field)


def duplicate(field: str, shown: str) -> StatusCause:
    """Return the cause for a value that stands twice where each stands once."""
    return StatusCause("FieldValueDuplicate", f"Duplicate value: {shown}", field)


def unsupported_value(field: str, shown: str, supported: Iterable[str]) -> StatusCause:
    """Return the cause for a value that is none of those supported, which are given as shown."""
    text = f"Unsupported value: {shown}: supported values: {', '.join(supported)}"
    return StatusCause("FieldValueNotSupported", text, field)
