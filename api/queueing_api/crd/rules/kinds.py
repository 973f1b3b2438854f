"""Rules of QueueableKind."""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule


def _exactly_one(path: str, *fields: str) -> Rule:
    told = " and ".join(", ".join(fields).rsplit(", ", 1))
    given = ", ".join(f"has(self.{name})" for name in fields)
    return Rule(path, f"[{given}].filter(is, is).size() == 1", f"exactly one of {told} must be set")


def _writable(path: str, field: str, unless: str = "") -> Rule:
    """Demand a path at which users write, and so may a start."""
    return Rule(
        path,
        f"{unless}!has(self.{field}) || !self.{field}.matches('^(status|metadata)([.]|$)')",
        "must be a field that users write",
        field=f".{field}",
    )


_POD_SET: Final = "spec.podSets[]"
QUEUEABLE_KIND: Final = (
    Rule("spec.resource", "self == oldSelf", FIELD_IS_IMMUTABLE),
    _exactly_one("spec.suspend", "field", "gate", "throughPods"),
    _writable("spec.suspend", "field"),
    _exactly_one(_POD_SET, "name", "nameFrom"),
    _writable(_POD_SET, "forEach"),
    _writable(_POD_SET, "template", unless="has(self.forEach) || "),
    Rule(
        _POD_SET,
        "!has(self.keys) || size(self.keys) == 0 || has(self.forEach)",
        "keys needs forEach",
        field=".keys",
    ),
    _exactly_one("spec.active", "condition", "expression"),
    _exactly_one("spec.ready", "condition", "expression"),
    _exactly_one("spec.finished[]", "condition", "expression"),
    _exactly_one("spec.finished[]", "outcome", "succeeded"),
)
