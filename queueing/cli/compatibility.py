"""The option `--compatibility`, for commands that load the engine's settings anyway."""

import click

from queueing.cli.options import Decorator
from queueing.core.settings import Compatibility


def compatibility_option(explanation: str, usual: Compatibility | None = None) -> Decorator:
    """Return `--compatibility`; without it the `usual` one, if there is one for all cases."""
    return click.option(
        "--compatibility",
        type=click.Choice([one.value for one in Compatibility]),
        default=None if usual is None else usual.value,
        show_default=usual is not None,
        help=explanation,
    )
