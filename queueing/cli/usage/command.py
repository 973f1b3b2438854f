"""`queueing usage`: who used, borrowed, lent and wasted how much, and what it costs."""

from pathlib import Path
from typing import Any

import click

from queueing.cli.options import now_option, output_option
from queueing.cli.output import UsageProblem
from queueing.cli.reading import ObjectSource, of_files_or_a_cluster
from queueing.cli.usage import formats, sources
from queueing.cli.usage.chart import chart
from queueing.cli.usage.formats import UsagePeriod
from queueing.core.settings import Compatibility
from queueing.sim.intake import read_world
from queueing.sim.yaml_text import ManifestError
from queueing.translate.times import moment, timestamp
from queueing_api.config.duration import seconds_of

EPILOG = """\b
Examples:
  queueing usage                                 the last 24 hours, by team (namespace)
  queueing usage --by queue --since 168h         a week, by ClusterQueue
  queueing usage --by queue --chart              as bars
  queueing usage --by user -o csv > usage.csv    by the label queueing.dev/user, columns of FOCUS
  queueing usage --since 2026-11-01T00:00:00Z -o html > november.html
  queueing usage --since 8760h -o sqlite --output-file usage.db    every row, added to a database
"""
FORMATS = (*formats.WRITERS, "sqlite")
KINDS = (
    "ResourceFlavor",
    "Cohort",
    "ClusterQueue",
    "LocalQueue",
    "Workload",
    "CreditPolicy",
    "UsageRecord",
)


@click.command(epilog=EPILOG)
@click.option(
    "--by",
    type=click.Choice(("team", "user", "queue", "flavor")),
    default="team",
    show_default=True,
    help="What to group by.",
)
@click.option(
    "--since",
    default="24h",
    show_default=True,
    metavar="TIME",
    help="Start of the period: a duration before its end, or RFC 3339.",
)
@of_files_or_a_cluster
@now_option("End of the period.  [default: now]")
@output_option(FORMATS)
@click.option(
    "--output-file", metavar="FILE", help="Write to this file. A database keeps its rows."
)
@click.option("--chart", is_flag=True, help="Draw bars instead of the table.")
def command(source: ObjectSource, output: str, **options: Any) -> None:
    """Show who used, borrowed, lent and wasted how much, and what it costs.

    Reads UsageRecords (`usageRecords` of a CreditPolicy). For cohort trees without any it counts
    the Workloads that still exist: it then reaches back only as far as finished Workloads are
    kept, and does not know what was lent or wasted. Costs are in the unit of the CreditPolicy.
    """
    if options["chart"] and output != "table":
        raise click.UsageError("--chart draws in the terminal: it goes without -o")
    if output == "sqlite" and not options["output_file"]:
        raise click.UsageError("-o sqlite needs --output-file")
    end = int(options["now"])
    begin = _since(options["since"], end)
    try:
        documents = source.documents(KINDS)
        world = read_world(documents, now=float(end), compatibility=Compatibility.QUEUEING)
        found = sources.sources(world, documents)
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    kept = found.within(begin, end)
    if output == "sqlite":
        from queueing.cli.usage.database import add  # noqa: PLC0415 - for one format

        count = add(Path(options["output_file"]), kept)
        click.echo(f"{count} rows of {len(kept)} records are in {options['output_file']}.")
        return
    first = min([begin, *(one.of.start for one in kept)])
    frame = UsagePeriod(options["by"], found.unit, timestamp(first), timestamp(end))
    rows = formats.rows(sources.lines(found, options["by"], (first, end)), found.prices)
    text = chart(rows, frame) if options["chart"] else formats.WRITERS[output](rows, frame)
    if options["output_file"]:
        Path(options["output_file"]).write_text(f"{text}\n", encoding="utf-8")
    else:
        click.echo(text)


def _since(text: str, end: int) -> int:
    try:
        return end - int(seconds_of(text))
    except ValueError:
        pass
    try:
        return int(moment(text))
    except ValueError as error:
        problem = f"--since: {text!r} is neither a length of time, such as 24h or 90m, nor a time"
        raise click.UsageError(f"{problem} like 2026-01-31T12:00:00Z") from error
