"""Which workload preempted which, so that two workloads do not preempt each other for ever.

Preemption policies can form a circle: one queue reclaims what it lends, and is preempted in turn
because it then borrows. The rule: no workload is preempted twice for the same preemptor until
something changes from outside. That is a change of the tree's quotas, the end of a workload of the
tree, or a change of the demand or priority of one of the two. Pairs are finite, so this ends.

While a preemptor still waits for victims, the end of a workload counts for it only when the last
victim has left. A victim that left earlier may have been admitted again, on quota beyond what the
preemptor claims, and would otherwise be preempted once more after each end of other workloads.
"""

from collections.abc import Callable

from queueing.core.names import Uid


class Feuds:
    """The pairs of preemptor and victim in one tree since its last change from outside."""

    __slots__ = ("_put_off", "_victims")

    def __init__(self) -> None:
        self._victims: dict[Uid, dict[Uid, None]] = {}
        self._put_off: dict[Uid, None] = {}
        """Preemptors whose pairs may be forgotten as soon as their last victim has left."""

    def __len__(self) -> int:
        return len(self._victims)

    def note(self, preemptor: Uid, victim: Uid) -> bool:
        """Remember a preemption; say whether it is the first of this pair."""
        victims = self._victims.setdefault(preemptor, {})
        first = victim not in victims
        victims[victim] = None
        return first

    def retract(self, preemptor: Uid, victim: Uid) -> None:
        """Forget a preemption that was decided and not carried out."""
        victims = self._victims.get(preemptor, {})
        victims.pop(victim, None)
        if not victims:
            self._victims.pop(preemptor, None)

    def settle(self, is_leaving: Callable[[Uid], bool], *, ended: bool) -> None:
        """Forget the pairs of preemptors that wait for no victim any more.

        Called when a workload of the tree gives its quota back: because it `ended`, which counts
        for all preemptors, or as a victim, which counts for those that were put off by an end.
        """
        if ended:
            self._put_off = dict.fromkeys(self._victims)
        for preemptor in list(self._put_off):
            if not any(map(is_leaving, self._victims.get(preemptor, ()))):
                del self._put_off[preemptor]
                self._victims.pop(preemptor, None)

    def victims_of(self, preemptor: Uid) -> frozenset[Uid]:
        return frozenset(self._victims.get(preemptor, ()))

    def forget(self, uid: Uid) -> None:
        """Forget all pairs of a workload whose demand or priority changed."""
        self._victims.pop(uid, None)
        for victims in self._victims.values():
            victims.pop(uid, None)
        self._victims = {one: victims for one, victims in self._victims.items() if victims}
