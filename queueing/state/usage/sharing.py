"""Claims of users' own, and the workloads of each queue that use them.

In one queue and flavor-resource all who use a claim are charged together what the largest of them
would be alone: the first of them for its whole part, each of the others for what it asks more.
Those who stay come before those who leave; then the one that got its quota first, then uids. So
what a claim is charged depends on who uses it alone, not on who came or went when.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Protocol

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.sharing import ClaimCharge, Commons, added


class Charging(Protocol):
    """What is known of one who holds quota."""

    @property
    def holder(self) -> Holder: ...


class Users:
    """Who uses which claims, of all who are charged."""

    __slots__ = ("_charges", "_keys")

    def __init__(self, charges: Mapping[Key, Charging]) -> None:
        self._charges = charges
        self._keys: dict[QueueName, dict[tuple[str, FlavorResource], dict[Key, None]]] = {}

    def __contains__(self, queue: QueueName) -> bool:
        return queue in self._keys

    def note(self, holder: Holder, sign: int) -> None:
        """Count a holder in, or with sign -1 out."""
        for one in holder.parts:
            claims = self._keys.setdefault(holder.queue, {})
            users = claims.setdefault((one.claim, one.resource), {})
            if sign > 0:
                users[holder.key] = None
            else:
                users.pop(holder.key)
            if not users:
                del claims[one.claim, one.resource]
            if not claims:
                del self._keys[holder.queue]

    def of(self, queue: QueueName, claim: str, resource: FlavorResource) -> list[Holder]:
        """Return who uses a claim, those first who are charged first."""
        keys = self._keys.get(queue, {}).get((claim, resource), ())
        return sorted((self._charges[key].holder for key in keys), key=_order)

    def beside(self, holder: Holder) -> dict[Key, None]:
        """Return who uses any of a holder's claims."""
        return {
            one.key: None
            for part in holder.parts
            for one in self.of(holder.queue, part.claim, part.resource)
        }

    def priced(self, holder: Holder) -> Holder:
        """Return a holder with the usage that it is charged beside all others."""
        if holder.own is None:
            return holder
        usage = added(holder.own, [self._net(holder, one) for one in holder.parts])
        return holder if usage == holder.usage else replace(holder, usage=usage)

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        """Return which claims somebody holds who is to stay, and what is charged for them."""
        known = self._keys.get(queue)
        if known is None:
            return None
        wanted, charged, uids = frozenset(claims), {}, set[Uid]()
        for claim, resource in sorted(one for one in known if one[0] in wanted):
            users = self.of(queue, claim, resource)
            uids.update(one.uid for one in users)
            if not users[0].evicted:
                charged[claim, resource] = max(_amount(one, claim, resource) for one in users)
        return Commons(charged, frozenset(uids)) if charged else None

    def jointly(self, victims: Mapping[Key, Holder]) -> Iterator[Holder]:
        """Show victims as they can be stopped: those who share a claim all together.

        Where one of them cannot be stopped yet, because its admission is not written, none can.
        """
        seen: set[Key] = set()
        for key, holder in victims.items():
            if key in seen:
                continue
            party = self._party(holder)
            seen.update(one.key for one in party)
            if len(party) == 1:
                yield holder
            elif all(one.key in victims for one in party):
                yield _as_one(party)

    def _party(self, holder: Holder) -> list[Holder]:
        """Return all who stay and are bound to each other by claims, in order of their keys."""
        found, open_ends = {holder.key: holder}, [holder]
        while open_ends and not holder.evicted:
            for key in self.beside(open_ends.pop()):
                one = self._charges[key].holder
                if key not in found and not one.evicted:
                    found[key] = one
                    open_ends.append(one)
        return [found[key] for key in sorted(found)]

    def _net(self, holder: Holder, part: ClaimCharge) -> ClaimCharge:
        """Return a part less what those are charged for it who come first."""
        users = self.of(holder.queue, part.claim, part.resource)
        mine = _order(holder)
        before = (
            _amount(one, part.claim, part.resource)
            for one in users
            if one.key != holder.key and _order(one) < mine
        )
        return part._replace(amount=max(0, part.amount - max(before, default=0)))


def _order(holder: Holder) -> tuple[bool, float, Uid]:
    return holder.evicted, holder.reserved_at, holder.uid


def _amount(holder: Holder, claim: str, resource: FlavorResource) -> int:
    return next(
        (one.amount for one in holder.parts if (one.claim, one.resource) == (claim, resource)), 0
    )


def _as_one(party: list[Holder]) -> Holder:
    """Stand for several: whoever may stop this one may stop each of them."""
    usage: dict[FlavorResource, int] = {}
    for one in party:
        for resource, amount in one.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
    latest = max(party, key=lambda one: (one.stake is not None, one.protected_until, one.uid))
    return replace(
        party[0],
        priority=max(one.priority for one in party),
        timestamp=min(one.timestamp for one in party),
        reserved_at=min(one.reserved_at for one in party),
        usage=usage,
        stake=latest.stake and replace(latest.stake, started=latest.started),
        parts=(),
        own=None,
        members=tuple(party),
    )
