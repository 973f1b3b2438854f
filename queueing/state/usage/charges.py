"""The quota that one workload holds, the charges of a ClusterQueue, and sums over charges."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.decisions import Admit
from queueing.core.holders import ByPriority, Holder, Ranked
from queueing.core.names import FlavorName, Key, QueueName
from queueing.core.values import value


@value(kw_only=False)
class Charge:
    """The quota held by one workload. `decision` is set while it is assumed, not yet a fact."""

    holder: Holder
    admitted: bool
    decision: Admit | None = None

    @property
    def runs(self) -> bool:
        """Whether the workload is admitted by a fact, not only by assumption."""
        return self.admitted and self.decision is None


@dataclass(slots=True)
class Roll:
    """Who holds quota of one ClusterQueue or was promised some, with memos of what follows."""

    charges: dict[Key, Charge] = field(default_factory=dict)
    promised: dict[Key, Holder] = field(default_factory=dict)
    victims: Mapping[Key, Holder] | None = None
    """Those that preemption may choose; None until that is worked out, as with the next two."""
    ranked: Ranked | None = None
    """The same in the order of `rank`."""
    exposed: ByPriority | None = None
    """What they hold."""

    def forget(self) -> None:
        """Forget what follows, because it may be others that preemption may choose."""
        self.victims = self.ranked = self.exposed = None


@dataclass(slots=True)
class UsageChanges:
    """What changed in the usage of quota since pending workloads were last woken for it."""

    released: set[QueueName] = field(default_factory=set)
    """ClusterQueues that released quota, or in which the priority of a holder changed."""
    vacated: set[FlavorName] = field(default_factory=set)
    """Flavors of whose nodes places were left, by whichever flavor; also without any release."""
    newcomers: set[QueueName] = field(default_factory=set)
    """ClusterQueues in which a workload became a possible victim."""
    joined: dict[QueueName, set[str]] = field(default_factory=dict)
    """ClusterQueue → ResourceClaims that a holder in it uses, and whose charge may have changed."""
