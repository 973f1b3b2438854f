"""Claims: preemptors that wait until their victims have released their quota.

A claim is a priority on the quota that is released, never usage (docs/decisions/0005). Its owner,
the preemptor, is judged in every round of its tree, at its place in the order of entries. So
workloads after it in that order find its demand taken while it waits, and those before it do not.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queueing.core.names import Key, QueueName, Uid

MARK = "(UID: "
"""The text before the preemptor's uid in the message of a victim's `Preempted` condition."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A preemptor, and its victims that still hold quota.

    A workload that waits for the victims of other preemptors owns a claim without victims. With
    admission fair sharing owners keep their turn (see `lanes`), so which workloads are owners must
    not depend on which preemptor was judged first.
    """

    owner: Key
    queue: QueueName
    victims: dict[Key, None]


class Claims:
    """All claims, by owner, by queue and by victim."""

    __slots__ = ("_by_queue", "_by_victim", "_owned")

    def __init__(self) -> None:
        self._owned: dict[Key, Claim] = {}
        self._by_queue: dict[QueueName, dict[Key, None]] = {}
        self._by_victim: dict[Key, dict[Key, None]] = {}

    def __len__(self) -> int:
        return len(self._owned)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self._owned.values())

    def of(self, owner: Key) -> Claim | None:
        return self._owned.get(owner)

    def is_on(self, victim: Key) -> bool:
        """Say whether any preemptor waits for the quota of a victim."""
        return victim in self._by_victim

    def owners_of(self, victim: Key) -> list[Key]:
        """Return the preemptors that wait for the quota of a victim."""
        return list(self._by_victim.get(victim, ()))

    def owners_in(self, queue: QueueName) -> Iterable[Key]:
        """Return the workloads of a queue that own a claim."""
        return self._by_queue.get(queue, ())

    def put(self, owner: Key, queue: QueueName, victims: Iterable[Key]) -> None:
        """Store a claim, in place of the owner's earlier one if it had any."""
        self.drop(owner)
        claim = self._owned[owner] = Claim(owner, queue, dict.fromkeys(victims))
        self._by_queue.setdefault(queue, {})[owner] = None
        for victim in claim.victims:
            self._by_victim.setdefault(victim, {})[owner] = None

    def drop(self, owner: Key) -> bool:
        """Remove the claim of an owner; say whether there was one."""
        claim = self._owned.pop(owner, None)
        if claim is None:
            return False
        owners = self._by_queue[claim.queue]
        del owners[owner]
        if not owners:
            del self._by_queue[claim.queue]
        for victim in claim.victims:
            owners = self._by_victim[victim]
            del owners[owner]
            if not owners:
                del self._by_victim[victim]
        return True

    def drained(self, victim: Key) -> list[Claim]:
        """Remove a victim that released its quota or is spared; return the claims that named it."""
        owners = self._by_victim.pop(victim, None)
        if owners is None:
            return []
        claims = [self._owned[owner] for owner in owners]
        for claim in claims:
            del claim.victims[victim]
        return claims


def preemptor_of(message: str) -> Uid | None:
    """Read the preemptor's uid out of the message of a `Preempted` condition."""
    _, mark, rest = message.partition(MARK)
    if not mark:
        return None
    end = min((at for at in (rest.find(","), rest.find(")")) if at >= 0), default=-1)
    return Uid(rest[:end].strip()) if end > 0 else None
