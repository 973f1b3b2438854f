"""The two processes of `queueing run`, each from its start to its end."""

import asyncio
import contextlib
import logging
import signal
import ssl
from collections.abc import Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from queueing.cli.output import UsageProblem
from queueing.cli.production.choices import Choices, Flags
from queueing.cli.production.estimating import estimated
from queueing.cli.production.loops import run_to_the_end
from queueing.controller.app import Options, run
from queueing.controller.process.probes import BadAddressError, address_of
from queueing.kinds.registry import SUPPORTED
from queueing.kube.config import ConfigurationError, KubeconfigSource
from queueing.kube.resources import LEASES
from queueing.observe.logs import LogFormat, configure
from queueing.serving.certificate_secret import Keeping
from queueing.serving.certificates import service_names
from queueing.serving.process import Address, ServingOptions, serve
from queueing.serving.tls_settings import TlsSettings
from queueing.translate.configuration import is_enabled, managed_namespaces
from queueing.translate.unheeded import unheeded
from queueing.webhooks.admission import WebhookSettings
from queueing.webhooks.suspension import kinds_of
from queueing_api.config.ciphers import OPENSSL_NAMES
from queueing_api.config.server import TlsOptions
from queueing_api.config.v1beta2 import Configuration
from queueing_api.kueue.convert import convert_review

logger = logging.getLogger(__name__)

_VERSIONS = {"VersionTLS12": ssl.TLSVersion.TLSv1_2, "VersionTLS13": ssl.TLSVersion.TLSv1_3}

VISIBILITY_SERVICE = "kueue-visibility-server"
"""Service of the aggregated API, as config/manager names it."""
METRICS_SERVICE = "kueue-controller-manager-metrics-service"
"""Service that is scraped."""


def run_controller(
    flags: Flags, choices: Choices, socket: Path | None, record: Path | None = None
) -> None:
    """Decide and write while we lead, until told to stop."""
    configure(LogFormat(flags.log_format), flags.log_level.upper())
    for sentence in unheeded(choices.configuration, SUPPORTED):
        logger.warning("%s", sentence)
    options = Options(
        configuration=choices.configuration,
        compatibility=choices.compatibility,
        drivers=choices.drivers,
        page=choices.page,
        kubeconfig=flags.kubeconfig,
        context=flags.context,
        serving_socket=socket,
        owns_process=True,
        record=record,
    )
    _to_the_end(flags, run(options))


def run_serving(flags: Flags, choices: Choices, socket: Path) -> None:
    """Answer webhooks and everything else that must not wait, until told to stop."""
    try:
        options = serving_options(flags, choices.configuration, socket)
    except BadAddressError as error:
        raise UsageProblem(str(error)) from error
    options = replace(options, page=choices.page)
    _to_the_end(flags, _until_told(serve(options, convert_review, estimated)))


def serving_options(flags: Flags, configuration: Configuration, socket: Path) -> ServingOptions:
    """Derive what is served, and where. Raises BadAddressError naming the field."""
    webhook, visibility = configuration.webhook, configuration.visibility_server
    certificates = configuration.internal_cert_management
    election, namespace = configuration.leader_election, configuration.namespace
    probes = address_of(
        configuration.health.health_probe_bind_address, "health.healthProbeBindAddress"
    )
    metrics = address_of(configuration.metrics.bind_address, "metrics.bindAddress")
    return ServingOptions(
        source=KubeconfigSource(kubeconfig=flags.kubeconfig, context=flags.context),
        socket=socket,
        managed=managed_namespaces(configuration),
        manage_without_queue=configuration.manage_jobs_without_queue_name,
        kinds=kinds_of(configuration),
        default_class=is_enabled(configuration, "WorkloadPriorityClassDefaulting"),
        rules=WebhookSettings(
            reject_unknown_flavors_of_checks=is_enabled(
                configuration, "RejectUpdatesToCQWithInvalidOnFlavors"
            )
        ),
        webhooks=Address(webhook.host, webhook.port, "webhook.port"),
        probes=Address(*probes, "health.healthProbeBindAddress") if probes else None,
        metrics=Address(*metrics, "metrics.bindAddress") if metrics else None,
        visibility=Address(
            visibility.bind_address or "", visibility.bind_port, "visibilityServer.bindPort"
        )
        if is_enabled(configuration, "VisibilityOnDemand")
        else None,
        keeping=Keeping(
            namespace=configuration.namespace,
            secret=certificates.webhook_secret_name,
            names=_names(configuration),
        )
        if certificates.enable
        else None,
        certificates=None if certificates.enable else Path(webhook.cert_dir),
        lease=LEASES.at(election.resource_name, election.resource_namespace or namespace)
        if election.leader_elect
        else None,
        tls=_tls(configuration.tls),
        alive_path=_path(configuration.health.liveness_endpoint_name),
        ready_path=_path(configuration.health.readiness_endpoint_name),
        noticed_s=2 * election.retry_period,
        visibility_name=service_names(VISIBILITY_SERVICE, namespace)[0],
    )


def _path(name: str) -> str:
    return f"/{name.strip('/')}"


def _tls(found: TlsOptions | None) -> TlsSettings:
    chosen = found or TlsOptions()
    names = (OPENSSL_NAMES[one] for one in chosen.cipher_suites)
    return TlsSettings(_VERSIONS[chosen.min_version or "VersionTLS12"], tuple(filter(None, names)))


def _names(configuration: Configuration) -> tuple[str, ...]:
    """Return the DNS names under which the API server and scrapers call us."""
    webhook = configuration.internal_cert_management.webhook_service_name
    services = (webhook, VISIBILITY_SERVICE, METRICS_SERVICE)
    return tuple(name for one in services for name in service_names(one, configuration.namespace))


async def _until_told(work: Coroutine[Any, Any, None]) -> None:
    """Run until SIGTERM or SIGINT."""
    loop = asyncio.get_running_loop()
    async with asyncio.TaskGroup() as group:
        task = group.create_task(work)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, task.cancel)


def _to_the_end(flags: Flags, work: Coroutine[Any, Any, None]) -> None:
    configure(LogFormat(flags.log_format), flags.log_level.upper())
    try:
        with contextlib.suppress(asyncio.CancelledError):
            run_to_the_end(work)
    except* (ConfigurationError, BadAddressError, OSError) as found:
        raise UsageProblem(first_of(found)) from found


def first_of(found: BaseException) -> str:
    """Say in words which of some failures came first: of a file, with its path."""
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    if not isinstance(found, OSError) or not found.strerror:
        return str(found)
    return f"{found.filename}: {found.strerror}" if found.filename else found.strerror
