"""`queueing credits`: who lent to whom, where everybody stands, and what that does now."""

from collections.abc import Iterable, Sequence
from typing import Any

import click

from queueing.cli.credit_surroundings import AccountContext
from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, columns, structured
from queueing.cli.reading import ObjectSource, of_files_or_a_cluster
from queueing.sim.documents import Document
from queueing.sim.yaml_text import ManifestError
from queueing.translate.credits import hours_text

EPILOG = """\b
Examples:
  queueing credits                          balances of all queues and cohorts
  queueing credits --cohort research        of one cohort's children
  queueing credits --queue vision           of the namespaces in one ClusterQueue
  queueing credits -f accounts.yaml -o json from a file, for a program
"""
KINDS = ("CreditAccount",)
BESIDE = ("ClusterQueue", "Cohort", "LocalQueue", "CreditBudget")
"""Whoever may not read these sees balances without weights and budgets."""
_SORTS = {"Cohort": " (cohort)", "Namespace": " (namespace)"}
HEADER = (
    "COHORT", "CHILD", "BALANCE", "HELD", "WEIGHT", "LENT TO", "BORROWED FROM", "WASTED",
    "BUDGET LEFT", "AS OF",
)  # fmt: skip


@click.command(epilog=EPILOG)
@of_files_or_a_cluster
@click.option("--cohort", metavar="NAME", help="Only the children of this cohort.")
@click.option("--queue", metavar="NAME", help="Only the namespaces in this ClusterQueue.")
@output_option()
def command(source: ObjectSource, output: str, **options: Any) -> None:
    """Show credit balances, who lent quota to whom, and the resulting weights."""
    try:
        documents = source.documents(KINDS, beside=BESIDE)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    beside = AccountContext(documents)
    accounts = [_account(one, beside) for one in documents if one.kind == "CreditAccount"]
    for kind, name in (("cohort", options["cohort"]), ("clusterQueue", options["queue"])):
        if name:
            accounts = [one for one in accounts if one[kind] == name]
    if output != "table":
        click.echo(structured({"accounts": accounts}, output))
        return
    rows = [row for account in accounts for row in _rows(account)]
    click.echo(columns(HEADER, rows) if rows else _nothing(source.files, _whose(options)))


def _whose(options: dict[str, Any]) -> str:
    """Say whose balances are asked for."""
    if options["queue"]:
        return f"No CreditAccount of ClusterQueue {options['queue']}"
    if options["cohort"]:
        return f"No CreditAccount of cohort {options['cohort']}"
    return "No CreditAccount"


def _nothing(files: Sequence[str], whose: str) -> str:
    """Say why there is nothing to show, and what to do about it."""
    if files:
        where = ", ".join(files)
        return (
            f"{whose} in {where}: save some with `kubectl get creditaccounts -o yaml`, or leave"
            " out -f to ask the cluster."
        )
    return f"{whose}: no CreditPolicy counts there yet. Make one, and have queues in a cohort."


def _account(document: Document, beside: AccountContext) -> dict[str, Any]:
    """Return all that an account tells, and what other objects say of its children."""
    status = document.value.get("status") or {}
    spec = document.value.get("spec") or {}
    queue = spec.get("clusterQueueName", "")
    return {
        "cohort": "" if queue else spec.get("cohortName") or document.name,
        "clusterQueue": queue,
        "policy": status.get("policy", ""),
        "asOf": str(status.get("asOf", "")),
        "unit": status.get("unit", ""),
        "children": [one | beside.of(one, queue) for one in status.get("children") or ()],
        "sinks": status.get("sinks") or [],
        "grants": status.get("grants") or [],
        "leavers": status.get("leavers") or [],
    }


def _rows(account: dict[str, Any]) -> Iterable[tuple[str, ...]]:
    unit = account["unit"]
    for child in account["children"]:
        kind = _SORTS.get(child["kind"], "")
        held = int(child.get("held") or 0)
        gone = " (gone)" if child.get("departedAt") else ""
        yield (
            f"{account['clusterQueue']} (queue)" if account["clusterQueue"] else account["cohort"],
            f"{child['name']}{kind}{gone}",
            str(child.get("balance", "")),
            hours_text(held, unit).rstrip() if held else "-",
            _weight(child),
            _partners(child.get("lentTo")),
            _partners(child.get("borrowedFrom")),
            hours_text(int(child.get("wasted") or 0), unit).rstrip(),
            _budgets(child.get("budgets", ())),
            account["asOf"],
        )


def _weight(child: dict[str, Any]) -> str:
    """Say what a weight is multiplied by, and what it is then, where it was not 1 before."""
    times = f"x{child.get('weightFactor', '1')}"
    return times if child.get("weight", "1") == "1" else f"{times} = {child['bentWeight']}"


def _budgets(found: Iterable[dict[str, str]]) -> str:
    return ", ".join(f"{one['name']} {one['left'] or '?'}" for one in found) or "-"


def _partners(found: list[dict[str, Any]] | None) -> str:
    named = [f"{one['name'].rpartition('/')[2]} {one.get('amount', '')}" for one in found or ()]
    more = f", {len(named) - 2} more" if len(named) > 2 else ""  # noqa: PLR2004 - what fits a line
    return ", ".join(named[:2]) + more or "-"
