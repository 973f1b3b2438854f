"""Evicts Workloads that cannot start, or not run on, as they are."""

from queueing.controller.jobs.actions import BreakUp
from queueing.controller.jobs.gangs import Gang
from queueing.controller.term import Term
from queueing.lifecycle.rules import RequeueBackoff
from queueing.lifecycle.steps import Cause, Condemn, Evict, EvictionReason
from queueing.translate.outbound import workloads as outbound
from queueing.translate.wire.workloads import Workload

REFUSED_BACKOFF = RequeueBackoff(base_s=10.0, max_s=600.0)
"""Seconds for which a gang stays out of its queue after the server refused to start a member."""


class Evictions:
    """The writes; each records Events on the Workload and, of a gang with a name, on its Jobs."""

    def __init__(self, term: Term) -> None:
        self._writes, self._events = term.writes, term.events
        self._reporter, self._clock = term.reporter, term.clock

    async def withdraw(self, gang: Gang, workload: Workload, step: Evict) -> None:
        """Evict a Workload whose reservation was written too late; nothing of it has started."""
        if gang.form.several:
            await self._evict(gang, workload, step)
            return
        body = outbound.evict(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.evicted(workload.metadata, step, warning=True)

    async def break_up(self, gang: Gang, action: BreakUp) -> None:
        """Evict a Workload that lost a part."""
        step = Evict(reason=action.reason, message=action.message)
        await self._evict(gang, action.workload, step)

    async def refuse(self, gang: Gang, workload: Workload, why: str) -> None:
        """Evict the Workload of a gang of which a member cannot start; it comes back later."""
        state = workload.status.requeue_state
        attempt = (state.count if state is not None else 0) + 1
        step = Evict(
            reason=EvictionReason.GANG_INTERRUPTED,
            message=f"A member of the gang cannot start: {why}",
            requeue_at=self._clock.now() + REFUSED_BACKOFF.delay_s(attempt),
            requeue_count=attempt,
        )
        await self._evict(gang, workload, step)

    async def condemn(self, workload: Workload, cause: Cause, why: str) -> None:
        """Begin to deactivate a Workload whose devices cannot be claimed; a user must act."""
        step = Condemn(cause=cause, message=why)
        body = outbound.condemn(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.workload(workload.metadata, cause, why, warning=True)

    async def _evict(self, gang: Gang, workload: Workload, step: Evict) -> None:
        body = outbound.evict(workload, step, self._clock.now())
        await self._writes.patch_workload(workload, body)
        self._events.evicted(workload.metadata, step, warning=True)
        self._reporter.evicted(workload, step.reason, step.cause)
        for job in gang.form.owners(gang, workload):
            self._events.job(job, step.wire_reason, step.message, warning=True)
