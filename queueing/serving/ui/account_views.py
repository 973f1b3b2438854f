"""Credits, usage over time, and devices."""

import asyncio
from typing import Any

from queueing.kube.resources import (
    CREDIT_ACCOUNTS,
    RESOURCE_CLAIMS,
    RESOURCE_SLICES,
    USAGE_RECORDS,
)
from queueing.serving.rights import EVERYTHING, listing
from queueing.serving.ui.columns import balances, usage_chart
from queueing.serving.ui.devices import NodeDevices, by_node
from queueing.serving.ui.entrance import demand
from queueing.serving.ui.paths import Page, Visit
from queueing.serving.ui.turning import ROWS, parts

EVERY_S = 10.0


async def credits_(asked: Visit) -> Page:
    """Show who lent to whom, and where everybody stands."""
    await demand(asked.visitor, listing(CREDIT_ACCOUNTS))
    accounts = await asked.sources.objects(CREDIT_ACCOUNTS)
    return _page("Credits", "credits.html", accounts=[balances(one) for one in accounts])


async def usage(asked: Visit) -> Page:
    """Show who used how much, over time."""
    await demand(asked.visitor, listing(USAGE_RECORDS))
    records = await asked.sources.objects(USAGE_RECORDS)
    by = asked.query.get("by", "")
    may_see_all = await asked.visitor.may(EVERYTHING)
    chart = usage_chart(
        records,
        resource=asked.query.get("resource", ""),
        by="namespace" if by == "namespace" and may_see_all else "queue",
    )
    return _page("Usage", "usage.html", chart=chart, may_see_all=may_see_all)


async def devices(asked: Visit) -> Page:
    """Show devices node by node, and who holds them."""
    await demand(asked.visitor, listing(RESOURCE_SLICES))
    may_name = await asked.visitor.may(listing(RESOURCE_CLAIMS))

    async def make() -> list[NodeDevices]:
        slices = await asked.sources.objects(RESOURCE_SLICES)
        claims = await asked.sources.objects(RESOURCE_CLAIMS)
        # There may be many thousands: in a thread, so that others have their turn.
        return await asyncio.to_thread(by_node, slices, claims, named=may_name)

    nodes = await asked.sources.shared.get((by_node, may_name), make)
    shown = nodes[asked.number("nodes") :][:ROWS]
    turns = parts(asked, "nodes", shown=len(shown), in_all=len(nodes))
    return _page("Devices", "devices.html", nodes=shown, named=may_name, node_parts=turns)


def _page(title: str, template: str, **values: Any) -> Page:
    return Page(title=title, template=template, values=values, every_s=EVERY_S)
