"""Claims: a preemptor's priority on what its victims give back.

A claim is never usage. While heads that it outranks are judged, the part of the preemptor's demand
that no victim still holds is charged to the preemptor's queue, and taken back after the round; so
they cannot take what gets free. Heads that outrank the preemptor are judged without it.
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.state.pending import Rank

MARK = "(UID: "
"""How the message of a victim's `Preempted` condition introduces the preemptor's uid."""


@dataclass(slots=True, kw_only=True)
class Claim:
    """What a preemptor waits for. `reserve` is what is charged while those behind are judged."""

    owner: Key
    uid: Uid
    queue: QueueName
    rank: Rank
    usage: Mapping[FlavorResource, int]
    victims: dict[Key, Mapping[FlavorResource, int]]
    """Victims that still hold quota, and how much."""
    reserve: dict[FlavorResource, int]

    def recount(self) -> None:
        """Work out the reserve anew after the victims changed."""
        self.reserve = {}
        for resource, asked in self.usage.items():
            held = sum(one.get(resource, 0) for one in self.victims.values())
            if asked > held:
                self.reserve[resource] = asked - held


class Claims:
    """All claims, by owner and by victim."""

    __slots__ = ("_by_victim", "_owned", "_ranks")

    def __init__(self) -> None:
        self._owned: dict[Key, Claim] = {}
        self._by_victim: dict[Key, dict[Key, None]] = {}
        self._ranks: list[tuple[Rank, Key]] = []

    def __bool__(self) -> bool:
        return bool(self._owned)

    def __iter__(self) -> Iterator[Claim]:
        """Give the claims, the highest rank first."""
        return (self._owned[owner] for _, owner in self._ranks)

    def of(self, owner: Key) -> Claim | None:
        return self._owned.get(owner)

    def put(self, claim: Claim) -> None:
        """Let a claim stand in place of the owner's last one."""
        self.drop(claim.owner)
        claim.recount()
        self._owned[claim.owner] = claim
        insort(self._ranks, (claim.rank, claim.owner))
        for victim in claim.victims:
            self._by_victim.setdefault(victim, {})[claim.owner] = None

    def drop(self, owner: Key) -> Claim | None:
        """End a claim."""
        claim = self._owned.pop(owner, None)
        if claim is None:
            return None
        del self._ranks[bisect_left(self._ranks, (claim.rank, owner))]
        for victim in claim.victims:
            self._unlink(victim, owner)
        return claim

    def drained(self, victim: Key) -> list[Claim]:
        """Note that a victim holds nothing any more (or is spared); return whose claims changed."""
        claims = [self._owned[owner] for owner in self._by_victim.pop(victim, {})]
        for claim in claims:
            del claim.victims[victim]
            claim.recount()
        return claims

    def _unlink(self, victim: Key, owner: Key) -> None:
        owners = self._by_victim.get(victim, {})
        owners.pop(owner, None)
        if not owners:
            self._by_victim.pop(victim, None)


def preemptor_of(message: str) -> Uid | None:
    """Read the preemptor's uid out of the message of a `Preempted` condition."""
    _, mark, rest = message.partition(MARK)
    if not mark:
        return None
    end = min((at for at in (rest.find(","), rest.find(")")) if at >= 0), default=-1)
    return Uid(rest[:end].strip()) if end > 0 else None
