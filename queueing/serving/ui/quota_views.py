"""Cohorts, ClusterQueues and LocalQueues."""

import asyncio
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from queueing.explain.model import CohortExplanation, Line, QueueExplanation
from queueing.explain.redaction import redacted
from queueing.kube.resources import LOCAL_QUEUES
from queueing.serving.estimates import ROWS_MAX as ESTIMATED_MAX
from queueing.serving.frames import ALL, Subject
from queueing.serving.rights import EVERYTHING, estimate_of, explanation_of, listing
from queueing.serving.ui.bars import bars, longest
from queueing.serving.ui.entrance import Visitor, demand
from queueing.serving.ui.paths import Page, Visit
from queueing.serving.ui.problems import NotThereError
from queueing.serving.ui.turning import ROWS, parts, query

NAMESPACES = 1_000
"""Of how many namespaces it is asked whether a visitor may read their queues."""
CHECKS_AT_ONCE = 8


async def overview(asked: Visit) -> Page:
    """Show all trees to who may read them, others the LocalQueues of their namespaces."""
    if await asked.visitor.may(EVERYTHING):
        return await _tree(asked, ALL, "Cohorts")
    return await _own_queues(asked)


async def cohort(asked: Visit) -> Page:
    """Show one cohort with all below it."""
    await demand(asked.visitor, EVERYTHING)
    name = asked.names["name"]
    return await _tree(asked, name, f"Cohort {name}")


async def _tree(asked: Visit, name: str, title: str) -> Page:
    found = await asked.sources.explained(Subject("cohorts", name), CohortExplanation)
    scales: dict[str, dict[str, float]] = {}
    for group in ("Cohort", "ClusterQueue"):
        rows = [row for node in found.nodes if node.kind == group for row in node.quotas]
        scales[group] = longest(rows)
    nodes = [
        (node, [one for one in bars(node.quotas, scales[node.kind]) if one.segments])
        for node in found.nodes
    ]
    return Page(
        title=title,
        template="tree.html",
        values={"nodes": nodes, "omitted": found.omitted, "one": name != ALL},
    )


async def _own_queues(asked: Visit) -> Page:
    visitor, sources = asked.visitor, asked.sources
    queues = await sources.objects(LOCAL_QUEUES)
    namespaces = sorted({one["metadata"]["namespace"] for one in queues})
    mine = set(namespaces)
    if not await visitor.may(listing(LOCAL_QUEUES)):
        among = namespaces[:NAMESPACES]
        found = await sources.readable.get(visitor.name, lambda: _readable(visitor, among))
        mine = await _readable(visitor, found)
    return _queues_page(
        "Your queues",
        [one for one in queues if one["metadata"]["namespace"] in mine],
        more=len(mine) < len(namespaces) and len(namespaces) > NAMESPACES,
    )


async def _readable(visitor: Visitor, namespaces: Iterable[str]) -> set[str]:
    turns = asyncio.Semaphore(CHECKS_AT_ONCE)
    found: set[str] = set()

    async def ask(namespace: str) -> None:
        async with turns:
            if await visitor.may(listing(LOCAL_QUEUES, namespace)):
                found.add(namespace)

    async with asyncio.TaskGroup() as group:
        for namespace in namespaces:
            group.create_task(ask(namespace))
    return found


async def namespace(asked: Visit) -> Page:
    """Show the LocalQueues of a namespace."""
    name = asked.names["namespace"]
    await demand(asked.visitor, listing(LOCAL_QUEUES, name))
    queues = await asked.sources.objects(LOCAL_QUEUES, name)
    return _queues_page(f"Queues of namespace {name}", queues)


def _queues_page(title: str, queues: list[dict[str, Any]], *, more: bool = False) -> Page:
    rows = [
        {
            "namespace": one["metadata"]["namespace"],
            "name": one["metadata"]["name"],
            "cluster_queue": one["spec"].get("clusterQueue", ""),
            "pending": (one.get("status") or {}).get("pendingWorkloads", 0),
            "admitted": (one.get("status") or {}).get("admittedWorkloads", 0),
        }
        for one in queues
    ]
    rows.sort(key=lambda one: (one["namespace"], one["name"]))
    return Page(
        title=title, template="queues.html", values={"rows": rows, "more": more}, every_s=5.0
    )


async def cluster_queue(asked: Visit) -> Page:
    """Show a ClusterQueue."""
    name = asked.names["name"]
    await demand(asked.visitor, explanation_of("clusterqueues", name=name))
    return await _queue(asked, Subject("clusterqueues", name), f"ClusterQueue {name}")


async def local_queue(asked: Visit) -> Page:
    """Show a LocalQueue."""
    space, name = asked.names["namespace"], asked.names["name"]
    await demand(asked.visitor, explanation_of("localqueues", space, name))
    key = f"{space}/{name}"
    return await _queue(asked, Subject("localqueues", key), f"LocalQueue {key}")


async def _queue(asked: Visit, subject: Subject, title: str) -> Page:
    sources = asked.sources
    waiting_at, holding_at = asked.number("waiting"), asked.number("holding")
    lists = (("waiting", waiting_at), ("holding", holding_at))
    subjects = [Subject(subject.kind, subject.name, name, at, ROWS) for name, at in lists]
    async with asyncio.TaskGroup() as group:
        telling = group.create_task(sources.explained(subject, QueueExplanation))
        listing = [group.create_task(sources.explained(one, Line)) for one in subjects]
    told, (waiting, holding) = telling.result(), [one.result() for one in listing]
    may_name = await asked.visitor.may(EVERYTHING)
    space = asked.names.get("namespace")
    right = estimate_of(subject.kind, space or "", asked.names["name"])
    may_ask = sources.estimates is not None and await asked.visitor.may(right)
    first = replace(subjects[0], limit=ESTIMATED_MAX)
    prospect = sources.prospect(first) if may_ask and asked.query.get("eta") else None
    if space is not None and not may_name:
        told = redacted(told, space)
        waiting, holding = redacted(waiting, space), redacted(holding, space)
    return Page(
        title=title,
        template="queue.html",
        values={
            "told": told,
            "bars": bars(told.quotas),
            "waiting": waiting,
            "holding": holding,
            "waiting_parts": _parts(asked, "waiting", waiting),
            "holding_parts": _parts(asked, "holding", holding),
            "sees_all": may_name,
            "prospect": prospect,
            "eta_link": query(asked, eta="" if prospect else "true") if may_ask else "",
            "estimated_max": ESTIMATED_MAX,
        },
    )


def _parts(asked: Visit, name: str, line: Line) -> dict[str, Any]:
    return parts(asked, name, shown=len(line.rows), in_all=line.in_all)


KINDS = {
    "clusterqueue": "clusterqueues/{0}",
    "cohort": "cohorts/{0}",
    "localqueue": "namespaces/{1}/localqueues/{0}",
    "workload": "namespaces/{1}/workloads/{0}",
}


def found_at(text: str) -> str:
    """Return the path of what somebody looks for: `KIND/NAME`, or `NAMESPACE/NAME` of a workload.

    A LocalQueue or workload may be named `KIND/NAMESPACE/NAME`. Raises NotThereError.
    """
    first, *rest = [quote(part, safe="") for part in text.strip().split("/")]
    kind = KINDS.get(first.lower())
    if kind is not None and "{1}" not in kind and len(rest) == 1:
        return kind.format(rest[0])
    if kind is not None and len(rest) == 2:  # noqa: PLR2004 - namespace and name
        return kind.format(rest[1], rest[0])
    if kind is None and len(rest) == 1 and first and rest[0]:
        return KINDS["workload"].format(rest[0], first)
    raise NotThereError(
        f"{text!r} names nothing. Write NAMESPACE/NAME of a workload, clusterqueue/NAME, "
        "cohort/NAME, or localqueue/NAMESPACE/NAME."
    )
