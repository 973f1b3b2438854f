"""`queueing run`: the controller on a cluster, in production."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import click

from queueing.cli.output import UsageProblem
from queueing.cli.production.choices import Flags, flags_of_the_controller, read_choices
from queueing.cli.production.supervisor import supervise
from queueing.cli.production.workplace import workplace

EPILOG = """\b
Examples:
  # In a pod, with the configuration mounted
  queueing run --config /etc/queueing/controller_manager_config.yaml
\b
  # From a workstation, without webhooks
  queueing run --kubeconfig ~/.kube/config --context staging --no-serving --log-format text
\b
  # Decide exactly as Kueue does
  queueing run --compatibility Kueue
\b
Exit codes: 0 after SIGTERM, 1 when a part failed, 2 when the configuration cannot be used.
"""


@click.command(epilog=EPILOG)
@flags_of_the_controller
@click.option(
    "--serving/--no-serving",
    default=True,
    show_default=True,
    help="Serve webhooks, the visibility API and metrics from a second process.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what the engine sees and decides, for `queueing replay` (.jsonl or .jsonl.gz).",
)
@click.option("--socket", hidden=True, type=click.Path(path_type=Path), help="Of the parts.")
def command(*, serving: bool, record: Path | None, socket: Path | None, **options: Any) -> None:
    """Run the controller on the cluster that the kubeconfig or the pod names.

    Two processes share the work: one makes decisions while it leads, the other serves webhooks
    and everything else that must never wait for a decision. If either ends, both end.
    """
    flags = Flags(**options)
    choices = read_choices(flags)  # here as well, so that a bad file is named before anything runs
    if not serving:
        from queueing.cli.production.parts import run_controller  # noqa: PLC0415 - slow to import

        run_controller(flags, choices, socket, record)
        return
    if socket is not None:
        raise UsageProblem("--socket is for the parts of a running controller")
    with workplace() as (folder, lock):
        shared = [*flags.arguments(), "--socket", str(folder / "serving.sock")]
        recorded = [] if record is None else ["--record", str(record)]
        parts = (["run", "--no-serving", *recorded, *shared], ["serve", *shared])
        sys.exit(asyncio.run(supervise(parts, inherited=(lock,))))
