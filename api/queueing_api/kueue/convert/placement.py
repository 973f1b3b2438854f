"""Topology assignments: one entry per domain (v1beta1) or columns of equal length (v1beta2)."""

from typing import Any

Values = list[str]


def to_slices(assignment: Any) -> Any:
    """Write the domains of a v1beta1 assignment as one slice; order and counts are kept."""
    if not isinstance(assignment, dict) or "domains" not in assignment:
        return assignment
    domains = assignment["domains"] or []
    levels = len(assignment.get("levels") or [])
    if any(len(domain["values"]) != levels for domain in domains):
        raise ValueError("topologyAssignment: a domain must have one value for each level")
    rest = {key: value for key, value in assignment.items() if key not in ("domains", "slices")}
    return {**rest, "slices": [_slice(domains, levels)] if domains else []}


def _slice(domains: list[dict[str, Any]], levels: int) -> dict[str, Any]:
    columns = [[domain["values"][level] for domain in domains] for level in range(levels)]
    return {
        "domainCount": len(domains),
        "valuesPerLevel": [_level(column) for column in columns],
        "podCounts": _counts([domain["count"] for domain in domains]),
    }


def _level(values: Values) -> dict[str, Any]:
    if len(set(values)) == 1:
        return {"universal": values[0]}
    prefix = _beginning(values)
    shortest = min(len(value) for value in values) - len(prefix)
    suffix = _beginning([value[::-1] for value in values])[:shortest][::-1]
    individual: dict[str, Any] = {"prefix": prefix} if prefix else {}
    if suffix:
        individual["suffix"] = suffix
    roots = [value[len(prefix) : len(value) - len(suffix)] for value in values]
    return {"individual": {**individual, "roots": roots}}


def _beginning(values: Values) -> str:
    """Return the text that all values begin with: the least and the greatest tell."""
    first, last = min(values), max(values)
    size = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), None)
    return first[:size]


def _counts(counts: list[int]) -> dict[str, Any]:
    return {"universal": counts[0]} if len(set(counts)) == 1 else {"individual": counts}


def to_domains(assignment: Any) -> Any:
    """Write the slices of a v1beta2 assignment as domains; order and counts are kept."""
    if not isinstance(assignment, dict) or "slices" not in assignment:
        return assignment
    domains = [domain for part in assignment["slices"] or [] for domain in _domains(part)]
    rest = {key: value for key, value in assignment.items() if key not in ("domains", "slices")}
    return {**rest, "domains": domains}


def _domains(part: dict[str, Any]) -> list[dict[str, Any]]:
    count = part["domainCount"]
    columns = [_values(level, count) for level in part["valuesPerLevel"]]
    pods = _column(part["podCounts"], count)
    if any(len(column) != count for column in (*columns, pods)):
        raise ValueError("topologyAssignment: a slice must have one value for each of its domains")
    return [
        {"values": [column[place] for column in columns], "count": pods[place]}
        for place in range(count)
    ]


def _values(level: dict[str, Any], count: int) -> Values:
    individual = level.get("individual")
    if individual is None:
        return _column(level, count)
    prefix, suffix = individual.get("prefix", ""), individual.get("suffix", "")
    return [f"{prefix}{root}{suffix}" for root in individual["roots"]]


def _column(cell: dict[str, Any], count: int) -> list[Any]:
    """Spread a value that all domains have, or take the one that each has."""
    return [cell["universal"]] * count if "universal" in cell else list(cell["individual"])
