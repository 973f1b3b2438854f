"""Writes conditions of CreditPolicies and CreditGrants: whether they have an effect, or why not."""

import logging
from collections.abc import Mapping

from queueing.clock import Clock
from queueing.controller.credits.intake import CreditIntake
from queueing.controller.writing.leader_writes import LeaderWrites
from queueing.core.names import Uid
from queueing.kube.errors import KubeError
from queueing.kube.resources import CREDIT_GRANTS, CREDIT_POLICIES, Target
from queueing.state.engine import Engine
from queueing.translate.credits_wire import CreditGrant, CreditPolicy
from queueing.translate.outbound.conditions import Conditions, patch

logger = logging.getLogger(__name__)


class PolicyConditions:
    """Keeps the condition `Effective` of policies and `Applied` of grants up to date."""

    def __init__(
        self,
        engine: Engine,
        writes: LeaderWrites,
        clock: Clock,
        intake: CreditIntake,
        *,
        fair_sharing: bool,
    ) -> None:
        self._engine, self._writes, self._clock, self._intake = engine, writes, clock, intake
        self._fair_sharing = fair_sharing

    async def write(self) -> None:
        """Write the conditions that differ; one that cannot be written is tried next time."""
        governed = self._engine.credits.policies()
        for name, policy in list(self._intake.policies.items()):
            verdict = self._effect(name, policy, governed.get(name, ()))
            await self._set(CREDIT_POLICIES.at(name, subresource="status"), policy, verdict)
        booked = {
            uid: account.name
            for account in self._engine.credits.accounts()
            for uid in account.grants
        }
        for name, grant in list(self._intake.grants.items()):
            await self._set(
                CREDIT_GRANTS.at(name, subresource="status"), grant, self._booking(grant, booked)
            )

    def _effect(
        self, name: str, policy: CreditPolicy, roots: tuple[str, ...]
    ) -> tuple[str, bool, str, str]:
        problem = self._intake.broken.get(f"policy/{name}")
        if problem:
            return "Effective", False, "Misconfigured", problem
        if policy.spec.mode == "Off":
            return "Effective", False, "Off", "Credits are neither counted nor used"
        if not self._fair_sharing and policy.spec.local_queues == "Order":
            message = "Within ClusterQueues only: the Configuration has no fairSharing"
            return "Effective", True, "Effective", message
        if not self._fair_sharing:
            message = "Credits are counted, and bend nothing: the Configuration has no fairSharing"
            return "Effective", False, "FairSharingDisabled", message
        if not roots:
            message = "No root cohort goes by this policy: none exists, or others have them all"
            return "Effective", False, "NoCohorts", message
        return "Effective", True, "Effective", f"Root cohorts: {', '.join(roots)}"

    def _booking(self, grant: CreditGrant, booked: Mapping[Uid, str]) -> tuple[str, bool, str, str]:
        name = booked.get(grant.metadata.life)
        if name is not None:
            return "Applied", True, "Booked", f"It stands in the CreditAccount {name}"
        problem = self._intake.broken.get(f"grant/{grant.metadata.name}")
        receiver = f"{grant.spec.receiver.kind} {grant.spec.receiver.name}"
        message = problem or f"{receiver} is in no cohort that a CreditPolicy counts for"
        return "Applied", False, "Misconfigured" if problem else "NoAccount", message

    async def _set(
        self,
        target: Target,
        found: CreditPolicy | CreditGrant,
        verdict: tuple[str, bool, str, str],
    ) -> None:
        kind, true, reason, message = verdict
        known = next((one for one in found.status.conditions if one.type == kind), None)
        if known is not None and (known.status, known.reason, known.message) == (
            str(true),
            reason,
            message,
        ):
            return
        conditions = Conditions(
            found.status.conditions,
            now=self._clock.now(),
            generation=found.metadata.generation,
        )
        conditions.set(kind, true=true, reason=reason, message=message)
        body = patch(found.metadata, {"status": {"conditions": conditions.wire()}})
        try:
            await self._writes.patch(target, body)
        except KubeError as error:
            logger.debug("%s: the status was not written: %s", found.metadata.name, error)
