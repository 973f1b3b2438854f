"""The charges of all workloads that hold quota, by facts and by assumed admissions.

Invariants: a workload is charged at most once, to one ClusterQueue; the usage of a queue in the
tree is the sum over its charges; quota is released only by a fact or a refused write.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from queueing.core.holders import ByPriority, Holder, Ranked, exposed_by, rank
from queueing.core.names import FlavorResource, Key, QueueName, Uid
from queueing.core.quota.tree import QuotaTree
from queueing.core.sharing import Commons
from queueing.state.usage.changes import UsageChanges
from queueing.state.usage.charges import Charge, is_running, is_same
from queueing.state.usage.ranks import Rank
from queueing.state.usage.rolls import Rolls
from queueing.state.usage.sharing import Users
from queueing.state.usage.turns import Turns

NOBODY = rank(())
NOTHING = exposed_by(())


class Ledger:
    """The charges by workload, mirrored in the quota tree.

    It implements `Holders` of `queueing.core.holders`, through which preemption finds candidates.
    """

    __slots__ = (
        "asleep",
        "changes",
        "charges",
        "evicting",
        "leaving",
        "on_price",
        "promised",
        "promises",
        "ranks",
        "rolls",
        "tree",
        "turns",
        "unranked",
        "users",
    )

    def __init__(
        self, tree: QuotaTree, turns: Turns | None = None, *, promises: bool = True
    ) -> None:
        self.tree = tree
        self.promises = promises
        """Whether victims are gone from the usage, and from the candidates, once they are evicted:
        what they give back may be promised to others."""
        self.promised: dict[Key, Holder] = {}
        """Pending workloads to which quota is promised that others have not given back yet."""
        self.turns = turns
        """The usage histories of LocalQueues; None without admission fair sharing."""
        self.charges: dict[Key, Charge] = {}
        self.rolls = Rolls()
        """The same charges by queue."""
        self.users = Users(self.charges)
        """The users of ResourceClaims that several workloads may use."""
        self.evicting: dict[Key, dict[Uid, None]] = {}
        """Victims whose eviction was decided and that no fact shows as Evicted yet, each with the
        preemptors for which this is the first preemption of the victim (see `pairs`)."""
        self.leaving: dict[QueueName, int] = {}
        """ClusterQueue → how many of its workloads are evicted and still hold quota."""
        self.ranks: dict[QueueName, Rank] = {}
        """The order of LocalQueues of ClusterQueues in which credits determine it."""
        self.unranked: dict[QueueName, None] = {}
        """Queues whose order of LocalQueues may have changed; `rank_local_queues` empties this."""
        self.changes = UsageChanges()
        self.on_price: Callable[[Holder], None] | None = None
        """Called with each holder whose charge changed because of other users of its claims."""
        self.asleep: set[QueueName] = set()
        """Inactive queues: their quota and usage count, but their workloads are no candidates."""

    # What preemption asks (core.holders.Holders).

    def holders(self, queue: QueueName) -> Iterable[Holder]:
        """Return the workloads of a queue that may be preempted; none if it is inactive."""
        if queue in self.asleep:
            return ()
        roll = self.rolls.by_queue.get(queue)
        if roll is None:
            return ()
        victims = roll.victims
        return list(self.users.jointly(victims)) if queue in self.users else victims.values()

    def ranked(self, queue: QueueName) -> Ranked:
        """Return the same in the order of `rank`; memoized."""
        if queue in self.asleep:
            return NOBODY
        roll = self.rolls.by_queue.get(queue)
        if roll is None:
            return NOBODY
        if roll.ranked is None:
            roll.ranked = rank(self.holders(queue))
        return roll.ranked

    def exposed(self, queue: QueueName) -> ByPriority:
        """Return what workloads that may be preempted hold, by priority; memoized."""
        if queue in self.asleep:
            return NOTHING
        roll = self.rolls.by_queue.get(queue)
        if roll is None:
            return NOTHING
        if roll.exposed is None:
            roll.exposed = exposed_by(self.holders(queue))
        return roll.exposed

    def local_usage(self, queue: QueueName, local_queue: Key) -> float:
        """Return the usage by which LocalQueues of a queue take turns; 0 if they do not."""
        rank = self.ranks.get(queue)
        if rank is not None:
            return rank.key(local_queue)
        return 0.0 if self.turns is None else self.turns.usage(local_queue)

    def commons(self, queue: QueueName, claims: Iterable[str]) -> Commons | None:
        """Return those of the claims that workloads of a queue, not evicted, use; None if none."""
        return self.users.commons(queue, claims)

    # Changes.

    def assume(self, charge: Charge) -> None:
        """Charge an admission by assumption.

        Only as Kueue counts it may be a victim before its status says that it was admitted.
        """
        holder = charge.holder
        if holder.parts:
            charge = replace(charge, holder=self.users.priced(holder))
        self._enter(charge, may_be_victim=not self.promises)
        if holder.parts:
            self._price_others(charge)

    def promise(self, holder: Holder) -> None:
        """Promise quota to a pending workload that has no promise."""
        self.promised[holder.key] = holder
        self.rolls.offer(holder)
        if self.tree.has_queue(holder.queue):
            self.tree.add_usage(holder.queue, holder.usage)

    def break_promise(self, key: Key, *, releases: bool) -> None:
        """Take the promise of a workload back, if it has one.

        It `releases` quota unless the workload is judged again at once and may get it back.
        """
        holder = self.promised.pop(key, None)
        if holder is None:
            return
        self.rolls.retract(holder)
        if self.tree.has_queue(holder.queue):
            self.tree.remove_usage(holder.queue, holder.usage)
        if releases:
            self.changes.release(holder.queue, holder.usage)

    def charge(self, charge: Charge) -> None:
        """Charge a workload by a fact, in place of its earlier charge."""
        old = self.charges.get(charge.holder.key)
        new = self._marked(charge)
        if new.holder.parts:
            new = replace(new, holder=self.users.priced(new.holder))
        self._note_arrival(old, new)
        if old is not None and is_same(old, new):
            if old.decision is None:
                return
            self._confirm(old, new)
            self._price_others(new)
            self.changes.welcome(new.holder)
            return
        if old is not None:
            self._withdraw(old)
        self._enter(new)
        self.changes.welcome(new.holder)
        if old is not None:
            self._price_others(old)
            self._note_change(old, new)
        self._price_others(new)

    def confirm(self, old: Charge, new: Charge) -> None:
        """Replace an assumed charge by a fact with the same usage."""
        if self.turns is not None:
            self._note_arrival(old, new)
        self._confirm(old, new)
        self.changes.welcome(new.holder)

    def discharge(self, key: Key) -> Charge | None:
        """Release what a workload holds; return its charge, None if it held nothing."""
        if self.evicting:
            self.evicting.pop(key, None)
        charge = self.charges.get(key)
        if charge is None:
            return None
        self._withdraw(charge)
        self.changes.release(charge.holder.queue, charge.holder.usage)
        if charge.holder.parts:
            self._price_others(charge)
        return charge

    def evict(self, key: Key) -> bool:
        """Mark a victim as evicted; say whether it was not before.

        It stays charged until a fact says that it holds no quota.
        """
        charge = self.charges.get(key)
        if charge is None or charge.holder.evicted:
            return False
        self.evicting[key] = {}
        self._mark(charge, evicted=True)
        if self.promises:
            self.changes.release(charge.holder.queue, charge.holder.usage)
        return True

    def spare(self, key: Key) -> Iterable[Uid]:
        """Undo `evict`, because it was not written; return the preemptors in `evicting`."""
        charge = self.charges.get(key)
        preemptors = self.evicting.pop(key, None)
        if preemptors is not None and charge is not None:
            self._mark(charge, evicted=False)
        return preemptors or ()

    def open_queue(self, name: QueueName) -> None:
        """Charge the tree for the workloads that hold quota of a queue that is new in it."""
        for charge in self.rolls.charges_of(name):
            self._count(charge.holder, 1)
        for holder in self.promised.values():
            if holder.queue == name:
                self.tree.add_usage(name, holder.usage)

    def take_changes(self) -> UsageChanges:
        """Return the usage changes since the last call."""
        told, self.changes = self.changes, UsageChanges()
        return told

    def _marked(self, charge: Charge) -> Charge:
        """Return a fact's charge marked as evicted, if that was decided and not in the fact yet."""
        key = charge.holder.key
        if charge.holder.evicted:
            self.evicting.pop(key, None)
        elif key in self.evicting:
            return replace(charge, holder=replace(charge.holder, evicted=True))
        return charge

    def _mark(self, charge: Charge, *, evicted: bool) -> None:
        self._withdraw(charge)
        marked = replace(charge, holder=replace(charge.holder, evicted=evicted))
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
                self.changes.welcome(self.charges[key].holder)
        self.rolls.forget_sums(holder.queue)

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
        may_be_victim = self.rolls.may_be_victim(priced)
        self._withdraw(charge)
        self._enter(replace(charge, holder=priced), may_be_victim=may_be_victim)
        if self.on_price is not None:
            self.on_price(priced)

    def _enter(self, charge: Charge, *, may_be_victim: bool = True) -> None:
        self._put(charge, may_be_victim=may_be_victim and not self._is_gone(charge.holder))
        self._count(charge.holder, 1)

    def _withdraw(self, charge: Charge) -> None:
        self._take(charge)
        self._count(charge.holder, -1)

    def _count(self, holder: Holder, sign: int) -> None:
        """Charge the tree for a holder, or with sign -1 stop to."""
        if not self.tree.has_queue(holder.queue):
            return
        self.tree.hold(holder.queue, holder.usage, sign)
        if self._is_gone(holder):
            return
        if sign > 0:
            self.tree.add_usage(holder.queue, holder.usage)
        else:
            self.tree.remove_usage(holder.queue, holder.usage)

    def _is_gone(self, holder: Holder) -> bool:
        """Say whether a holder counts only in what is held now, because it is leaving."""
        return holder.evicted and self.promises

    def _note_change(self, old: Charge, new: Charge) -> None:
        kept: Mapping[FlavorResource, int] = {}
        if old.holder.queue == new.holder.queue:
            kept = new.holder.usage
        less = [one for one, had in old.holder.usage.items() if kept.get(one, 0) < had]
        if less or old.holder.priority != new.holder.priority:
            self.changes.release(old.holder.queue, less)

    def _note_arrival(self, old: Charge | None, new: Charge) -> None:
        """Turn a workload's entry penalty into history, if it became admitted by this fact."""
        local_queue = new.holder.local_queue
        if (
            self.turns is None
            or local_queue is None
            or old is None
            or is_running(old)
            or not is_running(new)
        ):
            return
        if old.holder.local_queue == local_queue:
            self.turns.arrive(local_queue, new.holder.usage)

    def _confirm(self, old: Charge, new: Charge) -> None:
        """Replace an assumed charge by the fact that confirms it; no sums change."""
        holder = new.holder
        self.charges[holder.key] = new
        self.rolls.confirm(new, may_be_victim=not self._is_gone(holder))
        if self.turns is not None and holder.local_queue is not None:
            for one, sign in ((old, -1), (new, 1)):
                runs = is_running(one)
                self.turns.charge(holder.local_queue, holder.usage, runs=runs, sign=sign)

    def _put(self, charge: Charge, *, may_be_victim: bool = True) -> None:
        """Add a charge to the roll of its queue; the caller charges the tree."""
        holder = charge.holder
        self.charges[holder.key] = charge
        self.rolls.enter(charge, may_be_victim=may_be_victim)
        if self._counts_more(holder):
            self._follow(charge, 1)

    def _take(self, charge: Charge) -> None:
        """Remove a charge from the roll of its queue; the caller updates the tree."""
        holder = charge.holder
        del self.charges[holder.key]
        self.rolls.leave(charge)
        if self._counts_more(holder):
            self._follow(charge, -1)

    def _counts_more(self, holder: Holder) -> bool:
        """Say whether a holder also counts for claims, departures or turns; most do not."""
        return bool(holder.parts or holder.evicted or self.ranks) or self.turns is not None

    def _follow(self, charge: Charge, sign: int) -> None:
        """Add a charge, or with sign -1 remove it, for claims, departures and turns."""
        holder = charge.holder
        if holder.parts:
            self.users.note(holder, sign)
        if holder.evicted:
            self.leaving[holder.queue] = self.leaving.get(holder.queue, 0) + sign
            if not self.leaving[holder.queue]:
                del self.leaving[holder.queue]
        if holder.local_queue is None:
            return
        if self.turns is not None:
            runs = is_running(charge)
            self.turns.charge(holder.local_queue, holder.usage, runs=runs, sign=sign)
        rank = self.ranks.get(holder.queue)
        if rank is not None:
            rank.charge(holder.local_queue, holder.usage, sign)
            self.unranked[holder.queue] = None
