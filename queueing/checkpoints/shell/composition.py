"""Puts the package together for one term: its reconcilers, what it watches, and its workers."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from queueing.checkpoints.shell.barrier import Barrier
from queueing.checkpoints.shell.drivers.exec_driver import ExecDriver
from queueing.checkpoints.shell.drivers.hook_jobs import HookJobs
from queueing.checkpoints.shell.drivers.http_driver import HttpDriver
from queueing.checkpoints.shell.drivers.notifier import Drivers, Notifier
from queueing.checkpoints.shell.hook_charges import saved_by, with_requests
from queueing.checkpoints.shell.idle import IdleReconciler
from queueing.checkpoints.shell.intake import CheckpointIntake
from queueing.checkpoints.shell.nodes import NodeReconciler
from queueing.checkpoints.shell.policies import PolicyReconciler
from queueing.checkpoints.shell.reconciler import CheckpointReconciler
from queueing.checkpoints.shell.starting import started_with, warn_of_grace
from queueing.checkpoints.shell.telemetry import CheckpointTelemetry
from queueing.checkpoints.wire import names, nodes
from queueing.checkpoints.wire import objects as wire
from queueing.controller.term import Term
from queueing.controller.work_queues import Features
from queueing.controller.workers import Workers
from queueing.core.names import Key
from queueing.kube import resources
from queueing.kube.client import Client
from queueing.kube.objects import HasMetadata
from queueing.kube.reflector import Added, Reflector, ReflectorSettings, WatchEvent
from queueing.translate.jobs.gang_keys import gang_of_workload
from queueing.translate.wire.workloads import Workload

W = TypeVar("W", bound=HasMetadata)

WORKERS = 4
"""How many Workloads with requests are reconciled at the same time."""


class Checkpoints:
    """The parts of the package in one term of leadership.

    `weigh_anew` asks for the stakes of running Workloads to be worked out again, because terms
    changed; `charge_anew` for a Workload's charge, because a hook Job began or ended.
    """

    def __init__(
        self,
        term: Term,
        *,
        weigh_anew: Callable[[], None],
        charge_anew: Callable[[Key], None],
    ) -> None:
        self._term, self._objects, self._queues = term, term.objects, term.queues
        self._weigh_anew, self._charge_anew = weigh_anew, charge_anew
        self._present = False
        """The cluster has, or had, a policy, a Checkpoint or an idle pod."""
        checkpoints, writes, clock = term.objects.checkpoints, term.writes, term.clock
        self.policies = PolicyReconciler(checkpoints, writes, clock)
        self.intake = CheckpointIntake(
            checkpoints, self._changed, self._policy_changed, saved=term.engine.observe
        )
        self.barrier = Barrier(term.objects, term.events, term.queues.checkpoints)
        self._exec = ExecDriver(checkpoints, writes, clock, self._changed)
        drivers = Drivers(
            http=HttpDriver(checkpoints, clock),
            hooks=HookJobs(term.objects, writes, clock),
            exec=self._exec,
        )
        self.reconciler = CheckpointReconciler(
            term,
            self.intake,
            Notifier(term.objects, writes, drivers),
            CheckpointTelemetry(term.objects, term.reporter.metrics, term.reporter.traces),
            self._attend,
        )
        self.nodes = NodeReconciler(term=term)
        self.idle = IdleReconciler(term)

    def reflectors(self, client: Client) -> Iterator[tuple[Reflector[Any], str]]:
        """Yield the reflectors, each with the plural name of its kind; nothing runs yet.

        The session waits for them by `until_known`, since a cluster may not have these kinds.
        """
        followed = ReflectorSettings(label_selector=names.REQUEST)
        idle = ReflectorSettings(label_selector=names.IDLE)
        for resource, kind, on_event, settings in (
            (
                resources.CHECKPOINT_POLICIES,
                wire.CheckpointPolicy,
                self._making_present(self.intake.on_policy),
                ReflectorSettings(),
            ),
            (
                resources.CHECKPOINTS,
                wire.Checkpoint,
                self._making_present(self.intake.on_checkpoint),
                ReflectorSettings(),
            ),
            (resources.PODS, wire.Pod, self.intake.on_pod, followed),
            (resources.PODS, wire.Pod, self._making_present(self.idle.on_pod), idle),
            (resources.NODES, nodes.Node, self.nodes.on_node, ReflectorSettings()),
        ):
            made: Reflector[Any] = Reflector(client, resource.within(), kind, on_event, settings)
            yield made, resource.plural

    def workers(self) -> Iterator[Workers]:
        """Yield the workers of each queue of keys."""
        queues = self._queues
        yield Workers("checkpoint policies", queues.checkpoint_policies, self.policies.look)
        yield Workers("nodes that go away", queues.nodes, self.nodes.look)
        yield Workers("idle workloads", queues.idle, self.idle.look)
        yield Workers("checkpoints", queues.checkpoints, self.reconciler.look, WORKERS)

    def close(self) -> None:
        """Cancel commands in containers."""
        self._exec.close()

    def _making_present(
        self, on_event: Callable[[WatchEvent[W]], None]
    ) -> Callable[[WatchEvent[W]], None]:
        """Have this package take part once there is an object that it is for."""

        def heard(event: WatchEvent[W]) -> None:
            if not self._present and isinstance(event, Added):
                self._present = True
                self._enter(self._queues.features)
            on_event(event)

        return heard

    def _enter(self, features: Features) -> None:
        objects, events = self._objects, self._term.events
        features.job_changed.append(self.job_changed)
        features.workload_changed.append(self.workload_changed)
        features.facts.append(partial(with_requests, objects))
        features.annotations.append(partial(started_with, objects))
        features.started.append(partial(warn_of_grace, objects, events))

    def job_changed(self, key: Key) -> None:
        """Ask for requests to be reconciled: those to a Job's Workloads, or that it saves for."""
        for workload in saved_by(self._objects.checkpoints, key):
            self._charge_anew(workload)
        job = self._objects.jobs.get(key)
        if job is not None:
            self.idle.job_changed(job.metadata.uid)
            for workload in self._objects.checkpoints.asked_of_job(job.metadata.uid):
                self._queues.checkpoints.add(workload)
            for owner in job.metadata.owner_references:
                if owner.kind == "Checkpoint":
                    self._hook_changed(Key(f"{job.metadata.namespace}/{owner.name}"))

    def _hook_changed(self, checkpoint: Key) -> None:
        seen = self._objects.checkpoints.get(checkpoint)
        if seen is not None and seen.record.is_open:
            self._queues.checkpoints.add(seen.workload)

    def workload_changed(self, key: Key) -> None:
        """Ask for the requests to a Workload to be reconciled, if one is open."""
        self.idle.workload_changed(key)
        if self._objects.checkpoints.open_requests(key):
            self._queues.checkpoints.add(key)

    def _policy_changed(self, key: Key) -> None:
        self._queues.checkpoint_policies.add(key)
        self.idle.policy_changed()
        self._weigh_anew()

    def _changed(self, workload: Key) -> None:
        self._charge_anew(workload)
        self._queues.checkpoints.add(workload)

    def _attend(self, workload: Workload) -> None:
        """Ask for the Jobs of a Workload to be reconciled, which the barrier may have held back."""
        gang = gang_of_workload(workload.metadata)
        if gang is not None:
            self._queues.gang(gang)
        for owner in workload.metadata.owner_references:
            job = self._objects.job_keys.get(owner.uid)
            if job is not None:
                self._queues.jobs.add(job)
