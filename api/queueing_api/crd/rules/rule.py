"""A rule, and the phrases of CEL that several rules are made of."""

from dataclasses import dataclass
from typing import Final

FIELD_IS_IMMUTABLE: Final = "field is immutable"


@dataclass(frozen=True, slots=True)
class Rule:
    """A demand on the object at `path`; `expression` is true when it is met.

    `message_expression` builds the message from the object; `message` is what is said without it.
    `field` is the field that the refusal names, below `path`; without it, the path itself. `at`
    is that field to the point, with empty brackets for each `all` of the expression: a definition
    cannot say it, but whoever evaluates the rule can.
    """

    path: str
    expression: str
    message: str
    message_expression: str = ""
    field: str = ""
    at: str = ""


def holds(condition: str, of: str) -> str:
    """Say in CEL that `of` has a condition that is true."""
    return (
        f"has({of}.conditions) &&"
        f" {of}.conditions.exists(c, c.type == '{condition}' && c.status == 'True')"
    )


def held(condition: str) -> str:
    """Say in CEL that the object, before the write, had a condition that was true."""
    return f"(has(oldSelf.status) && {holds(condition, 'oldSelf.status')})"


def unchanged(field: str, at: str = "") -> str:
    """Say in CEL that an optional field is as it was: absent still, or equal."""
    new, old = f"self{at}.{field}", f"oldSelf{at}.{field}"
    return f"has({new}) == has({old}) && (!has({new}) || {new} == {old})"
