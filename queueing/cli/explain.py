"""`queueing explain`: why a workload waits and what would help it, or what goes on in a queue."""

import sys
from typing import Any

import click

from queueing.cli.compatibility import compatibility_option
from queueing.cli.names import complete_subject
from queueing.cli.options import cluster_options, files_option, now_option, output_option
from queueing.cli.output import UsageProblem, structured
from queueing.cli.subjects import named
from queueing.core.settings import Compatibility

EPILOG = """\b
Examples:
  queueing explain job/train -n vision           why does this Job wait, what would help?
  queueing explain workload/job-train-1a2b3
  queueing explain job/train --eta               and until when?
  queueing explain clusterqueue/vision           who waits here, and why?
  queueing explain localqueue/main --eta         and until when, the first ten?
  queueing explain localqueue/main -o json
  queueing explain job/train -f queues.yaml -f job.yaml    without a cluster
\b
Any kind of job may be named by its kind: jobset/x, rayjob/x, pytorchjob/x. The controller
answers (API visibility.queueing.dev); where that is not served, the objects of the cluster are
read and the same is worked out from them.
\b
Exit codes: 0 when there is an answer, 1 when the server refuses, 2 when there is no such object
or no cluster.
"""


@click.command(epilog=EPILOG)
@click.argument(
    "subject", nargs=-1, required=True, metavar="KIND/NAME", shell_complete=complete_subject
)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace; else that of the context.")
@files_option("Answer from this file or folder instead of a cluster; repeat for more.")
@click.option(
    "--eta",
    is_flag=True,
    help="Also say when it will be admitted, or the first ten of a queue, as ranges.",
)
@cluster_options("Kubeconfig; else $KUBECONFIG or the pod's own.")
@click.option("--config", metavar="FILE", help="Configuration; for an answer from objects.")
@now_option("Time; for an answer from objects. [default: now]")
@compatibility_option(
    "For an answer from objects: decide as Kueue, or with queueing's differences.",
    Compatibility.QUEUEING,
)
@output_option(("text", "json", "yaml"))
def command(subject: tuple[str, ...], files: tuple[str, ...], output: str, **options: Any) -> None:
    """Say why a workload waits, who holds what it lacks, and what would have it admitted.

    Of a workload that runs: what it holds and borrows, and who might preempt it. Of a queue: its
    quota, and who waits in it for which reason.
    """
    from queueing.cli.explanations import ask_a_cluster, plain, work_out  # noqa: PLC0415 - slow
    from queueing.cli.prospects import written as told_when  # noqa: PLC0415 - with it
    from queueing.explain.model import (  # noqa: PLC0415 - with it
        QueueExplanation,
        WorkloadExplanation,
    )
    from queueing.explain.text import written  # noqa: PLC0415 - with it
    from queueing.sim.documents import load  # noqa: PLC0415 - with it
    from queueing.sim.yaml_text import ManifestError  # noqa: PLC0415 - with it

    asked = named(subject)
    try:
        answer = (
            work_out(load(files), asked, options["namespace"], options)
            if files
            else ask_a_cluster(asked, options)
        )
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    click.echo(written(answer) if output == "text" else structured(plain(answer), output))
    if output == "text" and isinstance(answer, QueueExplanation) and answer.estimates is not None:
        click.echo(f"\n{told_when(answer.estimates, answer.pending)}")
    is_linked = isinstance(answer, WorkloadExplanation) and answer.page
    if output == "text" and not files and not is_linked and sys.stdout.isatty():
        where = f" -n {options['namespace']}" if options["namespace"] else ""
        click.echo(f"\nOn a page that follows it: queueing ui {asked.spelled}{where}")
