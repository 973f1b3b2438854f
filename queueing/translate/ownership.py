"""Hands the ownership of a Workload's status fields to the field manager that Kueue uses.

For going back to Kueue. It clears a field by a server-side apply without it, which works only for
fields that its own field manager owns. Fields that we wrote by merge patches would stay for ever.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

ADMISSION_MANAGER: Final = "kueue-admission"
"""As whom Kueue applies what a decision changes."""
OURS: Final = "queueing"

_FIELDS: Final = frozenset(
    {
        "f:accumulatedPastExecutionTimeSeconds",
        "f:admission",
        "f:admissionChecks",
        "f:requeueState",
        "f:schedulingStats",
    }
)
_CONDITIONS: Final = frozenset(
    {
        "Admitted",
        "DeactivationTarget",
        "Evicted",
        "Preempted",
        "QuotaReserved",
        "Requeued",
    }
)
_STATUS: Final = "f:status"
_LIST: Final = "f:conditions"

Entry = Mapping[str, Any]


def handed_over(entries: Sequence[Entry]) -> list[Entry] | None:
    """Return `metadata.managedFields` with what we decided as Kueue's; None if unchanged."""
    given: dict[str, Any] = {}
    kept: list[Entry] = []
    theirs: Entry | None = None
    last: Entry | None = None
    for entry in entries:
        if _is(entry, OURS, "Update"):
            mine, rest = _split(entry["fieldsV1"].get(_STATUS, {}))
            given, last = _merged(given, mine), entry
            if rest:
                kept.append({**entry, "fieldsV1": {**entry["fieldsV1"], _STATUS: rest}})
        elif _is(entry, ADMISSION_MANAGER, "Apply"):
            theirs = entry
        else:
            kept.append(entry)
    if not given or last is None:
        return None
    base: Entry = theirs or {**last, "manager": ADMISSION_MANAGER, "operation": "Apply"}
    had = theirs["fieldsV1"] if theirs is not None else {}
    return [*kept, {**base, "fieldsV1": _merged(had, {_STATUS: given})}]


def _is(entry: Entry, manager: str, operation: str) -> bool:
    return (
        entry.get("manager") == manager
        and entry.get("operation") == operation
        and entry.get("subresource") == "status"
    )


def _split(fields: Entry) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part the fields of a status: those of an admission, and the others."""
    mine = {name: value for name, value in fields.items() if name in _FIELDS}
    rest = {name: value for name, value in fields.items() if name not in {*_FIELDS, _LIST, "."}}
    conditions: Entry = fields.get(_LIST, {})
    decided = {key: value for key, value in conditions.items() if _type(key) in _CONDITIONS}
    if decided:
        mine[_LIST] = decided
    others = {key: value for key, value in conditions.items() if key != "." and key not in decided}
    if others:
        rest[_LIST] = others
    return mine, rest


def _type(key: str) -> str:
    """Read the type from the key of a condition: `k:{"type":"Admitted"}`."""
    prefix, _, text = key.partition(":")
    return str(json.loads(text).get("type", "")) if prefix == "k" else ""


def _merged(one: Entry, other: Entry) -> dict[str, Any]:
    """Unite two sets of fields."""
    found = dict(one)
    for name, value in other.items():
        found[name] = _merged(found.get(name, {}), value)
    return found
