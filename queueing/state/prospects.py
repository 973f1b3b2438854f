"""Which of those who wait for a known lack the next round would admit.

After a release nearly every queue of a tree has somebody whom it could help, and few of them can
be helped at once. Where all heads of a tree are such ones, and each fits plainly, a round decides
them in an order that is known beforehand, and admits whoever still fits. So that is found out
with the few numbers that it takes, and nobody of that tree is judged at all.
"""

from operator import itemgetter
from typing import NamedTuple

from queueing.core.credits.allowance import Allowance
from queueing.core.decisions import Admit
from queueing.core.facts import FlavorPolicy
from queueing.core.fair_sharing.order import Contender, FlatOrder, Score
from queueing.core.fair_sharing.precedence import Precedence
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.plain import remembered_fit
from queueing.core.names import FlavorResource
from queueing.core.ordering import EntryKey, entry_key
from queueing.core.outline import Outline
from queueing.core.queue_rules import Offer, QueueRules
from queueing.core.quota.cell import Cell
from queueing.core.quota.node import Node
from queueing.core.reasons import passed_over
from queueing.core.settings import QuotaCheck
from queueing.state.memory import Memory
from queueing.state.pending import Item, Peers
from queueing.state.stands import PARKED

Needs = list[tuple[Cell, int]]
Wanted = tuple[tuple[FlavorResource, int], ...]
Place = EntryKey | Score
"""Among the entries of the tree that are decided in a round; by shares where these count."""


class Prospect(NamedTuple):
    """One who fits on the tree as it stands, with the borrowing level of each thing it needs."""

    place: Place
    item: Item
    peers: Peers
    node: Node
    wanted: Wanted
    needs: Needs
    levels: list[int]


class Foregone(NamedTuple):
    """One whom the round admits, whatever becomes of the heads of other trees."""

    place: Place
    item: Item
    needs: Needs
    """What is to be charged for it."""
    assignment: Assignment
    admit: Admit


def foregone(memory: Memory, root: Node, items: list[Item]) -> list[Foregone] | None:
    """Return those of the heads of one tree whom a round would admit; None where that is unsure."""
    settings, fair = memory.settings, memory.settings.fair_sharing
    if settings.block_admission_until_pods_ready:
        return None
    order = None
    if fair is not None:
        order = FlatOrder(prefers_non_borrowing=fair.prioritize_non_borrowing)
    allowance = memory.credits.allowance
    prospects: list[Prospect] = []
    for item in items:
        one = _prospect(memory, item, order, allowance)
        if one is None:
            return None
        prospects.append(one)
    prospects.sort(key=itemgetter(0))
    return [_foregone(memory, root, one) for one in _winners(memory, prospects)]


def _winners(memory: Memory, prospects: list[Prospect]) -> list[Prospect]:
    """Return, of those in the order of the round, who still fits after those before it.

    Where credits bend weights, some stand back for others of a queue that was served.
    """
    found, tree = [], memory.tree
    precedence = Precedence(tree) if memory.credits.bends else None
    with tree.attempt():
        for one in prospects:
            if not _fits(one.needs):
                continue
            if precedence is not None and _stands_back(one, precedence):
                continue
            for cell, amount in one.needs:
                tree.charge(cell, amount)
            found.append(one)
            if precedence is not None and one.peers.queue.active > 1:
                precedence.served(one.node, dict(one.wanted))
    return found


def _stands_back(one: Prospect, precedence: Precedence) -> bool:
    return any(one.levels) and precedence.stands_back(one.node, dict(one.wanted))


def _prospect(
    memory: Memory, item: Item, order: FlatOrder | None, allowance: Allowance | None
) -> Prospect | None:
    """Return what a patient item needs and its place in the round; None if that is not plain."""
    peers = item.peers
    if peers is None or peers.stand is not PARKED:
        return None
    if peers.demand.claims or item.progress is not None or item.preempting:
        return None
    name = peers.queue.name
    rules = memory.objects.rules[name]
    settings = memory.settings
    if allowance is not None and allowance.concerns(name, peers.local_queue):
        return None
    wanted = outline_of(peers, rules.offer, settings.quota_check).wanted
    if wanted is None or rules.fact.checks:
        return None
    node = memory.tree.queue(name)
    cells = node.cells
    level, needs, levels = 0, [], []
    for resource, amount in wanted:
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
        asks = Contender(node, dict(wanted), priority, item.timestamp, item.fact.uid)
        place = order.place(asks)
    return Prospect(place, item, peers, node, wanted, needs, levels)


def outline_of(peers: Peers, offer: Offer, quota_check: QuotaCheck) -> Outline:
    """Return what a demand needs from an offer; asked once as long as the offer is the same."""
    known = peers.outline
    if known is None or peers.offer is not offer:
        peers.offer = offer
        known = peers.outline = offer.outline(peers.demand, quota_check)
    return known


def _fits(needs: Needs) -> bool:
    for cell, amount in needs:  # noqa: SIM110 - asked of every head; a generator costs twice as much
        if amount > cell.available():
            return False
    return True


def _foregone(memory: Memory, root: Node, one: Prospect) -> Foregone:
    """Spell out what a judgement would say."""
    item, peers, fact = one.item, one.peers, one.item.fact
    rules: QueueRules = memory.objects.rules[peers.queue.name]
    outline: Outline = outline_of(peers, rules.offer, memory.settings.quota_check)
    node = memory.tree.queue(peers.queue.name)
    key = (root.generation, *one.levels)
    assignment = remembered_fit(
        key, outline, rules=rules, node=node, demand=peers.demand, settings=memory.settings
    )
    admit = Admit(
        workload=fact.key,
        uid=fact.uid,
        cluster_queue=peers.queue.name,
        pod_sets=assignment.pod_sets(),
        borrowing=assignment.borrow > 0,
        note=passed_over(assignment.passed_over) if assignment.passed_over else "",
    )
    return Foregone(one.place, item, one.needs, assignment, admit)
