"""`queueing manifests`: what of an installation depends on the Configuration."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import click

from queueing.cli.compatibility import compatibility_option
from queueing.cli.options import output_option
from queueing.cli.output import UsageProblem, objects
from queueing.cli.production.choices import Choices, Flags, read_choices
from queueing.core.settings import Compatibility
from queueing.webhooks.scope import MINOR_WITH_MUTATING_POLICIES, Scope

Wire = dict[str, Any]
MINOR_MIN = 30
"""The first minor version with ValidatingAdmissionPolicies that are there to stay."""

EPILOG = """\b
Examples:
  # What the controller would apply, and what an installation has beside it
  queueing manifests --config controller_manager_config.yaml
\b
  # Validate and suspend Jobs without a webhook
  queueing manifests --for policies | kubectl apply --server-side -f -
\b
  # For a server without mutating policies, suspension and defaults are webhooks too
  queueing manifests --for webhooks --kubernetes 1.34
\b
The CA bundles of webhooks are filled in by the controller, or by cert-manager.
Exit codes: 0, or 2 when the configuration cannot be used.
"""


def _scope(configuration: Any, minor: int) -> Scope:
    from queueing.kinds.registry import pods_on  # noqa: PLC0415 - slow to import
    from queueing.translate.configuration import (  # noqa: PLC0415 - slow to import
        is_enabled,
        managed_namespaces,
    )
    from queueing.webhooks.suspension import kinds_of  # noqa: PLC0415 - with it

    return Scope(
        namespaces=managed_namespaces(configuration),
        without_queue_name=configuration.manage_jobs_without_queue_name,
        namespace=configuration.namespace,
        service=configuration.internal_cert_management.webhook_service_name,
        reject_unknown_flavors=is_enabled(configuration, "RejectUpdatesToCQWithInvalidOnFlavors"),
        kinds=kinds_of(configuration),
        pods=pods_on(configuration.integrations.frameworks),
        minor=minor,
    )


def _crds(scope: Scope, _choices: Choices) -> list[Wire]:
    from queueing_api.crd.generate import WebhookConversion, crds  # noqa: PLC0415 - slow to import

    made = crds(WebhookConversion())
    converted = [one for one in made if "conversion" in one["spec"]]
    for one in converted:
        client = one["spec"]["conversion"]["webhook"]["clientConfig"]
        place = {"name": scope.service, "namespace": scope.namespace}
        client["service"] = {**client["service"], **place}
    return made


def _policies(scope: Scope, choices: Choices) -> list[Wire]:
    from queueing.controller.admission_policies import rendering as mutating  # noqa: PLC0415 - slow to import
    from queueing.controller.configuration import policy_rules  # noqa: PLC0415 - with it
    from queueing.webhooks.policies import render as validating  # noqa: PLC0415 - with it

    made = validating.render(scope)
    if scope.minor < MINOR_WITH_MUTATING_POLICIES:
        return made
    rules = policy_rules(choices.configuration, choices.compatibility)
    return [*made, *(wire for _, wire in mutating.render(rules))]


def _webhooks(scope: Scope, _choices: Choices) -> list[Wire]:
    from queueing.webhooks.configurations import render  # noqa: PLC0415 - slow to import

    return render(scope)


PARTS: Mapping[str, Callable[[Scope, Choices], list[Wire]]] = MappingProxyType(
    {"crds": _crds, "policies": _policies, "webhooks": _webhooks}
)


@click.command(epilog=EPILOG)
@click.option("--config", metavar="FILE", help="Configuration, in Kueue's format.")
@click.option("--namespace", metavar="NAME", help="Namespace of the controller.")
@compatibility_option(
    "For a controller that decides as Kueue, or with queueing's differences.",
    Compatibility.QUEUEING,
)
@click.option(
    "--for",
    "part",
    type=click.Choice((*PARTS, "all")),
    default="all",
    show_default=True,
    help="What to print.",
)
@click.option(
    "--kubernetes",
    metavar="1.MINOR",
    default="1.36",
    show_default=True,
    help="Version of the API server.",
)
@output_option(("yaml", "json"))
def command(*, part: str, kubernetes: str, output: str, **chosen: Any) -> None:
    """Print definitions, policies and webhook configurations as the Configuration says."""
    choices = read_choices(replace(_NO_FLAGS, **chosen))
    scope = _scope(choices.configuration, _minor(kubernetes))
    renders = [render for name, render in PARTS.items() if part in {name, "all"}]
    items = [one for render in renders for one in render(scope, choices)]
    click.echo(objects(items, output))


_NO_FLAGS = Flags(
    config=None,
    queueing_config=None,
    kubeconfig=None,
    context=None,
    feature_gates=None,
    compatibility=None,
    namespace=None,
    log_format="text",
    log_level="info",
)


def _minor(version: str) -> int:
    """Read `1.34`."""
    major, _, minor = version.partition(".")
    if major != "1" or not minor.isdecimal() or int(minor) < MINOR_MIN:
        raise UsageProblem(f"--kubernetes: {version!r} must be 1.{MINOR_MIN} or newer")
    return int(minor)
