"""Options that mean the same in every command that has them, each spelt once."""

from collections.abc import Callable, Sequence
from typing import Any

import click

from queueing.clock import SystemClock
from queueing.translate.times import moment

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

FORMATS = ("table", "json", "yaml")


def output_option(formats: Sequence[str] = FORMATS) -> Decorator:
    """Return `-o`, as `output`; the first of the formats is the usual one."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="Format of the output.",
    )


def files_option(explanation: str) -> Decorator:
    """Return `-f`, which may be repeated, as `files`."""
    return click.option(
        "-f", "--filename", "files", multiple=True, metavar="FILE", help=explanation
    )


def cluster_options(kubeconfig: str, context: str = "Context of the kubeconfig.") -> Decorator:
    """Return `--kubeconfig` and `--context`, each with its explanation."""

    def decorate(command: Command) -> Command:
        command = click.option("--context", metavar="NAME", help=context)(command)
        return click.option("--kubeconfig", metavar="FILE", help=kubeconfig)(command)

    return decorate


def now_option(explanation: str) -> Decorator:
    """Return `--now`; without it, the clock's time in whole seconds, as objects store it."""
    return click.option("--now", callback=_now, metavar="RFC3339", help=explanation)


def _now(_context: click.Context, _parameter: click.Parameter, text: str | None) -> float:
    if text is None:
        return float(int(SystemClock().now()))
    try:
        return moment(text)
    except ValueError as error:
        raise click.BadParameter(
            f"{text!r} is not a time; write it like 2026-01-31T12:00:00Z"
        ) from error


def lease_option() -> Decorator:
    """Return the `--namespace` in which the controller's Lease is."""
    return click.option(
        "--namespace",
        default="kueue-system",
        show_default=True,
        help="Namespace of the leader's Lease.",
    )
