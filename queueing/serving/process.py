"""The serving process from its start to its end: what runs in it, and on which ports."""

import asyncio
import logging
import ssl
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from aiohttp import web

from queueing.clock import SystemClock
from queueing.core.selectors import Selector
from queueing.kube.client import Client
from queueing.kube.config import KubeconfigSource, load_cluster
from queueing.kube.errors import KubeError, NotFoundError
from queueing.kube.resources import Target
from queueing.serving.aggregator import learn_aggregator
from queueing.serving.answering import Elsewhere
from queueing.serving.authorization import Reviewer
from queueing.serving.certificate_secret import Keeping, Trust, keep
from queueing.serving.estimates import Estimates, Estimator
from queueing.serving.explanations import PAGE
from queueing.serving.forward import Forwarder
from queueing.serving.identity import Identity, follow_files
from queueing.serving.read_models import ReadModels, listening
from queueing.serving.routes import (
    Readiness,
    metrics_application,
    probe_application,
    visibility_application,
    webhook_application,
)
from queueing.serving.surroundings import WatchedObjects, watches
from queueing.serving.tls_settings import USUAL, TlsSettings
from queueing.serving.ui.application import BASE, PageServer
from queueing.serving.ui.entrance import ReviewedEntrance
from queueing.serving.ui.sources import Sources, nobody_leads
from queueing.serving.uninstallation import Uninstallation
from queueing.webhooks.admission import WebhookSettings
from queueing.webhooks.suspension import QueuedKind

logger = logging.getLogger(__name__)

CLOSE_S = 2.0
"""How long an open request may take at the end, so that a pod stops within its grace period."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen; an empty host means every interface, port 0 lets the system choose."""

    host: str
    port: int
    field: str = ""
    """Which field of the Configuration says so, for who has to change it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServingOptions:
    """How to serve. An address of None leaves that port out."""

    source: KubeconfigSource
    socket: Path
    """Unix socket on which the controller of this replica speaks."""
    managed: Selector
    manage_without_queue: bool = False
    kinds: Sequence[QueuedKind] = ()
    """Kinds that the Configuration turns on."""
    default_class: bool = True
    """Whether queued Jobs get the WorkloadPriorityClass named `default`."""
    rules: WebhookSettings = field(default_factory=WebhookSettings)
    webhooks: Address | None = None
    probes: Address | None = None
    metrics: Address | None = None
    visibility: Address | None = None
    keeping: Keeping | None = None
    """Make and keep the certificate ourselves; else it is read from `certificates`."""
    certificates: Path | None = None
    lease: Target | None = None
    """Whose holder is asked for what only the leader knows; None asks nobody."""
    noticed_s: float = 0.0
    """How soon a leader sees that it has lost the Lease."""
    visibility_name: str = ""
    """The name in the certificate under which replicas ask each other."""
    page: str = ""
    """Where visitors find the page; empty where that is not known."""
    tls: TlsSettings = USUAL
    alive_path: str = "/healthz"
    """Where the liveness probe is answered, beside /healthz."""
    ready_path: str = "/readyz"
    """Where the readiness probe is answered, beside /readyz."""
    plain_http: bool = False
    """Serve without TLS, for a server on loopback only."""


Convert = Callable[[Mapping[str, Any]], Mapping[str, Any]]


async def serve(
    options: ServingOptions, convert: Convert, estimated: Estimator | None = None
) -> None:
    """Serve until cancelled; without an estimator nobody is told when he will be admitted."""
    async with AsyncExitStack() as stack:
        source = options.source
        where = await load_cluster(source.kubeconfig, source.context, strict_tls=source.strict_tls)
        client = await stack.enter_async_context(Client(where, "queueing-serving"))
        models = ReadModels()
        await stack.enter_async_context(listening(options.socket, models))
        identity = Identity(options.tls)
        reviewer = Reviewer(client, SystemClock().monotonic, identity.is_aggregator)
        cluster = WatchedObjects(
            options.managed,
            manage_without_queue=options.manage_without_queue,
            kinds=options.kinds,
            default_class=options.default_class,
        )
        reflectors = watches(client, cluster)
        readiness = Readiness(
            {
                "caches": lambda: all(one.synced.is_set() for one in reflectors),
                "certificate": lambda: options.plain_http or identity.present,
                "controller": lambda: models.connected and models.ready,
            }
        )
        uninstallation = Uninstallation(client, SystemClock(), options.lease, options.noticed_s)
        forwarder = _forwarder(options, client, identity)
        elsewhere = _elsewhere(client, forwarder, options.page)
        webhooks = webhook_application(cluster.around, options.rules, convert, uninstallation)
        metrics = metrics_application(models, reviewer.may_read_path, elsewhere)
        estimates = None if estimated is None else Estimates(models, estimated)
        visibility = visibility_application(
            models, reviewer.may_see, elsewhere, reviewer.may_name_others, estimates
        )
        fetch = nobody_leads if forwarder is None else forwarder.fetch
        sources = Sources(models, client, fetch, estimates)
        for application, entrance, base in (
            (metrics, ReviewedEntrance(reviewer), BASE),
            (visibility, ReviewedEntrance(reviewer, takes_tokens=False), PAGE),
        ):
            page = PageServer(sources=sources, entrance=entrance, now=SystemClock().now, base=base)
            page.add_to(application)
        probes = probe_application(
            models, readiness, alive=options.alive_path, ready=options.ready_path
        )
        ports = (
            (options.webhooks, webhooks, identity.plain),
            (options.probes, probes, None),
            (options.metrics, metrics, identity.plain),
            (options.visibility, visibility, identity.aggregated),
        )
        async with asyncio.TaskGroup() as group:
            for reflector in reflectors:
                group.create_task(reflector.run())
            group.create_task(sources.prospects.run(), name="estimates of pages")
            group.create_task(learn_aggregator(client, identity.believe), name="aggregator")
            _look_after_certificate(group, options, client, identity)
            for address, application, tls in ports:
                if address is not None:
                    tls_here = None if options.plain_http else tls
                    await stack.enter_async_context(_Site(application, address, tls_here))


def _look_after_certificate(
    group: asyncio.TaskGroup, options: ServingOptions, client: Client, identity: Identity
) -> None:
    """Make and renew the certificate ourselves, or follow the files that somebody else renews."""
    if options.keeping is not None:
        turn = keep(client, options.keeping, SystemClock().now, identity.use)
        group.create_task(turn, name="certificate")
    elif options.certificates is not None:
        told = Trust(client).spread
        group.create_task(follow_files(identity, options.certificates, told))


def _forwarder(options: ServingOptions, client: Client, identity: Identity) -> Forwarder | None:
    """Return what asks the leader's replica; None where there is no Lease that names it."""
    if options.lease is None:
        return None
    return Forwarder(client, options.lease, options.visibility_name, lambda: identity.authority)


def _elsewhere(client: Client, forwarder: Forwarder | None, page: str) -> Elsewhere:
    """Return what answers for other replicas' knowledge, and for what no replica knows."""

    async def ask(request: web.Request) -> web.Response | None:
        return await forwarder.ask(request) if forwarder is not None else None

    async def exists(queue: Target) -> bool:
        try:
            await client.get(queue)
        except KubeError as error:
            # Who cannot be asked is believed to be there, with nobody waiting.
            return not isinstance(error, NotFoundError)
        return True

    return Elsewhere(ask=ask, exists=exists, page=page)


class _Site:
    """One listening port, closed within `CLOSE_S` whatever its clients do."""

    def __init__(
        self, application: web.Application, address: Address, tls: ssl.SSLContext | None
    ) -> None:
        self._address = address
        self._runner = web.AppRunner(application, access_log=None, shutdown_timeout=CLOSE_S)
        self._make = partial(
            web.TCPSite,
            host=address.host or None,
            port=address.port,
            ssl_context=tls,
        )

    async def __aenter__(self) -> None:
        await self._runner.setup()
        try:
            await self._make(self._runner).start()
        except OSError as error:
            here = self._address
            where = f"{here.host}:{here.port}"
            told = f"{here.field}: cannot listen on {where}: {error.strerror or error}"
            raise OSError(error.errno, told) from error
        for where in self._runner.addresses:
            logger.info("serving on %s", where)

    async def __aexit__(self, *_error: object) -> None:
        await self._runner.cleanup()
