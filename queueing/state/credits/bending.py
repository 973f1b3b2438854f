"""What credits do to fair sharing: bent weights, and when shares may preempt."""

from collections.abc import Mapping, Sequence

from queueing.core.credits.facts import CreditPolicyFact
from queueing.core.fair_sharing.patience import Patience
from queueing.core.names import QueueName
from queueing.state.credits.cohort_ledger import CohortLedger
from queueing.state.credits.namespace_ledger import NamespaceLedger
from queueing.state.credits.policies import Policies


class Bending:
    """Measures balances, and bends fair-sharing weights by those of the children of cohorts.

    It does so at fixed points in time: the order of queues does not depend on when cycles run.
    """

    def __init__(self, policies: Policies) -> None:
        self._policies = policies
        self.cohorts: Sequence[CohortLedger] = ()
        """The ledgers that bend weights; none without fair sharing."""
        self.queues: Mapping[QueueName, NamespaceLedger] = {}
        self.next_tick: int | None = None
        """When balances are measured next, in the time of the ledgers."""
        self.is_any = False
        """Whether any weight is bent now."""

    def measure(self, at: int, *, changed: bool, divided: bool) -> tuple[bool, list[QueueName]]:
        """Measure what is due; say whether any weight changed, and the queues with other exponents.

        All is due at the fixed points and when trees or policies `changed`; ledgers of queues also
        when their namespaces did (`divided`), and those of cohorts when a hold began or ended.
        """
        due = changed or self.next_tick is None or at >= self.next_tick
        if due:
            step = self._policies.tick_s
            self.next_tick = (at // step + 1) * step if self.cohorts or self.queues else None
        bent = [one for one in self.cohorts if (due or one.stirred) and one.measure()]
        for ledger in bent:
            ledger.bend()
        if due or bent:
            self.is_any = any(any(one.exponents.values()) for one in self.cohorts)
        queues = self.queues.items() if due or divided else ()
        return bool(bent), [name for name, one in queues if one.measure()]


def patience(policy: CreditPolicyFact, now: float) -> Patience:
    """Return what protects workloads from preemption by shares: hysteresis and minimum runtime."""
    if not policy.minimum_runtime_s:
        return Patience(policy.hysteresis)
    return Patience(policy.hysteresis, now - policy.minimum_runtime_s)
