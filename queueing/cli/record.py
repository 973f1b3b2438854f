"""`queueing record`: what a running controller sees, as a recording."""

import click

from queueing.cli.reaching import of_a_cluster, reaching_it

EPILOG = """\b
Examples:
  queueing record -o now.jsonl.gz               what the leader's engine sees now
  queueing record --for 10m -o load.jsonl.gz    and what changes, for ten minutes
  queueing replay now.jsonl.gz                  can it be read?
  queueing simulate new-quotas.yaml --trace load.jsonl.gz
\b
The decisions of a controller are only in what it records itself, from its start on:
queueing run --record FILE.
\b
Exit codes: 0 when all is written, 1 when the server refuses or nobody leads, 2 when there is no
cluster, or FILE cannot be written.
"""


@click.command(epilog=EPILOG)
@click.option("-o", "--to", "to", metavar="FILE", help="Write here, compressed if it ends in .gz.")
@click.option("--for", "lasts", metavar="10m", help="Go on for so long with what changes.")
@click.option(
    "--every", metavar="15s", default="15s", show_default=True, help="How often that is looked at."
)
@of_a_cluster
def command(
    *, to: str | None, lasts: str | None, every: str, kubeconfig: str | None, context: str | None
) -> None:
    """Write down queues, flavors, nodes and workloads, as the engine knows them.

    Names, amounts and states of all namespaces are in it, and neither secrets nor environments.
    Nothing is changed anywhere.
    """
    import asyncio  # noqa: PLC0415 - slow to import

    from queueing.cli.recording import Pace, record, written_to  # noqa: PLC0415 - with it
    from queueing.kube.errors import KubeError  # noqa: PLC0415 - with it

    pace = Pace(_seconds("--for", lasts or "0s"), _seconds("--every", every, least=1.0))
    try:
        with reaching_it(), written_to(to) as write:
            asyncio.run(record(kubeconfig, context, pace, write))
    except KubeError as error:
        raise click.ClickException(str(error)) from error


def _seconds(option: str, text: str, least: float = 0.0) -> float:
    """Read a length of time such as 10m."""
    from queueing_api.config.duration import seconds_of  # noqa: PLC0415 - slow with its package

    try:
        found = seconds_of(text)
    except ValueError:
        found = -1.0
    if found < least:
        told = f"{text!r} is no length of time from {least:g} s on; write it like 10m or 15s"
        raise click.BadParameter(told, param_hint=option)
    return found
