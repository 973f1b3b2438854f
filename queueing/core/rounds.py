"""One round over the heads of the ClusterQueues: the same as one scheduling cycle of Kueue.

Called by `state.scheduler.schedule`, once per round, with the heads of one quota tree.

`nominate` finds flavors and preemption targets for each head, on the usage as the round begins;
the entries that result are ordered, and `process`ed one after the other, each on what those before
it left.
"""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field

from queueing.core.credits.precedence import Precedence
from queueing.core.decisions import Mode
from queueing.core.entries import Entry, Head, Ruling
from queueing.core.fair_sharing.order import fair_order
from queueing.core.names import FlavorResource, QueueName, Uid
from queueing.core.nomination import World, nominate
from queueing.core.processing import Draft, has_quota, process
from queueing.core.quota.node import QuotaNode
from queueing.core.settings import Settings

_GIVES_WAY = frozenset((Mode.NO_FIT, Mode.NO_CANDIDATES))
"""How far heads came after which others of their queues may have a turn."""

ROUNDS_MAX = 8
"""How many rounds, at most, a preemptor waits for others with fair sharing."""

Pause = Callable[[], bool]
"""Says whether the caller wants to do something else."""
Round = Generator[None, None, list[Ruling]]
"""A round that yields where it pauses, and returns its rulings in the order made. While it pauses,
nothing may change what it depends on."""


def process_round(
    heads: Iterable[Head], world: World, *, in_order: bool = False, pause: Pause | None = None
) -> Round:
    """Decide every head once, as one cycle of Kueue does; with `in_order`, in the given order.

    Some heads get no ruling, and are to be judged again: those that let others go first
    (`LendLast`); those that fitted until others of the round took the quota, unless these go
    `in_order` or as Kueue counts; and, where credits bend fair-share weights, those that would
    borrow while a queue served in this round still has the smaller share (`Precedence`).
    `pause` is asked after each head. The tree is as it was when the round ends. Raises KeyError for
    the head of a queue that is not in the tree or the rules.
    """
    reach, settings = world.reach(), world.settings
    entries: list[Entry] = []
    for head in heads:
        entries.append(nominate(head, world, reach))
        if pause is not None and pause():
            yield
    rulings: list[Ruling] = []
    precedence = Precedence(world.tree) if world.followed else None
    lending, draft = LendLast(world), Draft(world)
    tells_all = in_order or not settings.rules.waits_for_lacks
    with world.tree.attempt():
        for place in world.preempted_for:
            world.tree.forest.charge(place)
        order: Iterable[Entry] = entries
        if len(entries) > 1 and settings.fair_sharing is not None:
            order = fair_order(entries, world.tree, settings)
        elif len(entries) > 1:
            order = sorted(entries, key=entry_key(settings))
        for entry in entries if in_order else lending.borrowers_last(order):
            if (
                precedence is not None
                and entry.assignment.fits
                and entry.assignment.borrow > 0
                and precedence.stands_back(entry.node, entry.usage)
            ):
                continue
            fitted = bool(rulings) and not tells_all and entry.assignment.fits
            if fitted and not entry.assignment.places and not has_quota(entry):
                continue
            ruling = process(entry, draft)
            rulings.append(ruling)
            mode = ruling.decision.mode
            if mode is None or mode in _GIVES_WAY or ruling.is_promise:
                lending.note(ruling.entry)
            if precedence is not None and mode is None and entry.head.queue in world.followed:
                precedence.served(entry.node, entry.usage)
            if pause is not None and pause():
                yield
    return rulings


def entry_key(settings: Settings) -> Callable[[Entry], tuple[bool, int, int, float, Uid]]:
    """Return what gives the place of an entry in its round, where that is not by fair shares.

    Order: preemptors if they come first, least borrowing, highest priority (if
    `priority_sorting_within_cohort`), longest queued, uid.
    """
    by_priority = settings.priority_sorting_within_cohort
    preemptors_first = settings.prioritize_preemptors

    def key(entry: Entry) -> tuple[bool, int, int, float, Uid]:
        head = entry.head
        return (
            not (preemptors_first and head.preempting),
            entry.assignment.borrow,
            -head.workload.priority if by_priority else 0,
            head.timestamp,
            head.workload.uid,
        )

    return key


@dataclass(slots=True, eq=False)
class LendLast:
    """Lend last: who borrows waits while others may still take their own nominal quota.

    Without this a queue's second workload, which is within its own quota, would come after the
    first of another that borrows it, and reclaim it at once: work would be started only to be
    preempted. An entry that borrows waits, unless it fits beside all that workloads of other queues
    which compete for their queues' turn, and the equals of their heads, may still take of their own
    nominal quota. Those who wait are decided if nobody else of their tree got anything in the
    round, or gave way to others of its queue.

    With fair sharing the order is by shares, and victims were chosen by those at the begin of the
    round. So there who would preempt waits, once somebody of its tree got something or gave way; in
    the next round who fits comes before it, and it chooses anew. Not more than `ROUNDS_MAX` times,
    so that a backlog which fits keeps nobody from its right.
    """

    world: World
    _waiting: list[Entry] = field(default_factory=list)
    _moved: set[QuotaNode] = field(default_factory=set)
    """Roots of trees in which somebody got something, or gave way."""
    _due: dict[tuple[QuotaNode, FlavorResource], dict[QuotaNode, int]] = field(default_factory=dict)
    """What each queue of a tree may still take of its nominal quota, and what all may take, by the
    root; as it was when it was first asked for in the round."""

    def note(self, entry: Entry) -> None:
        """Note that an entry got something, or gave way to others of its queue."""
        self._moved.add(entry.node.root)

    def borrowers_last(self, entries: Iterable[Entry]) -> Iterator[Entry]:
        """Yield entries in their order, then those that waited for the others in vain."""
        if not self.world.settings.rules.lends_last:
            yield from entries
            return
        for entry in entries:
            if self._waits(entry):
                self._waiting.append(entry)
            else:
                yield entry
        yield from [one for one in self._waiting if one.node.root not in self._moved]

    def _waits(self, entry: Entry) -> bool:
        """Say whether an entry waits for the others of the round."""
        if self.world.settings.fair_sharing is not None:
            may_wait = bool(entry.targets) and entry.head.waited < ROUNDS_MAX
            return may_wait and entry.node.root in self._moved
        if not entry.assignment.borrow:
            return False
        node, root = entry.node, entry.node.root
        for resource, amount in entry.usage.items():
            asked = self._due.get((root, resource))
            if asked is None:
                asked = self._due[root, resource] = self._asked_of(root, resource)
            others = asked[root] - asked.get(node, 0)
            if amount + others > node.cells[resource].available():
                return True
        return False

    def _asked_of(self, root: QuotaNode, resource: FlavorResource) -> dict[QuotaNode, int]:
        found: dict[QuotaNode, int] = {}
        pending = self.world.pending
        for queue in root.queues():
            cell = queue.cells.get(resource)
            left = 0 if cell is None else cell.limits.nominal - cell.usage
            if left > 0:
                found[queue] = pending(QueueName(queue.name), resource.resource, left)
        found[root] = sum(found.values())
        return found
