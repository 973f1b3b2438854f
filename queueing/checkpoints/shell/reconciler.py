"""Reconciles requests to save: creates Checkpoints and moves them through their phases.

The phases, their deadlines and what moves between them are pure (`checkpoints.rules`). Each look
reads answers, takes the steps that follow, stores the new phase, and then does what it requires.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from queueing.checkpoints.memory import SeenCheckpoint
from queueing.checkpoints.rules.answers import Heard, Voice, combine
from queueing.checkpoints.rules.phases import DUTIES, TERMINAL, Duty, Phase, RequestEvent
from queueing.checkpoints.rules.record import Record, SaveOutcome, SaveRequest, StopCause
from queueing.checkpoints.rules.step import (
    NOTICES_MAX,
    Happening,
    force_at,
    look_again_at,
    notice_due_at,
    notice_failed,
    settle,
    step,
)
from queueing.checkpoints.rules.terms import Driver, OnFailure
from queueing.checkpoints.shell.drivers.hook_jobs import NoticeError
from queueing.checkpoints.shell.drivers.http_driver import POLL_S
from queueing.checkpoints.shell.drivers.notifier import Notifier
from queueing.checkpoints.shell.effective_terms import effective, terms_of_stop
from queueing.checkpoints.shell.intake import CheckpointIntake
from queueing.checkpoints.shell.observing import (
    ClusterView,
    is_leaving,
    is_worth_asking,
    observe,
    owners,
    preemptor_uid,
)
from queueing.checkpoints.shell.request_events import tell
from queueing.checkpoints.shell.telemetry import CheckpointTelemetry
from queueing.checkpoints.shell.urgency import patience
from queueing.checkpoints.wire import outbound
from queueing.checkpoints.wire.pods import has_spoken_last
from queueing.controller.term import Term
from queueing.core.names import Key
from queueing.kube.errors import AlreadyExistsError
from queueing.kube.resources import CHECKPOINTS
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.workloads import Workload

logger = logging.getLogger(__name__)

LOOK_EVERY_S = 2.0
"""Seconds between looks at an open request without an event: its preemptor may be gone."""
LAST_WORDS_S = 5.0
"""Seconds after the end of an eviction for which a pod's exit message may still arrive."""
_LISTENS = frozenset({Phase.NOTIFIED, Phase.SAVING, Phase.REFUSED})
_IN_VAIN = frozenset({SaveOutcome.FAILED, SaveOutcome.UNRESPONSIVE})
_LAST_WORDS = frozenset({Phase.SUSPENDING, Phase.DRAINED, Phase.RELEASED})


class CheckpointReconciler:
    """Reconciles the requests to one Workload at a time; called by workers of a work queue.

    `attend` asks for the Jobs of a Workload to be reconciled: the barrier may hold no longer.
    """

    def __init__(
        self,
        term: Term,
        intake: CheckpointIntake,
        notifier: Notifier,
        telemetry: CheckpointTelemetry,
        attend: Callable[[Workload], None],
    ) -> None:
        self._objects, self._checkpoints = term.objects, term.objects.checkpoints
        self._writes, self._events, self._clock = term.writes, term.events, term.clock
        self._queue, self._claimed = term.queues.checkpoints, term.engine.is_claimed
        self._intake, self._notifier, self._telemetry = intake, notifier, telemetry
        self._attend = attend
        self._heard: dict[Key, Heard] = {}
        self._returned: dict[Key, float] = {}

    async def look(self, key: Key) -> None:
        """Move all open requests to a Workload on, and begin one if an eviction needs it.

        Raises KubeError to be called again later.
        """
        workload = self._objects.workloads.get(key)
        for seen in self._checkpoints.open_requests(key):
            alive = workload is not None and workload.metadata.uid == seen.workload_uid
            await self._go_on(seen, workload if alive else None)
        if workload is None or not is_leaving(workload):
            return
        newest = self._checkpoints.newest(key, workload.metadata.uid)
        if newest is None or newest.record.request.epoch < outbound.epoch_of(workload):
            if newest is None or newest.record.phase in TERMINAL:
                await self._begin(workload)
        elif newest.record.phase is Phase.CANCELLED:
            await self._let_stay(newest, workload)

    async def _begin(self, workload: Workload) -> None:
        """Create the Checkpoint, whose name every replica derives alike, before any pod is asked.

        Where no terms are effective, or no pod runs, its Jobs may be suspended at once.
        """
        meta = workload.metadata
        jobs = owners(self._objects, workload)
        found = effective(self._objects, workload, jobs)
        if found.terms is None or not is_worth_asking(workload, jobs):
            self._attend(workload)
            return
        evicted = workload.status.true_condition("Evicted")
        epoch = outbound.epoch_of(workload)
        cause = StopCause(evicted.reason if evicted is not None else "", preemptor_uid(workload))
        identity = outbound.request_id(workload, epoch)
        now = self._clock.now()
        patience_s = patience(self._objects, workload, found.terms, now)
        terms = terms_of_stop(found.terms, workload)
        request = SaveRequest.made(identity, epoch, cause, terms=terms, now=now)
        request = request.hurried(patience_s)
        origin = outbound.RequestOwners(workload=workload, jobs=tuple(jobs), policy=found.policy)
        target = CHECKPOINTS.within(meta.namespace)
        try:
            self._intake.absorb(await self._writes.create(target, outbound.made(origin, request)))
        except AlreadyExistsError:
            at = CHECKPOINTS.at(outbound.name_of(workload, epoch), meta.namespace)
            self._intake.absorb(await self._writes.client.get(at))
        self._queue.add(meta.key)
        self._telemetry.begun(workload, Record(request=request))
        for job in jobs:
            said = f"Asked to save before it is stopped: {cause.reason}"
            self._events.job(job, "CheckpointRequested", said)
            if found.complaint:
                said = f"{found.complaint}; the terms of {found.policy} hold"
                self._events.job(job, "CheckpointPolicyUnusable", said, warning=True)

    async def _go_on(self, seen: SeenCheckpoint, workload: Workload | None) -> None:
        """Move one request on; `workload` is None when it is deleted."""
        before = seen.record
        jobs = owners(self._objects, workload) if workload is not None else []
        cause, choice = before.request.cause, before.request.terms.on_failure
        tries = choice is OnFailure.TRY_OTHER_VICTIM
        spared = self._checkpoints.spared_for(cause.preemptor) if tries else 0
        if before.phase in _LISTENS:
            await self._notifier.listen(before, jobs, seen)
        now = self._clock.now()
        self._telemetry.halting(before, jobs, now)
        record = settle(self._observed(seen, workload, jobs), now, spared_before=spared)
        if DUTIES[record.phase] is Duty.NOTIFY and notice_due_at(record) <= now:
            record = settle(await self._deliver(record, jobs, seen), now, spared_before=spared)
        if record != before:
            await self._store(seen, record)
            if workload is not None:
                tell(self._events, workload, jobs, before, record)
                self._telemetry.stepped(seen, workload, record, now)
            if not record.is_open:
                self._telemetry.forget(record)
        if before.phase in _LISTENS and record.outcome in _IN_VAIN:
            await self._notifier.give_up(record, seen.meta.namespace)
        if workload is None:
            return
        await self._do(seen, record, workload)
        self._look_again(seen, record)

    def _observed(
        self, seen: SeenCheckpoint, workload: Workload | None, jobs: Sequence[JobView]
    ) -> Record:
        """Return the record after all steps that follow from Workload, Jobs and pods by now."""
        record, now = seen.record, self._clock.now()
        while record.is_open:
            happening = self._spoken(seen, record) or observe(
                record, workload, jobs, ClusterView(self._objects, self._claimed)
            )
            if happening is None or self._awaits_last_words(seen, record, happening):
                return record
            moved = step(record, happening, now)
            if moved is None:
                return record
            record = moved
            if happening.event in {RequestEvent.HEARD, RequestEvent.SAVED}:
                record = settle(record, now)
                if happening.event is RequestEvent.HEARD:
                    return record
        return record

    def _awaits_last_words(
        self, seen: SeenCheckpoint, record: Record, happening: Happening
    ) -> bool:
        """Say whether a pod's exit message, which may say what was saved, may still arrive.

        Pods are followed by another watch than Workloads and Jobs, which may lag behind.
        """
        if happening.event is not RequestEvent.RETURNED or record.outcome is SaveOutcome.SAVED:
            return False
        pods, namespace = self._checkpoints.pods, seen.meta.namespace
        known = (pods.get(Key(f"{namespace}/{name}")) for name in record.asked)
        unsettled = any(pod is not None and not has_spoken_last(pod) for pod in known)
        since = self._returned.setdefault(seen.meta.key, self._clock.now())
        return unsettled and self._clock.now() < since + LAST_WORDS_S

    def _spoken(self, seen: SeenCheckpoint, record: Record) -> Happening | None:
        """Return what the answers of all pods together mean for a request; None if nothing new.

        After the stop, only that the work was saved counts.
        """
        if record.phase in _LISTENS:
            voices = self._voices(seen, record)
            before = self._heard.get(seen.meta.key, Heard())
            happening, heard = combine(record, voices, before)
            self._heard[seen.meta.key] = heard
            return happening
        if record.phase in _LAST_WORDS and record.outcome is not SaveOutcome.SAVED:
            happening, _ = combine(record, self._voices(seen, record), Heard())
            saved = happening is not None and happening.event is RequestEvent.SAVED
            return happening if saved else None
        return None

    def _voices(self, seen: SeenCheckpoint, record: Record) -> Mapping[str, Voice]:
        return self._notifier.voices(record, seen.meta.namespace)

    async def _deliver(
        self, record: Record, jobs: Sequence[JobView], seen: SeenCheckpoint
    ) -> Record:
        """Ask the pods; return the record with the step that follows from the outcome."""
        now = self._clock.now()
        try:
            asked = await self._notifier.tell(record, jobs, seen)
        except NoticeError as error:
            failed = notice_failed(record, str(error))
            if failed.attempts < NOTICES_MAX:
                return failed
            lost = Happening(
                event=RequestEvent.NOTICE_LOST, message=f"nobody could be asked: {error}"
            )
            return step(failed, lost, now) or failed
        if record.request.terms.driver is Driver.TERMINATION_ONLY:
            told = Happening(event=RequestEvent.NOT_ASKED, message="asked by SIGTERM alone")
            return step(replace(record, asked=asked), told, now) or record
        told = Happening(
            event=RequestEvent.NOTICE_DELIVERED, asked=asked, message="the pods are asked"
        )
        return step(record, told, now) or record

    async def _store(self, seen: SeenCheckpoint, record: Record) -> None:
        """Write a record into the Checkpoint's status; after its last phase, clean up."""
        meta = seen.meta
        target = CHECKPOINTS.at(meta.name, meta.namespace, "status")
        reply = await self._writes.patch(target, outbound.status(meta, record))
        self._intake.absorb(reply)
        logger.info("checkpoint %s: %s: %s", meta.key, record.phase, record.message)
        if not record.is_open:
            self._heard.pop(meta.key, None)
            self._returned.pop(meta.key, None)
            self._notifier.forget(record, meta.namespace)
            if not any(True for _ in self._checkpoints.open_workloads()):
                self._checkpoints.preemptors.clear()
            await self._prune(seen)

    async def _do(self, seen: SeenCheckpoint, record: Record, workload: Workload) -> None:
        """Do what a phase requires; all of it can be repeated."""
        match DUTIES[record.phase]:
            case Duty.STOP:
                self._attend(workload)
                forced = force_at(record)
                if forced is not None and forced <= self._clock.now():
                    jobs = owners(self._objects, workload)
                    gone = await self._notifier.remove_by_force(jobs, workload.metadata.key)
                    for name in gone:
                        said = f"Pod {name} outlived its grace and was removed by force"
                        self._events.workload(
                            workload.metadata, "CheckpointForced", said, warning=True
                        )
            case Duty.STAND_DOWN:
                await self._let_stay(replace(seen, record=record), workload)
            case Duty.NOTHING | Duty.WAIT:
                self._attend(workload)
            case Duty.NOTIFY | Duty.LISTEN | Duty.DECIDE:
                pass

    async def _let_stay(self, seen: SeenCheckpoint, workload: Workload) -> None:
        """Tell the pods that they stay, and take the eviction of the Workload back."""
        current = seen.record.request.epoch == outbound.epoch_of(workload)
        if not (current and is_leaving(workload)):
            return
        await self._notifier.stand_down(seen.record, seen.meta.namespace)
        message = f"It stays: {seen.record.message}"
        failed = seen.record.outcome is not None
        reason = "Spared" if failed else "Withdrawn"
        body = outbound.spare(workload, message, self._clock.now(), reason=reason)
        await self._writes.patch_workload(workload, body)

    async def _prune(self, seen: SeenCheckpoint) -> None:
        """Delete the oldest Checkpoints beyond the policy's `retain`; never the last that saved."""
        policy = self._checkpoints.policies.get(Key(seen.policy))
        kept = policy.spec.retain if policy is not None else 1
        over = [
            one
            for one in self._checkpoints.of_workload(seen.workload, seen.workload_uid)
            if not one.record.is_open
        ]
        saved = [one for one in over if one.record.saved is not None]
        for one in over[: max(len(over) - kept, 0)]:
            if not saved or one is not saved[-1]:
                target = CHECKPOINTS.at(one.meta.name, one.meta.namespace)
                await self._writes.delete(target)

    def _look_again(self, seen: SeenCheckpoint, record: Record) -> None:
        if not record.is_open:
            return
        now = self._clock.now()
        polls = record.phase in _LISTENS and record.request.terms.driver is Driver.HTTP
        times = [now + (POLL_S if polls else LOOK_EVERY_S)]
        at = look_again_at(record)
        times += [at] if at is not None else []
        if record.phase is Phase.SELECTED:
            times.append(notice_due_at(record))
        self._queue.add_after(seen.workload, max(min(times) - now, 0.01))
