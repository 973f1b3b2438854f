"""What is wrong with an object: where, how, and in words a user can act on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from typing_extensions import override

FORBIDDEN = 403
UNPROCESSABLE = 422
Wire = dict[str, Any]
"""An object as the API server spells it."""


class CauseType(StrEnum):
    """Kinds of mistakes, as Kubernetes names them in a Status."""

    INVALID = "FieldValueInvalid"
    DUPLICATE = "FieldValueDuplicate"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    REQUIRED = "FieldValueRequired"


LEADS: dict[CauseType, str] = {
    CauseType.INVALID: "Invalid value",
    CauseType.DUPLICATE: "Duplicate value",
    CauseType.NOT_SUPPORTED: "Unsupported value",
    CauseType.FORBIDDEN: "Forbidden",
    CauseType.REQUIRED: "Required value",
}
_WITHOUT_VALUE = frozenset({CauseType.FORBIDDEN, CauseType.REQUIRED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One mistake at one path of the object."""

    path: str
    fault: CauseType = CauseType.INVALID
    message: str = ""
    value: object = None
    of_definition: bool = False
    """Whether the definition of the kind says so itself, so that a real server refuses it before
    it asks anybody."""

    @property
    def detail(self) -> str:
        """What is wrong, for a place where the path stands already."""
        lead = LEADS[self.fault]
        told = self.message.removeprefix(f"{lead}: ")
        if self.fault in _WITHOUT_VALUE:
            return f"{lead}: {told}"
        shown = quoted(self.value)
        return f"{lead}: {shown}" if told == shown else f"{lead}: {shown}: {told}"

    @override
    def __str__(self) -> str:
        return f"{self.path}: {self.detail}"


def quoted(value: object) -> str:
    """Spell a value as it stands in a message: texts in quotes, of lists and maps just the kind."""
    match value:
        case None:
            return "null"
        case dict():
            return '"object"'
        case list():
            return '"array"'
        case str():
            return f'"{value}"'
        case _:
            return str(value)


def code_of(found: Iterable[Finding]) -> int:
    """Return the code of a refusal: that of the definition, which speaks before anybody else."""
    return UNPROCESSABLE if any(one.of_definition for one in found) else FORBIDDEN


def dig(source: Any, *steps: str) -> Any:
    """Follow keys into nested dicts; None as soon as one is missing."""
    for step in steps:
        if not isinstance(source, dict):
            return None
        source = source.get(step)
    return source


def entries(source: Any, *steps: str) -> Sequence[Wire]:
    """Return the list of objects at a path; empty when absent or of another shape."""
    found = dig(source, *steps)
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def located(path: str, place: Iterable[int | str]) -> str:
    """Fill positions into the brackets of a path that are empty, from left to right."""
    at = iter(place)
    return re.sub(r"\[\]", lambda _: f"[{next(at, '')}]", path)


_STEP = re.compile(r"\[([^\]]*)\]|([^.\[\]]+)")


def value_at(source: Any, path: str) -> Any:
    """Return what stands at a path such as `spec.podSets[0].name`; None when nothing does."""
    for step in _steps(path):
        if isinstance(source, list):
            at = int(step) if step.isdecimal() else len(source)
            source = source[at] if at < len(source) else None
        else:
            source = dig(source, step)
    return source


def _steps(path: str) -> Iterator[str]:
    for step in _STEP.finditer(path):
        yield step[1] if step[2] is None else step[2]
