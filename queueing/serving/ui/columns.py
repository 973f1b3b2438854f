"""Balances of credits, and usage over time as stacked columns."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from queueing.core.names import ResourceName
from queueing.core.quantities import quantity
from queueing.serving.ui.timeline import seconds
from queueing.translate.times import timestamp

Wire = Mapping[str, Any]
SERIES = 6
"""How many have a colour of their own; the others are one."""
STRETCHES = 48
REST = "others"
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True)
class Balance:
    """Where one child of an account stands; its bar begins in the middle at 50."""

    name: str
    text: str
    weight: str
    lent_to: str
    borrowed_from: str
    begin: float
    length: float
    is_debt: bool


def balances(account: Wire) -> dict[str, Any]:
    """Return what is shown of a CreditAccount."""
    status, spec = account.get("status") or {}, account.get("spec") or {}
    children = status.get("children") or []
    most = max((abs(int(one.get("microCredits") or 0)) for one in children), default=0) or 1
    queue = spec.get("clusterQueueName")
    whose = f"ClusterQueue {queue}" if queue else f"Cohort {spec.get('cohortName', '')}"
    return {
        "whose": whose,
        "policy": status.get("policy", ""),
        "as_of": status.get("asOf") or "",
        "children": [_balance(one, most) for one in children],
    }


def _balance(child: Wire, most: int) -> Balance:
    credit = int(child.get("microCredits") or 0)
    length = round(abs(credit) / most * 50, 2)
    return Balance(
        name=f"{child['kind']} {child['name']}",
        text=child.get("balance", ""),
        weight=f"x{child.get('weightFactor', '1')}",
        lent_to=_partners(child.get("lentTo")),
        borrowed_from=_partners(child.get("borrowedFrom")),
        begin=50.0 if credit >= 0 else 50.0 - length,
        length=length,
        is_debt=credit < 0,
    )


def _partners(found: Iterable[Wire] | None) -> str:
    return ", ".join(f"{one['name']} {one.get('amount', '')}".strip() for one in found or ())


@dataclass(frozen=True, slots=True)
class Segment:
    """One payer's part of a column; heights are in hundredths of the highest column."""

    series: int
    name: str
    hours: float
    bottom: float
    height: float


@dataclass(frozen=True, slots=True)
class UsageColumn:
    """The usage of one stretch of time: the mean amount in use."""

    begin: str
    total: float
    parts: tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Chart:
    """Usage of one resource over time."""

    resources: tuple[str, ...]
    resource: str
    by: str
    resolution: str
    names: tuple[str, ...]
    """One for each series, the largest first."""
    columns: tuple[UsageColumn, ...]
    highest: str
    totals: tuple[tuple[str, float], ...]
    """Amount times hours of each name."""


def usage_chart(records: Iterable[Wire], *, resource: str, by: str) -> Chart:
    """Return the mean use of a resource in each stretch; of the finest records, the last 48.

    Without a resource, or one that nobody used, it is the scarcest: the first by name with a slash,
    else the first of all.
    """
    finest = _finest(list(records))
    used: dict[str, dict[tuple[float, float], dict[str, float]]] = {}
    for record in finest:
        span = _span(record)
        for row in (record.get("status") or {}).get("rows") or ():
            name = _payer(row, by)
            if name and row.get("used"):
                sums = used.setdefault(row["resource"], {}).setdefault(span, {})
                sums[name] = sums.get(name, 0.0) + int(row["used"])
    resources = tuple(sorted(used))
    chosen = resource if resource in used else _scarcest(resources)
    resolution = finest[0]["spec"]["resolution"] if finest else "Hour"
    return _drawn(used.get(chosen, {}), (resources, chosen, by, resolution))


def _scarcest(resources: tuple[str, ...]) -> str:
    extended = [one for one in resources if "/" in one]
    return (extended or list(resources) or [""])[0]


def _finest(records: list[Wire]) -> list[Wire]:
    for resolution in ("Hour", "Day", "Month"):
        found = [one for one in records if one["spec"]["resolution"] == resolution]
        if found:
            starts = sorted({one["spec"]["start"] for one in found})[-STRETCHES:]
            return [one for one in found if one["spec"]["start"] in starts]
    return []


def _span(record: Wire) -> tuple[float, float]:
    spec, status = record["spec"], record.get("status") or {}
    begin = seconds(spec["start"]) or 0.0
    end = seconds(status.get("asOf")) or seconds(spec["end"]) or begin
    return begin, max(end, begin + 1.0)


def _payer(row: Wire, by: str) -> str:
    """Return whom a row is counted for; rows without a LocalQueue are sums of those with one."""
    if not row.get("localQueue"):
        return ""
    if by == "namespace":
        return str(row["localQueue"]).partition("/")[0]
    return str(row.get("clusterQueue") or row.get("cohort") or "")


def _drawn(
    used: Mapping[tuple[float, float], Mapping[str, float]],
    labels: tuple[tuple[str, ...], str, str, str],
) -> Chart:
    resources, resource, by, resolution = labels
    unit = 1000.0 if resource == "cpu" else 1.0
    totals: dict[str, float] = {}
    means: dict[float, dict[str, float]] = {}
    for (begin, end), sums in sorted(used.items()):
        column = means.setdefault(begin, {})
        for name, amount_seconds in sums.items():
            totals[name] = totals.get(name, 0.0) + amount_seconds / unit / HOUR_S
            column[name] = column.get(name, 0.0) + amount_seconds / (end - begin)
    ranked = sorted(totals, key=lambda name: (-totals[name], name))
    names = (*ranked[:SERIES], *([REST] if len(ranked) > SERIES else []))
    highest = max((sum(one.values()) for one in means.values()), default=0.0)
    return Chart(
        resources=resources,
        resource=resource,
        by=by,
        resolution=resolution.lower(),
        names=names,
        columns=tuple(
            _column(begin, sums, names, (highest or 1.0, unit)) for begin, sums in means.items()
        ),
        highest=quantity(ResourceName(resource), round(highest)),
        totals=tuple((name, totals[name]) for name in ranked),
    )


def _column(
    begin: float, sums: Mapping[str, float], names: tuple[str, ...], scale: tuple[float, float]
) -> UsageColumn:
    highest, unit = scale
    by_name = {name: sums[name] for name in names if name in sums}
    rest = sum(amount for name, amount in sums.items() if name not in names)
    if rest:
        by_name[REST] = rest
    parts, bottom = [], 0.0
    for name, amount in by_name.items():
        height = amount / highest * 100
        series = min(names.index(name), SERIES)
        parts.append(Segment(series, name, amount / unit, round(bottom, 2), round(height, 2)))
        bottom += height
    return UsageColumn(timestamp(begin), sum(by_name.values()) / unit, tuple(parts))
