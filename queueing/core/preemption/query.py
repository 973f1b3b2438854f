"""The question put to preemption, and its answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Uid
from queueing.core.preemption.borrowers import Borrowers
from queueing.core.quota.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemptor:
    """The workload that wants room, and the rules of its queue."""

    priority: int
    timestamp: float
    node: Node
    policies: Preemption
    by_local_usage: bool = False
    """Victims of the own queue go by the usage history of their LocalQueues first."""
    borrowers: Borrowers = field(default_factory=Borrowers)
    """Who borrows in the tree as it stands; shared by preemptors that see the same usage."""
    spared: frozenset[Uid] = frozenset()
    """Workloads that are no candidates, because they are victims of another one already."""
    now: float = 0.0
    weighs_work: bool = False
    """Between equals the cost in work lost decides, and minimum runtimes count; not in Kueue."""
    thorough: bool = False
    """Victims are spared as long as the rules allow it, and only so far; Kueue spares once."""


@dataclass(frozen=True, slots=True)
class Query:
    """Room for `requests`; only users of `contested` flavor-resources may be victims."""

    preemptor: Preemptor
    requests: Mapping[FlavorResource, int]
    contested: Sequence[FlavorResource]


@dataclass(frozen=True, slots=True)
class Target:
    """A victim and the reason that its status will give."""

    holder: Holder
    reason: PreemptionReason


def allows(policy: PreemptionPolicy, preemptor: Preemptor, holder: Holder) -> bool:
    """Say whether a policy makes a workload a candidate."""
    if policy is PreemptionPolicy.ANY:
        return True
    if policy is PreemptionPolicy.NEVER:
        return False
    if holder.priority != preemptor.priority:
        return holder.priority < preemptor.priority
    return (
        policy is PreemptionPolicy.LOWER_OR_NEWER_EQUAL_PRIORITY
        and preemptor.timestamp < holder.timestamp
    )


def uses(holder: Holder, contested: Sequence[FlavorResource]) -> bool:
    """Say whether a workload uses any of the contested flavor-resources."""
    usage = holder.usage
    for one in contested:  # noqa: SIM110 - asked of every candidate; a generator costs thrice as much
        if one in usage:
            return True
    return False
