"""Options that mean the same in every command that has them, each spelt once."""

from collections.abc import Callable, Sequence
from typing import Any

import click

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


def lease_option() -> Decorator:
    """Return the `--namespace` in which the controller's Lease is."""
    return click.option(
        "--namespace",
        default="kueue-system",
        show_default=True,
        help="Namespace of the leader's Lease.",
    )
