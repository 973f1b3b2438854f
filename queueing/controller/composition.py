"""Makes the parts of one term of leadership and connects them.

Nothing survives a term. A new leader knows only what the API server stores, so that whatever an
earlier one had assumed is either in the objects or did not happen.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any

from queueing.checkpoints.memory import CheckpointMemory
from queueing.checkpoints.shell import composition as checkpoints
from queueing.clock import Clock
from queueing.controller.configuration import ControllerRules
from queueing.controller.credits.composition import Credits
from queueing.controller.decisions.cycles import Cycles
from queueing.controller.decisions.effects import EffectDependencies, Effects
from queueing.controller.intake import watches
from queueing.controller.intake.admin_objects import AdminObjects
from queueing.controller.intake.kinds import Kinds
from queueing.controller.intake.pump import Pump
from queueing.controller.jobs.dependencies import Dependencies
from queueing.controller.jobs.quiescence import Quiescence
from queueing.controller.jobs.reconciler import JobReconciler
from queueing.controller.jobs.strays import Strays
from queueing.controller.placement.composition import Placement
from queueing.controller.pod_owners.reconciler import PodOwners
from queueing.controller.queueable_kinds.reconciler import QueueableKinds
from queueing.controller.queues.finalizers import Finalizers
from queueing.controller.queues.statuses import Statuses
from queueing.controller.stores.objects import Objects
from queueing.controller.telemetry.reporter import Reporter
from queueing.controller.term import Term
from queueing.controller.variants.reconciler import Variants
from queueing.controller.work_queues import WorkQueues
from queueing.controller.workloads.departing_pods import DepartingPods
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.controller.workloads.reconciler import WorkloadReconciler
from queueing.controller.workloads.waiting_reasons import WaitingReasons
from queueing.controller.writing.deferral import Deferral
from queueing.controller.writing.events import Events
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.settings import Compatibility, Settings
from queueing.devices.shell import composition as device_composition
from queueing.kinds.compiler import Kind
from queueing.kinds.managed import Managed
from queueing.kube.client import Client
from queueing.kube.events import EventRecorder
from queueing.kube.outcome import MaySend
from queueing.kube.pressure import PATIENCE_SHARE, Pressure, Window
from queueing.kube.reflector import Reflector, WatchEvent
from queueing.kube.writer import LIMITS, WriteClass, Writer
from queueing.state.engine import Engine
from queueing.translate.jobs.pods import view as pod
from queueing.translate.jobs.pods.view import Pods, read_pod
from queueing.translate.wire import queues


def _ignore(*_: object) -> None:
    """Do nothing when called."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TermInputs:
    """What a term is given by the process."""

    client: Client
    clock: Clock
    may_send: MaySend
    """Says whether the Lease lasts for a write with the given timeout in seconds."""
    rules: ControllerRules
    reporter: Reporter
    injects: Callable[[], bool] = lambda: True
    """Says whether the API server adds ResourceClaims to pods when they are created."""
    doubt: Callable[[], None] = _ignore
    """Called when a pod was created without the claims that it should have got."""
    described: Callable[[Sequence[Kind]], None] = _ignore
    """Told which kinds are queued that admins describe, whenever that changes."""
    engine: Callable[[Settings], Engine] = Engine
    """Makes the engine of a term."""
    listing: Callable[[], AbstractContextManager[None]] = nullcontext
    """Makes the context in which the first lists of a term are read (garbage collection)."""


class Parts:
    """All parts of a term, connected; `session` starts them."""

    def __init__(self, around: TermInputs) -> None:
        self._around, self._rules = around, around.rules
        client, clock = around.client, around.clock
        self.objects = Objects(checkpoints=CheckpointMemory(drivers=self._rules.drivers))
        self.engine = around.engine(self._rules.settings)
        window = Window(
            LIMITS[WriteClass.ADMISSION], slow_s=client.write_timeout_s * PATIENCE_SHARE
        )
        self.pressure = Pressure(clock, window)
        self.deferral = Deferral(self.pressure)
        self.writer = Writer(pressed=self.pressure.was_high, window=window)
        self.recorder = EventRecorder(
            client, self.writer, clock, reporter=("queueing-controller", self._rules.identity)
        )
        self._events = Events(self.recorder, self._rules.settings.compatibility, self._rules.page)
        self.queues = WorkQueues()
        self.pump = Pump(self.objects, self.engine, self.queues, self._rules.resources)
        self._read_pod = partial(read_pod, queued=self._rules.pods)
        self.kinds = self._make_kinds()
        self.admin = AdminObjects(self.objects, self.pump, self.queues, self._events.cohort)
        self.writes = self._make_writes()
        self.term = self._make_term()
        self.credits = Credits(
            self.term, self.pump, fair_sharing=self._rules.settings.fair_sharing is not None
        )
        self.checkpoints = checkpoints.Checkpoints(
            self.term, weigh_anew=self.pump.weigh_anew, charge_anew=self.pump.charge_anew
        )
        self.queueable_kinds = self._make_queueable_kinds()
        self.devices = self._make_devices()
        self.placement = Placement(self.term, self.pump, self._rules.node_health)
        self.finalizers = Finalizers(
            self.objects,
            self.engine,
            self.writes,
            self.queues.finalizers,
            further=self._rules.settings.placement.heeds_annotations,
        )
        self.waiting_reasons = WaitingReasons(
            self.objects, self.writes, self._events, clock, knowledge=self.engine
        )
        self.queues.features.workload_changed.append(self.waiting_reasons.expect)
        self._late_reservations = LateReservations(self.objects, self.engine)
        self.variants = Variants(
            self.term,
            self.pump,
            self._late_reservations,
            gate=self._rules.settings.concurrent_admission,
        )
        self._departing = DepartingPods(client, clock)
        self.effects = self._make_effects()
        self.cycles = self._make_cycles()
        dependencies = self._make_job_dependencies()
        self.jobs = JobReconciler(dependencies)
        self.pod_owners = PodOwners(dependencies, self._rules.kinds)
        if self._rules.pods is not Pods.NONE:
            strays = Strays(dependencies, self.pump.lose_job, self.pump.forget_job)
            self.queues.features.looks += (strays.look, self.pod_owners.look)
        self.workloads = WorkloadReconciler(self.term, self._rules.life, self._departing)
        self.statuses = Statuses(
            self.engine,
            self.objects,
            writes=self.writes,
            writer=self.writer,
            pressure=self.pressure,
        )

    def _make_cycles(self) -> Cycles:
        made = Cycles(
            self.engine,
            self.effects.carry_out,
            self._around.clock,
            budget=self._rules.budget,
            room=partial(self.writer.room, WriteClass.ADMISSION),
        )
        made.wanted = self.queues.cycle
        self.writer.ended = made.go_on
        return made

    def _make_kinds(self) -> Kinds:
        """Make what follows kinds of jobs; those that the Configuration names are on from here."""
        kinds = Kinds(self._around.client, self.pump, self.objects, self._rules.external)
        for kind in self._rules.kinds:
            kinds.activate(kind)
        if self._rules.pods is not Pods.NONE:
            self.objects.kinds[pod.KIND.group_kind] = pod.KIND
            self.pump.readers[pod.KIND.group_kind] = self._read_pod
        return kinds

    def _make_writes(self) -> LeaderWrites:
        return LeaderWrites(
            self._around.client,
            self._around.may_send,
            self.pump,
            pressure=self.pressure,
            told=self._around.reporter.wrote,
        )

    def _make_term(self) -> Term:
        return Term(
            objects=self.objects,
            engine=self.engine,
            queues=self.queues,
            writes=self.writes,
            deferral=self.deferral,
            events=self._events,
            reporter=self._around.reporter,
            clock=self._around.clock,
        )

    def _make_queueable_kinds(self) -> QueueableKinds:
        built_in = [one.names.group_kind for one in self._rules.kinds]
        return QueueableKinds(self.term, self.kinds, built_in, self._around.described)

    def _make_devices(self) -> device_composition.Devices:
        memory = self.objects.devices
        memory.configuration = self._rules.configuration
        memory.by_labels = self._rules.settings.compatibility is not Compatibility.KUEUE
        return device_composition.Devices(
            self.term,
            self.pump,
            injects=self._around.injects,
            doubt=self._around.doubt,
            namespace=self._rules.namespace,
        )

    def _make_effects(self) -> Effects:
        return Effects(
            EffectDependencies(
                term=self.term,
                pump=self.pump,
                writer=self.writer,
                finalizers=self.finalizers,
                waiting_reasons=self.waiting_reasons,
                late_reservations=self._late_reservations,
                late_evictions=self._rules.settings.rules.evicts_late,
            )
        )

    def _make_job_dependencies(self) -> Dependencies:
        return Dependencies(
            term=self.term,
            rules=self._rules.jobs,
            tell_ready_within_s=self._rules.tell_ready_within_s,
            is_managed=Managed(self.objects.namespaces, self._rules.jobs),
            departing=self._departing,
            late_reservations=self._late_reservations,
            barrier=self.checkpoints.barrier,
            quiescence=Quiescence(self.writes, self._around.clock),
        )

    def reflectors_of_pods(self) -> Iterator[tuple[Reflector[Any], str]]:
        """Yield what follows pods, if they are queued."""
        if self._rules.pods is not Pods.NONE:
            yield watches.reflector_of_pods(self._around.client, self.pump, self._read_pod)

    def on_flavor(self, event: WatchEvent[queues.ResourceFlavor]) -> None:
        self.devices.on_resource_flavor(event)
        self.admin.on_flavor(event)
        if self._rules.resources.places_pods:
            self.placement.flavors_changed()
