"""The heads of a round: as they come, as they are nominated, and as they are decided."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from queueing.core.decisions import Admit, Bar, Preempt, Wait
from queueing.core.facts import WorkloadFact
from queueing.core.flavors.assignment import Assignment, Progress
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.preemption.query import Target
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import Node
from queueing.core.usage import Demand
from queueing.core.values import value

NOTHING: Mapping[FlavorResource, int] = MappingProxyType({})


@value()
class Head:
    """The first workload of a queue; `timestamp` is since when it queues."""

    workload: WorkloadFact
    queue: QueueName
    demand: Demand
    timestamp: float
    progress: Progress | None = None
    spared: frozenset[Uid] = frozenset()
    """Whom it must not preempt again."""
    preempting: bool = False
    """Whether victims of its own are on their way out."""
    patient: bool = False
    """It waits for an amount and is judged where it waits: no decision when others were faster."""


@dataclass(slots=True)
class Entry:
    """A nominated head: its assignment, and whom it would preempt."""

    head: Head
    rules: QueueRules
    node: Node
    assignment: Assignment
    targets: list[Target] = field(default_factory=list)
    barred: Bar | None = None
    """Why budgets or rules make it wait, though it would fit; None when they do not."""
    demoted: str | None = None
    """Why it may run only where nobody else wants to; None when it may as any other."""
    partners: frozenset[Uid] = frozenset()
    """Those who use the same claims already."""

    @property
    def barred_before(self) -> Bar | None:
        """Why flavors that fitted were barred earlier in the same search; None when none was."""
        former = self.head.progress
        if former is None or former.shape != self.assignment.demand.full:
            return None
        return former.barred if former.generation == self.node.root().generation else None

    @property
    def usage(self) -> Mapping[FlavorResource, int]:
        """What is charged when it is admitted."""
        return self.assignment.charged


class Ruling(NamedTuple):
    """What was decided of an entry."""

    entry: Entry
    decision: Admit | Wait
    preemptions: tuple[Preempt, ...] = ()
    claims: Mapping[FlavorResource, int] = NOTHING
    """What one that is not admitted keeps from those that come after it."""

    @property
    def takes_something(self) -> bool:
        """Whether it is another tree that those after it are decided on."""
        return bool(self.claims or self.preemptions) or isinstance(self.decision, Admit)
