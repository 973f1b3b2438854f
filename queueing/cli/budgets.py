"""`queueing budgets`: what may be spent by whom, what is left of it, and until when."""

from collections.abc import Sequence
from typing import Any

import click

from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, columns, structured
from queueing.cli.reading import ObjectSource, of_files_or_a_cluster
from queueing.sim.documents import Document
from queueing.sim.yaml_text import ManifestError
from queueing.translate.credits_wire import CreditBudget
from queueing.translate.inbound.manifests import read

EPILOG = """\b
Examples:
  queueing budgets                            every budget, with what is spent, held and left
  queueing budgets --holder ClusterQueue/a    those of one ClusterQueue, LocalQueue or Cohort
  queueing budgets -f budgets.yaml -o json    from a file, for a program
"""
KINDS = ("CreditBudget",)
HEADER = (
    "BUDGET", "HOLDER", "PERIOD", "GRANT", "SPENT", "HELD", "LEFT", "UNTIL", "BEYOND IT", "BINDS"
)  # fmt: skip


@click.command(epilog=EPILOG)
@of_files_or_a_cluster
@click.option(
    "--holder",
    metavar="KIND/NAME",
    help="Only budgets of a ClusterQueue/…, Cohort/… or LocalQueue/namespace/….",
)
@output_option()
def command(source: ObjectSource, output: str, **options: Any) -> None:
    """Show hard budgets: what each grants, what is spent, held and left, and until when."""
    try:
        documents = source.documents(KINDS)
        found = [_budget(one) for one in documents if one.kind == "CreditBudget"]
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    if options["holder"]:
        found = [one for one in found if one["holder"] == options["holder"]]
    found.sort(key=lambda one: (one["holder"], one["name"]))
    if output != "table":
        click.echo(structured({"budgets": found}, output))
        return
    click.echo(
        columns(HEADER, map(_line, found)) if found else _nothing(source.files, options["holder"])
    )


def _nothing(files: Sequence[str], holder: str | None) -> str:
    """Say why there is nothing to show, and what to do about it."""
    whose = f"No CreditBudget of {holder}" if holder else "No CreditBudget"
    if files:
        return f"{whose} in {', '.join(files)}: leave out -f to ask the cluster."
    return f"{whose}: nothing but quota bounds what is spent."


def _budget(document: Document) -> dict[str, Any]:
    found = read(CreditBudget, document.value)
    holder, status = found.spec.holder, document.value.get("status") or {}
    effective = next((one for one in found.status.conditions if one.type == "Effective"), None)
    names = (holder.kind, holder.namespace, holder.name)
    return {
        "name": found.metadata.name,
        "holder": "/".join(filter(None, names)),
        "period": found.spec.period,
        "grant": str(found.spec.grant),
        "spent": status.get("spent", ""),
        "held": status.get("held", ""),
        "left": status.get("left", ""),
        "periodEnd": status.get("periodEnd", ""),
        "asOf": status.get("asOf", ""),
        "onExhausted": found.spec.on_exhausted,
        "opportunistic": len(found.status.opportunistic),
        "binds": effective is not None and effective.status == "True",
        "message": effective.message if effective is not None else "Nobody has counted it yet",
    }


def _line(one: dict[str, Any]) -> tuple[str, ...]:
    beyond = one["onExhausted"]
    if one["opportunistic"]:
        beyond = f"{beyond} ({one['opportunistic']} run)"
    return (
        one["name"],
        one["holder"],
        one["period"],
        one["grant"],
        one["spent"] or "-",
        one["held"] or "-",
        one["left"] or "-",
        str(one["periodEnd"]) or "-",
        beyond,
        "yes" if one["binds"] else f"no: {one['message']}",
    )
