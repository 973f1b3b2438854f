"""Label and field selectors, as text in a query and as LabelSelector objects."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from queueing.apiserver.failures import bad_request
from queueing.apiserver.resources.resource import Resource, ServedVersion, field_value
from queueing.apiserver.tree import Object, dig, metadata
from queueing.core.selectors import OPERATORS

Match = Callable[[Object], bool]

_NAME = r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9.]*[a-zA-Z0-9])?/)?[a-zA-Z0-9](?:[-a-zA-Z0-9_.]*[a-zA-Z0-9])?"
_VALUE = r"(?:[a-zA-Z0-9](?:[-a-zA-Z0-9_.]*[a-zA-Z0-9])?)?"
_SET = re.compile(rf"\s*({_NAME})\s+(in|notin)\s*\(([^()]*)\)\s*")
_EQUAL = re.compile(rf"\s*({_NAME})\s*(==|=|!=|>|<)\s*({_VALUE})\s*")
_EXISTS = re.compile(rf"\s*(!?)\s*({_NAME})\s*")


def everything(_obj: Object) -> bool:
    """Match any object."""
    return True


def label_match(text: str) -> Match:
    """Return the test for a label selector in a query; 400 when it cannot be read."""
    if not text.strip():
        return everything
    tests = [_label_test(part, text) for part in _parts(text)]

    def match(obj: Object) -> bool:
        labels = metadata(obj).get("labels") or {}
        return all(test(labels) for test in tests)

    return match


def _parts(text: str) -> list[str]:
    """Split at commas outside of parentheses."""
    parts, depth, current = [], 0, ""
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += letter
    return [*parts, current]


def _label_test(part: str, whole: str) -> Callable[[Mapping[str, str]], bool]:
    if found := _SET.fullmatch(part):
        name, word = found[1], found[2]
        values = frozenset(value.strip() for value in found[3].split(","))
        return requirement(name, "In" if word == "in" else "NotIn", values)
    if found := _EQUAL.fullmatch(part):
        operators = {"=": "In", "==": "In", "!=": "NotIn", ">": "Gt", "<": "Lt"}
        return requirement(found[1], operators[found[2]], frozenset({found[3]}))
    if found := _EXISTS.fullmatch(part):
        return requirement(found[2], "DoesNotExist" if found[1] else "Exists", frozenset())
    raise bad_request(
        f"unable to parse requirement: found {whole!r}, which is not a label selector"
    )


def requirement(
    name: str, operator: str, values: frozenset[str]
) -> Callable[[Mapping[str, str]], bool]:
    """Return the test for one requirement on labels."""
    if operator not in OPERATORS:
        raise bad_request(f"{operator!r} is not a valid label selector operator")
    test, wanted = OPERATORS[operator], tuple(values)
    return lambda labels: test(labels.get(name), wanted)


def selector_match(selector: Object | None) -> Callable[[Mapping[str, str]], bool]:
    """Return the test of labels for a LabelSelector object; absent or empty matches all."""
    selector = selector or {}
    tests = [
        requirement(name, "In", frozenset({value}))
        for name, value in (selector.get("matchLabels") or {}).items()
    ]
    tests += [
        requirement(entry["key"], entry["operator"], frozenset(entry.get("values") or ()))
        for entry in selector.get("matchExpressions") or ()
    ]
    return lambda labels: all(test(labels) for test in tests)


def field_match(text: str, resource: Resource, version: ServedVersion) -> Match:
    """Return the test for a field selector; 400 for a field that the kind does not offer."""
    if not text.strip():
        return everything
    tests: list[tuple[str, bool, str]] = []
    for part in text.split(","):
        name, operator, value = _field_term(part, text)
        if name not in version.selectable and not _is_metadata_field(name, resource):
            raise _unknown_field(name, resource)
        tests.append((name, operator != "!=", value))

    def match(obj: Object) -> bool:
        return all((field_value(obj, name) == value) is wanted for name, wanted, value in tests)

    return match


def _is_metadata_field(name: str, resource: Resource) -> bool:
    return name == "metadata.name" or (name == "metadata.namespace" and resource.namespaced)


def _field_term(part: str, whole: str) -> tuple[str, str, str]:
    for operator in ("!=", "==", "="):
        name, found, value = part.partition(operator)
        if found:
            return name.strip(), operator, re.sub(r"\\([\\,=])", r"\1", value.strip())
    raise bad_request(f"invalid selector: '{whole}'; can't understand '{part}'")


def _unknown_field(name: str, resource: Resource) -> Exception:
    if resource.custom:
        return bad_request(f"field label not supported: {name}")
    label = "a supported" if not resource.group else "a known"
    return bad_request(
        f'"{name}" is not {label} field selector: only "metadata.name", "metadata.namespace"'
    )


def selected_name(text: str) -> str:
    """Return the name that a field selector fixes, or an empty string."""
    for part in text.split(","):
        name, found, value = part.partition("=")
        if found and name.strip() == "metadata.name":
            return value.lstrip("=").strip()
    return ""


def labels_of(obj: Object) -> Mapping[str, str]:
    """Return the object's labels, or an empty mapping."""
    labels: Any = dig(obj, "metadata", "labels", default={})
    return labels or {}
