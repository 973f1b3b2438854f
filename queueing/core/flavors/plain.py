"""The common case of flavor assignment: the first flavor has enough.

Most heads fit in the first flavor that their pods may use. Then the search would stop at once, and
its answer depends only on the demand and on how far up the tree each resource borrows. So each
answer is computed once and stored with the outline. Most heads that do not fit have no other flavor
to try. All other cases are left to the search.
"""

from queueing.core.facts import FlavorPolicy
from queueing.core.flavors.assignment import Assignment, Choice
from queueing.core.flavors.grades import Grade
from queueing.core.flavors.search import Search
from queueing.core.names import FlavorName
from queueing.core.outline import Outline
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import Node
from queueing.core.settings import Settings
from queueing.core.usage import Demand

FITS_MAX = 64
"""How many answers the memo of one outline holds; it is emptied when it is full."""


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

    The key is the generation of the tree, and the borrowing level of each wanted resource. Only the
    answer's progress depends on the generation, so that is dropped if no flavors are left to try.
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
    """Return the search's answer where the only flavor of each group has enough."""
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
