"""The controller process: composition, leadership, and a clean end.

`run` is what `queueing run` and `queueing dev` call. It returns when it is cancelled or gets
SIGTERM or SIGINT: decisions stop first, then what is being written ends, then the lease is given
back, so that a standby takes over at once.
"""

import asyncio
import logging
import os
import signal
import socket
import threading
import uuid
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from queueing import __version__
from queueing.clock import Clock, SystemClock
from queueing.controller.admission_policies.installation import install
from queueing.controller.admission_policies.rendering import PolicyRules
from queueing.controller.composition import Surroundings
from queueing.controller.configuration import (
    controller_rules,
    lease_settings,
    metric_groups,
    policy_rules,
    visibility_address,
    write_timeout_s,
)
from queueing.controller.process.connection import report
from queueing.controller.process.garbage_collection import postponed
from queueing.controller.process.loop_lag import measure
from queueing.controller.process.probes import listening
from queueing.controller.session import Session
from queueing.controller.telemetry.broadcast import Broadcast
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.telemetry.traces import WorkloadTraces
from queueing.core.checkpoints.terms import USUAL_DRIVERS, Driver
from queueing.core.settings import Compatibility
from queueing.kube.client import Client
from queueing.kube.config import Cluster, load_cluster
from queueing.kube.lease import Lease, Term
from queueing.kube.lease_record import ADDRESS, KubeLeaseStore
from queueing.kube.outcome import MaySend
from queueing.observe.metrics import Metrics
from queueing.observe.traces import Tracer
from queueing_api.config.v1beta2 import Configuration

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the controller is started.

    `cluster` wins over `kubeconfig`. With a `serving_socket` a serving process has the probes and
    the metrics, and hears of everything over the socket; else this process listens itself.
    """

    configuration: Configuration = field(default_factory=Configuration)
    compatibility: Compatibility = Compatibility.QUEUEING
    drivers: frozenset[Driver] = USUAL_DRIVERS
    """How workloads may be asked to save."""
    cluster: Cluster | None = None
    kubeconfig: str | None = None
    context: str | None = None
    serving_socket: Path | None = None
    policies: bool = True
    """Let the API server suspend Jobs at creation, where it can."""
    owns_process: bool = False
    """Nothing else runs in this process: the garbage collector may be set for what we do."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Where tracing is configured, by the OTEL_* variables."""


def identity() -> str:
    """Return a name that no other process has, also no other run of this pod."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


async def run(options: Options, clock: Clock | None = None) -> None:
    """Run until cancelled or told to stop by a signal.

    Raises ConfigurationError when there is no cluster to talk to.
    """
    clock = clock or SystemClock()
    cluster = options.cluster or await load_cluster(options.kubeconfig, options.context)
    write_s = write_timeout_s(options.configuration)
    async with Client(cluster, field_manager="queueing", write_timeout_s=write_s) as client:
        app = App(options, client, clock)
        async with asyncio.TaskGroup() as group:
            work = group.create_task(app.run(), name="controller")
            _stop_on_signals(work)


def _stop_on_signals(work: asyncio.Task[None]) -> None:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        logger.info("told to stop")
        work.cancel()

    if threading.current_thread() is not threading.main_thread():
        return  # only the main thread takes signals; whoever started us here cancels us
    try:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop)
    except NotImplementedError:
        return  # Windows has no handlers on loops; Ctrl+C interrupts the loop itself
    work.add_done_callback(lambda _: _forget_signals(loop))


def _forget_signals(loop: asyncio.AbstractEventLoop) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.remove_signal_handler(number)


class App:
    """One controller process."""

    def __init__(self, options: Options, client: Client, clock: Clock) -> None:
        self._options, self._client, self._clock = options, client, clock
        self._identity = identity()
        configuration = options.configuration
        rules = controller_rules(configuration, options.compatibility, identity=self._identity)
        self._rules = replace(rules, drivers=options.drivers)
        self._elects = configuration.leader_election.leader_elect
        self._doubted = asyncio.Event()
        self._tracer = Tracer.from_environment(options.environment, __version__)
        self.reporter = Reporter(
            metrics=Metrics(
                "follower" if self._elects else "standalone", metric_groups(configuration)
            ),
            now=clock.now,
            traces=WorkloadTraces(self._tracer) if self._tracer is not None else None,
            fair=self._rules.settings.fair_sharing is not None,
        )

    async def run(self) -> None:
        """Listen, or speak to the serving process, and lead whenever the lease is ours."""
        try:
            async with AsyncExitStack() as stack:
                if self._options.serving_socket is None:
                    await stack.enter_async_context(self._listening())
                async with asyncio.TaskGroup() as group:
                    beside = [group.create_task(one) for one in self._beside()]
                    await self._compete_or_lead()
                    for task in beside:
                        task.cancel()
        finally:
            if self._tracer is not None:
                await self._tracer.close()

    def _listening(self) -> AbstractAsyncContextManager[None]:
        found = self._options.configuration
        return listening(
            self.reporter,
            health=found.health.health_probe_bind_address,
            scrape=found.metrics.bind_address,
        )

    def _beside(self) -> Iterator[Coroutine[Any, Any, None]]:
        """Return what runs beside the work, whether we lead or not."""
        yield report(self._client, self._client.cluster.server, self._clock)
        yield measure(self.reporter.lagged, self._clock)
        if self._options.serving_socket is not None:
            yield Broadcast(self._options.serving_socket, self.reporter, self._clock).run()

    async def _compete_or_lead(self) -> None:
        if self._elects:
            await self._compete(self._options.configuration)
        else:
            await self._lead(lambda _: True)

    async def _compete(self, configuration: Configuration) -> None:
        found = configuration.leader_election
        namespace = found.resource_namespace or configuration.namespace
        told = {ADDRESS: visibility_address(configuration, self._options.environment)}
        store = KubeLeaseStore(self._client, found.resource_name, namespace, told)
        lease = Lease(store, lease_settings(configuration, self._identity), self._clock)
        self.reporter.readiness.other_leads = lambda: lease.holder not in ("", self._identity)

        async def lead(term: Term) -> None:
            logger.info("epoch %d begins", term.epoch)
            await self._lead(lease.fence.valid_for_longer_than)

        await lease.run(lead)

    async def _lead(self, may_send: MaySend) -> None:
        """Lead one term: put the policies in force, and work beside that."""
        role = "leader" if self._elects else "standalone"
        self.reporter.elected(Metrics(role, metric_groups(self._options.configuration)))
        session = Session(
            Surroundings(
                client=self._client,
                clock=self._clock,
                may_send=may_send,
                rules=self._rules,
                reporter=self.reporter,
                injects=lambda: self.reporter.readiness.injects,
                doubt=self._doubt_injection,
                listing=postponed if self._options.owns_process else nullcontext,
            )
        )
        rules = policy_rules(self._options.configuration)
        async with asyncio.TaskGroup() as group:
            if self._options.policies:
                group.create_task(self._keep_policies(rules), name="policies")
            else:
                self._policies_are_in_force()
                self._pods_get_claims()
            await session.run()

    async def _keep_policies(self, rules: PolicyRules) -> NoReturn:
        """Put the policies in force, and again whenever pods come without their claims."""
        while True:
            self._doubted.clear()
            await install(self._client, rules, self._policies_are_in_force, self._pods_get_claims)
            await self._doubted.wait()
            logger.warning("pods came without their claims: the policies are put in force again")

    def _policies_are_in_force(self) -> None:
        self.reporter.readiness.policies = True

    def _pods_get_claims(self) -> None:
        self.reporter.readiness.injects = True

    def _doubt_injection(self) -> None:
        """Hear that a pod was created without its claims: starts wait until it works again."""
        self.reporter.readiness.injects = False
        self._doubted.set()
