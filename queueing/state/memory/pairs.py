"""Which workload preempted which, so that two workloads do not preempt each other for ever.

Preemption policies can form a circle: one queue reclaims what it lends, and is preempted in turn
because it then borrows. The rule: a pair of preemptor and victim, or of who took a promise and who
lost it, is not repeated until the quotas of the tree change, the demand or priority of one of the
two does, the victim or a workload of the preemptor's queue ends (loses its quota otherwise than by
preemption), or balances bend weights otherwise after the preemptor got what it preempted for. Pairs
are finite, so this ends; and an owner that lost its quota to others of its own queue can reclaim it
from the same borrower when these have ended.
"""

from collections.abc import Container
from dataclasses import dataclass, field

from queueing.core.names import Uid


@dataclass(slots=True, eq=False)
class Pairs:
    """The pairs of preemptor and victim of the preemptors of one ClusterQueue."""

    _victims: dict[Uid, set[Uid]] = field(default_factory=dict)

    def note(self, preemptor: Uid, victim: Uid) -> None:
        self._victims.setdefault(preemptor, set()).add(victim)

    def retract(self, preemptor: Uid | None, victim: Uid) -> None:
        """Forget a preemption that was decided and not carried out."""
        if preemptor in self._victims:
            self._victims[preemptor].discard(victim)

    def victims_of(self, preemptor: Uid) -> frozenset[Uid]:
        return frozenset(self._victims.get(preemptor, ()))

    def forget_but(self, kept: Container[Uid]) -> None:
        self._victims = {uid: them for uid, them in self._victims.items() if uid in kept}

    def forget(self, uid: Uid) -> None:
        """Forget all pairs of a workload that is not what it was, or has ended."""
        self._victims.pop(uid, None)
        for victims in self._victims.values():
            victims.discard(uid)
