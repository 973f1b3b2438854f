"""The input of preemption, a `Query`, and its output, a list of `Target`s."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import Preemption, PreemptionPolicy
from queueing.core.holders import Holder, Holders
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.preemption.reach import Reach
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree
from queueing.core.values import value


@value(eq=False)
class Preemptor:
    """The workload that needs quota, and the preemption rules of its queue."""

    priority: int
    timestamp: float
    node: QuotaNode
    policies: Preemption
    takes_turns: Callable[[QueueName], bool] = lambda _: False
    """Says whether LocalQueues take turns in a queue: its candidates are sorted by their usage
    first."""
    reach: Reach = field(default_factory=Reach)
    """Shared by preemptors that see the same usage."""
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
    has_place: Callable[[], bool] | None = None
    """Says whether topologies have room for the pods now; None where they are not placed."""

    def may_succeed(self, holders: Holders) -> bool:
        """Say whether all possible victims together might be enough; False is certain."""
        who = self.preemptor
        return all(
            amount <= who.reach.most(who.node, resource, who.priority, who.policies, holders)
            for resource, amount in self.requests.items()
        )


@dataclass(frozen=True, slots=True)
class Target:
    """A victim, and the reason that its `Preempted` condition will have."""

    holder: Holder
    reason: PreemptionReason
    elsewhere: Mapping[FlavorResource, int] | None = None
    """What is kept for it while it leaves, because it is only moved; None if it is preempted."""

    def leave(self, tree: QuotaTree) -> None:
        """Take away what the victim uses, and charge what is kept for it."""
        tree.remove_usage(self.holder.queue, self.holder.counted)
        if self.elsewhere is not None:
            tree.add_usage(self.holder.queue, self.elsewhere)


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
