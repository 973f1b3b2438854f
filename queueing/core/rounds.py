"""One round over the heads of the ClusterQueues: the same as one scheduling cycle of Kueue.

`nominations` finds flavors and preemption targets for each head, on the present usage.
`decide_round` puts these entries in order and decides one after the other, each on what those
before it left. `judge_round` is both, for heads that are all known beforehand.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from queueing.core.decisions import Admit, Mode, Preempt, Wait
from queueing.core.draft import Draft
from queueing.core.entries import Entry, Head, Ruling
from queueing.core.fair_sharing.order import Contender, fair_order
from queueing.core.fair_sharing.precedence import Precedence
from queueing.core.flavors.assignment import Progress
from queueing.core.names import FlavorResource, QueueName
from queueing.core.nomination import World, nominate, nominate_head
from queueing.core.ordering import entry_key
from queueing.core.preemption.borrowers import Borrowers
from queueing.core.processing import rule, rule_hopeless
from queueing.core.reasons import NO_LONGER_FITS, Lack
from queueing.core.settings import Compatibility, FairSharing, Settings

__all__ = [
    "Entry",
    "Head",
    "Judgement",
    "Lack",
    "Progress",
    "World",
    "decide_round",
    "judge_round",
    "nominations",
]


class Judgement(NamedTuple):
    """The decision about one head, and what its next attempt depends on."""

    head: Head
    decision: Admit | Wait
    usage: Mapping[FlavorResource, int]
    """What the Admit charges, or what the head would use."""
    preemptions: tuple[Preempt, ...] = ()
    """The preemptions that it issues; the decision is a Wait then."""
    progress: Progress | None = None
    """Set while flavors are left to try."""
    lacks: tuple[Lack, ...] = ()
    """All quota that was missing in the search; empty if only a change of objects can help."""
    wants_candidates: bool = False
    """Preemption was allowed but found no victims, so that new or changed holders may help."""
    borrow: int = 0
    """How far up the tree the head would borrow as the round began: part of its place in it."""
    is_limited: bool = False
    """Budgets or restraints bore on it, so that a change of these may help."""


Successor = Callable[[Judgement], Head | None]
"""Called with the judgement of a hopeless head; returns the next head of its queue, or None."""


def nominations(
    heads: Iterable[Head], world: World, successor: Successor, along: Iterable[Head] = ()
) -> Iterator[Entry]:
    """Nominate heads on the present usage, and the next of its queue for a hopeless head.

    A hopeless head neither fits nor finds victims. It does not cost its queue the turn: `successor`
    is called for it and returns the next head. So the round is the same for an engine that knew
    already which heads are hopeless. `along` are the companions, which keep quota from others
    though they are no heads; they are read when all heads are nominated.
    Raises KeyError for the head of a queue that is not in the tree.
    """
    borrowers = Borrowers()
    for first in heads:
        head: Head | None = first
        while head is not None:
            entry = nominate_head(head, world, borrowers)
            ruling = rule_hopeless(entry)
            if ruling is None:
                yield entry
                break
            head = successor(_judgement(ruling, world.settings))
    for one in along:
        yield nominate_head(one, world, borrowers)


def judge_round(heads: Sequence[Head], world: World) -> list[Judgement]:
    """Decide every head once, as one cycle of Kueue does.

    Raises KeyError for the head of a queue that is not in the tree or the rules.
    """
    borrowers = Borrowers()
    return decide_round([nominate(head, world, borrowers) for head in heads], world)


def decide_round(entries: Sequence[Entry], world: World) -> list[Judgement]:
    """Decide nominated heads in the order of entries, each on what those before it left.

    Two kinds get no judgement: a `patient` head that fitted until others of the round came first,
    and, where credits bend fair-share weights, a head that would borrow while a queue that was
    served in this round still has the smaller share (`Precedence`).

    Entries of one queue are decided in the given order, so the first may hold up the others until
    its own place. If it gets nothing there, it held them up in vain, and entries of other queues
    were decided too early. Then the round is decided anew without it (docs/decisions/0085).
    On return the tree contains the usage of every Admit and is otherwise unchanged.
    """
    in_vain: list[Judgement] = []
    while True:
        decided = _Pass(world)
        idle = decided.run(entries)
        if idle is None:
            break
        in_vain.extend(decided.judgements(idle))
        entries = [one for one in entries if one is not idle]
    judgements = decided.judgements()
    for judgement in judgements:
        if isinstance(judgement.decision, Admit):
            world.tree.add_usage(judgement.head.queue, judgement.usage)
    return [*judgements, *in_vain]


class _Pass:
    """Decides the entries of a round once."""

    __slots__ = ("_draft", "_precedence", "_rulings", "_world")

    def __init__(self, world: World) -> None:
        self._world = world
        self._draft, self._precedence = Draft(world), Precedence(world.tree)
        self._rulings: list[tuple[Entry, Ruling]] = []
        """Each entry as it was given; its ruling has another one if it was nominated anew."""

    def run(self, entries: Sequence[Entry]) -> Entry | None:
        """Decide all entries and return None, or stop at one that held up others in vain.

        That one is returned, and what was taken from budgets is given back. The tree is as it was
        in either case.
        """
        allowance = self._world.allowance
        if allowance is not None:
            allowance.begin_round()
        with self._world.tree.attempt():
            for entry, holds_up in _ordered(entries, self._world):
                if not self._gets_something(entry) and holds_up:
                    if allowance is not None:
                        allowance.undo_round()
                    return entry
        return None

    def judgements(self, only: Entry | None = None) -> list[Judgement]:
        """Return the judgements so far, of all entries or only of one."""
        return [
            _judgement(ruling, self._world.settings, entry.assignment.borrow)
            for entry, ruling in self._rulings
            if only is None or entry is only
        ]

    def _gets_something(self, entry: Entry) -> bool:
        """Decide an entry; say whether it is admitted, or waits for victims to leave."""
        world, assignment = self._world, entry.assignment
        if entry.head.patient and assignment.fits and not self._draft.fits(entry):
            return False
        borrows = assignment.fits and assignment.borrow > 0
        if borrows and self._precedence.stands_back(entry.node, entry.usage):
            return False
        ruling = rule(entry, self._draft)
        self._rulings.append((entry, ruling))
        decision = ruling.decision
        if isinstance(decision, Wait):
            return bool(ruling.preemptions) or decision.mode is Mode.DEFERRED_FIT
        if entry.head.queue in world.followed:
            self._precedence.served(entry.node, entry.usage)
        return True


def _ordered(entries: Sequence[Entry], world: World) -> Iterator[tuple[Entry, bool]]:
    """Yield entries by least borrowing, highest priority, oldest, uid; or by fair shares.

    The second value is whether others of its queue had to wait for this entry.
    """
    settings = world.settings
    if settings.fair_sharing is not None:
        return _in_order_of_queues(_fairly_ordered(entries, world, settings.fair_sharing), entries)

    def key(entry: Entry) -> tuple[bool, tuple[int, int, float, str]]:
        head = entry.head
        place = entry_key(head.workload, entry.assignment.borrow, head.timestamp, settings)
        return not _goes_first(entry, settings), place

    return _in_order_of_queues(iter(sorted(entries, key=key)), entries)


def _in_order_of_queues(
    ordered: Iterator[Entry], given: Sequence[Entry]
) -> Iterator[tuple[Entry, bool]]:
    """Keep the entries of one queue in the given order, whatever the common order says.

    An entry that comes too early waits until those given before it have come. These do not move up
    to its place, because the place of an entry must not depend on what is behind it in its queue.
    """
    queues: dict[QueueName, list[Entry]] = {}
    for entry in reversed(given):
        queues.setdefault(entry.head.queue, []).append(entry)
    if len(queues) == len(given):
        return ((entry, False) for entry in ordered)
    return _each_after_its_own(ordered, queues)


def _each_after_its_own(
    ordered: Iterator[Entry], queues: Mapping[QueueName, list[Entry]]
) -> Iterator[tuple[Entry, bool]]:
    passed: set[int] = set()
    for entry in ordered:
        passed.add(id(entry))
        line = queues[entry.head.queue]
        while line and id(line[-1]) in passed:
            first = line.pop()
            yield first, bool(line) and id(line[-1]) in passed


def _goes_first(entry: Entry, settings: Settings) -> bool:
    """Say whether a head comes before all others because its preemptions are in progress."""
    return settings.prioritize_preemptors and entry.head.preempting


def _fairly_ordered(
    entries: Sequence[Entry], world: World, settings: FairSharing
) -> Iterator[Entry]:
    """Yield entries by shares; each place depends on what was decided before it."""
    by_priority = world.settings.priority_sorting_within_cohort
    by_uid = {entry.head.workload.uid: entry for entry in entries}
    contenders = [
        Contender(
            node=entry.node,
            usage=entry.usage,
            priority=entry.head.workload.priority if by_priority else 0,
            timestamp=entry.head.timestamp,
            uid=entry.head.workload.uid,
            goes_first=_goes_first(entry, world.settings),
        )
        for entry in entries
    ]
    order = fair_order(
        contenders,
        world.tree,
        prefers_non_borrowing=settings.prioritize_non_borrowing,
        known=world.recalls or {},
    )
    return (by_uid[one.uid] for one in order)


def _judgement(ruling: Ruling, settings: Settings, borrow: int = 0) -> Judgement:
    assignment = ruling.entry.assignment
    waits = isinstance(ruling.decision, Wait)
    return Judgement(
        head=ruling.entry.head,
        decision=ruling.decision,
        preemptions=ruling.preemptions,
        progress=assignment.progress if _goes_on(ruling, settings) else None,
        lacks=assignment.lacks() if waits else (),
        wants_candidates=(
            assignment.needs_preemption
            and not ruling.entry.targets
            and not ruling.entry.rules.never_preempts
        ),
        usage=ruling.entry.usage,
        borrow=borrow,
        is_limited=ruling.entry.is_limited,
    )


def _goes_on(ruling: Ruling, settings: Settings) -> bool:
    """Say whether the next attempt starts at the flavor where this one stopped.

    A workload that waits for victims tries all flavors anew when they have left, and so does one
    that was skipped because others of the round came first. In Kueue mode it goes on where these
    just took the quota, if progress is preserved.
    """
    decision = ruling.decision
    if not isinstance(decision, Wait) or ruling.preemptions:
        return False
    if decision.mode is Mode.SKIPPED:
        as_kueue = settings.compatibility is Compatibility.KUEUE
        preserves = as_kueue and settings.preserve_scan_progress
        return preserves and decision.message == NO_LONGER_FITS
    return decision.mode is not Mode.DEFERRED_FIT
