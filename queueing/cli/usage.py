"""`queueing usage`: who used how much, within quota, borrowed and held idle, and what it costs."""

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import click

from queueing.cli.output import UsageProblem, columns
from queueing.cli.usage_page import page
from queueing.clock import SystemClock
from queueing.core.credits.facts import HOUR, MICRO, CreditPolicyFact
from queueing.core.credits.holding import Holding, holding_of, running_since
from queueing.core.credits.prices import Prices
from queueing.core.credits.usage import Line, usage_lines
from queueing.core.facts import ClusterQueueFact, WorkloadFact
from queueing.core.names import FlavorResource, QueueName, namespace_of
from queueing.core.quota.tree import quotas_of
from queueing.core.settings import Compatibility
from queueing.sim.documents import Document, load, parse
from queueing.sim.intake import Intake, read_world
from queueing.sim.yaml_text import ManifestError
from queueing.translate.times import timestamp
from queueing_api.config.duration import seconds_of

EPILOG = """\b
Examples:
  queueing usage                                 the last 24 hours, by team (namespace)
  queueing usage --by queue --since 168h         a week, by ClusterQueue
  queueing usage --by user -o csv > usage.csv    by the label queueing.dev/user, columns of FOCUS
  queueing usage --since 2026-11-01T00:00:00Z -o html > november.html
"""
USER_LABEL = "queueing.dev/user"
FORMATS = ("table", "csv", "json", "html")
FREE = Prices({})
AMOUNTS = ("used", "withinQuota", "borrowed", "idleHeld")
_IN_GIB = ("memory", "ephemeral-storage")
_PER_UNIT = {"cpu": 1000} | dict.fromkeys(_IN_GIB, 2**30)
"""Amounts in what people count by: cores, GiB, and pieces of everything else."""


@click.command(epilog=EPILOG)
@click.option(
    "--by",
    type=click.Choice(("team", "user", "queue", "flavor")),
    default="team",
    show_default=True,
    help="Whom to name.",
)
@click.option(
    "--since",
    default="24h",
    show_default=True,
    metavar="TIME",
    help="A length of time, or RFC 3339.",
)
@click.option(
    "-f", "--filename", "files", multiple=True, metavar="FILE", help="Read files instead."
)
@click.option("--kubeconfig", metavar="FILE", help="Kubeconfig of the cluster.")
@click.option("--context", "context_name", metavar="NAME", help="Its context.")
@click.option("--now", metavar="RFC3339", help="End of the period.  [default: now]")
@click.option(
    "-o",
    "--output",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Format of the output.",
)
def command(files: tuple[str, ...], output: str, **options: Any) -> None:
    """Show who used how much, within quota and borrowed, and what it costs.

    Counts Workloads that exist: retention of finished ones bounds how far back it goes. Costs are
    by the prices of the CreditPolicy, in its unit.
    """
    end = _moment(options["now"]) if options["now"] else int(SystemClock().now())
    begin = _since(options["since"], end)
    try:
        documents = load(files) if files else _live(options)
        world = read_world(documents, now=float(end), compatibility=Compatibility.QUEUEING)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    lines = _lines(world, documents, options["by"], (begin, end))
    policy = next((one for one in world.facts if isinstance(one, CreditPolicyFact)), None)
    prices, unit = (FREE, "") if policy is None else (policy.prices, policy.unit)
    rows = [_row(one, prices) for one in lines]
    click.echo(_WRITERS[output](rows, (options["by"], unit, timestamp(begin), timestamp(end))))


Row = dict[str, Any]
Frame = tuple[str, str, str, str]
"""Whom the rows name, the unit of cost, begin and end of the period."""


def _lines(
    world: Intake, documents: Sequence[Document], by: str, between: tuple[int, int]
) -> tuple[Line, ...]:
    facts = {one.uid: one for one in world.facts if isinstance(one, WorkloadFact)}
    quotas = {
        one.name: {resource: quota.nominal for resource, quota in quotas_of(one.groups).items()}
        for one in world.facts
        if isinstance(one, ClusterQueueFact)
    }
    holdings = [found for one in facts.values() if (found := holding_of(one)) is not None]
    users = _users(documents)
    payers: Mapping[str, Callable[[Holding], str]] = {
        "team": lambda one: namespace_of(facts[one.uid].key),
        "user": lambda one: users.get(facts[one.uid].key, "(no user)"),
        "queue": lambda one: QueueName(one.queue),
        "flavor": lambda _: "",
    }
    return usage_lines(
        holdings,
        quotas,
        payer=payers[by],
        running_since=lambda one: running_since(facts[one.uid]),
        between=between,
    )


def _users(documents: Sequence[Document]) -> dict[str, str]:
    found = {}
    for one in documents:
        metadata = one.value["metadata"]
        labels = metadata.get("labels") or {}
        if one.kind == "Workload" and USER_LABEL in labels:
            found[f"{metadata.get('namespace') or 'default'}/{one.name}"] = str(labels[USER_LABEL])
    return found


def _row(line: Line, prices: Prices) -> Row:
    flavor, resource = line.resource
    return {
        "payer": line.payer or flavor,
        "flavor": flavor,
        "resource": resource,
        "unit": _unit(resource),
        "used": _hours(line.used, line.resource),
        "withinQuota": _hours(line.within_quota, line.resource),
        "borrowed": _hours(line.borrowed, line.resource),
        "idleHeld": _hours(line.idle, line.resource),
        "cost": prices.cost(flavor, resource, int(line.used)) / MICRO / HOUR,
    }


def _hours(amount_seconds: float, resource: FlavorResource) -> float:
    return round(amount_seconds / _PER_UNIT.get(resource.resource, 1) / HOUR, 6)


def _unit(resource: str) -> str:
    return "GiBh" if resource in _IN_GIB else "h"


def _table(rows: list[Row], frame: Frame) -> str:
    by, unit, begin, end = frame
    if not rows:
        return f"Nothing was used between {begin} and {end}."
    header = (by.upper(), "FLAVOR", "RESOURCE", "USED", "IN QUOTA", "BORROWED", "IDLE", "COST")
    lines = [
        (
            row["payer"],
            row["flavor"],
            row["resource"],
            *(f"{row[name]:.2f}{row['unit']}" for name in AMOUNTS),
            f"{row['cost']:.2f} {unit}".rstrip(),
        )
        for row in rows
    ]
    return f"{columns(header, lines)}\n\n{begin} to {end}; hours of one unit."


def _csv(rows: list[Row], frame: Frame) -> str:
    """Write columns named as in FOCUS, those of ours with x_ in front."""
    by, unit, begin, end = frame
    out = io.StringIO()
    header = (
        "ChargePeriodStart", "ChargePeriodEnd", "ChargeCategory", "SubAccountName",
        "ServiceName", "ResourceType", "SkuId", "ConsumedQuantity", "ConsumedUnit",
        "BilledCost", "EffectiveCost", "BillingCurrency", "x_GroupedBy", "x_InQuotaQuantity",
        "x_BorrowedQuantity", "x_IdleHeldQuantity",
    )  # fmt: skip
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    for row in rows:
        writer.writerow(
            (
                begin,
                end,
                "Usage",
                row["payer"],
                "queueing",
                row["resource"],
                row["flavor"],
                row["used"],
                "Hours" if row["unit"] == "h" else "GiB Hours",
                row["cost"],
                row["cost"],
                unit,
                by,
                row["withinQuota"],
                row["borrowed"],
                row["idleHeld"],
            )
        )
    return out.getvalue().rstrip("\n")


def _json(rows: list[Row], frame: Frame) -> str:
    import json  # noqa: PLC0415 - for one format

    by, unit, begin, end = frame
    return json.dumps(
        {"by": by, "since": begin, "until": end, "unit": unit, "rows": rows}, indent=2
    )


_WRITERS: Mapping[str, Callable[[list[Row], Frame], str]] = {
    "table": _table,
    "csv": _csv,
    "json": _json,
    "html": page,
}


def _live(options: dict[str, Any]) -> list[Document]:
    from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

    text = read_cluster(options["kubeconfig"], options["context_name"])
    return parse(text, file="cluster")


def _moment(text: str) -> int:
    try:
        return int(datetime.fromisoformat(text).timestamp())
    except ValueError as error:
        raise click.UsageError(
            f"{text!r} is not a time; write it like 2026-01-31T12:00:00Z"
        ) from error


def _since(text: str, end: int) -> int:
    try:
        return end - int(seconds_of(text))
    except ValueError:
        pass
    try:
        return _moment(text)
    except click.UsageError as error:
        problem = f"--since: {text!r} is neither a length of time, such as 24h or 90m, nor a time"
        raise click.UsageError(f"{problem} like 2026-01-31T12:00:00Z") from error
