"""The charges of all workloads that hold quota, by facts and by assumed admissions.

Invariants: a workload is charged at most once, to one ClusterQueue; the usage of a queue in the
tree is the sum over its charges; quota is released only by a fact or a refused write.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Protocol

from queueing.core.credits.restraint import Restraint
from queueing.core.holders import ByPriority, Holder, Ranked, exposed_by, rank
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.core.sharing import Commons
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.usage import places_of, without_places
from queueing.state.usage.charges import Charge, Roll, UsageChanges
from queueing.state.usage.sharing import Users
from queueing.state.usage.turns import Turns

NOBODY = Roll()
_said = attrgetter(
    "uid",
    "queue",
    "local_queue",
    "priority",
    "timestamp",
    "evicted",
    "usage",
    "elsewhere",
    "parts",
    "stake",
)


class Rank(Protocol):
    """An order of the LocalQueues of one ClusterQueue, which may depend on what these hold."""

    def charge(self, local_queue: Key, usage: Mapping[FlavorResource, int], sign: int) -> None: ...

    def key(self, local_queue: Key | None) -> float: ...


@dataclass(slots=True, eq=False)
class Ledger:
    """The charges by workload, mirrored in the quota tree.

    It implements `Holders` of `queueing.core.holders`, through which preemption finds candidates.
    """

    tree: QuotaTree
    turns: Turns | None = None
    """The usage histories of LocalQueues; None without admission fair sharing."""
    promises: bool = True
    """Whether victims are gone from the usage, and from the candidates, once they are evicted: what
    they give back may be promised to others."""
    charges: dict[Key, Charge] = field(default_factory=dict)
    promised: dict[Key, Holder] = field(default_factory=dict)
    """Pending workloads to which quota is promised that others have not given back yet."""
    rolls: defaultdict[QueueName, Roll] = field(default_factory=lambda: defaultdict(Roll))
    """The same charges and promises by queue."""
    users: Users = field(init=False)
    """The users of ResourceClaims that several workloads may use."""
    evicting: dict[Key, Uid] = field(default_factory=dict)
    """Victims whose eviction was decided and that no fact shows as Evicted yet, each with its
    preemptor."""
    moving: dict[Key, Mapping[FlavorResource, int]] = field(default_factory=dict)
    """Victims that are moved, each with what is kept for it until it has left."""
    leaving: dict[Key, QueueName] = field(default_factory=dict)
    """Workloads that are evicted and still hold quota, with their ClusterQueue."""
    ranks: Mapping[QueueName, Rank] = field(default_factory=dict)
    """The order of LocalQueues of ClusterQueues in which credits determine it."""
    restraints: Mapping[QueueName, Restraint] = field(default_factory=dict)
    """ClusterQueues with a rule about who may not borrow, and what these hold."""
    unranked: dict[QueueName, None] = field(default_factory=dict)
    """Queues whose order of LocalQueues may have changed; the begin of a cycle empties this."""
    changes: UsageChanges = field(default_factory=UsageChanges)
    on_price: Callable[[Holder], None] | None = None
    """Called with each holder whose charge changed because of other users of its claims."""
    asleep: set[QueueName] = field(default_factory=set)
    """Inactive queues: their quota and usage count, but their workloads are no candidates."""

    def __post_init__(self) -> None:
        self.users = Users(self.charges)

    # What preemption asks (core.holders.Holders).

    def holders(self, queue: QueueName) -> Iterable[Holder]:
        """Return the workloads of a queue that may be preempted; none if it is inactive."""
        roll = self._roll(queue)
        if roll.victims is None:
            roll.victims = self.victims_of(roll)
        return self.users.jointly(roll.victims) if queue in self.users else roll.victims.values()

    def ranked(self, queue: QueueName) -> Ranked:
        roll = self._roll(queue)
        if roll.ranked is None:
            roll.ranked = rank(self.holders(queue))
        return roll.ranked

    def exposed(self, queue: QueueName) -> ByPriority:
        roll = self._roll(queue)
        if roll.exposed is None:
            roll.exposed = exposed_by(self.holders(queue))
        return roll.exposed

    def victims_of(self, roll: Roll) -> Mapping[Key, Holder]:
        """Return those of a roll that preemption may choose; holders of promises are among them.

        Who is leaving already counts in Kueue mode only.
        """
        held = {key: one.holder for key, one in roll.charges.items()}
        if self.promises:
            held = {key: one for key, one in held.items() if not one.evicted}
        return held | roll.promised

    def _roll(self, queue: QueueName) -> Roll:
        return NOBODY if queue in self.asleep else self.rolls.get(queue, NOBODY)

    def local_usage(self, queue: QueueName, local_queue: Key) -> float:
        rank = self.ranks.get(queue)
        if rank is not None:
            return rank.key(local_queue)
        return 0.0 if self.turns is None else self.turns.usage(local_queue)

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        return self.users.commons(queue, claims)

    def charges_of(self, queue: QueueName) -> Iterable[Charge]:
        return self.rolls.get(queue, NOBODY).charges.values()

    # Changes.

    def assume(self, charge: Charge) -> None:
        """Charge an admission by assumption."""
        if charge.holder.parts:
            charge = replace(charge, holder=self.users.priced(charge.holder))
        self._enter(charge)
        if charge.holder.parts:
            self._price_others(charge)

    def promise(self, holder: Holder) -> None:
        """Promise quota to a pending workload that has no promise."""
        self.promised[holder.key] = holder
        roll = self.rolls[holder.queue]
        roll.promised[holder.key] = holder
        roll.forget()
        self.tree.add_usage(holder.queue, holder.usage)

    def break_promise(self, key: Key, *, releases: bool) -> None:
        """Take the promise of a workload back, if it has one.

        It `releases` quota unless the workload is judged again at once and may get it back.
        """
        holder = self.promised.pop(key, None)
        if holder is None:
            return
        roll = self.rolls[holder.queue]
        del roll.promised[key]
        roll.forget()
        self.tree.remove_usage(holder.queue, holder.usage)
        if releases:
            self.changes.released.add(holder.queue)
            self._vacate(holder.usage)

    def charge(self, charge: Charge) -> None:
        """Charge a workload by a fact, in place of its earlier charge."""
        old = self.charges.get(charge.holder.key)
        new = self._marked(charge)
        if new.holder.parts:
            new = replace(new, holder=self.users.priced(new.holder))
        if old is not None:
            same = is_same(old, new)
            if same and old.decision is None:
                return
            if same and self.turns is None and not new.holder.parts:
                self._confirm(new)
                return
            self._note_arrival(old, new)
            self._withdraw(old)
        self._enter(new)
        self.changes.newcomers.add(new.holder.queue)
        if old is not None:
            self._price_others(old)
            self._note_change(old, new)
        self._price_others(new)

    def _confirm(self, charge: Charge) -> None:
        """Replace an assumed charge by a fact that says the same: no sums change."""
        roll, key = self.rolls[charge.holder.queue], charge.holder.key
        self.charges[key] = roll.charges[key] = charge
        if roll.victims is not None:
            roll.forget()
        self.changes.newcomers.add(charge.holder.queue)

    def discharge(self, key: Key) -> Charge | None:
        """Release what a workload holds; return its charge, None if it held nothing."""
        self.evicting.pop(key, None)
        self.moving.pop(key, None)
        charge = self.charges.get(key)
        if charge is None:
            return None
        self._withdraw(charge)
        self.changes.released.add(charge.holder.queue)
        self._vacate(charge.holder.usage)
        self._vacate(charge.holder.elsewhere or {})
        self._price_others(charge)
        return charge

    def evict(
        self, key: Key, preemptor: Uid, elsewhere: Mapping[FlavorResource, int] | None = None
    ) -> None:
        """Mark a victim as evicted, if it is not yet.

        It stays charged until a fact says that it holds no quota. If it is moved, what it is to
        have `elsewhere` is kept for it until then.
        """
        charge = self.charges.get(key)
        if charge is None or charge.holder.evicted:
            return
        self.evicting[key] = preemptor
        if elsewhere is not None:
            self.moving[key] = elsewhere
        self._mark(charge, evicted=True)
        if self.promises:
            self.changes.released.add(charge.holder.queue)

    def keep(self, key: Key, elsewhere: Mapping[FlavorResource, int]) -> None:
        """Keep this for a victim that is moved, in place of what was kept."""
        self._vacate(self.moving[key], places_of(elsewhere))
        self.moving[key] = elsewhere
        self._mark(self.charges[key], evicted=True)

    def spare(self, key: Key) -> Uid | None:
        """Undo `evict`, because it was not written; return the preemptor, None if there is none."""
        preemptor = self.evicting.pop(key, None)
        self.moving.pop(key, None)
        if preemptor is not None and key in self.charges:
            self._mark(self.charges[key], evicted=False)
        return preemptor

    def open_queue(self, name: QueueName) -> None:
        """Charge the tree for the quota that workloads hold of a queue that is new in it.

        Their places were charged before.
        """
        for charge in self.charges_of(name):
            holder, kept = charge.holder, charge.holder.elsewhere
            later = None if kept is None else without_places(kept)
            self._weigh(replace(holder, usage=without_places(holder.usage), elsewhere=later), 1)
        for holder in self.rolls.get(name, NOBODY).promised.values():
            self.tree.add_usage(name, without_places(holder.usage))

    def take_changes(self) -> UsageChanges:
        """Return the usage changes since the last call."""
        told, self.changes = self.changes, UsageChanges()
        return told

    def _marked(self, charge: Charge) -> Charge:
        """Return a fact's charge marked as evicted, if that was decided and not in the fact yet.

        What is kept for one that is moved is known better than by its fact.
        """
        holder, key = charge.holder, charge.holder.key
        if holder.evicted:
            self.evicting.pop(key, None)
        if holder.elsewhere is None if holder.evicted else key not in self.evicting:
            self.moving.pop(key, None)
            return charge
        kept = self.moving.get(key)
        if kept is None and holder.elsewhere is not None:
            kept = self.moving[key] = holder.elsewhere
        return replace(charge, holder=replace(holder, evicted=True, elsewhere=kept))

    def _mark(self, charge: Charge, *, evicted: bool) -> None:
        self._withdraw(charge)
        kept = self.moving.get(charge.holder.key)
        marked = replace(charge, holder=replace(charge.holder, evicted=evicted, elsewhere=kept))
        self._enter(marked)
        if marked.holder.parts:
            self._price(marked.holder.key)
            self._price_others(marked)

    def _price_others(self, charge: Charge) -> None:
        """Update the charges of other users of a workload's claims, after its charge changed."""
        holder = charge.holder
        if not holder.parts:
            return
        stays = self._still_uses(holder)
        if stays:
            joined = self.changes.joined.setdefault(holder.queue, set())
            joined.update(one.claim for one in holder.parts)
        for key in self.users.beside(holder):
            self._price(key)
            if not stays and key != holder.key:  # it need not be preempted together any more
                self.changes.newcomers.add(holder.queue)
        self.rolls[holder.queue].forget()

    def _still_uses(self, before: Holder) -> bool:
        """Say whether a holder, perhaps an earlier version of it, still uses all of its claims."""
        charge = self.charges.get(before.key)
        if charge is None or charge.holder.evicted:
            return False
        used = {one.claim for one in charge.holder.parts}
        return all(one.claim in used for one in before.parts)

    def _price(self, key: Key) -> None:
        charge = self.charges[key]
        priced = self.users.priced(charge.holder)
        if priced is charge.holder:
            return
        self._withdraw(charge)
        self._enter(replace(charge, holder=priced))
        if self.on_price is not None:
            self.on_price(priced)

    def _enter(self, charge: Charge) -> None:
        roll = self.rolls[charge.holder.queue]
        self.charges[charge.holder.key] = roll.charges[charge.holder.key] = charge
        self._count(charge, 1)

    def _withdraw(self, charge: Charge) -> None:
        key, queue = charge.holder.key, charge.holder.queue
        del self.charges[key], self.rolls[queue].charges[key]
        self._count(charge, -1)

    def _count(self, charge: Charge, sign: int) -> None:
        """Add a charge to all that is kept of charges, or with sign -1 take it out."""
        holder = charge.holder
        self._weigh(holder, sign)
        roll = self.rolls[holder.queue]
        if roll.victims is not None:
            roll.forget()
        if holder.parts:
            self.users.note(holder, sign)
        if holder.evicted and sign > 0:
            self.leaving[holder.key] = holder.queue
        elif holder.evicted:
            del self.leaving[holder.key]
        restraint = self.restraints.get(holder.queue) if self.restraints else None
        if restraint is not None:
            restraint.charge(holder, sign)
        if holder.local_queue is None:
            return
        if self.turns is not None:
            self.turns.charge(holder.local_queue, holder.usage, runs=charge.runs, sign=sign)
        rank = self.ranks.get(holder.queue) if self.ranks else None
        if rank is not None:
            rank.charge(holder.local_queue, holder.usage, sign)
            self.unranked[holder.queue] = None

    def _weigh(self, holder: Holder, sign: int) -> None:
        """Charge the tree for a holder, or with sign -1 stop to."""
        self.tree.hold(holder.queue, holder.usage, sign)
        later: Mapping[FlavorResource, int] | None = holder.usage
        if self.promises and (holder.evicted or holder.elsewhere is not None):
            later = holder.elsewhere  # of one that leaves it is what is kept for it, if anything
        if later is not None:
            self.tree.add_usage(holder.queue, later, sign)

    def _note_change(self, old: Charge, new: Charge) -> None:
        """Note whether a fact releases quota of the earlier charge."""
        kept = new.holder.usage if old.holder.queue == new.holder.queue else {}
        less = any(kept.get(one, 0) < had for one, had in old.holder.usage.items())
        if less or old.holder.priority != new.holder.priority:
            self.changes.released.add(old.holder.queue)
        self._vacate(old.holder.usage, places_of(new.holder.usage))
        if self.promises and old.holder.elsewhere is not None:
            now = new.holder.elsewhere or new.holder.usage
            self._vacate(old.holder.elsewhere, places_of(now))

    def _vacate(self, usage: Mapping[FlavorResource, int], kept: Sequence[Occupancy] = ()) -> None:
        """Note that places were left, if usage had any but those that are kept."""
        for one in places_of(usage):
            if one not in kept:
                self.changes.vacated |= self.tree.forest.flavors_at(one)

    def _note_arrival(self, old: Charge, new: Charge) -> None:
        """Turn a workload's entry penalty into history, if it became admitted by this fact."""
        name, arrives = new.holder.local_queue, new.runs and not old.runs
        same = name == old.holder.local_queue
        if self.turns is not None and name is not None and same and arrives:
            self.turns.arrive(name, new.holder.usage)


def is_same(old: Charge, new: Charge) -> bool:
    """Say whether a fact charges what was charged before, in all that decisions and views use.

    The time of a reservation that was assumed is not compared.
    """
    known, told = old.holder, new.holder
    at_once = old.decision is not None or known.reserved_at == told.reserved_at
    return at_once and old.admitted == new.admitted and _said(known) == _said(told)
