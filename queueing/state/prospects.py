"""Which of those who wait for a known lack the next round would admit.

After a release nearly every queue of a tree has somebody whom it could help, and few of them can
be helped at once. Where all heads of a tree are such ones, and each fits plainly, a round decides
them in an order that is known beforehand, and admits whoever still fits. So that is found out
with the few numbers that it takes, and the others are not judged at all.
"""

from typing import NamedTuple

from queueing.core.facts import FlavorPolicy
from queueing.core.names import Uid
from queueing.core.ordering import entry_key
from queueing.core.quota.cell import Cell
from queueing.state.memory import Memory
from queueing.state.pending import Item
from queueing.state.stands import Stand


class Prospect(NamedTuple):
    """One who fits on the tree as it stands. Sorts as the entries of a round do."""

    place: tuple[int, int, float, Uid]
    needs: list[tuple[Cell, int]]
    item: Item


def admissible(memory: Memory, items: list[Item]) -> list[Item]:
    """Return those of the heads of one tree whom a round would admit; all where that is unsure."""
    settings = memory.settings
    if settings.fair_sharing is not None or settings.block_admission_until_pods_ready:
        return items
    prospects: list[Prospect] = []
    for item in items:
        one = _prospect(memory, item)
        if one is None:
            return items
        prospects.append(one)
    prospects.sort()
    found = []
    tree = memory.tree
    with tree.attempt():
        for one in prospects:
            if _fits(one.needs):
                for cell, amount in one.needs:
                    tree.charge(cell, amount)
                found.append(one.item)
    return found


def _prospect(memory: Memory, item: Item) -> Prospect | None:
    """Return what a patient item needs and its place in the round; None if that is not plain."""
    peers = item.peers
    if peers is None or peers.stand is not Stand.PARKED or item.progress is not None:
        return None
    rules = memory.objects.rules[peers.queue.name]
    wanted = rules.offer.outline(peers.demand, memory.settings.quota_check).wanted
    if wanted is None:
        return None
    node = memory.tree.queue(peers.queue.name)
    level, needs = 0, []
    for resource, amount in wanted:
        cell = node.cell(resource)
        if amount > cell.available():
            return None
        if cell.quota < cell.usage + amount:
            level = max(level, cell.height_of_fit(amount)[0])
        needs.append((cell, amount))
    if level and rules.fact.fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR:
        return None
    return Prospect(entry_key(item.fact, level, item.timestamp, memory.settings), needs, item)


def _fits(needs: list[tuple[Cell, int]]) -> bool:
    for cell, amount in needs:  # noqa: SIM110 - asked of every head; a generator costs twice as much
        if amount > cell.available():
            return False
    return True
