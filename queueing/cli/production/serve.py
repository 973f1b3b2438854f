"""`queueing serve`: the part of `queueing run` that answers others. Not for people."""

from pathlib import Path
from typing import Any

import click

from queueing.cli.production.choices import Flags, flags_of_the_controller, read_choices

EPILOG = """\b
Example:
  queueing run        starts this by itself
"""


@click.command(epilog=EPILOG)
@flags_of_the_controller
@click.option(
    "--socket",
    type=click.Path(path_type=Path),
    required=True,
    help="Unix socket on which the controller of this replica speaks.",
)
def command(*, socket: Path, **options: Any) -> None:
    """Serve webhooks, conversion, the visibility API, probes and metrics."""
    from queueing.cli.production.parts import run_serving  # noqa: PLC0415 - slow to import

    flags = Flags(**options)
    run_serving(flags, read_choices(flags), socket)
