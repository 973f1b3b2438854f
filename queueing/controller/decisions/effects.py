"""Carries out the engine's decisions: one status patch each, and its outcome back to the engine.

Called by `cycles`, once for each cycle, as soon as its decisions are made.

A write ends as done, refused or unknown (`kube.outcome`); the engine takes only a refused decision
back. While an outcome is unknown, the engine gets no fact of the Workload until a quorum read has
shown what is stored.
"""

import asyncio
import logging
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import assert_never

import msgspec

from queueing.controller.decisions.late_evictions import LateEvictions
from queueing.controller.intake.pump import Pump
from queueing.controller.queues.finalizers import Finalizers
from queueing.controller.term import Term
from queueing.controller.workloads.late_reservations import LateReservations
from queueing.controller.workloads.waiting_reasons import WaitingReasons
from queueing.controller.writing.leader_writes import workload_target
from queueing.core.decisions import (
    Admit,
    Cycle,
    Place,
    Preempt,
    PreemptionReason,
    Strand,
    Verdict,
    Wait,
    Written,
)
from queueing.core.decisions import Outcome as Settlement
from queueing.core.names import Key
from queueing.kube import outcome as kube
from queueing.kube.errors import ConflictError, KubeError, NotFoundError
from queueing.kube.writer import Job, WriteClass, Writer
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.inbound.given_hosts import awaits_places
from queueing.translate.inbound.placement import placement
from queueing.translate.labels import JOB_UID
from queueing.translate.outbound import admissions
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)

RESOLVE_EVERY_S = 2.0
"""Seconds between two attempts to find out the outcomes of writes that are unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectDependencies:
    """What decisions are carried out with, beside the term."""

    term: Term
    pump: Pump
    writer: Writer
    finalizers: Finalizers
    """Keep a ClusterQueue and flavors while quota of them is held."""
    waiting_reasons: WaitingReasons
    late_reservations: LateReservations
    late_evictions: bool
    """Whether victims are evicted a moment after they were chosen, if that is still needed."""


class Effects:
    """Carries out decisions, and resolves those whose outcome is unknown."""

    def __init__(self, dependencies: EffectDependencies) -> None:
        self._dependencies, self._term = dependencies, dependencies.term
        self._waiting_reasons = dependencies.waiting_reasons
        self._unknown: dict[Key, tuple[kube.Write, kube.Unknown]] = {}
        self.late_evictions = LateEvictions(self._term, self._submit_eviction)

    def carry_out(self, cycle: Cycle, took_s: float) -> None:
        """Report a cycle that took so long, and submit its writes to the writer; does not await."""
        self._term.reporter.judged(cycle, took_s)
        for decision in chain.from_iterable(cycle.rounds):
            match decision:
                case Admit():
                    self._waiting_reasons.forget(decision.workload)
                    self._dependencies.late_reservations.claim(decision.uid)
                    self._submit(decision.workload, partial(self._reserve, decision, cycle.now))
                case Preempt(already_evicted=False):
                    self._choose(decision, cycle.now)
                case Preempt():
                    pass
                case Wait():
                    self._waiting_reasons.note(decision)
                case Place():
                    self._submit(decision.workload, partial(self._place, decision, cycle.now))
                case Strand(evicts=True):
                    self._submit(decision.workload, partial(self._strand, decision, cycle.now))
                case Strand():
                    self._tell_stranded(decision)
                case _:
                    assert_never(decision)

    async def resolve(self) -> None:
        """Read Workloads whose write has an unknown outcome, until it is known; for ever."""
        while True:
            await asyncio.sleep(RESOLVE_EVERY_S)
            for key, (write, unknown) in list(self._unknown.items()):
                found = await self._term.writes.resolve(write, unknown)
                if not isinstance(found, kube.Unknown) and await self._learn(key, write):
                    del self._unknown[key]

    def _choose(self, decision: Preempt, decided: float) -> None:
        migrates = decision.reason is PreemptionReason.FLAVOR_MIGRATION
        if self._dependencies.late_evictions and not migrates:
            self.late_evictions.hold(decision, decided)
        else:
            self._submit_eviction(decision, decided)

    def _submit_eviction(self, decision: Preempt, decided: float) -> None:
        self._submit(decision.workload, partial(self._preempt, decision, decided))

    def _submit(self, key: Key, job: Job) -> None:
        self._dependencies.writer.submit(key, WriteClass.ADMISSION, job)

    async def _reserve(self, decision: Admit, decided: float) -> None:
        # Its new reservation overwrites in its status what it held before.
        if not await self._term.writes.ledgers.until_settled(decision.workload):
            self._settle(decision, Verdict.REFUSED, "what it held before is not written down yet")
            return
        if not await self._is_kept(decision):
            self._settle(decision, Verdict.REFUSED, "the queue or a flavor of it may go")
            return
        workload = self._current(decision)
        if workload is None:
            self._settle(decision, Verdict.REFUSED, "the Workload is gone, or has finished")
            return
        if not self._term.engine.stands_by(decision):
            logger.info("%s is not admitted: its quota was given to others", decision.workload)
            return
        now = self._term.clock.now()
        body = admissions.reserve(workload, decision, now)
        if await self._perform(decision, workload, body, decided):
            self._announce_admission(decision, workload, now)

    async def _is_kept(self, decision: Admit) -> bool:
        """Say whether the ClusterQueue and the flavors of an admission carry our finalizer now."""
        flavors = {name for one in decision.pod_sets for name in one.flavors.values()}
        try:
            return await self._dependencies.finalizers.hold(decision.cluster_queue, sorted(flavors))
        except KubeError as error:
            logger.info("%s cannot be held: %s", decision.cluster_queue, error)
            return False

    async def _preempt(self, decision: Preempt, decided: float) -> None:
        await self._waiting_reasons.tell(decision.preemptor)
        victim = self._current(decision)
        if victim is None:
            self._settle(decision, Verdict.REFUSED, "the Workload is gone, or has finished")
            return
        if decision.reason is PreemptionReason.FLAVOR_MIGRATION:
            moved = outbound.migration_message(decision)
            step = Evict(reason=EvictionReason.FLAVOR_MIGRATION, message=moved)
            await self._evict(decision, victim, step, decided)
            return
        preemptor = self._term.objects.workloads.get(decision.preemptor)
        job_uid = preemptor.metadata.labels.get(JOB_UID, "") if preemptor is not None else ""
        message = outbound.preemption_message(decision, job_uid)
        step = Evict(reason=EvictionReason.PREEMPTED, message=message)
        now = self._term.clock.now()
        body = outbound.evict(victim, step, now, preempted=decision.reason)
        if await self._perform(decision, victim, body, decided):
            events = self._term.events
            events.workload(victim.metadata, "Preempted", message)
            events.evicted(victim.metadata, step)

    async def _place(self, decision: Place, decided: float) -> None:
        workload = self._in_need(decision)
        if workload is None:
            self._settle(decision, Verdict.REFUSED, "the Workload needs no such places any more")
            return
        now, is_first = self._term.clock.now(), not workload.status.is_true("Admitted")
        body = admissions.place(workload, decision, now)
        if await self._perform(decision, workload, body, decided) and is_first:
            reserved = workload.status.changed("QuotaReserved")
            waited_s = 0.0 if reserved is None else now - reserved
            told = admissions.admission_message(decision.cluster_queue, waited_s)
            self._term.events.workload(workload.metadata, "Admitted", told)

    async def _strand(self, decision: Strand, decided: float) -> None:
        workload = self._in_need(decision)
        if workload is None:
            self._settle(decision, Verdict.REFUSED, "the Workload needs no such places any more")
            return
        step = Evict(reason=EvictionReason.NODE_FAILURES, message=decision.message)
        await self._evict(decision, workload, step, decided)

    async def _evict(
        self, decision: Preempt | Strand, workload: Workload, step: Evict, decided: float
    ) -> None:
        body = outbound.evict(workload, step, self._term.clock.now())
        if await self._perform(decision, workload, body, decided):
            self._term.events.evicted(workload.metadata, step)

    def _tell_stranded(self, decision: Strand) -> None:
        workload = self._current(decision)
        if workload is not None:
            why = decision.message
            self._term.events.workload(workload.metadata, "SecondPassFailed", why, warning=True)

    def _current(self, decision: Written) -> Workload | None:
        """Return the present Workload of a decision, which may have been made a while ago.

        None if it is gone, another has its name now, or it has finished.
        """
        found = self._term.objects.workloads.get(decision.workload)
        if found is None or found.metadata.life != decision.uid or found.finished:
            return None
        return found

    def _in_need(self, decision: Place | Strand) -> Workload | None:
        """Return the present Workload of a second pass; None if that is not for it any more.

        The Workload may look the same and the engine charge other places by now, as when a node
        recovered and failed again.
        """
        found = self._current(decision)
        if found is None or not awaits_places(found, decision.left):
            return None
        return found if self._term.engine.stands_by(decision) else None

    async def _perform(
        self, decision: Written, workload: Workload, body: bytes, decided: float
    ) -> bool:
        """Write a decision and tell the engine the outcome; True when it took effect.

        `decided` is when its cycle began.

        A refusal for a conflict is reported only after the Workload was read again: the engine then
        decides by what is stored.
        """
        write = kube.Write(
            verb=kube.Verb.MERGE,
            target=workload_target(workload.metadata),
            body=body,
            precondition=workload.metadata.resource_version,
            took_effect=partial(_is_in, decision),
        )
        began = self._term.clock.now()
        found = await self._term.writes.perform(type(decision).__name__.lower(), write)
        match found:
            case kube.Done(body=reply):
                self._dependencies.pump.absorb_workload(reply)
                self._settle(decision, Verdict.DONE)
                self._term.reporter.decided(decision, workload, began, decided)
                return True
            case kube.Refused(error=error):
                if isinstance(error, ConflictError):
                    await self._learn(decision.workload, write)
                self._settle(decision, Verdict.REFUSED, str(error))
                logger.info("%s was refused: %s", write.target.label, error)
            case kube.Unknown(error=error):
                self._dependencies.pump.hold(decision.workload)
                self._unknown[decision.workload] = (write, found)
                self._settle(decision, Verdict.UNKNOWN, str(error))
                logger.warning("%s may have been written: %s", write.target.label, error)
            case _:
                assert_never(found)
        return False

    async def _learn(self, key: Key, write: kube.Write) -> bool:
        """Read a Workload and pass its facts to the engine again; False if it cannot be read."""
        try:
            target = replace(write.target, subresource="")
            reply = await self._term.writes.client.get(target)
        except NotFoundError:
            reply = b""
        except KubeError as error:
            logger.debug("%s cannot be read: %s", write.target.label, error)
            return False
        if reply:
            self._dependencies.pump.absorb_workload(reply)
        self._dependencies.pump.let_go(key)
        return True

    def _settle(self, decision: Written, verdict: Verdict, message: str = "") -> None:
        self._term.engine.settle(Settlement(decision=decision, verdict=verdict, message=message))
        if verdict is Verdict.REFUSED:
            self._term.queues.cycle.set()  # whom it was for waits again

    def _announce_admission(self, decision: Admit, workload: Workload, now: float) -> None:
        events, meta = self._term.events, workload.metadata
        reserved = admissions.reservation_message(decision, now - workload.queued_since)
        if decision.checks:
            events.reserved(meta, reserved)
        else:
            events.workload(meta, "QuotaReserved", reserved)
            admitted = admissions.admission_message(decision.cluster_queue, 0.0)
            events.workload(meta, "Admitted", f"{admitted}; {reserved}")
        for told in decision.warnings:
            events.workload(meta, "NodesLackRoom", told, warning=True)


def _is_in(decision: Written, reply: bytes) -> bool:
    """Say whether a Workload, as JSON, has what a decision's write sets."""
    found = msgspec.json.decode(reply, type=Workload)
    if found.metadata.life != decision.uid:
        return False
    true = {one.type for one in found.status.conditions if one.status == "True"}
    if isinstance(decision, Preempt | Strand):
        return "Evicted" in true
    admission = found.status.admission
    if isinstance(decision, Place):
        held = () if admission is None else admission.pod_set_assignments
        stored = {one.name: placement(one.topology_assignment) for one in held}
        placed = all(stored.get(one.name) == one.placement for one in decision.pod_sets)
        return placed and not found.status.unhealthy_nodes
    return (
        admission is not None
        and admission.cluster_queue == decision.cluster_queue
        and "QuotaReserved" in true
    )
