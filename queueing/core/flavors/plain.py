"""The common cases of flavor assignment: the first flavor has enough, or the only one too little.

Most heads of most rounds fit in the first flavor that their pods may use. Then the search would
stop at once, and what it would answer depends on nothing but the demand and how far each resource
borrows: so it is asked once for each of these, and its answer is remembered beside the outline.
Most of those that do not fit, where queues fill up, have no other flavor to try. Anything else is
left to the search.
"""

from queueing.core.facts import FlavorPolicy
from queueing.core.flavors.assignment import Assignment, Choice
from queueing.core.flavors.grades import Grade
from queueing.core.flavors.search import Search
from queueing.core.names import FlavorName, FlavorResource
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
        if not outline.only_way:
            found = Search(rules, node, oracle=None, settings=settings).assign(demand)
        else:
            found = _only_answer(outline.only_way, key[-len(outline.usage) :], outline, demand)
        if len(outline.fits) >= FITS_MAX:
            outline.fits.clear()
        outline.fits[key] = found
    return found


def _only_answer(
    way: tuple[FlavorName, ...], levels: tuple[int, ...], outline: Outline, demand: Demand
) -> Assignment:
    """Return what the search would find where there is one flavor to try, and that has enough."""
    choices = {
        resource.resource: Choice(resource.flavor, Grade.FIT, level)
        for resource, level in zip(outline.usage, levels, strict=True)
    }
    return Assignment(
        demand=demand,
        outline=outline,
        borrow=max(levels),
        choices=[choices],
        chosen=list(way),
        usage=dict(outline.usage),
    )


def plain_lack(
    rules: QueueRules, node: Node, outline: Outline
) -> list[tuple[FlavorResource, int, int]] | None:
    """Return the resources of which the only flavor has too little: how much is asked and missing.

    None where the search has to be asked, or nothing is missing. Else the search of a queue that
    preempts nobody would find these shortages, no candidates, and nothing else.
    """
    if outline.only_way is None or outline.wanted is None or not rules.never_preempts:
        return None
    short = []
    cells = node.cells
    for resource, amount in outline.wanted:
        cell = cells.get(resource) or node.cell(resource)
        free = max(0, cell.available())
        if amount > free:
            if amount > cell.potential():
                return None
            if amount > cell.limits.nominal and not cell.height_of_fit(amount)[1]:
                return None
            short.append((resource, amount, amount - free))
    return short or None
