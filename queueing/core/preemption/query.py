"""The input of preemption, a `Query`, and its output, a list of `Target`s."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.preemption.borrowers import Borrowers
from queueing.core.quota.node import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Preemptor:
    """The workload that needs quota, and the preemption rules of its queue."""

    priority: int
    timestamp: float
    node: Node
    policies: Preemption
    takes_turns: Callable[[QueueName], bool] | None = None
    """Says whether LocalQueues take turns in a queue: its candidates are sorted by their usage
    first. None if they do in no queue."""
    borrowers: Borrowers = field(default_factory=Borrowers)
    """Which nodes borrow now; shared by preemptors that see the same usage."""
    spared: frozenset[Uid] = frozenset()
    """Workloads that are no candidates: victims of another preemptor, pairs, users of its claims.
    """
    now: float = 0.0
    """Epoch seconds."""
    weighs_work: bool = False
    """Whether lost work decides between equals, and minimum runtimes count; not in Kueue mode."""
    thorough: bool = False
    """Whether victims are spared as long as the rules allow it. In Kueue mode they are tried once.
    """


@dataclass(frozen=True, slots=True)
class Query:
    """Asks for victims without which `requests` fit; only users of `contested` may be victims."""

    preemptor: Preemptor
    requests: Mapping[FlavorResource, int]
    contested: Sequence[FlavorResource]


@dataclass(frozen=True, slots=True)
class Target:
    """A victim, and the reason that its `Preempted` condition will have."""

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
