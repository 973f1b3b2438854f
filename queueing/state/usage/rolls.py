"""The workloads that hold quota, by ClusterQueue, with their sums."""

from collections.abc import Iterable

from queueing.core.holders import ByPriority, Holder, Ranked
from queueing.core.names import Key, QueueName
from queueing.state.usage.charges import Charge, Tally, together


class Roll:
    """The workloads that hold quota of one ClusterQueue, and memos of what follows from them.

    Invariant: a LocalQueue has a tally exactly while one of its workloads holds quota.
    """

    __slots__ = ("charges", "exposed", "ranked", "tallies", "victims")

    def __init__(self) -> None:
        self.charges: dict[Key, Charge] = {}
        self.victims: dict[Key, Holder] = {}
        """Holders that may be preempted. Only in Kueue mode these include assumed admissions."""
        self.tallies: dict[Key | None, Tally] = {}
        """By LocalQueue; None is for workloads whose LocalQueue is unknown."""
        self.exposed: ByPriority | None = None
        """A memo: what possible victims hold; None until it is computed."""
        self.ranked: Ranked | None = None
        """A memo: the possible victims as `rank` orders them; None until it is computed."""

    def forget_sums(self) -> None:
        """Forget the memos, because the possible victims changed."""
        self.exposed = self.ranked = None


class Rolls:
    """The roll of each ClusterQueue of which a workload holds quota, and of no other.

    They know nothing of the quota tree: the ledger keeps both, and keeps them equal.
    """

    __slots__ = ("_behind", "by_queue")

    def __init__(self) -> None:
        self.by_queue: dict[QueueName, Roll] = {}
        self._behind: dict[Key, dict[QueueName, Tally]] = {}
        """The tallies of the rolls by LocalQueue. Workloads of one LocalQueue hold quota of several
        ClusterQueues if it was created anew for another."""

    def charges_of(self, queue: QueueName) -> Iterable[Charge]:
        """Return all charges of a ClusterQueue."""
        roll = self.by_queue.get(queue)
        return () if roll is None else roll.charges.values()

    def held_in(self, queue: QueueName) -> Iterable[Holder]:
        """Return all workloads that hold quota of a ClusterQueue."""
        return (one.holder for one in self.charges_of(queue))

    def may_be_victim(self, holder: Holder) -> bool:
        """Say whether a holder is among those that may be preempted."""
        return holder.key in self.by_queue[holder.queue].victims

    def forget_sums(self, queue: QueueName) -> None:
        """Forget what follows from the possible victims of a ClusterQueue."""
        roll = self.by_queue.get(queue)
        if roll is not None:
            roll.forget_sums()

    def tallies(self) -> dict[QueueName, Tally]:
        """Return the counts and sums of each ClusterQueue of which a workload holds quota."""
        return {
            queue: together(roll.tallies.values())
            for queue, roll in self.by_queue.items()
            if roll.charges
        }

    def tally(self, queue: QueueName) -> Tally:
        """Return the counts and sums of a ClusterQueue."""
        roll = self.by_queue.get(queue)
        return together(() if roll is None else roll.tallies.values())

    def tallies_behind(self) -> dict[Key, Tally]:
        """Return the counts and sums of each LocalQueue of which a workload holds quota."""
        return {
            local_queue: together(tallies.values()) for local_queue, tallies in self._behind.items()
        }

    def tally_behind(self, local_queue: Key) -> Tally:
        """Return the counts and sums of a LocalQueue."""
        return together(self._behind.get(local_queue, {}).values())

    def enter(self, charge: Charge, *, may_be_victim: bool) -> None:
        """Enter a charge of a workload that has none."""
        holder = charge.holder
        roll = self.by_queue.get(holder.queue)
        if roll is None:
            roll = self.by_queue[holder.queue] = Roll()
        roll.charges[holder.key] = charge
        if may_be_victim:
            roll.victims[holder.key] = holder
            roll.forget_sums()
        local_queue = holder.local_queue
        tally = roll.tallies.get(local_queue)
        if tally is None:
            tally = roll.tallies[local_queue] = Tally()
            if local_queue is not None:
                self._behind.setdefault(local_queue, {})[holder.queue] = tally
        tally.add(charge, 1)

    def offer(self, holder: Holder) -> None:
        """Enter a holder of a promise: it may lose it, and has no charge."""
        roll = self.by_queue.get(holder.queue)
        if roll is None:
            roll = self.by_queue[holder.queue] = Roll()
        roll.victims[holder.key] = holder
        roll.forget_sums()

    def retract(self, holder: Holder) -> None:
        """Take a holder of a promise out."""
        roll = self.by_queue[holder.queue]
        del roll.victims[holder.key]
        roll.forget_sums()
        self._drop_if_empty(holder.queue)

    def leave(self, charge: Charge) -> None:
        """Take a charge out."""
        holder = charge.holder
        roll = self.by_queue[holder.queue]
        del roll.charges[holder.key]
        roll.victims.pop(holder.key, None)
        roll.forget_sums()
        local_queue = holder.local_queue
        tally = roll.tallies[local_queue]
        tally.add(charge, -1)
        if tally.reserving:
            return
        del roll.tallies[local_queue]
        if local_queue is not None:
            self._drop_behind(local_queue, holder.queue)
        self._drop_if_empty(holder.queue)

    def confirm(self, charge: Charge, *, may_be_victim: bool) -> None:
        """Put a fact in place of the assumption that it says the same as."""
        holder = charge.holder
        roll = self.by_queue[holder.queue]
        roll.charges[holder.key] = charge
        if may_be_victim:
            roll.victims[holder.key] = holder
            roll.forget_sums()

    def _drop_if_empty(self, queue: QueueName) -> None:
        roll = self.by_queue[queue]
        if not roll.charges and not roll.victims:
            del self.by_queue[queue]

    def _drop_behind(self, local_queue: Key, queue: QueueName) -> None:
        tallies = self._behind[local_queue]
        del tallies[queue]
        if not tallies:
            del self._behind[local_queue]
