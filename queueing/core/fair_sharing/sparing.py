"""Spares victims that are not needed, without making the preemption unfair.

A spared victim uses its quota again. If it is in the preemptor's own subtree, that raises the
preemptor's share, so that the other victims could preempt the preemptor in turn, and so on for
ever. So the rule by which victims were chosen must still hold for every remaining victim:
preemptor's share <= target's share without its victims, or < target's share with that victim back.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.fair_sharing.patience import NO_PATIENCE, Patience
from queueing.core.fair_sharing.shares import Share, Shares
from queueing.core.holders import Holder
from queueing.core.names import Uid
from queueing.core.preemption.query import Query, Target
from queueing.core.preemption.room import Room
from queueing.core.quota.node import QuotaNode
from queueing.core.quota.tree import QuotaTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules by which victims of other queues may be chosen; see `Settings.fair_sharing`."""

    final: bool
    initial: bool
    within_nominal: bool
    """Whether queues may take victims by right, whatever the shares."""
    by_right: bool
    """Whether the preemptor may: its queue stays within its quota even before any victim leaves."""
    patience: Patience = NO_PATIENCE


@dataclass(slots=True, eq=False)
class Level:
    """The victims for which one cohort above the preemptor is the lowest common one.

    Their shares are compared directly below that cohort: `mine` is its child above the preemptor.
    """

    mine: QuotaNode
    shares: Shares
    stands: dict[QuotaNode, dict[Uid, Holder]] = field(default_factory=dict)
    """Child of the cohort → the victims below it."""
    _floor: Share | None = None
    """A lower bound of the shares of these children, which only rise as victims are spared."""
    _judged: tuple[Share, bool] | None = None
    """The preemptor's share at the last `is_fair`, with its answer, for the same victims."""

    def put(self, theirs: QuotaNode, holder: Holder) -> None:
        """Add a victim."""
        self.stands.setdefault(theirs, {})[holder.uid] = holder
        self._floor = self._judged = None

    def drop(self, theirs: QuotaNode, holder: Holder) -> None:
        """Remove a victim that is spared."""
        del self.stands[theirs][holder.uid]
        if not self.stands[theirs]:
            del self.stands[theirs]
        self._judged = None

    def is_fair(self, room: Room, rules: Rules) -> bool:
        """Say whether the rules hold for every victim at the present usage."""
        new = self.shares.of(self.mine)
        most = (new[0], new[1] * rules.patience.hysteresis)
        if self._floor is not None and most < self._floor:
            return True
        if self._judged is None or self._judged[0] != new:
            before = {theirs: self.shares.of(theirs) for theirs in self.stands}
            self._floor = min(before.values(), default=None)
            fair = all(
                self._is_fair_to(theirs, share, room=room, rules=rules)
                for theirs, share in before.items()
            )
            self._judged = new, fair
        return self._judged[1]

    def _is_fair_to(self, theirs: QuotaNode, share: Share, *, room: Room, rules: Rules) -> bool:
        new = rules.patience.demanded(self.shares.of(self.mine), self.mine, theirs)
        return (
            new < share
            or (rules.final and new <= share)
            or (rules.initial and self._all_larger(new, theirs, room))
        )

    def _all_larger(self, new: Share, theirs: QuotaNode, room: Room) -> bool:
        """Say whether a child's share with any one of its victims back is larger than `new`."""
        for holder in self.stands[theirs].values():
            room.restore(holder)
            before = self.shares.of(theirs)
            room.clear(holder)
            if new >= before:
                return False
        return True


@dataclass(slots=True, eq=False)
class Fairness:
    """Whether the rules hold for all victims at the present usage, with the preemptor charged."""

    query: Query
    tree: QuotaTree
    room: Room
    rules: Rules
    _shares: Shares = field(default_factory=Shares)
    _levels: dict[QuotaNode, Level] = field(default_factory=dict)

    def put(self, target: Target) -> None:
        """Add a victim."""
        if target.reason is not PreemptionReason.IN_COHORT_FAIR_SHARING:
            return
        mine, theirs = self._sides(target)
        level = self._levels.get(mine)
        if level is None:
            level = self._levels[mine] = Level(mine, self._shares)
        level.put(theirs, target.holder)

    def drop(self, target: Target) -> None:
        """Remove a victim that is spared."""
        if target.reason is PreemptionReason.IN_COHORT_FAIR_SHARING:
            mine, theirs = self._sides(target)
            self._levels[mine].drop(theirs, target.holder)

    def holds(self) -> bool:
        """Say whether the rules hold for every victim that was chosen by shares."""
        return all(one.is_fair(self.room, self.rules) for one in self._levels.values())

    def only_gains(self, target: Target) -> bool:
        """Say whether sparing a victim cannot make the preemption less fair to any other victim."""
        if target.reason is PreemptionReason.IN_CLUSTER_QUEUE:
            return False
        mine, _ = self._sides(target)
        above = (self._levels.get(node) for node in mine.ancestors())
        return not any(level is not None and level.stands for level in above)

    def lets_return(self, target: Target) -> bool:
        """Say whether a victim could reclaim its quota, because its queue would not borrow then."""
        own, contested = self.query.preemptor.node, self.query.contested
        if target.reason is not PreemptionReason.IN_COHORT_FAIR_SHARING or (
            not self.rules.within_nominal or not own.borrows(contested)
        ):
            return False
        queue, usage = self.tree.queue(target.holder.queue), target.holder.usage
        return not any(queue.borrowing_with(one, usage[one]) for one in contested if one in usage)

    def _sides(self, target: Target) -> tuple[QuotaNode, QuotaNode]:
        return below_common(self.query.preemptor.node, self.tree.queue(target.holder.queue))


def spare_fairly(targets: Sequence[Target], balance: Fairness, room: Room) -> list[Target]:
    """Return the victims that are needed, or none if the preemption cannot be made fair.

    Victims are spared from the last chosen to the first; the preemptor stays charged. One without
    which the preemptor does not fit stays a victim. One without which the preemption is unfair is
    tried again after others were spared.
    """
    kept = {target.holder.uid: target for target in targets}
    for target in targets:
        balance.put(target)
    fair = balance.holds()
    waiting, moved = list(reversed(targets[:-1])), True
    while waiting and moved:
        doubtful, moved = [], False
        for target in waiting:
            room.restore(target.holder)
            if not room.fits_beside_itself():
                room.clear(target.holder)
                continue
            balance.drop(target)
            fair_then = balance.holds()
            if fair_then or (not fair and balance.only_gains(target)):
                fair, moved = fair_then, True
                del kept[target.holder.uid]
            else:
                balance.put(target)
                room.clear(target.holder)
                doubtful.append(target)
        waiting = doubtful
    return list(kept.values()) if fair else []


def below_common(own: QuotaNode, other: QuotaNode) -> tuple[QuotaNode, QuotaNode]:
    """Return the two children of the lowest common cohort of two queues that are above these."""
    below: dict[QuotaNode, QuotaNode] = {}
    child = own
    for cohort in own.ancestors():
        below[cohort] = child
        child = cohort
    child = other
    for cohort in other.ancestors():
        if cohort in below:
            return below[cohort], child
        child = cohort
    msg = f"queues {own.path()} and {other.path()} have no cohort in common"
    raise ValueError(msg)
