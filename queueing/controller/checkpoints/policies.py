"""Says of each CheckpointPolicy whether it can be used."""

from queueing.clock import Clock
from queueing.controller.hand import Hand
from queueing.controller.saves import Saves
from queueing.core.names import Key
from queueing.kube.resources import CHECKPOINT_POLICIES
from queueing.translate.checkpoints import inbound, outbound
from queueing.translate.outbound.conditions import Conditions


class PolicyReconciler:
    """Looks at one policy at a time."""

    def __init__(self, saves: Saves, hand: Hand, clock: Clock) -> None:
        self._saves, self._hand, self._clock = saves, hand, clock

    async def look(self, key: Key) -> None:
        """Bring the condition Active up to date. Raises KubeError to be called again later."""
        found = self._saves.policies.get(key)
        if found is None:
            return
        wrong = ""
        try:
            inbound.terms(found.spec)
        except inbound.BadTermsError as error:
            wrong = str(error)
        meta = found.metadata
        conditions = Conditions(
            found.status.conditions, now=self._clock.now(), generation=meta.generation
        )
        before = conditions.wire()
        reason, message = ("InvalidTerms", wrong) if wrong else ("Ready", "The policy can be used")
        conditions.set("Active", true=not wrong, reason=reason, message=message)
        if conditions.wire() != before:
            target = CHECKPOINT_POLICIES.at(meta.name, meta.namespace, "status")
            await self._hand.patch(target, outbound.active(meta, conditions))
