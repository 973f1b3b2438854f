"""What budgets and policies allow a workload: to run, to run with the lowest priority, or neither.

A run may cost at most the price of what the workload requests, times its declared maximum execution
time. Invariant: no admission brings what is spent and held of a budget above its grant.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.credits.facts import HOUR, MICRO
from queueing.core.credits.holding import seconds_of
from queueing.core.credits.period import spelled
from queueing.core.credits.prices import Prices
from queueing.core.credits.restraint import Restraint
from queueing.core.decisions import Bar, Reason
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.core.sharing import Use, added

LOWEST_PRIORITY = -(2**31)
"""The priority of a workload that runs beyond a budget, so that every other may preempt it."""


@dataclass(slots=True)
class Limit:
    """What is left of one budget, in micro-credits, until its period ends."""

    name: str
    grant: int
    left: int
    ends_at: int
    blocks: bool = True
    unit: str = "GPUh"


Limits = Callable[[QueueName, Key | None], Sequence[Limit]]
"""Returns the budgets that workloads of a ClusterQueue and LocalQueue fall under, by name."""


@dataclass(slots=True)
class Allowance:
    """Budgets and restraints in one cycle; `take` lowers what is left for later heads."""

    limits: Limits = lambda _queue, _local_queue: ()
    prices: Callable[[QueueName], Prices | None] = lambda _queue: None
    restraints: Mapping[QueueName, Restraint] = field(default_factory=dict)
    """ClusterQueues in which workloads of high priority may not borrow."""

    def bars(self, workload: WorkloadFact, queue: QueueName, use: Use) -> Bar | None:
        """Return why a restraint or a budget makes a workload wait; None if none does.

        Budgets count a ResourceClaim as if no other workload used it, as they do for holdings.
        """
        restraint = self.restraints.get(queue)
        why = None if restraint is None else restraint.bars(workload, use)
        if why is not None:
            return Bar(Reason.MAY_NOT_BORROW, why)
        why = self._shortfall(workload, queue, use, blocks=True)
        return None if why is None else Bar(Reason.BUDGET_EXHAUSTED, why)

    def demotes(self, workload: WorkloadFact, queue: QueueName, use: Use) -> str | None:
        """Return why a workload may run only with the lowest priority; None if that is not so."""
        why = self._shortfall(workload, queue, use, blocks=False)
        return None if why is None else f"Only what is free may be used: {why}"

    def _shortfall(
        self, workload: WorkloadFact, queue: QueueName, use: Use, *, blocks: bool
    ) -> str | None:
        """Return why the first budget of those that block, or do not, does not cover a run."""
        cost, seconds = self._cost(workload, queue, use), seconds_of(workload)
        for limit in self.limits(queue, workload.local_queue):
            if limit.blocks is blocks and not _covers(limit, cost, seconds):
                return _sentence(limit, cost, seconds)
        return None

    def take(self, workload: WorkloadFact, queue: QueueName, use: Use, *, demoted: bool) -> None:
        """Count an admission: hold what its run may cost in every budget that covers it.

        A `demoted` workload runs beyond a budget, and counts only in budgets that block.
        """
        restraint = self.restraints.get(queue)
        if restraint is not None:
            restraint.take(workload, use)
        cost, seconds = self._cost(workload, queue, use), seconds_of(workload)
        for limit in self.limits(queue, workload.local_queue):
            holds = limit.blocks or not demoted
            if holds and seconds is not None and _covers(limit, cost, seconds):
                limit.left -= cost * seconds

    def _cost(self, workload: WorkloadFact, queue: QueueName, use: Use) -> int:
        prices = self.prices(queue) if self.limits(queue, workload.local_queue) else None
        return 0 if prices is None else prices.total(added(use.own, use.parts))


def _covers(limit: Limit, cost: int, seconds: int | None) -> bool:
    return cost == 0 or (seconds is not None and cost * seconds <= limit.left)


def _sentence(limit: Limit, cost: int, seconds: int | None) -> str:
    if seconds is None:
        return (
            f"CreditBudget {limit.name} lets in only workloads that declare a maximum execution"
            " time (label kueue.x-k8s.io/max-exec-time-seconds)"
        )
    needed = cost * seconds
    if needed > limit.grant:
        return (
            f"CreditBudget {limit.name} grants {_hours(limit.grant, limit)} in each period, and a"
            f" run of {seconds}s may cost {_hours(needed, limit)}"
        )
    return (
        f"CreditBudget {limit.name} has {_hours(limit.left, limit)} left until"
        f" {spelled(limit.ends_at)}, and a run of {seconds}s may cost {_hours(needed, limit)}"
    )


def _hours(micro: int, limit: Limit) -> str:
    return f"{max(0, micro) / MICRO / HOUR:.2f} {limit.unit}"
