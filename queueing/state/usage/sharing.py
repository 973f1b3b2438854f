"""ResourceClaims that users created themselves, and the workloads that use them.

Several workloads of a ClusterQueue may use the same ResourceClaim. Per flavor-resource they are
charged together as much as the largest of them alone: the first for its whole part, each other for
what it needs beyond those before it (docs/decisions/0047). Workloads that are not evicted come
first, then those that reserved quota earlier, then by uid. So the charges depend only on who uses a
claim now, not on the history of its users. Slices of an elastic job share all they use in this way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from queueing.core.holders import Holder
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.sharing import ClaimCharge, Commons, added
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.usage import beyond, placed, places_of
from queueing.state.usage.charges import Charge


@dataclass(slots=True, eq=False)
class Users:
    """Which charged workloads use which ResourceClaims.

    `queue in users` says whether any holder of a queue uses one.
    """

    charges: Mapping[Key, Charge]
    _keys: dict[QueueName, dict[str, dict[FlavorResource, dict[Key, None]]]] = field(
        default_factory=dict
    )

    def __contains__(self, queue: QueueName) -> bool:
        return queue in self._keys

    def note(self, holder: Holder, sign: int) -> None:
        """Add a holder to the users of its claims, or with sign -1 remove it."""
        for one in holder.parts:
            claims = self._keys.setdefault(holder.queue, {})
            resources = claims.setdefault(one.claim, {})
            users = resources.setdefault(one.resource, {})
            if sign > 0:
                users[holder.key] = None
            else:
                users.pop(holder.key)
            if not users:
                del resources[one.resource]
            if not resources:
                del claims[one.claim]
            if not claims:
                del self._keys[holder.queue]

    def of(self, queue: QueueName, claim: str, resource: FlavorResource) -> list[Holder]:
        """Return the users of a claim, in the order in which they are charged."""
        keys = self._keys.get(queue, {}).get(claim, {}).get(resource, ())
        return sorted((self.charges[key].holder for key in keys), key=_order)

    def beside(self, holder: Holder) -> dict[Key, None]:
        """Return the keys of all users of any of a holder's claims, itself included."""
        return {
            one.key: None
            for part in holder.parts
            for one in self.of(holder.queue, part.claim, part.resource)
        }

    def priced(self, holder: Holder) -> Holder:
        """Return a holder with the usage that it is charged, given all other users."""
        if holder.own is None:
            return holder
        net = added(holder.own, [self._net(holder, one) for one in holder.parts])
        places = self._net_places(holder) if holder.places else places_of(holder.usage)
        usage = placed(net, places)
        return holder if usage == holder.usage else replace(holder, usage=usage)

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        """Return which of these claims a holder that is not evicted uses, and their charges.

        None if there is no such claim.
        """
        known = self._keys.get(queue)
        if known is None:
            return None
        charged, uids = dict[tuple[str, FlavorResource], int](), set[Uid]()
        stands: Holder | None = None
        for claim, resource in ((one, two) for one in claims for two in sorted(known.get(one, ()))):
            users = self.of(queue, claim, resource)
            uids.update(one.uid for one in users)
            if not users[0].evicted:
                charged[claim, resource] = max(_amount(one, claim, resource) for one in users)
                stands = users[0]
        if stands is None:
            return None
        return Commons(charged, frozenset(uids), stands.pod_sets, stands.places)

    def jointly(self, victims: Mapping[Key, Holder]) -> Iterator[Holder]:
        """Yield victims, with those that share a claim joined into one (`Holder.members`).

        They have to be preempted together. If one of them cannot be preempted yet, because its
        admission is not written, none of them is yielded.
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

    def together(self, holder: Holder) -> Holder:
        """Return a holder joined with those that share a claim with it, if there are any."""
        party = self._party(holder)
        return holder if len(party) == 1 else _as_one(party)

    def _party(self, holder: Holder) -> list[Holder]:
        """Return all holders that are connected to one by shared claims, in order of their keys.

        Evicted holders connect only to each other. A preemptor that is judged again then finds the
        same victims as before, with the same shares once they have left.
        """
        found, open_ends = {holder.key: holder}, [holder]
        while open_ends:
            for key in self.beside(open_ends.pop()):
                one = self.charges[key].holder
                if key not in found and one.evicted == holder.evicted:
                    found[key] = one
                    open_ends.append(one)
        return [found[key] for key in sorted(found)]

    def _net_places(self, holder: Holder) -> Sequence[Occupancy]:
        """Return what a slice uses of leaves beyond the slices of its job before it."""
        before = self._before(holder, holder.parts[0])
        return beyond(holder.places, [place for one in before for place in one.places])

    def _net(self, holder: Holder, part: ClaimCharge) -> ClaimCharge:
        """Return a part of a holder's charge, less what users before it are charged for it."""
        before = self._before(holder, part)
        charged = max((_amount(one, part.claim, part.resource) for one in before), default=0)
        return part._replace(amount=max(0, part.amount - charged))

    def _before(self, holder: Holder, part: ClaimCharge) -> list[Holder]:
        """Return the users of a claim that are charged before a holder."""
        users, mine = self.of(holder.queue, part.claim, part.resource), _order(holder)
        return [one for one in users if one.key != holder.key and _order(one) < mine]


def _order(holder: Holder) -> tuple[bool, float, Uid]:
    return holder.evicted, holder.reserved_at, holder.uid


def _amount(holder: Holder, claim: str, resource: FlavorResource) -> int:
    return next(
        (one.amount for one in holder.parts if (one.claim, one.resource) == (claim, resource)), 0
    )


def _as_one(party: list[Holder]) -> Holder:
    """Return one holder for several that must be preempted together.

    It is preempted only where each of them may be: it has the highest priority and the longest
    protection of them, and the earliest times.
    """
    usage: dict[FlavorResource, int] = {}
    for one in party:
        for resource, amount in one.usage.items():
            usage[resource] = usage.get(resource, 0) + amount
    kept = [place for one in party for place in places_of(one.counted)]
    waits = any(one.elsewhere is not None for one in party)
    latest = max(party, key=lambda one: (one.stake is not None, one.protected_until, one.uid))
    return replace(
        party[0],
        priority=max(one.priority for one in party),
        timestamp=min(one.timestamp for one in party),
        reserved_at=min(one.reserved_at for one in party),
        usage=placed(usage, [place for one in party for place in places_of(one.usage)]),
        elsewhere=placed(usage, kept) if waits else None,
        stake=latest.stake and replace(latest.stake, started=latest.started),
        parts=(),
        own=None,
        members=tuple(party),
    )
