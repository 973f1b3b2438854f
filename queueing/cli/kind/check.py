"""`queueing kind check`: what would be read of an example, by a description of its kind."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import click
import msgspec

from queueing.cli.options import files_option, output_option
from queueing.cli.output import UsageProblem, columns, objects, structured
from queueing.kinds.examining import Examination, FoundPodSet, examine
from queueing.kinds.hooks import Related
from queueing.kinds.paths import spelled
from queueing.kinds.pod_sets import UnreadableError
from queueing.kinds.roles import cluster_role
from queueing.kinds.support import not_supported
from queueing.kinds.view import read
from queueing.sim.descriptions import Described, described, is_description, kind_for
from queueing.sim.documents import Document, load
from queueing.sim.yaml_text import ManifestError

EPILOG = """\b
Examples:
  queueing kind check -f description.yaml -f example.yaml
  queueing kind check -f rayjob.yaml               an example of a kind that is built in
  queueing kind check -f kinds/ -f jobs/ -o json
  queueing kind check -f description.yaml --role | kubectl apply -f -
\b
A description is a QueueableKind; everything else in the files is an example. `queueing kind list
-o yaml FRAMEWORK` prints one to begin with.
\b
Exit codes: 0 when all examples can be read, 2 when a file, a description or an example cannot.
"""


@click.command(epilog=EPILOG)
@files_option("File or folder with descriptions and examples, or - for standard input.")
@click.option(
    "--role", is_flag=True, help="Print the ClusterRoles that descriptions need, and nothing else."
)
@output_option()
def command(*, files: tuple[str, ...], role: bool, output: str) -> None:
    """Show what a description of a kind reads of an example: pod sets, requests, states.

    No cluster is needed, and nothing is changed.
    """
    if not files:
        raise UsageProblem("give a description and an example with -f")
    try:
        documents = load(files)
        given = [described(one) for one in documents if is_description(one)]
        pairs = list(_pairs(documents, given))
        found = [(one, by, _examined(one, by, documents)) for one, by in pairs]
    except ManifestError as error:
        raise UsageProblem(str(error)) from error
    if role:
        roles = [cluster_role(one.kind.spec) for one in given]
        click.echo(objects(roles, "json" if output == "json" else "yaml"))
        return
    if output != "table":
        kinds = [_kind_as_json(one) for one in given]
        examples = [_as_json(*one) for one in found]
        click.echo(structured({"descriptions": kinds, "examples": examples}, output))
        return
    parts = ["\n".join(f"{_name(one)}: {_verdict(one)}" for one in given)]
    parts += [_told(*one) for one in found] or [
        "Give an example with -f to see what is read of it."
    ]
    click.echo("\n\n".join(filter(None, parts)))


def _pairs(
    documents: Sequence[Document], given: Sequence[Described]
) -> Iterator[tuple[Document, Described]]:
    """Yield each example with its kind. Raises ManifestError for one whose kind is not known."""
    examples = [one for one in documents if not is_description(one)]
    known = [(one, by) for one in examples if (by := kind_for(one, given)) is not None]
    needed = [related for one, by in known if (related := _related(one, by)) is not None]
    for one in examples:
        if kind_for(one, given) is None and not any(_is(one, related) for related in needed):
            problem = (
                f"{one.api_version} {one.kind} is not built in, and none of the files describes it;"
                " give a QueueableKind for it, or leave this object out"
            )
            raise one.error(["kind"], problem)
    yield from known


def _related(example: Document, by: Described) -> Related | None:
    """Return what an example cannot be read without; None for nothing."""
    named = by.kind.hooks.related
    try:
        return named(read(by.kind, msgspec.json.encode(example.value))) if named else None
    except UnreadableError as error:
        raise _located(example, by, error) from error


def _is(document: Document, related: Related) -> bool:
    wanted = related.api_version, related.kind, related.name
    return (document.api_version, document.kind, document.name) == wanted


def _examined(example: Document, by: Described, documents: Sequence[Document]) -> Examination:
    """Hold an example against its kind. Raises ManifestError for all that cannot be read."""
    needed = _related(example, by)
    others = (one for one in documents if needed is not None and _is(one, needed))
    other = next(others, None)
    found = examine(by.kind, example.value, None if other is None else other.value)
    if found.problems:
        problems = [_located(example, by, one, found) for one in found.problems]
        raise ManifestError.of_all(problems)
    return found


def _located(
    example: Document, by: Described, error: UnreadableError, found: Examination | None = None
) -> ManifestError:
    """Say where a problem is: in the description, and in the example that shows it."""
    meant = [] if found is None else [one for one in found.missing if one.meant]
    hint = next(
        (
            f"; the example has {one.meant}: is that meant by {one.path}?"
            for one in meant
            if spelled(error.field) == one.read_by
        ),
        "",
    )
    if by.document is None:
        return example.error(error.at, f"{error.problem}{hint}")
    place = f"{example.file}:{example.line_at(error.at)}: {example.title}"
    shown = f"{place}: {spelled(error.at)}" if error.at else place
    return by.document.error(error.field, f"{error.problem}{hint} ({shown})")


def _verdict(one: Described) -> str:
    """Say whether the controller would queue objects by a description that can be read."""
    why = not_supported(one.kind.spec)
    return f"not queued by the controller: {why}." if why else "the description can be used."


def _name(one: Described) -> str:
    return f"{one.kind.api_version} {one.kind.name}"


def _kind_as_json(one: Described) -> dict[str, Any]:
    where = {} if one.document is None else {"file": one.document.file, "line": one.document.line}
    why = not_supported(one.kind.spec)
    names = {"apiVersion": one.kind.api_version, "kind": one.kind.name}
    return {**names, **where, **({"notSupported": why} if why else {})}


def _as_json(example: Document, by: Described, found: Examination) -> dict[str, Any]:
    return {
        "object": example.title,
        "file": example.file,
        "line": example.line,
        "describedBy": "built-in" if by.document is None else by.document.file,
        **found.as_json(),
    }


def _told(example: Document, by: Described, found: Examination) -> str:
    source = "a built-in description" if by.document is None else by.document.file
    parts = [
        f"{example.title} ({example.file}:{example.line}), read by {source}",
        columns(("POD SET", "COUNT", "MIN", "REQUESTS PER POD", "TEMPLATE"), _rows(found.pod_sets))
        if found.pod_sets
        else "No pod sets: each of its pods is queued by itself.",
        columns(("STATE", "VALUE"), [(key, _shown(one)) for key, one in found.states.items()]),
    ]
    if found.missing:
        rows = [(one.path, one.read_by, one.meant or "-") for one in found.missing]
        header = ("NOT IN THE EXAMPLE", "READ BY", "MEANT?")
        parts.append(columns(header, rows))
    return "\n\n".join(parts)


def _rows(pod_sets: Sequence[FoundPodSet]) -> Iterator[tuple[str, ...]]:
    for one in pod_sets:
        least = "-" if one.min_count is None else str(one.min_count)
        requests = ", ".join(f"{name}={amount}" for name, amount in one.requests.items())
        yield one.name, str(one.count), least, requests or "-", one.template


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={_shown(one)}" for key, one in value.items()) or "-"
    return "-" if value is None or value == "" else str(value)
