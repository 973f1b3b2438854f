"""`queueing plan`: what would be admitted, preempted or kept waiting, and why."""

import gc
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from queueing.cli.options import cluster_options, files_option, now_option, output_option
from queueing.cli.output import UsageProblem, columns, structured
from queueing.core.settings import Compatibility
from queueing.sim.documents import LIVE, Document, load, parse
from queueing.sim.intake import Intake, read_configuration, read_world
from queueing.sim.kinds import NAMESPACED
from queueing.sim.plan import STABLE_ROUNDS_MAX, Plan, fixed_rounds, until_stable
from queueing.sim.report import as_json
from queueing.sim.yaml_text import ManifestError
from queueing_api.config.v1beta2 import Configuration

EPILOG = """\b
Examples:
  # What would happen to this Job, given these queues?
  queueing plan -f queues.yaml -f job.yaml
\b
  # One scheduling cycle, as Kueue would run it, for a program to read
  queueing plan -f manifests/ --rounds 1 -o json
\b
  # What would this change of quota do to the cluster as it is?
  queueing plan --live -f new-quota.yaml
\b
Exit codes: 0 when a plan was made, 2 when the input cannot be used, 130 after Ctrl-C.
"""


NOTHING_WAITS = "Nothing waits: no pending Workload, and no suspended Job that would get one."


@click.command(epilog=EPILOG)
@files_option("YAML or JSON file, folder, or - for standard input; repeat for more.")
@click.option(
    "--live", is_flag=True, help="Start from the objects of the cluster; files replace them."
)
@cluster_options("Kubeconfig for --live.", "Context of the kubeconfig, for --live.")
@click.option(
    "--config",
    metavar="FILE",
    help="Configuration, or the ConfigMap that holds it; overrides one among the files.",
)
@now_option("Time of the plan. [default: now]")
@click.option("--rounds", type=click.IntRange(min=1), help="Run this many scheduling cycles.")
@click.option("--until-stable", is_flag=True, help="Run until nothing changes.  [default]")
@click.option(
    "--compatibility",
    type=click.Choice([one.value for one in Compatibility]),
    help="Decide as Kueue, or with queueing's differences.  [default: Kueue with --rounds]",
)
@output_option()
def command(files: tuple[str, ...], output: str, **options: Any) -> None:
    """Show what would happen to the workloads in some manifests, and why.

    Reads queues, flavors, workloads, suspended Jobs and what they depend on, in any order, and runs
    the scheduler on them. Nothing is changed anywhere.
    """
    if options["until_stable"] and options["rounds"]:
        raise click.UsageError("--rounds and --until-stable exclude each other")
    if not files and not options["live"]:
        raise click.UsageError("give manifests with -f, or the cluster with --live")
    try:
        with _uncollected():
            intake = _intake(files, options)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    for warning in intake.warnings:
        click.echo(f"Warning: {warning}", err=True)
    rounds, now = options["rounds"], options["now"]
    if rounds:
        plan = fixed_rounds(intake.facts, settings=intake.settings, now=now, rounds=rounds)
    else:
        plan = until_stable(intake.facts, settings=intake.settings, now=now)
    if plan.stable is False:
        click.echo(f"Warning: not stable after {len(plan.rounds)} rounds{_why(plan)}", err=True)
    report = as_json(plan)
    click.echo(_table(report, plan) if output == "table" else structured(report, output))


def _why(plan: Plan) -> str:
    """Say whether a plan was left because the same went on and on."""
    return "" if len(plan.rounds) >= STABLE_ROUNDS_MAX else ": the last of them repeat for ever"


@contextmanager
def _uncollected() -> Iterator[None]:
    """Keep the garbage collector from going through documents that are all still needed.

    It took two thirds of the time in which ten megabytes are read, and found nothing.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _intake(files: tuple[str, ...], options: dict[str, Any]) -> Intake:
    documents = load(files)
    configuration = read_configuration(options["config"]) if options["config"] else None
    if options["live"]:
        every_job = _queues_every_job(documents, configuration)
        documents = _over(_live(options, every_job=every_job), documents)
    fallback = Compatibility.KUEUE if options["rounds"] else Compatibility.QUEUEING
    return read_world(
        documents,
        now=options["now"],
        compatibility=Compatibility(options["compatibility"] or fallback),
        configuration=configuration,
    )


def _queues_every_job(documents: Iterable[Document], chosen: Configuration | None) -> bool:
    """Say whether Jobs without a queue's name are queued, too."""
    if chosen is not None:
        return chosen.manage_jobs_without_queue_name
    field = ["manageJobsWithoutQueueName"]
    return any(one.value_at(field) is True for one in documents if one.kind == "Configuration")


def _live(options: dict[str, Any], *, every_job: bool) -> list[Document]:
    from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

    text = read_cluster(options["kubeconfig"], options["context"], every_job=every_job)
    return parse(text, file=LIVE)


def _over(live: Iterable[Document], written: list[Document]) -> list[Document]:
    """Return the cluster's objects, those replaced that a file gives."""
    given = {_identity(one) for one in written}
    return [*(one for one in live if _identity(one) not in given), *written]


def _identity(document: Document) -> tuple[str, ...]:
    metadata = document.value["metadata"]
    home = "default" if document.kind in NAMESPACED else ""
    return document.group, document.kind, metadata.get("namespace") or home, document.name


def _table(report: dict[str, Any], plan: Plan) -> str:
    decisions = [
        (str(one["round"]), *_row(decision))
        for one in report["rounds"]
        for decision in one["decisions"]
    ]
    usage = [
        (queue, flavor, resource, *amounts.values())
        for queue, flavors in report["usage"].items()
        for flavor, resources in flavors.items()
        for resource, amounts in resources.items()
    ]
    header = ("ROUND", "ACTION", "WORKLOAD", "CLUSTERQUEUE", "DETAIL")
    parts = [columns(header, decisions) if decisions else NOTHING_WAITS]
    if usage:
        header_of_usage = ("CLUSTERQUEUE", "FLAVOR", "RESOURCE", "NOMINAL", "USED", "BORROWED")
        parts.append(columns((*header_of_usage, "LENT"), usage))
    if plan.stable:
        count = len(plan.rounds)
        parts.append(f"Stable after {count} round{'s' * (count != 1)}.")
    return "\n\n".join(parts)


def _row(decision: dict[str, Any]) -> tuple[str, str, str, str]:
    match decision["action"]:
        case "Admit":
            detail = "; ".join(_assignment(one) for one in decision["podSetAssignments"])
            detail += ", borrowing" if decision["borrowing"] else ""
            detail += ", only reserved" if decision["reservedOnly"] else ""
        case "Preempt":
            detail = f"for {decision['preemptor']}: {decision['reason']}"
        case _:
            detail = f"{decision['reason']}: {decision['message']}"
    queue = decision["clusterQueue"] or "-"
    return decision["action"], decision["workload"], queue, detail


def _assignment(one: dict[str, Any]) -> str:
    usage = ", ".join(
        f"{resource} {one['resourceUsage'].get(resource, '0')} of {flavor}"
        for resource, flavor in one["flavors"].items()
    )
    return f"{one['name']} x{one['count']}: {usage}"
