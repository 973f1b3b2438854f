"""`queueing version`."""

import platform
from importlib.metadata import version as installed

import click

from queueing.cli.options import output_option
from queueing.cli.output import columns, structured

SERVED = ("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2")

EPILOG = """\b
Examples:
  queueing version
  queueing version -o json
"""


@click.command(epilog=EPILOG)
@output_option()
def command(output: str) -> None:
    """Print the version of queueing, of Python, and of the API that is spoken."""
    facts = {
        "queueing": installed("queueing"),
        "python": platform.python_version(),
        "api": ", ".join(SERVED),
    }
    if output == "table":
        click.echo(columns(("COMPONENT", "VERSION"), facts.items()))
    else:
        click.echo(structured(facts, output))
