"""The JSONPath of printer columns: fields, indexes, `[*]` and simple filters."""

import re
from functools import lru_cache
from typing import Any

_STEP = re.compile(
    r"""\.(?P<field>(?:[A-Za-z0-9_$-]|\\\.)+)
      | \[\s*(?P<index>-?\d+)\s*\]
      | \[\s*(?P<all>\*)\s*\] | (?P<wild>\.\*)
      | \[\s*['"](?P<name>[^'"]+)['"]\s*\]
      | \[\?\(\s*@\.(?P<left>[A-Za-z0-9_.-]+)
        \s*(?P<word>==|!=)\s*(?P<right>"[^"]*"|'[^']*'|[^)\s]+)\s*\)\]""",
    re.VERBOSE,
)


@lru_cache(maxsize=512)
def _steps(path: str) -> tuple[tuple[str, str], ...]:
    """Return the steps of a path as (kind, text); a broken path has none that match anything."""
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    steps: list[tuple[str, str]] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            return (("broken", text[position:]),)
        position = found.end()
        if found["left"]:
            steps.append(
                (
                    "filter" if found["word"] == "==" else "except",
                    f"{found['left']}={found['right'].strip(chr(34) + chr(39))}",
                )
            )
        elif found["index"]:
            steps.append(("index", found["index"]))
        elif found["all"] or found["wild"]:
            steps.append(("all", ""))
        else:
            steps.append(("field", (found["field"] or found["name"]).replace("\\.", ".")))
    return tuple(steps)


def values(tree: Any, path: str) -> list[Any]:
    """Return everything that a path finds in a tree, in order."""
    found = [tree]
    for kind, text in _steps(path):
        found = [item for value in found for item in _step(value, kind, text)]
    return found


def first_value(tree: Any, path: str) -> Any:
    """Return the first thing that a path finds, or None."""
    return next((value for value in values(tree, path) if value is not None), None)


def _step(value: Any, kind: str, text: str) -> list[Any]:
    match kind:
        case "field":
            return [value[text]] if isinstance(value, dict) and text in value else []
        case "index":
            inside = isinstance(value, list) and -len(value) <= int(text) < len(value)
            return [value[int(text)]] if inside else []
        case "all":
            return (
                list(value.values())
                if isinstance(value, dict)
                else list(value)
                if isinstance(value, list)
                else []
            )
        case "filter" | "except":
            left, _, right = text.partition("=")
            items = value if isinstance(value, list) else []
            return [item for item in items if (_text(item, left) == right) is (kind == "filter")]
        case _:
            return []


def _text(item: Any, path: str) -> str:
    found = first_value(item, f".{path}")
    if isinstance(found, bool):
        return str(found).lower()
    return "" if found is None else str(found)
