"""Label selectors, node affinity terms, taints and tolerations, as Kubernetes defines them."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import gt, lt
from types import MappingProxyType

_INTEGER = re.compile(r"[+-]?[0-9]{1,63}")
"""A label has no more than 63 characters."""
_LABEL_MAX = 63
_PREFIX_MAX = 253
_NAME = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]")
_PREFIX = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_SPELLED = (
    "there may be at most 63 letters, digits, '-', '_' and '.', with a letter or digit at each end"
)
_INT64 = range(-(2**63), 2**63)


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """One term of a label selector or of node affinity: `key operator values`.

    Operators: In, NotIn, Exists, DoesNotExist, Gt, Lt.
    """

    key: str
    operator: str
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selector:
    """A label selector, all of whose requirements must hold; an empty one matches everything."""

    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """A taint of a flavor's nodes."""

    key: str
    value: str = ""
    effect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toleration:
    """A toleration of a pod or one that a flavor adds."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


def _compares(test: Callable[[int, int], bool], value: str | None, values: tuple[str, ...]) -> bool:
    if value is None or len(values) != 1:
        return False
    label, bound = _integer(value), _integer(values[0])
    return label is not None and bound is not None and test(label, bound)


def _integer(text: str) -> int | None:
    """Parse a 64-bit integer as Kubernetes does; None for what is none, such as `1_0`."""
    if _INTEGER.fullmatch(text) is None:
        return None
    number = int(text)
    return number if number in _INT64 else None


OPERATORS: Mapping[str, Callable[[str | None, tuple[str, ...]], bool]] = MappingProxyType(
    {
        "In": lambda value, values: value in values,
        "NotIn": lambda value, values: value not in values,
        "Exists": lambda value, _: value is not None,
        "DoesNotExist": lambda value, _: value is None,
        "Gt": lambda value, values: _compares(gt, value, values),
        "Lt": lambda value, values: _compares(lt, value, values),
    }
)


def fault(requirement: Requirement) -> tuple[str, str] | None:
    """Return which field of a requirement is invalid and why; None if it is valid.

    Kubernetes refuses an invalid one only when labels are matched against it.
    """
    operator, values = requirement.operator, requirement.values
    if operator not in OPERATORS:
        known = ", ".join(f'"{one}"' for one in sorted(OPERATORS))
        return "operator", f'Unsupported value: "{operator}": supported values: {known}'
    compares = operator in ("Gt", "Lt")
    if compares:
        wrong, told = len(values) != 1, "for 'Gt', 'Lt' operators, exactly one value is required"
    elif operator in ("In", "NotIn"):
        wrong, told = not values, "for 'in', 'notin' operators, values set can't be empty"
    else:
        wrong, told = bool(values), "values set must be empty for exists and does not exist"
    if wrong:
        shown = ",".join(f'"{one}"' for one in values)
        return "values", f"Invalid value: [{shown}]: {told}"
    if compares and _integer(values[0]) is None:
        told = "for 'Gt', 'Lt' operators, the value must be an integer"
        return "values[0]", f'Invalid value: "{values[0]}": {told}'
    return None


def label_fault(key: str, value: str) -> str:
    """Return why no node can have a label; empty if it can be had."""
    prefix, slash, name = key.rpartition("/")
    if len(name) > _LABEL_MAX or not _NAME.fullmatch(name):
        return f"{key} is no name of a label: {_SPELLED}"
    if slash and (len(prefix) > _PREFIX_MAX or not _PREFIX.fullmatch(prefix)):
        return f"{key} is no name of a label: before the slash there must be a DNS name"
    if value and (len(value) > _LABEL_MAX or not _NAME.fullmatch(value)):
        return f"{value} is no value of a label: {_SPELLED}"
    return ""


def meets(requirement: Requirement, labels: Mapping[str, str]) -> bool:
    """Say whether labels meet one requirement; an unknown operator is met by nothing."""
    test = OPERATORS.get(requirement.operator)
    return test is not None and test(labels.get(requirement.key), requirement.values)


def selects(selector: Selector | None, labels: Mapping[str, str]) -> bool:
    """Say whether a label selector matches: None matches nothing, an empty one everything."""
    return selector is not None and all(meets(one, labels) for one in selector.requirements)


def untolerated(taints: Iterable[Taint], tolerations: Iterable[Toleration]) -> Taint | None:
    """Return the first taint that keeps pods away and that no toleration covers."""
    tolerated_by = tuple(tolerations)
    for taint in taints:
        if taint.effect not in ("NoSchedule", "NoExecute"):
            continue
        if not any(_tolerates(toleration, taint) for toleration in tolerated_by):
            return taint
    return None


def _tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value
