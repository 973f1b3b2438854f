"""Documents that were not read from an API server (files, snapshots) → wire structs."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from queueing.translate.wire.meta import Wire

W = TypeVar("W", bound=Wire)


class ManifestError(ValueError):
    """A document that does not have the shape of its kind; the text names the field."""


def read(kind: type[W], document: Mapping[str, Any]) -> W:
    """Read a document as the API server would: a null is an absent field, defaults are applied.

    Raises ManifestError.
    """
    try:
        return msgspec.json.decode(msgspec.json.encode(_without_nulls(document)), type=kind)
    except (msgspec.ValidationError, TypeError) as error:
        raise ManifestError(str(error)) from error


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_nulls(item) for item in value if item is not None]
    return value
