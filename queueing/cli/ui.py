"""`queueing ui`: the page in a browser, through the API server, with the user's own kubeconfig."""

from typing import Any

import click

from queueing.cli.names import complete_subject
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.cli.subjects import named

EPILOG = """\b
Examples:
  queueing ui                               all queues that you may read
  queueing ui job/train -n vision           the workload of a Job
  queueing ui clusterqueue/vision --no-browser
\b
A port on loopback is forwarded to the page through the API server, as kubectl proxy does it for
other paths: nothing needs to be exposed, and the cluster knows you by your kubeconfig. It is open
to every program of this machine until Ctrl-C; it only reads.
\b
Exit codes: 0 when it was ended by Ctrl-C, 1 when the server refuses, 2 when there is no cluster, no
such object or no page.
"""


@click.command(epilog=EPILOG)
@click.argument("subject", nargs=-1, metavar="[KIND/NAME]", shell_complete=complete_subject)
@click.option("-n", "--namespace", metavar="NAME", help="Namespace; else that of the context.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    default=0,
    help="Port on loopback.  [default: any]",
)
@click.option("--browser/--no-browser", default=True, help="Open a browser, or print the address.")
@of_a_cluster
def command(subject: tuple[str, ...], **options: Any) -> None:
    """Open the page in a browser: queues, who waits and why, workloads, credits, usage."""
    import asyncio  # noqa: PLC0415 - slow to import

    from queueing.cli.page_forward import forward  # noqa: PLC0415 - slow to import
    from queueing.kube.errors import KubeError  # noqa: PLC0415 - with it

    asked = named(subject) if subject else None
    try:
        with reaching_it():
            asyncio.run(forward(asked, options))
    except KubeError as error:
        raise click.ClickException(str(error)) from error
