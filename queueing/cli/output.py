"""What commands print: plain columns for people and awk, JSON and YAML for programs."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

GAP = "   "


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


def objects(made: Sequence[Mapping[str, Any]], output: str) -> str:
    """Write Kubernetes objects for kubectl: JSON as one List, YAML as a document each."""
    if output == "json":
        return structured({"apiVersion": "v1", "kind": "List", "items": made}, output)
    return "\n---\n".join(structured(one, output) for one in made)


class UsageProblem(click.ClickException):
    """Input that cannot be used; the exit code is 2, as for a wrong flag."""

    exit_code = 2


def no_answer(error: Exception) -> UsageProblem:
    """Say that no API server answers where the kubeconfig points, and the way out."""
    return UsageProblem(
        f"there is no cluster: {error}; is it the one that you mean? Name another with "
        "--kubeconfig or --context"
    )
