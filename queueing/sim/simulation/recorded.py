"""A recording of a controller as a load: its queues, and the workloads that it saw."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from queueing.core import facts
from queueing.core.credits import facts as credit_facts
from queueing.core.credits.facts import CreditFact, CreditGone, CreditKind
from queueing.core.facts import Fact, Gone, Kind, WorkloadFact
from queueing.core.settings import Settings
from queueing.core.topology.tree import Node
from queueing.recording.lines import LAST, RecordingError, opened, read
from queueing.sim.simulation.arrivals import Arrival
from queueing.sim.simulation.past import arrivals_of
from queueing.sim.yaml_text import ManifestError

OF_KINDS: Mapping[Kind | CreditKind, tuple[type, ...]] = MappingProxyType(
    {
        Kind.CLUSTER_QUEUE: (facts.ClusterQueueFact,),
        Kind.COHORT: (facts.CohortFact,),
        Kind.LOCAL_QUEUE: (facts.LocalQueueFact,),
        Kind.FLAVOR: (facts.FlavorFact,),
        Kind.CHECK: (facts.CheckFact,),
        Kind.TOPOLOGY: (facts.TopologyFact,),
        Kind.NODE: (Node,),
        Kind.NODE_USAGE: (facts.NodeUsageFact,),
        Kind.NODE_DEVICES: (facts.NodeDevicesFact,),
        Kind.NAMESPACE: (facts.NamespaceFact,),
        CreditKind.POLICY: (credit_facts.CreditPolicyFact,),
        CreditKind.GRANT: (credit_facts.CreditGrantFact,),
        CreditKind.ACCOUNT: (credit_facts.CreditAccountFact,),
        CreditKind.BUDGET: (credit_facts.BudgetFact, credit_facts.BudgetAccountFact),
        CreditKind.SAVED: (credit_facts.SavedFact,),
        CreditKind.USAGE: (credit_facts.UsageRecordFact,),
    }
)
"""What is known of the objects of a kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """What was read of a recording."""

    objects: tuple[Fact | CreditFact, ...]
    """Everything but workloads that was there at the end, each as it was last."""
    settings: Settings
    arrivals: tuple[Arrival, ...]
    """Workloads that ended while it was recorded, as they came."""
    begins: float


def identity(fact: Fact | CreditFact) -> Hashable:
    """Return by what two facts of one object are known."""
    return type(fact).__name__, getattr(fact, "key", None) or getattr(fact, "name", None)


def read_recording(file: str) -> Recorded:
    """Read a recording, of whatever version: what it decided is not repeated.

    Raises ManifestError with the line of what cannot be used.
    """
    objects: dict[Hashable, Fact | CreditFact] = {}
    workloads: dict[tuple[str, str], WorkloadFact] = {}
    settings = Settings()
    try:
        with opened(file) as source:
            for one in read(source, file, any_version=True):
                match one.event, one.body:
                    case "begin", _:  # another engine, which is told all anew
                        settings = one.body
                        objects.clear()
                    case "observe", WorkloadFact():
                        workloads[one.body.key, one.body.uid] = one.body
                    case "observe", Gone() | CreditGone():
                        for found in OF_KINDS.get(one.body.kind, ()):
                            objects.pop((found.__name__, one.body.name), None)
                    case "observe", _:
                        objects[identity(one.body)] = one.body
                    case _:
                        pass
    except RecordingError as error:
        raise ManifestError(file=error.file, line=error.line, problem=error.problem) from error
    arrivals = arrivals_of(workloads.values(), float("-inf"))
    if not arrivals:
        raise ManifestError(file=file, line=0, problem="no workload ended while it was recorded")
    if not all(0 <= one.at <= LAST for one in arrivals):
        raise ManifestError(file=file, line=0, problem="a workload was created at no time")
    return Recorded(
        objects=tuple(objects.values()),
        settings=settings,
        arrivals=tuple(arrivals),
        begins=arrivals[0].at,
    )
