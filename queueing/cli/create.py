"""`queueing create`: ClusterQueues, LocalQueues, Cohorts and ResourceFlavors from flags."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import click

from queueing.cli.names import complete_names
from queueing.cli.options import Command
from queueing.cli.output import UsageProblem, objects
from queueing.cli.reaching import of_a_cluster, reaching_it
from queueing.kube.client import Client
from queueing.kube.config import load_cluster
from queueing.kube.errors import AlreadyExistsError, KubeError
from queueing.kube.request import Call
from queueing.kube.resources import (
    CLUSTER_QUEUES,
    COHORTS,
    LOCAL_QUEUES,
    RESOURCE_FLAVORS,
    Resource,
)

CODES = """Exit codes: 0, 1 when the server refuses, 2 when there is no cluster or a flag cannot be
used."""
EPILOG = f"""\b
Examples:
  queueing create resourceflavor a100 --node-labels accelerator=a100
  queueing create clusterqueue vision --cohort lab --nominal-quota "a100:cpu=32;nvidia.com/gpu=8"
  queueing create localqueue main -n vision --clusterqueue vision
  queueing create cohort lab --parent university
\b
{CODES}
"""
POLICIES = ("Never", "LowerPriority", "LowerOrNewerEqualPriority", "Any")

QUOTA_OPTIONS = (
    (
        "--nominal-quota",
        "nominal",
        "Quota of a flavor; repeat for more, in the order in which they are tried.",
    ),
    ("--borrowing-limit", "borrowing", "How much may be borrowed."),
    ("--lending-limit", "lending", "How much may be lent."),
)


@click.group(epilog=EPILOG)
def command() -> None:
    """Create a ClusterQueue, a LocalQueue, a Cohort or a ResourceFlavor."""


def _with_quotas(made: Command) -> Command:
    """Give a command the options of quotas."""
    for name, field, text in reversed(QUOTA_OPTIONS):
        made = click.option(
            name, field, multiple=True, metavar="FLAVOR:RESOURCE=AMOUNT;…", help=text
        )(made)
    return made


def _outputs(made: Command) -> Command:
    """Give a command the options of where and how to create."""
    made = click.option(
        "-o", "--output", type=click.Choice(("name", "yaml", "json")), default="name",
        show_default=True, help="What to print.",
    )(made)  # fmt: skip
    return click.option(
        "--dry-run",
        type=click.Choice(("none", "client", "server")),
        default="none",
        show_default=True,
        help="Only print the object (client), or have the server check it, too.",
    )(of_a_cluster(made))


@command.command(
    "clusterqueue",
    epilog=f"""\b
Examples:
  queueing create clusterqueue vision --cohort lab --nominal-quota "a100:cpu=32;nvidia.com/gpu=8"
  queueing create clusterqueue vision --nominal-quota "spot:cpu=8" --nominal-quota "steady:cpu=4" \\
    --borrowing-limit "spot:cpu=4" --reclaim-within-cohort Any
\b
{CODES}
""",
)
@click.argument("name")
@click.option("--cohort", metavar="NAME", help="Cohort that it lends to and borrows from.")
@click.option(
    "--queuing-strategy",
    type=click.Choice(("BestEffortFIFO", "StrictFIFO")),
    help="Whether the first blocks those behind it.",
)
@_with_quotas
@click.option(
    "--namespace-selector", metavar="KEY=VALUE,…", help="Labels of its namespaces; all without."
)
@click.option(
    "--reclaim-within-cohort",
    type=click.Choice(POLICIES),
    help="Whom it preempts that borrows its quota.",
)
@click.option(
    "--preemption-within-cluster-queue",
    type=click.Choice(POLICIES[:-1]),
    help="Whom it preempts of its own.",
)
@_outputs
def cluster_queue(name: str, **options: Any) -> None:
    """Create a ClusterQueue."""
    spec: dict[str, Any] = {"namespaceSelector": {}}
    if labels := _pairs(options["namespace_selector"]):
        spec["namespaceSelector"] = {"matchLabels": labels}
    for field, option in (("cohortName", "cohort"), ("queueingStrategy", "queuing_strategy")):
        if options[option]:
            spec[field] = options[option]
    policies = {
        "reclaimWithinCohort": options["reclaim_within_cohort"],
        "withinClusterQueue": options["preemption_within_cluster_queue"],
    }
    if any(policies.values()):
        spec["preemption"] = {key: value for key, value in policies.items() if value}
    spec["resourceGroups"] = _groups(options)
    _create(CLUSTER_QUEUES, name, {"spec": spec}, options)


@command.command(
    "cohort",
    epilog=f"""\b
Examples:
  queueing create cohort lab --parent university
  queueing create cohort lab --nominal-quota "a100:nvidia.com/gpu=8"
\b
{CODES}
""",
)
@click.argument("name")
@click.option(
    "--parent",
    metavar="NAME",
    shell_complete=complete_names("cohort"),
    help="The cohort that it is in.",
)
@_with_quotas
@_outputs
def cohort(name: str, **options: Any) -> None:
    """Create a Cohort, which a queue that names it needs only for a parent or quota of its own."""
    spec: dict[str, Any] = {}
    if options["parent"]:
        spec["parentName"] = options["parent"]
    if found := _groups(options):
        spec["resourceGroups"] = found
    _create(COHORTS, name, {"spec": spec}, options)


@command.command(
    "localqueue",
    epilog=f"""\b
Examples:
  queueing create localqueue main -n vision --clusterqueue vision
\b
{CODES}
""",
)
@click.argument("name")
@click.option("-n", "--namespace", metavar="NAME", help="Its namespace; else of the context.")
@click.option(
    "-c",
    "--clusterqueue",
    required=True,
    metavar="NAME",
    shell_complete=complete_names("clusterqueue"),
    help="The ClusterQueue that it leads to.",
)
@_outputs
def local_queue(name: str, **options: Any) -> None:
    """Create a LocalQueue."""
    _create(LOCAL_QUEUES, name, {"spec": {"clusterQueue": options["clusterqueue"]}}, options)


@command.command(
    "resourceflavor",
    epilog=f"""\b
Examples:
  queueing create resourceflavor a100 --node-labels accelerator=a100 \\
    --node-taints gpu=true:NoSchedule --tolerations gpu=true:NoSchedule
\b
{CODES}
""",
)
@click.argument("name")
@click.option("--node-labels", metavar="KEY=VALUE,…", help="Labels of its nodes.")
@click.option("--node-taints", metavar="KEY=VALUE:EFFECT,…", help="Taints of its nodes.")
@click.option("--tolerations", metavar="KEY=VALUE:EFFECT,…", help="What its pods tolerate.")
@_outputs
def resource_flavor(name: str, **options: Any) -> None:
    """Create a ResourceFlavor."""
    spec: dict[str, Any] = {}
    if labels := _pairs(options["node_labels"]):
        spec["nodeLabels"] = labels
    if taints := list(_taints(options["node_taints"])):
        spec["nodeTaints"] = taints
    if tolerations := list(_taints(options["tolerations"])):
        spec["tolerations"] = [{"operator": "Equal", **one} for one in tolerations]
    _create(RESOURCE_FLAVORS, name, {"spec": spec}, options)


def _groups(options: Mapping[str, Any]) -> list[dict[str, Any]]:
    return list(groups(options["nominal"], options["borrowing"], options["lending"]))


def groups(
    nominal: Iterable[str], borrowing: Iterable[str], lending: Iterable[str]
) -> Iterable[dict[str, Any]]:
    """Return the resource groups of some quotas; flavors of the same resources are one group.

    Raises UsageProblem for a quota that cannot be read, and a limit without a quota.
    """
    quotas = dict(map(_quota, nominal))
    limits = {
        "borrowingLimit": dict(map(_quota, borrowing)),
        "lendingLimit": dict(map(_quota, lending)),
    }
    for field, given in limits.items():
        for flavor, amounts in given.items():
            for resource in amounts:
                if resource not in quotas.get(flavor, {}):
                    raise UsageProblem(f"{field} of {flavor}:{resource} has no --nominal-quota")
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for flavor, amounts in quotas.items():
        resources = [
            {"name": name, "nominalQuota": amount}
            | {
                field: given[flavor][name]
                for field, given in limits.items()
                if name in given.get(flavor, {})
            }
            for name, amount in amounts.items()
        ]
        found.setdefault(tuple(amounts), []).append({"name": flavor, "resources": resources})
    for covered, flavors in found.items():
        yield {"coveredResources": list(covered), "flavors": flavors}


def _quota(text: str) -> tuple[str, dict[str, str]]:
    """Read `flavor:cpu=1;memory=2Gi`."""
    flavor, colon, amounts = text.partition(":")
    pairs = [one.partition("=") for one in amounts.split(";") if one]
    if not flavor or not colon or not pairs or not all(name and value for name, _, value in pairs):
        raise UsageProblem(f"{text!r} must be like spot:cpu=8;memory=16Gi")
    return flavor, {name.strip(): value.strip() for name, _, value in pairs}


def _pairs(text: str | None) -> dict[str, str]:
    pairs = [one.partition("=") for one in (text or "").split(",") if one]
    if not all(key and equals for key, equals, _ in pairs):
        raise UsageProblem(f"{text!r} must be like key=value,other=value")
    return {key: value for key, _, value in pairs}


def _taints(text: str | None) -> Iterable[dict[str, str]]:
    for one in (text or "").split(","):
        if one:
            pair, colon, effect = one.rpartition(":")
            key, _, value = pair.partition("=")
            if not colon or not key or not effect:
                raise UsageProblem(f"{one!r} must be like key=value:NoSchedule")
            yield {"key": key, "value": value, "effect": effect}


def _create(
    resource: Resource, name: str, body: Mapping[str, Any], options: Mapping[str, Any]
) -> None:
    value: dict[str, Any] = {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": {"name": name},
        **body,
    }
    dry_run = options["dry_run"]
    try:
        if dry_run != "client":
            with reaching_it():
                asyncio.run(_send(resource, value, options))
    except AlreadyExistsError as error:
        raise click.ClickException(f"{resource.kind} {name} is there already") from error
    except KubeError as error:
        raise click.ClickException(str(error)) from error
    if options["output"] != "name":
        click.echo(objects([value], options["output"]))
        return
    told = {"client": " (only printed)", "server": " (checked by the server)"}.get(dry_run, "")
    click.echo(f"{resource.kind.lower()}/{name} created{told}")


async def _send(resource: Resource, value: dict[str, Any], options: Mapping[str, Any]) -> None:
    cluster = await load_cluster(options["kubeconfig"], options["context"])
    home = ""
    if resource.namespaced:
        home = value["metadata"]["namespace"] = options["namespace"] or cluster.namespace
    async with Client(cluster, user_agent="queueing-create") as client:
        call = Call(dry_run=options["dry_run"] == "server")
        await client.create(resource.within(home), value, call)
