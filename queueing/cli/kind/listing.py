"""`queueing kind list`: the kinds that are built in, and their descriptions."""

import click

from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, columns, objects
from queueing.kinds.frameworks import Framework
from queueing.kinds.registry import BUILT_IN, FRAMEWORKS
from queueing_api.queueing.v1alpha1.queueable_kind import QueueableKind, QueueableKindSpec

EPILOG = """\b
Examples:
  queueing kind list                                   a line per kind
  queueing kind list -o yaml jobset.x-k8s.io/jobset    its description, to begin another one with
\b
What a description cannot say of a kind is done by code beside it; such kinds have "+ code" in the
column POD SETS. The controller queues those that wait by a field.
"""


@click.command(epilog=EPILOG)
@click.argument("frameworks", nargs=-1, metavar="[FRAMEWORK]...")
@output_option()
def command(frameworks: tuple[str, ...], output: str) -> None:
    """List the kinds of jobs that are built in, all or those named as in the Configuration."""
    unknown = sorted(set(frameworks) - FRAMEWORKS.keys())
    if unknown:
        known = ", ".join(sorted(FRAMEWORKS))
        raise UsageProblem(f"no built-in kind is named {', '.join(unknown)}; there are {known}")
    chosen = sorted(
        (one for one in BUILT_IN if not frameworks or one.name in frameworks),
        key=lambda one: one.name,
    )
    if output != "table":
        click.echo(objects([_object(one.spec).to_wire() for one in chosen], output))
        return
    header = ("FRAMEWORK", "KIND", "API VERSION", "WAITS BY", "POD SETS")
    click.echo(columns(header, map(_row, chosen)))


def _object(spec: QueueableKindSpec) -> QueueableKind:
    named = spec.resource
    name = f"{named.plural}.{named.group}" if named.group else named.plural
    return QueueableKind.from_wire({"metadata": {"name": name}, "spec": spec.to_wire()})


def _row(one: Framework) -> tuple[str, ...]:
    named = one.spec.resource
    return one.name, named.kind, named.api_version, _waits_by(one.spec), _pod_sets(one)


def _waits_by(spec: QueueableKindSpec) -> str:
    if spec.suspend.through_pods is not None:
        return "gates of its pods"
    return spec.suspend.field or "a gate"


def _pod_sets(one: Framework) -> str:
    rules = one.spec.pod_sets
    told = [rule.name if rule.for_each is None else f"each of {rule.for_each}" for rule in rules]
    code = "+ code" if one.hooks.pod_sets is not None else ""
    return " ".join(filter(None, (", ".join(map(str, told)) or "one for each pod", code)))
