"""Usage as a table, as CSV with the columns of FOCUS, as JSON, and as a page."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from queueing.cli.output import columns
from queueing.cli.usage.lines import UsageLine
from queueing.cli.usage.page import page
from queueing.core.credits.facts import HOUR, MICRO
from queueing.core.credits.prices import Prices
from queueing.core.names import FlavorResource

AMOUNTS = ("used", "withinQuota", "borrowed", "lent", "wasted", "idleHeld")
HEADER = (
    "FLAVOR", "RESOURCE", "USED", "IN QUOTA", "BORROWED", "LENT", "WASTED", "IDLE", "RATE", "COST"
)  # fmt: skip
FOCUS = (
    "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "SubAccountName", "ServiceName",
    "ResourceType", "SkuId", "ConsumedQuantity", "ConsumedUnit", "PricingQuantity", "PricingUnit",
    "ListUnitPrice", "ListCost", "BilledCost", "EffectiveCost", "BillingCurrency", "x_GroupedBy",
    "x_InQuotaQuantity", "x_BorrowedQuantity", "x_LentQuantity", "x_WastedQuantity",
    "x_IdleHeldQuantity",
)  # fmt: skip
_IN_GIB = ("memory", "ephemeral-storage")
_PER_UNIT = {"cpu": 1000} | dict.fromkeys(_IN_GIB, 2**30)
"""Amounts in what people count by: cores, GiB, and pieces of everything else."""

Row = dict[str, Any]


class UsagePeriod(NamedTuple):
    """Whom the rows name, the unit of cost, begin and end of the period."""

    by: str
    unit: str
    begin: str
    end: str


def rows(lines: Iterable[UsageLine], prices: Prices) -> list[Row]:
    """Turn amounts times seconds into hours of what people count by."""
    return [_row(one, prices) for one in lines]


def _row(line: UsageLine, prices: Prices) -> Row:
    flavor, resource = line.resource
    price, per = prices.rate(flavor, resource)
    return {
        "payer": line.payer or flavor,
        "flavor": flavor,
        "resource": resource,
        "unit": "GiBh" if resource in _IN_GIB else "h",
        "used": _hours(line.used, line.resource),
        "withinQuota": _hours(line.within_quota, line.resource),
        "borrowed": _hours(line.borrowed, line.resource),
        "lent": None if line.lent is None else _hours(line.lent, line.resource),
        "wasted": None if line.wasted is None else _hours(line.wasted, line.resource),
        "idleHeld": _hours(line.idle, line.resource),
        "rate": price * _PER_UNIT.get(resource, 1) / per / MICRO,
        "cost": line.cost / MICRO / HOUR,
    }


def _hours(amount_seconds: float, resource: FlavorResource) -> float:
    return round(amount_seconds / _PER_UNIT.get(resource.resource, 1) / HOUR, 6)


def _table(found: list[Row], frame: UsagePeriod) -> str:
    if not found:
        return f"Nothing was used between {frame.begin} and {frame.end}."
    lines = [
        (
            row["payer"],
            row["flavor"],
            row["resource"],
            *("-" if row[name] is None else f"{row[name]:.2f}{row['unit']}" for name in AMOUNTS),
            f"{row['rate']:.4g}",
            f"{row['cost']:.2f} {frame.unit}".rstrip(),
        )
        for row in found
    ]
    shown = columns((frame.by.upper(), *HEADER), lines)
    return f"{shown}\n\n{frame.begin} to {frame.end}; hours of one unit."


def _csv(found: list[Row], frame: UsagePeriod) -> str:
    """Write columns named as in FOCUS, those of ours with x_ in front."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(FOCUS)
    for row in found:
        unit = "Hours" if row["unit"] == "h" else "GiB Hours"
        extra = (row[name] for name in AMOUNTS if name != "used")
        writer.writerow(
            (
                frame.begin,
                frame.end,
                "Usage",
                row["payer"],
                "queueing",
                row["resource"],
                row["flavor"],
                row["used"],
                unit,
                row["used"],
                unit,
                row["rate"],
                row["rate"] * row["used"],
                row["cost"],
                row["cost"],
                frame.unit,
                frame.by,
                *extra,
            )
        )
    return out.getvalue().rstrip("\n")


def _json(found: list[Row], frame: UsagePeriod) -> str:
    import json  # noqa: PLC0415 - for one format

    told = {"by": frame.by, "since": frame.begin, "until": frame.end, "unit": frame.unit}
    return json.dumps(told | {"rows": found}, indent=2)


WRITERS: Mapping[str, Callable[[list[Row], UsagePeriod], str]] = MappingProxyType(
    {"table": _table, "csv": _csv, "json": _json, "html": page}
)
"""How each format is written."""
