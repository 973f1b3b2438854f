"""A ClusterQueue's spec joined with its flavors, ready for judging heads."""

from collections.abc import Mapping

from queueing.core.eligibility import Group, compile_group
from queueing.core.facts import ClusterQueueFact, FlavorFact, PreemptionPolicy, Strategy
from queueing.core.names import FlavorName, QueueName
from queueing.core.outline import Outline, outline_of
from queueing.core.settings import QuotaCheck
from queueing.core.usage import Demand, Shape

OUTLINES_MAX = 4096
"""Shapes remembered per queue; the memo starts over when it is full."""


class QueueRules:
    """The immutable rules of one queue, and a memo of what demands mean under them."""

    __slots__ = ("_outlines", "fact", "groups", "name", "never_preempts", "strategy")

    def __init__(self, fact: ClusterQueueFact, groups: tuple[Group, ...]) -> None:
        policies = fact.preemption
        self.fact = fact
        self.name: QueueName = fact.name
        self.strategy: Strategy = fact.strategy
        self.groups = groups
        self.never_preempts = (
            policies.within_cluster_queue is PreemptionPolicy.NEVER
            and policies.reclaim_within_cohort is PreemptionPolicy.NEVER
        )
        self._outlines: dict[Shape, Outline] = {}

    def outline(self, demand: Demand, quota_check: QuotaCheck) -> Outline:
        """Return what a demand needs from this queue. Callers use one `quota_check` throughout."""
        found = self._outlines.get(demand.shape)
        if found is None:
            if len(self._outlines) >= OUTLINES_MAX:
                self._outlines.clear()
            found = outline_of(demand, self.groups, quota_check)
            self._outlines[demand.shape] = found
        return found


def compile_rules(fact: ClusterQueueFact, flavors: Mapping[FlavorName, FlavorFact]) -> QueueRules:
    """Join a queue with its flavors; do it again when either changes."""
    groups = (compile_group(index, one, flavors) for index, one in enumerate(fact.groups))
    return QueueRules(fact, tuple(groups))
