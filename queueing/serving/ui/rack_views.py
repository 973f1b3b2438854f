"""Blocks, racks and nodes of flavors, and who sits there, one domain at a time."""

from queueing.explain.domain_model import ResourceFlavorExplanation
from queueing.serving.frames import ALL, FLAVORS, Subject, part_of
from queueing.serving.rights import EVERYTHING, explanation_of
from queueing.serving.ui.entrance import demand
from queueing.serving.ui.paths import Page, Visit
from queueing.serving.ui.seats import seated
from queueing.serving.ui.turning import ROWS, parts, query

EVERY_S = 10.0
"""Who sits where is put together of all that run."""
DOMAIN, TOPOLOGY = "domain", "topology"
"""In the query: a domain and those that it is in; a topology other than the flavor's own."""


async def flavors(asked: Visit) -> Page:
    """Show which flavors have a topology."""
    await demand(asked.visitor, EVERYTHING, explanation_of(FLAVORS))
    told = await asked.sources.explained(Subject(FLAVORS, ALL), ResourceFlavorExplanation)
    values = {"flavors": told.flavors}
    return Page(title="Racks", template="flavors.html", values=values, every_s=EVERY_S)


async def racks(asked: Visit) -> Page:
    """Show the domains of a flavor just below one, and who sits there."""
    name = asked.names["name"]
    await demand(asked.visitor, EVERYTHING, explanation_of(FLAVORS, name=name))
    offset = asked.number("domains")
    domain, topology = asked.query.get(DOMAIN, ""), asked.query.get(TOPOLOGY, "")
    subject = Subject(FLAVORS, name, domain, offset, ROWS, topology)
    told = await asked.sources.explained(subject, ResourceFlavorExplanation)
    depth = len(told.domain)

    def at(*path: str) -> str:
        return query(asked, domain=part_of(path), domains="")

    values = {
        "told": told,
        "topologies": [
            (one, query(asked, topology=one if number else "", domain="", domains=""))
            for number, one in enumerate(told.topologies)
        ],
        "level": told.levels[depth],
        "above": [(one, at(*told.domain[:end])) for end, one in enumerate(told.domain, 1)],
        "top": at(),
        "rows": [
            (one, at(*told.domain, one.domain.name) if depth + 1 < len(told.levels) else "")
            for one in seated(told.domains)
        ],
        "domain_parts": parts(asked, "domains", shown=len(told.domains), in_all=told.in_all),
    }
    title = f"Racks of flavor {name}"
    return Page(title=title, template="racks.html", values=values, every_s=EVERY_S)
