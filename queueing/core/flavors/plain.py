"""The common case of flavor assignment: the first flavor that the pods may use has enough.

Most heads of most rounds fit there. Then the search would stop at once, and what it would answer
depends on nothing but the demand and how far each resource borrows: so it is asked once for each of
these, and its answer is remembered beside the outline. Anything else is left to the search.
"""

from queueing.core.facts import FlavorPolicy
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.search import Search
from queueing.core.outline import Outline
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import Node
from queueing.core.settings import Settings
from queueing.core.usage import Demand

FITS_MAX = 64
"""Answers remembered per outline; the memo starts over when it is full."""


def plain_fit(
    rules: QueueRules, node: Node, demand: Demand, settings: Settings
) -> Assignment | None:
    """Return what the search would answer, None where it has to be asked.

    Callers treat the answer as a value: it is shared by all who ask the same.
    """
    outline: Outline = rules.offer.outline(demand, settings.quota_check)
    wanted = outline.wanted
    if wanted is None:
        return None
    levels = []
    cells = node.cells
    for resource, amount in wanted:
        cell = cells.get(resource) or node.cell(resource)
        if amount > cell.available():
            return None
        borrows = cell.quota < cell.usage + amount
        levels.append(cell.height_of_fit(amount)[0] if borrows else 0)
    if any(levels) and rules.fact.fungibility.when_can_borrow is FlavorPolicy.TRY_NEXT_FLAVOR:
        return None
    key = (node.root().generation, *levels)
    return remembered_fit(key, outline, rules=rules, node=node, demand=demand, settings=settings)


def remembered_fit(  # noqa: PLR0913 - all that the search takes, and where its answer is kept
    key: tuple[int, ...],
    outline: Outline,
    *,
    rules: QueueRules,
    node: Node,
    demand: Demand,
    settings: Settings,
) -> Assignment:
    """Return the search's answer for a demand that fits plainly, as `plain_fit` found out.

    The key is the generation of the tree, and how far each wanted resource borrows. Only how far
    the search came depends on the generation, so that does not count where it comes to the end.
    """
    if outline.first_is_last:
        key = key[1:]
    found: Assignment | None = outline.fits.get(key)
    if found is None:
        found = Search(rules, node, oracle=None, settings=settings).assign(demand)
        if len(outline.fits) >= FITS_MAX:
            outline.fits.clear()
        outline.fits[key] = found
    return found
