"""What commands print: plain columns for people and awk, JSON and YAML for programs."""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import click

FORMATS = ("table", "json", "yaml")

GAP = "   "


Command = Callable[..., None]


def output_option(default: str = "table") -> Callable[[Command], Command]:
    """Return the `-o` option that every command with structured output has."""
    return click.option(
        "-o",
        "--output",
        type=click.Choice(FORMATS),
        default=default,
        show_default=True,
        help="Format of the output.",
    )


def columns(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay rows out as kubectl does: capitals on top, columns as wide as needed, no boxes."""
    lines = [list(header), *(list(row) for row in rows)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    return "\n".join(
        GAP.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def structured(data: Any, output: str) -> str:
    """Write plain values as JSON or YAML, keys in the order given."""
    if output == "json":
        return json.dumps(data, indent=2)
    import yaml  # noqa: PLC0415 - a third of this command's start-up, for one format

    return str(yaml.dump(data, Dumper=yaml.CSafeDumper, sort_keys=False, width=100)).rstrip()


class UsageProblem(click.ClickException):
    """Input that cannot be used; the exit code is 2, as for a wrong flag."""

    exit_code = 2


def no_answer(error: Exception) -> UsageProblem:
    """Say that no API server answers where the kubeconfig points, and the way out."""
    return UsageProblem(
        f"there is no cluster: {error}; is it the one that you mean? Name another with "
        "--kubeconfig or --context"
    )
