"""The table of what is refused and why, read from the files beside it.

A row is an object as it would be and, for a change, as it was. `says` is part of the refusal;
without it the object is accepted. `natively` is what the API server says instead when it refuses
the object by its own rules before it asks anybody.
"""

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

CASES = Path(__file__).parent / "cases"
Wire = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    kind: str
    name: str
    new: Wire
    old: Wire | None = None
    says: str = ""
    natively: str = ""
    around: Mapping[str, bool] = field(default_factory=dict)
    """What surrounds the object: `default_queue` for a LocalQueue of that name beside it."""

    @property
    def id(self) -> str:
        return f"{self.kind}: {self.name}"


def rows() -> list[Row]:
    """Read every row, in the order of files and lines."""
    return [
        row_of(table, case)
        for file in sorted(CASES.glob("*.yaml"))
        for table in [yaml.safe_load(file.read_text())]
        for case in table["cases"]
    ]


def row_of(table: Wire, case: Wire) -> Row:
    """Merge a case into the base of its table."""
    unknown = case.keys() - {"id", "set", "old", "says", "natively", "around"}
    if unknown:
        raise ValueError(f"{table['kind']}: {case['id']}: unknown {sorted(unknown)}")
    return Row(
        kind=table["kind"],
        name=case["id"],
        new=merged(table["base"], case.get("set", {})),
        old=merged(table["base"], case["old"]) if "old" in case else None,
        says=case.get("says", ""),
        natively=case.get("natively", ""),
        around=case.get("around", {}),
    )


def merged(base: Any, patch: Any) -> Any:
    """Apply a JSON merge patch (RFC 7396)."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(base) if isinstance(base, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value)
    return result


def merge_patch(before: Any, after: Any) -> Any:
    """Return the JSON merge patch that makes `after` of `before`."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return copy.deepcopy(after)
    gone = {key: None for key in before if key not in after}
    return gone | {
        key: merge_patch(before.get(key), value)
        for key, value in after.items()
        if key not in before or before[key] != value
    }
