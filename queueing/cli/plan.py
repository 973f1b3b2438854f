"""`queueing plan`: what would be admitted, preempted or kept waiting, and why."""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import click

from queueing.cli.compatibility import compatibility_option
from queueing.cli.options import cluster_options, files_option, now_option, output_option
from queueing.cli.output import UsageProblem, structured
from queueing.cli.plan_places import PlanPlaces
from queueing.cli.plan_tables import difference, table
from queueing.core.settings import Compatibility
from queueing.sim.documents import LIVE, Document, load, parse
from queueing.sim.intake import Intake, read_configuration, read_world
from queueing.sim.kinds import over
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
@compatibility_option(
    "Decide as Kueue, or with queueing's differences.  [default: Kueue with --rounds]"
)
@click.option(
    "--all",
    is_flag=True,
    help="With --live and -f, print the whole plan after what the files change.",
)
@click.option("--strict", is_flag=True, help="Refuse fields that their kind does not have.")
@output_option()
def command(files: tuple[str, ...], output: str, **options: Any) -> None:
    """Show what would happen to the workloads in some manifests, and why.

    Reads queues, flavors, workloads, suspended Jobs and what they depend on, in any order, and runs
    the scheduler on them. With --live and files, shows what the files change of what would happen
    without them. Nothing is changed anywhere.
    """
    if options["until_stable"] and options["rounds"]:
        raise click.UsageError("--rounds and --until-stable exclude each other")
    if not files and not options["live"]:
        raise click.UsageError("give manifests with -f, or the cluster with --live")
    compares = bool(options["live"] and files) and output == "table"
    try:
        with _uncollected():
            intakes = _intakes(files, options, compares=compares)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    *before, intake = intakes
    if options["strict"] and intake.unknown_fields:
        raise UsageProblem("\n".join(intake.unknown_fields))
    known = {one for each in before for one in each.warnings} if not options["all"] else set()
    for warning in intake.warnings:
        if warning not in known:
            click.echo(f"Warning: {warning}", err=True)
    plans = [_plan(one, options) for one in intakes]
    if plans[-1].stable is False:
        rounds = len(plans[-1].rounds)
        click.echo(f"Warning: not stable after {rounds} rounds{_why(plans[-1])}", err=True)
    reports = [as_json(one) for one in plans]
    if output != "table":
        click.echo(structured(reports[-1], output))
        return
    places = PlanPlaces(intake.facts)
    if compares:
        click.echo(difference(*reports, places=places))
    if not compares or options["all"]:
        click.echo(("\n" if compares else "") + table(reports[-1], places))


def _plan(intake: Intake, options: Mapping[str, Any]) -> Plan:
    facts, settings, now = intake.facts, intake.settings, options["now"]
    if options["rounds"]:
        return fixed_rounds(facts, settings=settings, now=now, rounds=options["rounds"])
    return until_stable(facts, settings=settings, now=now)


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


def _intakes(files: tuple[str, ...], options: Mapping[str, Any], *, compares: bool) -> list[Intake]:
    """Return what is to be planned; where it is compared, before it the cluster as it is."""
    written = load(files)
    configuration = read_configuration(options["config"]) if options["config"] else None
    worlds = [written]
    if options["live"]:
        every_job = _queues_every_job(written, configuration)
        live = _live(options, every_job=every_job)
        worlds = [live] * compares + [over(live, written)]
    fallback = Compatibility.KUEUE if options["rounds"] else Compatibility.QUEUEING
    return [
        read_world(
            documents,
            now=options["now"],
            compatibility=Compatibility(options["compatibility"] or fallback),
            configuration=configuration,
        )
        for documents in worlds
    ]


def _queues_every_job(documents: Iterable[Document], chosen: Configuration | None) -> bool:
    """Say whether Jobs without a queue's name are queued, too."""
    if chosen is not None:
        return chosen.manage_jobs_without_queue_name
    field = ["manageJobsWithoutQueueName"]
    return any(one.value_at(field) is True for one in documents if one.kind == "Configuration")


def _live(options: Mapping[str, Any], *, every_job: bool) -> list[Document]:
    from queueing.cli.live import read_cluster  # noqa: PLC0415 - half a second of imports

    text = read_cluster(options["kubeconfig"], options["context"], every_job=every_job)
    return parse(text, file=LIVE)
