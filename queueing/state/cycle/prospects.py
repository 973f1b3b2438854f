"""Which pending workloads the next round will admit, found without judging them.

After a release nearly every queue of a tree has a workload on a shelf that would fit now, but few
of them fit at the same time. If all heads of a tree are such workloads, and each fits in the first
flavor that it may use, a round decides them in an order that is known beforehand, and admits each
that still fits. That needs only a few numbers, so none of them is judged (docs/decisions/0034).

A *prospect* is such a head with its needs and its place in the round; it is *foregone* if the round
admits it.
"""

from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple

from queueing.core.credits.allowance import Allowance
from queueing.core.decisions import Admit
from queueing.core.facts import FlavorPolicy
from queueing.core.fair_sharing.order import Contender, FlatOrder
from queueing.core.fair_sharing.precedence import Precedence
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.plain import remembered_fit
from queueing.core.names import QueueName
from queueing.core.ordering import entry_key
from queueing.core.outline import Outline
from queueing.core.queue_rules import Offer, QueueRules
from queueing.core.quota.node import Node
from queueing.core.reasons import passed_over
from queueing.core.settings import QuotaCheck
from queueing.state.cycle.openness import is_let_in, lines_among
from queueing.state.memory.memory import Memory
from queueing.state.queues.footing import Footing, Needs, Place, fits, usages_of
from queueing.state.queues.lines import Line
from queueing.state.queues.peers import Item, Peers, peers_of
from queueing.state.queues.stands import PARKED

Prospect = tuple[Place, Item, Footing]


class Foregone(NamedTuple):
    """A head that the round admits without a judgement, whatever it decides in other trees."""

    place: Place
    item: Item
    needs: Needs
    """What is charged for it."""
    assignment: Assignment
    admit: Admit


def prospects_of(memory: Memory, root: Node, names: Iterable[QueueName]) -> list[Prospect] | None:
    """Return the prospects of a tree whose queues are all lines, None for any other.

    Queues without a head are removed from `ready`.
    """
    if memory.settings.block_admission_until_pods_ready or memory.credits.allowance is not None:
        return None
    order = order_of(memory)
    found: list[Prospect] = []
    for line in lines_among(memory, names):
        if line is None:
            return None
        free = line.cell.available()
        if free < line.shelf.least:
            memory.ready.discard(line.queue.name)
            continue
        item = line.first(free)
        one = None if item is None else prospect_in(memory, root, line, item, order)
        if one is None:
            return None
        found.append(one)
    return found


def prospect_in(
    memory: Memory, root: Node, line: Line, item: Item, order: FlatOrder | None
) -> Prospect | None:
    """Return the prospect of a line's first workload that fits; None if it has to be judged."""
    if item.progress is not None or item.preempting:
        return None
    one = item.footing
    if one is None or one.line is not line or not one.holds(line.rules, root):
        if not is_let_in(memory, item, line.queue.name):
            return None
        one = _find_footing(memory, root, item, rules=line.rules, order=order)
        if one is None or (len(one.needs) == 1 and one.needs != _lacks(line, item)):
            return None
        one.line, item.footing = line, one
    elif len(one.needs) > 1 and not fits(one.needs):
        return None  # with a single need, the shelf has already checked that there is enough
    return one.place, item, one


def _lacks(line: Line, item: Item) -> Needs:
    return [(line.cell, amount) for _, amount in peers_of(item).lacks]


def foregone(
    memory: Memory, root: Node, items: list[Item], known: list[Prospect] | None
) -> list[Foregone] | None:
    """Return the heads of one tree that a round would admit; None if that is not certain.

    `known` are their prospects, if these were computed already. Heads that are not admitted get no
    decision. That is right for heads on a shelf, because nothing changes for them. If any other
    head would not be admitted, the result is None, because it has to be judged.
    """
    prospects = look_at(memory, root, items) if known is None else known
    if prospects is None:
        return None
    prospects.sort(key=itemgetter(0))
    winners = _winners(memory, prospects)
    if known is None and len(winners) < len(items):
        first_to_judge = {id(item) for item in items if peers_of(item).stand is not PARKED}
        if not first_to_judge <= {id(item) for item, _ in winners}:
            return None
    return [foregone_of(memory, root, item, one) for item, one in winners]


def look_at(memory: Memory, root: Node, items: list[Item]) -> list[Prospect] | None:
    """Return the prospects of the heads of a tree; None if any of them has to be judged."""
    if memory.settings.block_admission_until_pods_ready:
        return None
    order, allowance = order_of(memory), memory.credits.allowance
    prospects: list[Prospect] = []
    for item in items:
        one = _footing(memory, root, item, order=order, allowance=allowance)
        if one is None:
            return None
        prospects.append((one.place, item, one))
    return prospects


def order_of(memory: Memory) -> FlatOrder | None:
    """Return the order of a tree's entries by shares; None without fair sharing."""
    fair = memory.settings.fair_sharing
    if fair is None:
        return None
    return FlatOrder(prefers_non_borrowing=fair.prioritize_non_borrowing)


def _winners(memory: Memory, prospects: list[Prospect]) -> list[tuple[Item, Footing]]:
    """Return the prospects that fit after all before them, in the order of the round.

    Where credits bend weights, some are passed over in favor of a queue that was served
    (`Precedence`).
    """
    found, tree = [], memory.tree
    precedence = Precedence(tree) if memory.credits.bends else None
    with tree.attempt():
        for _, item, one in prospects:
            if not fits(one.needs):
                continue
            if precedence is not None and _stands_back(one, precedence):
                continue
            for cell, amount in one.needs:
                tree.charge(cell, amount)
            found.append((item, one))
            if precedence is not None and _is_followed(memory, item):
                precedence.served(one.node, one.usage)
    return found


def _stands_back(one: Footing, precedence: Precedence) -> bool:
    return any(one.levels) and precedence.stands_back(one.node, one.usage)


def _is_followed(memory: Memory, item: Item) -> bool:
    """Say whether other active workloads wait in the queue of an item."""
    return item.peers is not None and memory.queues[item.peers.queue].active > 1


def _footing(
    memory: Memory,
    root: Node,
    item: Item,
    *,
    order: FlatOrder | None,
    allowance: Allowance | None,
) -> Footing | None:
    """Return what a head needs and its place in the round; None if it has to be judged."""
    peers = item.peers
    if peers is None or (peers.stand is not PARKED and memory.standing):
        return None
    if peers.demand.claims or item.progress is not None or item.preempting:
        return None
    name = peers.queue
    if allowance is not None and allowance.concerns(name, peers.local_queue):
        return None
    rules, known = memory.objects.rules[name], item.footing
    if known is not None and known.holds(rules, root):
        return known if fits(known.needs) else None
    item.footing = _find_footing(memory, root, item, rules=rules, order=order)
    return item.footing


def _find_footing(
    memory: Memory, root: Node, item: Item, *, rules: QueueRules, order: FlatOrder | None
) -> Footing | None:
    peers, settings = peers_of(item), memory.settings
    outline = outline_of(peers, rules.offer, settings.quota_check)
    if outline.wanted is None or rules.fact.checks or peers.demand.claims:
        return None
    node = memory.tree.queue(peers.queue)
    level, needs, levels = 0, [], []
    cells = node.cells
    for resource, amount in outline.wanted:
        cell = cells.get(resource) or node.cell(resource)
        if amount > cell.available():
            return None
        height = 0
        if cell.quota < cell.usage + amount:
            height = cell.height_of_fit(amount)[0]
            level = max(level, height)
        levels.append(height)
        needs.append((cell, amount))
    if level and rules.fact.fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR:
        return None
    if order is None:
        place: Place = entry_key(item.fact, level, item.timestamp, settings)
    elif node.parent is not None and node.parent.parent is not None:
        return None
    else:
        priority = item.fact.priority if settings.priority_sorting_within_cohort else 0
        asks = Contender(node, outline.usage, priority, item.timestamp, item.fact.uid)
        place = order.place(asks)
    return Footing(
        place=place,
        node=node,
        usage=outline.usage,
        needs=needs,
        levels=levels,
        rules=rules,
        generation=root.generation,
        usages=usages_of(node, needs, by_shares=order is not None),
        width=len(node.cells),
    )


def outline_of(peers: Peers, offer: Offer, quota_check: QuotaCheck) -> Outline:
    """Return the outline of peers for an offer, stored in the peers while that is the same."""
    known = peers.outline
    if known is None or peers.offer is not offer:
        peers.offer = offer
        known = peers.outline = offer.outline(peers.demand, quota_check)
    return known


def foregone_of(memory: Memory, root: Node, item: Item, footing: Footing) -> Foregone:
    """Return the foregone head of an item, with the decision that a judgement would make."""
    key = (root.generation, *footing.levels)
    answer = answer_to(memory, key, item, footing.rules, footing.node)
    return Foregone(footing.place, item, footing.needs, *answer)


def answer_to(
    memory: Memory, key: tuple[int, ...], item: Item, rules: QueueRules, node: Node
) -> tuple[Assignment, Admit]:
    """Return the assignment and decision of a judgement for an item that fits.

    The key is as in `remembered_fit`.
    """
    peers, fact = peers_of(item), item.fact
    outline = outline_of(peers, rules.offer, memory.settings.quota_check)
    assignment = remembered_fit(
        key, outline, rules=rules, node=node, demand=peers.demand, settings=memory.settings
    )
    admit = Admit(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=peers.queue,
        pod_sets=assignment.pod_sets(),
        borrowing=assignment.borrow > 0,
        note=passed_over(assignment.passed_over) if assignment.passed_over else "",
    )
    return assignment, admit
