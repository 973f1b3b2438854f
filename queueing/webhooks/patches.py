"""JSON patches and optional fields, spelled in CEL for the policies that change objects.

All patches of a mutation speak of the object as it came. So room is made first in maps that are not
there yet.
"""

import re
from collections.abc import Sequence
from typing import Final

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_RESERVED: Final = frozenset(
    [
        *("as", "break", "const", "continue", "else", "false", "for", "function", "if", "import"),
        *("in", "let", "loop", "namespace", "null", "package", "return", "true", "var", "void"),
        "while",
    ]
)
"""Words of the language, which no field can be named by."""


def optional(thing: str, path: str) -> str:
    """Return the optional value at a path of something."""
    return thing + "".join(
        f".?{step}" if _IDENTIFIER.fullmatch(step) and step not in _RESERVED else f"[?'{step}']"
        for step in path.split(".")
    )


def added(steps: Sequence[str], value: str) -> str:
    """Return the patch that sets a field to the value of an expression."""
    path = "/".join(one.replace("~", "~0").replace("/", "~1") for one in steps)
    return f"[JSONPatch{{op: 'add', path: '/{path}', value: {value}}}]"


def room(steps: Sequence[str]) -> str:
    """Return the patch that makes a map, unless there is one."""
    path = ".".join(steps)
    return when(f"!{optional('object', path)}.hasValue()", added(steps, "{}"))


def when(test: str, patches: str) -> str:
    """Return patches that are made only when a test holds."""
    return f"({test} ? {patches} : [])"


def unless(test: str, patches: str) -> str:
    """Return patches that are made only when a test does not hold."""
    return f"({test} ? [] : {patches})"


def labelled(label: str, value: str) -> str:
    """Return the patches that give an object a label."""
    place = ["metadata", "labels"]
    return f"{room(place)} + {added([*place, label], repr(value))}"
