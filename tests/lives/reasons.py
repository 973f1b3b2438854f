"""Writes into the statuses of a simulated cluster why workloads wait.

Only a new engine (a new leader) reads them; the one that decided so knows already. They are written
late, with the decisions of a later cycle; only a preemptor's reason is written before its victims
are evicted.
"""

from dataclasses import replace

from queueing.core.decisions import Cycle, Preempt, Requeue, Wait
from queueing.core.facts import Condition, WorkloadFact
from queueing.core.names import Key


class WaitingReasons:
    """`QuotaReserved` conditions that are False, as they are written and as they are due."""

    def __init__(self) -> None:
        self._written: dict[Key, Condition] = {}
        self._due: dict[Key, Condition] = {}

    def note(self, cycle: Cycle, *, late: bool) -> None:
        """Write what was due, and what this cycle says: if `late` only of those who preempt."""
        self._written.update(self._due)
        self._due.clear()
        preemptors = {
            one.preemptor
            for one in cycle.decisions
            if isinstance(one, Preempt) and not one.already_evicted
        }
        for one in cycle.decisions:
            if isinstance(one, Wait) and one.requeue is not Requeue.NOT_HEAD:
                waits = late and one.workload not in preemptors
                (self._due if waits else self._written)[one.workload] = Condition(
                    type="QuotaReserved", status=False, reason=one.reason, message=one.message
                )

    def forget(self, key: Key) -> None:
        """Drop the reason of one that waits no more."""
        self._written.pop(key, None)
        self._due.pop(key, None)

    def added_to(self, fact: WorkloadFact) -> WorkloadFact:
        """Return a workload with the reason to wait that its status says."""
        reason = self._written.get(fact.key)
        if reason is None or fact.holds_quota:
            return fact
        return replace(fact, conditions={**fact.conditions, reason.type: reason})
