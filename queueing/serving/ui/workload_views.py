"""One workload: why it waits, what would help it, and what happened to it."""

from queueing.explain.model import WorkloadExplanation
from queueing.explain.redaction import redacted
from queueing.explain.text import awaited, title_of_first
from queueing.kube.resources import WORKLOADS
from queueing.serving.frames import Subject
from queueing.serving.rights import EVERYTHING, Right, estimate_of, explanation_of, listing
from queueing.serving.ui.entrance import demand
from queueing.serving.ui.paths import Page, Visit
from queueing.serving.ui.prospects import Prospect
from queueing.serving.ui.sources import CORE_EVENTS
from queueing.serving.ui.timeline import moments, stretches

EVERY_S = 5.0
"""An explanation searches for remedies, so it is not made again every other second."""


async def workload(asked: Visit) -> Page:
    """Show a workload."""
    namespace, name = asked.names["namespace"], asked.names["name"]
    may_get = Right(group=WORKLOADS.group, resource="workloads", namespace=namespace, name=name)
    await demand(asked.visitor, explanation_of("workloads", namespace, name), may_get)
    key = f"{namespace}/{name}"
    found = await asked.sources.object(WORKLOADS.at(name, namespace))
    told = await asked.sources.explained(Subject("workloads", key), WorkloadExplanation)
    if not await asked.visitor.may(EVERYTHING):
        told = redacted(told, namespace)
    prospect = await _prospect(asked, told, namespace, name)
    may_read_events = await asked.visitor.may(listing(CORE_EVENTS, namespace))
    events = await asked.sources.events_of(found) if may_read_events else []
    owners = found["metadata"].get("ownerReferences") or []
    return Page(
        title=f"Workload {key}",
        template="workload.html",
        values={
            "told": told,
            "title_of_first": title_of_first(told),
            "awaited": list(awaited(told)),
            "prospect": prospect,
            "estimate": None if prospect is None else prospect.estimates.get(key),
            "owners": [f"{one['kind']} {one['name']}" for one in owners],
            "pod_sets": found["spec"].get("podSets") or [],
            "moments": moments(found, events),
            "stretches": stretches(found, asked.now),
            "may_read_events": may_read_events,
        },
        every_s=EVERY_S,
    )


async def _prospect(
    asked: Visit, told: WorkloadExplanation, namespace: str, name: str
) -> Prospect | None:
    """Return when it will be admitted; None where it does not wait, or the visitor may not ask."""
    if told.state != "Waiting":
        return None
    if not await asked.visitor.may(estimate_of("workloads", namespace, name)):
        return None
    return asked.sources.prospect(Subject("workloads", f"{namespace}/{name}"))
