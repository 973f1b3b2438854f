"""What is wrong with an object: where, how, and in words a user can act on."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from typing_extensions import override

FORBIDDEN = 403
UNPROCESSABLE = 422
Wire = dict[str, Any]
"""An object as the API server spells it."""


class Fault(StrEnum):
    """Kinds of mistakes, as Kubernetes names them in a Status."""

    INVALID = "FieldValueInvalid"
    DUPLICATE = "FieldValueDuplicate"
    NOT_SUPPORTED = "FieldValueNotSupported"
    FORBIDDEN = "FieldValueForbidden"
    REQUIRED = "FieldValueRequired"


LEADS: dict[Fault, str] = {
    Fault.INVALID: "Invalid value",
    Fault.DUPLICATE: "Duplicate value",
    Fault.NOT_SUPPORTED: "Unsupported value",
    Fault.FORBIDDEN: "Forbidden",
    Fault.REQUIRED: "Required value",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One mistake at one path of the object."""

    path: str
    fault: Fault
    message: str = ""
    value: object = None
    of_definition: bool = False
    """Whether the definition of the kind says so itself, so that a real server refuses it before
    it asks anybody."""

    @property
    def detail(self) -> str:
        """What is wrong, for a place where the path stands already."""
        lead = LEADS[self.fault]
        if self.fault not in {Fault.FORBIDDEN, Fault.REQUIRED}:
            lead = f"{lead}: {quoted(self.value)}"
        return f"{lead}: {self.message}" if self.message else lead

    @override
    def __str__(self) -> str:
        return f"{self.path}: {self.detail}"


def quoted(value: object) -> str:
    """Spell a value as it stands in a message: strings in quotes, the rest plain."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def invalid(path: str, value: object, message: str) -> Finding:
    """Make a finding about a value that breaks a rule."""
    return Finding(path=path, fault=Fault.INVALID, value=value, message=message)


def immutable(path: str, value: object) -> Finding:
    """Make a finding about a field that may no longer change."""
    return invalid(path, value, "field is immutable")


def duplicate(path: str, value: object) -> Finding:
    """Make a finding about a value that stands twice."""
    return Finding(path=path, fault=Fault.DUPLICATE, value=value)


def not_supported(path: str, value: object, allowed: Iterable[str]) -> Finding:
    """Make a finding about a value outside a list of allowed ones."""
    names = ", ".join(f'"{name}"' for name in allowed)
    return Finding(
        path=path, fault=Fault.NOT_SUPPORTED, value=value, message=f"supported values: {names}"
    )


def forbidden(path: str, message: str) -> Finding:
    """Make a finding about something that may not be done at all."""
    return Finding(path=path, fault=Fault.FORBIDDEN, message=message)


def of_definition(found: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings as those that the definition of the kind makes as well."""
    for one in found:
        yield replace(one, of_definition=True)


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
