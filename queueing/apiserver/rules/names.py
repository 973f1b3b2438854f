"""Names, labels and other metadata: what is allowed."""

import re
from collections.abc import Iterator
from typing import Any

from queueing.apiserver.failures import StatusCause, invalid_value, required
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.schema.structural import shown, type_name
from queueing.apiserver.tree import Object, metadata

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_VALUE = f"({_QUALIFIED})?"
_LABEL_NAMED = frozenset({"namespaces", "services"})
_ANNOTATIONS_BYTES_MAX = 256 * 1024
_PATH_NAMED = frozenset({"rbac.authorization.k8s.io"})

_SUBDOMAIN_RULE = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
    "characters, '-' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for "
    f"validation is '{_SUBDOMAIN}')"
)
_LABEL_RULE = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
    "'-', and must start and end "
    "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for "
    f"validation is '{_LABEL}')"
)
_QUALIFIED_RULE = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for "
    f"validation is '{_QUALIFIED}')"
)
_VALUE_RULE = (
    "a valid label must be an empty string or consist of alphanumeric characters, "
    "'-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', "
    "regex used for validation is "
    f"'{_LABEL_VALUE}')"
)


def metadata_violations(resource: Resource, obj: Object) -> Iterator[StatusCause]:
    """Yield what is wrong with an object's metadata."""
    meta = metadata(obj)
    yield from _types(meta)
    name = meta.get("name")
    if not name:
        yield required("metadata.name", "name or generateName is required")
    elif isinstance(name, str):
        yield from name_violations(resource, name, "metadata.name")
    yield from _labels(meta.get("labels") or {}, "metadata.labels")
    yield from _annotations(meta.get("annotations") or {})
    for index, finalizer in enumerate(meta.get("finalizers") or ()):
        yield from _qualified(
            finalizer, f"metadata.finalizers[{index}]" if resource.custom else "metadata.finalizers"
        )
    yield from _owners(meta.get("ownerReferences") or ())


def name_violations(resource: Resource, name: str, field: str) -> Iterator[StatusCause]:
    """Yield what is wrong with a name."""
    if resource.group in _PATH_NAMED:
        return
    as_label = resource.plural in _LABEL_NAMED and not resource.group
    rule, longest, text = (
        (_LABEL, 63, _LABEL_RULE) if as_label else (_SUBDOMAIN, 253, _SUBDOMAIN_RULE)
    )
    if len(name) > longest:
        yield invalid_value(field, shown(name), f"must be no more than {longest} bytes")
    if as_label and "." in name:
        yield invalid_value(field, shown(name), "must not contain dots")
    elif not re.fullmatch(rule, name):
        yield invalid_value(field, shown(name), text)


def _types(meta: Object) -> Iterator[StatusCause]:
    wanted: tuple[tuple[str, type, str], ...] = (
        ("labels", dict, "object"),
        ("annotations", dict, "object"),
        ("finalizers", list, "array"),
        ("ownerReferences", list, "array"),
    )
    for name, kind, word in wanted:
        value = meta.get(name)
        if value is not None and not isinstance(value, kind):
            found = shown(type_name(value))
            yield invalid_value(
                f"metadata.{name}",
                found,
                f"metadata.{name} in body must be of type {word}: {found}",
            )


def _labels(labels: Any, field: str) -> Iterator[StatusCause]:
    if not isinstance(labels, dict):
        return
    for name, value in labels.items():
        yield from _qualified(name, field)
        if not isinstance(value, str) or not re.fullmatch(_LABEL_VALUE, value):
            yield invalid_value(field, shown(value), _VALUE_RULE)
        elif len(value) > 63:  # noqa: PLR2004 - the limit of a label's value
            yield invalid_value(field, shown(value), "must be no more than 63 bytes")


def _annotations(annotations: Any) -> Iterator[StatusCause]:
    if not isinstance(annotations, dict):
        return
    for name in annotations:
        yield from _qualified(name.lower(), "metadata.annotations")
    size = sum(len(name.encode()) + len(str(value).encode()) for name, value in annotations.items())
    if size > _ANNOTATIONS_BYTES_MAX:
        message = f"Too long: may not be more than {_ANNOTATIONS_BYTES_MAX} bytes"
        yield StatusCause("FieldValueTooLong", message, "metadata.annotations")


def _qualified(text: Any, field: str) -> Iterator[StatusCause]:
    """Check a name with an optional DNS prefix and a slash."""
    prefix, slash, name = str(text).rpartition("/")
    if slash and not re.fullmatch(_SUBDOMAIN, prefix):
        yield invalid_value(field, shown(text), f"prefix part {_SUBDOMAIN_RULE}")
    if not re.fullmatch(_QUALIFIED, name):
        yield invalid_value(field, shown(text), _QUALIFIED_RULE)
    elif len(name) > 63:  # noqa: PLR2004 - the limit of a qualified name
        yield invalid_value(field, shown(text), "name part must be no more than 63 bytes")


def _owners(owners: Any) -> Iterator[StatusCause]:
    controllers = 0
    for index, owner in enumerate(owners):
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                word = "version" if name == "apiVersion" else name
                field = f"metadata.ownerReferences[{index}].{name}"
                yield invalid_value(field, '""', f"{word} must not be empty")
        controllers += bool(owner.get("controller"))
    if controllers > 1:
        yield invalid_value(
            "metadata.ownerReferences",
            shown(owners),
            "Only one reference can have Controller set to true",
        )
