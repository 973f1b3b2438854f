"""Workloads that are placed by topology while they hold quota, and those that are moved."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from queueing.core.decisions import Place, Strand
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, PodSetName, Uid
from queueing.core.second_pass import awaits
from queueing.core.topology.assignment import Assignment

Turn = tuple[int, tuple[int, float, Uid]]
"""Minus the number of pods, and `Holder.rank`."""


@dataclass(slots=True)
class SecondPass:
    """A workload that holds quota and is to be placed, or placed anew."""

    fact: WorkloadFact
    """The fact that says so."""
    due: float = float("-inf")
    """When the next attempt is due, whatever else happens."""
    failures: int = 0
    """How many attempts in a row found no place."""
    decision: Place | Strand | None = None
    """What was decided and no fact shows yet."""
    kept: Mapping[PodSetName, Assignment] = field(default_factory=dict)
    """The places that it gets once victims have left them: promised to it."""


@dataclass(slots=True)
class Places:
    """Workloads that are being placed by topology, or placed anew."""

    passes: dict[Key, SecondPass] = field(default_factory=dict)
    """Those that hold quota and wait for places."""
    returning: dict[Key, Turn] = field(default_factory=dict)
    """Those that were moved, have left their place, and were not judged since; each with what they
    are sorted by, as other places were found for them: see `core.placement.moving`."""
    unsettled: set[Key] = field(default_factory=set)
    """Those that are being moved and may have no place kept elsewhere, or not any more."""

    def expect(self, fact: WorkloadFact, *, answers: bool) -> None:
        """Note whether a workload that holds quota is to be placed, or placed anew.

        What was decided of it stays, unless this fact shows what became of it, or `answers` what
        became of a write.
        """
        known = self.passes.get(fact.key)
        if not awaits(fact):
            self.passes.pop(fact.key, None)
        elif known is None or _asked(known.fact) != _asked(fact):
            self.passes[fact.key] = SecondPass(fact)
        elif answers:
            known.decision = None


def _asked(fact: WorkloadFact) -> tuple[object, ...]:
    return fact.uid, fact.admission, fact.unhealthy, fact.pod_sets
