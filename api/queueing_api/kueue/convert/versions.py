"""The conversion itself: change the object, keep what is lost, restore what was kept."""

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from queueing_api.kueue.convert.fields import Change, Document
from queueing_api.kueue.convert.kept import MISSING, Kept, differences, placed
from queueing_api.kueue.convert.kinds import PAIRS, UNCHANGED

V1BETA1: Final = "kueue.x-k8s.io/v1beta1"
V1BETA2: Final = "kueue.x-k8s.io/v1beta2"
KEPT_ANNOTATION: Final[Mapping[str, str]] = MappingProxyType(
    {
        V1BETA1: "conversion.queueing.dev/v1beta1",
        V1BETA2: "conversion.queueing.dev/v1beta2",
    }
)
"""Annotation that holds what only the version of the key can say, on objects of the other."""


class ConversionError(ValueError):
    """An object that cannot be converted, with the reason."""


def convert(document: Document, to_version: str) -> Document:
    """Return an object of the group in another version; the argument stays as it is.

    Raises ConversionError for a version that is not served, and for an object whose topology
    assignment contradicts itself.
    """
    from_version = document.get("apiVersion")
    if from_version == to_version and to_version in KEPT_ANNOTATION:
        return document
    if from_version not in KEPT_ANNOTATION or to_version not in KEPT_ANNOTATION:
        raise ConversionError(
            f"cannot convert {from_version} to {to_version}: the versions are {V1BETA1}, {V1BETA2}"
        )
    try:
        return _converted(document, str(from_version), to_version)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        metadata = document.get("metadata")
        name = metadata.get("name", "") if isinstance(metadata, dict) else ""
        raise ConversionError(
            f"{document.get('kind')} {name!r} to {to_version}: {error}"
        ) from error


def _converted(document: Document, from_version: str, to_version: str) -> Document:
    pair = PAIRS.get(str(document.get("kind")), UNCHANGED)
    there, back = pair.to_v1beta2, pair.to_v1beta1
    if to_version == V1BETA1:
        there, back = back, there
    plain, kept = _without_kept(document, KEPT_ANNOTATION[to_version])
    made = _restored(plain, kept, there, back)
    lost = list(differences(plain, back(made)))
    made = {**made, "apiVersion": to_version}
    return _with_kept(made, KEPT_ANNOTATION[from_version], lost) if lost else made


def _restored(plain: Document, kept: list[Kept], there: Change, back: Change) -> Document:
    """Convert, and put back what was kept where it still means what the object says now."""
    made: Document = there(plain)
    for place, value in kept:
        try:
            candidate: Document = placed(made, place, value)
            means = back(candidate)
        except (ValueError, LookupError, TypeError, AttributeError):
            continue
        if means == back(made):
            made = candidate
    return made


def _without_kept(document: Document, annotation: str) -> tuple[Document, list[Kept]]:
    """Take the annotation off; what somebody else wrote into it is not ours to restore."""
    metadata = document.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if annotation not in annotations:
        return document, []
    rest = {key: value for key, value in annotations.items() if key != annotation}
    bare = {key: value for key, value in metadata.items() if key != "annotations"}
    plain = {**document, "metadata": {**bare, "annotations": rest} if rest else bare}
    try:
        entries = json.loads(annotations[annotation])
        return plain, [_entry(entry) for entry in entries]
    except (ValueError, TypeError, LookupError):
        return plain, []


def _entry(entry: Any) -> Kept:
    place = entry["at"]
    if not place or not isinstance(place, list):
        raise ValueError(place)
    return place, entry.get("is", MISSING)


def _with_kept(document: Document, annotation: str, lost: list[Kept]) -> Document:
    entries = [
        {"at": place} if value is MISSING else {"at": place, "is": value} for place, value in lost
    ]
    text = json.dumps(entries, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
    metadata: dict[str, Any] = document.get("metadata") or {}
    annotations = {**(metadata.get("annotations") or {}), annotation: text}
    return {**document, "metadata": {**metadata, "annotations": annotations}}
