"""`queueing simulate`: its options, and the order of what is done."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from queueing.cli.compatibility import compatibility_option
from queueing.cli.options import cluster_options, now_option, output_option
from queueing.cli.output import UsageProblem, structured
from queueing.core.settings import Compatibility

EPILOG = """\b
Examples:
  # What would these queues do with this load?
  queueing simulate scenario.yaml
\b
  # Two settings side by side, as a page with charts
  queueing simulate today.yaml --against tomorrow.yaml --page difference.html
\b
  # A public trace (Standard Workload Format) on one queue as large as its machine
  queueing simulate --trace cluster.swf
\b
  # What a controller saw, with other quotas
  queueing simulate new-quotas.yaml --trace life.jsonl.gz
\b
  # The last seven days of the cluster, with other quotas
  queueing simulate new-quotas.yaml --from-cluster 7d
\b
Exit codes: 0 when it was simulated, 2 when the input cannot be used, 130 after Ctrl-C.
"""
PAST_MAX_S = 36_525 * 86_400.0
"""A hundred years."""


def _past(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float | None:
    """Read a length of time such as 12h or 7d, in seconds."""
    from queueing_api.config.duration import seconds_of  # noqa: PLC0415 - slow with its package

    if text is None:
        return None
    try:
        found = float(text[:-1]) * 86_400 if text.endswith("d") else seconds_of(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= PAST_MAX_S:
        raise click.BadParameter(f"{text!r} is not a length of time; write it like 7d or 12h")
    return found


@click.command(epilog=EPILOG)
@click.argument("scenario", required=False, metavar="[SCENARIO]")
@click.option(
    "--trace",
    metavar="FILE",
    help="Jobs of this trace come: .swf, or a recording (.jsonl); also with .gz.",
)
@click.option(
    "--skip-broken-lines", "skip_broken", is_flag=True, help="Leave out lines that are no job."
)
@click.option(
    "--from-cluster",
    "past_s",
    callback=_past,
    metavar="7d",
    help="The cluster's queues, and the workloads that came in this time and have ended.",
)
@click.option("--against", metavar="FILE", help="Simulate this scenario, too, and compare.")
@click.option("--page", metavar="FILE", help="Write the report as one HTML page with charts.")
@click.option("--seed", type=int, help="Of all that is drawn. [default: that of the scenario]")
@cluster_options("Kubeconfig for --from-cluster.", "Context of the kubeconfig.")
@click.option("--config", metavar="FILE", help="Configuration, or the ConfigMap that holds it.")
@now_option("When the simulation begins; of --from-cluster, when it ends. [default: now]")
@compatibility_option(
    "Decide as Kueue, or with queueing's differences. [default: Queueing; of a recording, its own]"
)
@output_option()
def command(
    *,
    scenario: str | None,
    against: str | None,
    page: str | None,
    output: str,
    compatibility: str | None,
    **options: Any,
) -> None:
    """Run queues, policies and a load in virtual time: waits, shares, preemptions.

    SCENARIO is a file of manifests as for `queueing plan` with one more document, `Simulation`,
    that generates workloads and says how long they run. Hours take seconds; nothing is changed
    anywhere. The same input and seed give the same result.
    """
    from queueing.cli.simulate.progress import told  # noqa: PLC0415 - slow to import
    from queueing.cli.simulate.settings import Options, studies_of  # noqa: PLC0415 - with it
    from queueing.cli.simulate.tables import table  # noqa: PLC0415 - with it
    from queueing.sim.simulation.report import Report, plain  # noqa: PLC0415 - with it
    from queueing.sim.simulation.study import simulate  # noqa: PLC0415 - with it
    from queueing.sim.yaml_text import ManifestError  # noqa: PLC0415 - with it

    _check(scenario, against, options)
    asked = Options(
        compatibility=Compatibility(compatibility) if compatibility else None, **options
    )
    runs = []
    try:
        for study in studies_of([scenario] if against is None else [scenario, against], asked):
            with told(study.name) as progress:
                runs.append(simulate(study, progress))
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    report = Report(runs=tuple(runs))
    if page is not None:
        _write(page, report)
    click.echo(table(report) if output == "table" else structured(plain(report), output))


def _check(scenario: str | None, against: str | None, options: Mapping[str, Any]) -> None:
    """Refuse what does not go together."""
    from queueing.recording.lines import SUFFIXES  # noqa: PLC0415 - slow to import

    trace, live = options["trace"], options["past_s"] is not None
    recorded = trace is not None and trace.endswith(SUFFIXES)
    source = click.get_current_context().get_parameter_source("now")
    refused = (
        (
            scenario is None and trace is None and not live,
            "give a scenario, a trace with --trace, or --from-cluster",
        ),
        (
            against is not None and scenario is None and not live,
            "--against compares with a scenario: give one",
        ),
        (
            recorded and live,
            "a recording and --from-cluster each bring queues and a past: give one of them",
        ),
        (
            recorded and source is not ParameterSource.DEFAULT,
            "a recording says when it begins: leave out --now",
        ),
        (
            recorded and options["config"] is not None and scenario is None,
            "a recording has its configuration: --config is of the objects of a scenario",
        ),
        (
            options["skip_broken"] and (trace is None or recorded),
            "--skip-broken-lines is of traces in .swf",
        ),
    )
    for applies, told in refused:
        if applies:
            raise click.UsageError(told)


def _write(path: str, report: Any) -> None:
    from queueing.sim.simulation.page import page  # noqa: PLC0415 - slow to import

    try:
        Path(path).write_text(page(report), encoding="utf-8")
    except OSError as error:
        raise UsageProblem(f"{path}: {error.strerror}") from error
    click.echo(f"The page is in {path}.", err=True)
