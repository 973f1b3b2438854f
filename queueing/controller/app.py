"""The controller process: it competes for the Lease, leads while it holds it, and ends cleanly.

`queueing run` and `queueing dev` call `run`. It ends when it is cancelled or the process gets
SIGTERM or SIGINT: first no more decisions are made, then writes in flight end, then the Lease is
released, so that a standby takes over at once.
"""

import asyncio
import logging
import os
import signal
import socket
import threading
import uuid
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from queueing import __version__
from queueing.checkpoints.rules.terms import USUAL_DRIVERS, Driver
from queueing.clock import Clock, SystemClock
from queueing.controller.admission_policies.installation import install
from queueing.controller.admission_policies.rendering import PolicyRules
from queueing.controller.composition import TermInputs
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
from queueing.controller.process.recording_file import RecordingFile
from queueing.controller.session import Session
from queueing.controller.standby import Standby
from queueing.controller.telemetry.broadcast import Broadcast
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.telemetry.traces import WorkloadTraces
from queueing.core.settings import Compatibility
from queueing.kinds.compiler import Kind
from queueing.kube.client import Client
from queueing.kube.config import Cluster, load_cluster
from queueing.kube.lease import Lease, LeaseTerm
from queueing.kube.lease_record import ADDRESS, KubeLeaseStore
from queueing.kube.outcome import MaySend, always
from queueing.observe.metric_rows import ReplicaRole
from queueing.observe.metrics import Metrics
from queueing.observe.traces import Tracer
from queueing.state.engine import Engine
from queueing.translate.configuration import measured_local_queues
from queueing.webhooks.suspension import QueuedKind, of_description
from queueing_api.config.v1beta2 import Configuration

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How the controller is started.

    `cluster` wins over `kubeconfig` and `context`. With a `serving_socket`, a serving process
    serves probes and metrics and is sent their contents over this Unix socket; without one, this
    process serves them itself.
    """

    configuration: Configuration = field(default_factory=Configuration)
    compatibility: Compatibility = Compatibility.QUEUEING
    drivers: frozenset[Driver] = USUAL_DRIVERS
    """The ways in which this installation may ask a workload's pods to save a checkpoint."""
    page: str = ""
    """Where visitors find the page; empty where that is not known."""
    cluster: Cluster | None = None
    kubeconfig: str | None = None
    context: str | None = None
    serving_socket: Path | None = None
    policies: bool = True
    """Install admission policies, with which the API server suspends Jobs at creation and adds
    ResourceClaims to pods, where it supports them."""
    record: Path | None = None
    """Write a recording of what the engine sees to this file."""
    owns_process: bool = False
    """Nothing else runs in this process, so the garbage collector may be tuned for it."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    """Environment variables: `OTEL_*` configure tracing, `POD_IP` the address of this replica."""


def identity() -> str:
    """Return a holder identity for the Lease that no other process has, nor an earlier run here."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"


async def run(options: Options, clock: Clock | None = None) -> None:
    """Run the controller until it is cancelled or a signal stops it.

    Raises ConfigurationError when no cluster is configured, or its configuration is unusable.
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
        return  # only the main thread gets signals; in another one the caller cancels this task
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
    """One controller process: what lasts longer than a term of leadership, and the terms."""

    def __init__(self, options: Options, client: Client, clock: Clock) -> None:
        self._options, self._client, self._clock = options, client, clock
        self._identity = identity()
        configuration = options.configuration
        rules = controller_rules(configuration, options.compatibility, identity=self._identity)
        self._rules = replace(rules, drivers=options.drivers, page=options.page)
        self._elects = configuration.leader_election.leader_elect
        self._outdated = asyncio.Event()
        """Set when the policies must be looked at again."""
        self._described: tuple[QueuedKind, ...] = ()
        """Kinds that admins describe, and that are queued in this term."""
        self._recording = None if options.record is None else RecordingFile(options.record)
        self._tracer = Tracer.from_environment(options.environment, __version__)
        self.reporter = Reporter(
            metrics=self._metrics(leading=False),
            now=clock.now,
            traces=WorkloadTraces(self._tracer, self._identity) if self._tracer else None,
            fair=self._rules.settings.fair_sharing is not None,
            local_queues=measured_local_queues(configuration),
        )

    async def run(self) -> None:
        """Serve or send metrics and probes, and lead whenever this process holds the Lease."""
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
            if self._recording is not None:
                self._recording.close()
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
        """Yield what runs all the time, whether this process leads or not."""
        if self._elects:
            yield Standby(self._client, self._rules, self.reporter).run()
        yield report(self._client, self._client.cluster.server, self._clock)
        yield measure(self.reporter.lagged, self._clock)
        if self._recording is not None:
            yield self._recording.keep_flushed()
        if self._options.serving_socket is not None:
            yield Broadcast(self._options.serving_socket, self.reporter, self._clock).run()

    async def _compete_or_lead(self) -> None:
        if self._elects:
            await self._compete(self._options.configuration)
        else:
            await self._lead(always)

    async def _compete(self, configuration: Configuration) -> None:
        found = configuration.leader_election
        namespace = found.resource_namespace or configuration.namespace
        told = {ADDRESS: visibility_address(configuration, self._options.environment)}
        store = KubeLeaseStore(self._client, found.resource_name, namespace, told)
        lease = Lease(store, lease_settings(configuration, self._identity), self._clock)
        self.reporter.readiness.other_leads = lambda: lease.holder not in ("", self._identity)

        async def lead(term: LeaseTerm) -> None:
            logger.info("epoch %d begins", term.epoch)
            await self._lead(lease.fence.valid_for_longer_than)

        await lease.run(lead)

    async def _lead(self, may_send: MaySend) -> None:
        """Lead one term: install the admission policies, and run a session at the same time."""
        self.reporter.elected(self._metrics(leading=True))
        try:
            await self._run_term(may_send)
        finally:
            self.reporter.metrics = self._metrics(leading=False)

    def _metrics(self, *, leading: bool) -> Metrics:
        role = ReplicaRole.STANDALONE
        if self._elects:
            role = ReplicaRole.LEADER if leading else ReplicaRole.FOLLOWER
        metrics = Metrics(role, metric_groups(self._options.configuration))
        metrics.leader.labels().set(float(leading))
        return metrics

    async def _run_term(self, may_send: MaySend) -> None:
        self._described = ()
        session = Session(
            TermInputs(
                client=self._client,
                clock=self._clock,
                may_send=may_send,
                rules=self._rules,
                reporter=self.reporter,
                injects=lambda: self.reporter.readiness.injects,
                doubt=self._doubt_injection,
                described=self._describe,
                listing=postponed if self._options.owns_process else nullcontext,
                engine=Engine if self._recording is None else self._recording.engine,
            )
        )
        rules = policy_rules(self._options.configuration, self._options.compatibility)
        async with asyncio.TaskGroup() as group:
            if self._options.policies:
                group.create_task(self._keep_policies(rules), name="policies")
            else:
                self._policies_are_in_force()
                self._pods_get_claims()
            await session.run()

    async def _keep_policies(self, rules: PolicyRules) -> NoReturn:
        """Install the policies, and again whenever they may not be what is needed."""
        while True:
            self._outdated.clear()
            wanted = replace(rules, kinds=(*rules.kinds, *self._described))
            await install(self._client, wanted, self._policies_are_in_force, self._pods_get_claims)
            await self._outdated.wait()

    def _describe(self, kinds: Sequence[Kind]) -> None:
        """Note which kinds are queued that admins describe: the policies are about them as well."""
        found = (of_description(one.spec) for one in kinds)
        self._described = tuple(one for one in found if one is not None)
        self._outdated.set()

    def _policies_are_in_force(self) -> None:
        self.reporter.readiness.policies = True

    def _pods_get_claims(self) -> None:
        self.reporter.readiness.injects = True

    def _doubt_injection(self) -> None:
        """Note that a pod was created without its claims: Jobs that need claims wait to start."""
        logger.warning("pods came without their claims: the policies are put in force again")
        self.reporter.readiness.injects = False
        self._outdated.set()
