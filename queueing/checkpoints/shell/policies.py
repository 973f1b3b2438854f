"""Writes the condition `Active` of CheckpointPolicies: whether the policy can be used.

A policy's template of a hook Job is tried by a dry run in the policy's namespace. So a template
that the API server refuses is known before a workload needs it.
"""

import msgspec

from queueing.checkpoints.memory import CheckpointMemory
from queueing.checkpoints.rules.record import SaveRequest, StopCause
from queueing.checkpoints.rules.terms import Driver, Terms
from queueing.checkpoints.wire import hook_job, inbound, names, outbound
from queueing.checkpoints.wire.effective import refused
from queueing.checkpoints.wire.objects import CheckpointPolicy
from queueing.clock import Clock
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Key
from queueing.kube.client import Call
from queueing.kube.errors import BadRequestError, InvalidError, RefusedError
from queueing.kube.resources import CHECKPOINT_POLICIES, JOBS
from queueing.translate.outbound.conditions import Conditions
from queueing.translate.wire.meta import Meta

READY = "Ready"


class PolicyReconciler:
    """Reconciles one CheckpointPolicy at a time."""

    def __init__(self, checkpoints: CheckpointMemory, writes: LeaderWrites, clock: Clock) -> None:
        self._checkpoints, self._writes, self._clock = checkpoints, writes, clock

    async def look(self, key: Key) -> None:
        """Bring the condition Active up to date. Raises KubeError to be called again later."""
        found = self._checkpoints.policies.get(key)
        if found is None:
            return
        reason, message = await self._judged(found)
        meta = found.metadata
        conditions = Conditions(
            found.status.conditions, now=self._clock.now(), generation=meta.generation
        )
        before = conditions.wire()
        conditions.set("Active", true=reason == READY, reason=reason, message=message)
        if conditions.wire() != before:
            target = CHECKPOINT_POLICIES.at(meta.name, meta.namespace, "status")
            await self._writes.patch(target, outbound.active(meta, conditions))

    async def _judged(self, found: CheckpointPolicy) -> tuple[str, str]:
        """Return reason and message of the condition; the reason is `READY` when it is True."""
        try:
            terms = inbound.terms(found.spec)
        except inbound.BadTermsError as error:
            return "InvalidTerms", str(error)
        wrong = refused(self._checkpoints.drivers, terms)
        if wrong:
            return "DriverNotAllowed", wrong
        if terms.driver is Driver.JOB:
            try:
                await self._rehearse(found.metadata, terms)
            except (BadRequestError, InvalidError) as error:
                return names.INVALID_TEMPLATE, f"spec.job.template: {error}"
            except RefusedError as error:  # a ResourceQuota, say, that may have room later
                return READY, f"The policy can be used; its Job was refused when tried: {error}"
        return READY, "The policy can be used"

    async def _rehearse(self, policy: Meta, terms: Terms) -> None:
        """Create the hook Job as a dry run: raises as the creation would, and stores nothing."""
        now = self._clock.now()
        request = SaveRequest.made("rehearsal", 1, StopCause(""), terms=terms, now=now)
        body = hook_job.made(request, policy, hook_job.surroundings(request, "", ()))
        del body["metadata"]["ownerReferences"]
        target = JOBS.within(policy.namespace)
        await self._writes.client.create(target, msgspec.json.encode(body), Call(dry_run=True))
