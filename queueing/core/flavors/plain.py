"""The common case of flavor assignment: the first flavor has enough.

Most heads fit in the first flavor that their pods may use. Then the search would stop at once, and
its answer depends only on the demand and on how far up the tree each resource borrows. So each
answer is computed once and stored with the outline. All other cases are left to the search.
"""

from dataclasses import replace

from queueing.core.facts import FlavorPolicy
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.search import Search
from queueing.core.outline import Outline
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import Node
from queueing.core.settings import Settings
from queueing.core.usage import Demand


def plain_fit(
    rules: QueueRules, node: Node, demand: Demand, settings: Settings
) -> Assignment | None:
    """Return the search's answer for a demand that fits plainly; None where it must be asked.

    The answer is shared by all callers, which must not change it.
    """
    outline: Outline = rules.offer.outline(demand, settings.quota_check)
    wanted = outline.wanted
    if wanted is None:
        return None
    levels: list[int] = []
    cells = node.cells
    for resource, amount in wanted:
        cell = cells.get(resource) or node.cell(resource)
        if amount > cell.available():
            return None
        borrows = cell.quota < cell.usage + amount
        levels.append(cell.height_of_fit(amount)[0] if borrows else 0)
    if any(levels) and rules.fact.fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR:
        return None
    key, generation = tuple(levels), node.root().generation
    found: Assignment | None = outline.fits.get(key)
    if found is None:
        found = Search(rules, node, oracle=None, settings=settings).assign(demand)
        outline.fits[key] = found
    if found.progress is not None and found.progress.generation != generation:
        # found in another tree, or before quotas changed: all else is the same
        return replace(found, progress=replace(found.progress, generation=generation))
    return found
