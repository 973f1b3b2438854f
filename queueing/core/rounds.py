"""One round over the heads of the ClusterQueues: the same as one scheduling cycle of Kueue.

Called by `state.scheduler.schedule`, once per round, with the heads of one quota tree.

`nominate` finds flavors and preemption targets for each head, on the usage as the round begins;
the entries that result are ordered, and `process`ed one after the other, each on what those before
it left.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from queueing.core.decisions import Mode
from queueing.core.draft import Draft
from queueing.core.entries import Entry, Head, Ruling
from queueing.core.fair_sharing.order import fair_order
from queueing.core.fair_sharing.precedence import Precedence
from queueing.core.lending import LendLast
from queueing.core.names import Uid
from queueing.core.nomination import World, nominate
from queueing.core.processing import process
from queueing.core.settings import Settings

_GIVES_WAY = frozenset((Mode.NO_FIT, Mode.NO_CANDIDATES))
"""How far heads came after which others of their queues may have a turn."""

Pause = Callable[[], bool]
"""Says whether the caller wants to do something else."""
Round = Generator[None, None, list[Ruling]]
"""A round that yields where it pauses, and returns its rulings in the order made.

While it pauses, nothing may change what it depends on.
"""


def process_round(
    heads: Iterable[Head], world: World, *, in_order: bool = False, pause: Pause | None = None
) -> Round:
    """Decide every head once, as one cycle of Kueue does; with `in_order`, in the given order.

    Two kinds of heads get no ruling, and are to be judged again: those that wait for who borrows
    less (`LendLast`), and, where credits bend fair-share weights, those that would borrow while a
    queue that was served in this round still has the smaller share (`Precedence`).
    `pause` is asked after each head. The tree is as it was when the round ends. Raises KeyError for
    the head of a queue that is not in the tree or the rules.
    """
    reach = world.reach()
    entries: list[Entry] = []
    for head in heads:
        entries.append(nominate(head, world, reach))
        if pause is not None and pause():
            yield
    rulings: list[Ruling] = []
    precedence = Precedence(world.tree) if world.followed else None
    lending, draft = LendLast(world), Draft(world)
    with world.tree.attempt():
        for entry in entries if in_order else _borrowers_last(entries, world, lending):
            if precedence is not None and _stands_back(entry, precedence):
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


def _stands_back(entry: Entry, precedence: Precedence) -> bool:
    borrows = entry.assignment.fits and entry.assignment.borrow > 0
    return borrows and precedence.stands_back(entry.node, entry.usage)


def _borrowers_last(entries: Sequence[Entry], world: World, lending: LendLast) -> Iterator[Entry]:
    """Yield entries in their order, then those that waited for them in vain."""
    for entry in _ordered(entries, world):
        if not lending.waits(entry):
            yield entry
    yield from lending.left()


def _ordered(entries: Sequence[Entry], world: World) -> Iterator[Entry]:
    """Yield entries by least borrowing, highest priority, oldest, uid; or by fair shares."""
    settings = world.settings
    if settings.fair_sharing is not None:
        return fair_order(entries, world.tree, settings)

    return iter(sorted(entries, key=entry_key(settings)))


def entry_key(settings: Settings) -> Callable[[Entry], tuple[bool, int, int, float, Uid]]:
    """Return what gives the place of an entry in its round, without fair sharing.

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
