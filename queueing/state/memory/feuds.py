"""Who preempted whom, so that nobody does it over and over.

Policies can go in a circle: one queue reclaims what it lends, and is preempted in turn because it
then borrows. Rule: nobody is preempted twice for the same preemptor until something changes from
outside: quota, an end that frees some, either of the two. Pairs are finite, so preemption ends.

For a preemptor that still waits for one of its victims, an end counts when the last has left. A
victim that left before may be back already, on quota beyond what the preemptor claims: without
this, each end of other work in the tree would have it preempted once more.
"""

from collections.abc import Callable

from queueing.core.names import Uid


class Feuds:
    """Preemptions within one tree of cohorts since its last change from outside."""

    __slots__ = ("_put_off", "_victims")

    def __init__(self) -> None:
        self._victims: dict[Uid, dict[Uid, None]] = {}
        self._put_off: dict[Uid, None] = {}
        """Preemptors for which something has ended, that wait for victims still."""

    def __len__(self) -> int:
        return len(self._victims)

    def note(self, preemptor: Uid, victim: Uid) -> bool:
        """Remember a preemption; say whether it is the first of this pair."""
        victims = self._victims.setdefault(preemptor, {})
        first = victim not in victims
        victims[victim] = None
        return first

    def retract(self, preemptor: Uid, victim: Uid) -> None:
        """Forget a preemption that did not come about."""
        victims = self._victims.get(preemptor, {})
        victims.pop(victim, None)
        if not victims:
            self._victims.pop(preemptor, None)

    def settle(self, is_leaving: Callable[[Uid], bool], *, ended: bool) -> None:
        """Forget the preemptions of whoever waits for no victim any more.

        Either something has `ended` in the tree, which counts for all, or a victim has left, which
        counts for those for whom something ended before.
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
        """Forget one who is not what it was."""
        self._victims.pop(uid, None)
        for victims in self._victims.values():
            victims.pop(uid, None)
        self._victims = {one: victims for one, victims in self._victims.items() if victims}
