"""When who waits will be admitted, for `queueing explain --eta`: asked for, or worked out here."""

from collections.abc import Iterator, Mapping
from typing import TypeVar

import click
import msgspec
from msgspec.structs import replace

from queueing.cli.tables import Cell, made, rendered
from queueing.clock import SystemClock
from queueing.core.facts import WorkloadFact
from queueing.core.names import Key, QueueName
from queueing.explain import answers
from queueing.explain.model import (
    Estimate,
    Explanation,
    LineEstimates,
    QueueExplanation,
    Range,
    WorkloadExplanation,
)
from queueing.kube.client import Client
from queueing.kube.errors import KubeError
from queueing.kube.request import Request
from queueing.serving.explanations import ESTIMATE, path_of
from queueing.serving.frames import Subject
from queueing.sim.forecast.estimate import estimates
from queueing.sim.forecast.outlook import World
from queueing.sim.intake import Intake
from queueing.sim.spans import span
from queueing.sim.world import SimulatedCluster
from queueing.translate.times import moment

ROWS = 10
"""Of how many who wait in a queue it is told: as many as the controller tells of at a time."""
WORKED_OUT_S = 10.0
"""How long it may take that is worked out here."""
HEADER = ("PLACE", "WORKLOAD", "LIKELY", "NEARLY SURELY")
UNKNOWN = "unknown"
T = TypeVar("T")


async def asked_for(client: Client, subject: Subject, answer: Explanation) -> Explanation:
    """Add the controller's estimates to an answer about something."""
    if isinstance(answer, QueueExplanation):
        first = replace(subject, part="waiting", limit=ROWS)
        line = await _fetched(client, first, LineEstimates)
        return answer if line is None else replace(answer, estimates=line.estimates)
    if answer.state != "Waiting":
        return answer
    return replace(answer, estimate=await _fetched(client, subject, Estimate))


async def _fetched(client: Client, subject: Subject, kind: type[T]) -> T | None:
    """Return what the controller estimates; None, and a word on it, where that is nothing."""
    try:
        body = await client.send(Request("GET", path_of(subject, ESTIMATE)))
    except KubeError as error:  # whatever it is, the explanation stands without
        click.echo(f"Warning: nobody says when it will be admitted: {error}", err=True)
        return None
    return msgspec.json.decode(body, type=kind)


def worked_out(
    answer: Explanation, cluster: SimulatedCluster, world: Intake, now: float
) -> Explanation:
    """Add the same to an answer from objects, worked out here."""
    keys = list(_waiting(answer, cluster))
    if not keys and isinstance(answer, WorkloadExplanation):
        return answer
    ended = [one for one in world.facts if isinstance(one, WorkloadFact) and one.finished]
    objects = [one for one in world.facts if not isinstance(one, WorkloadFact)]
    facts = (*objects, *cluster.workloads.values(), *ended)
    clock = SystemClock()
    ends = clock.monotonic() + WORKED_OUT_S
    known = World.of(facts, world.settings, now)
    found = estimates(known, keys, enough=lambda: clock.monotonic() > ends) if keys else {}
    if isinstance(answer, WorkloadExplanation):
        return replace(answer, estimate=found[keys[0]])
    return replace(answer, estimates={str(key): found[key] for key in keys})


def _waiting(answer: Explanation, cluster: SimulatedCluster) -> Iterator[Key]:
    """Yield who waits: the workload that is explained, or the first of a queue."""
    if isinstance(answer, WorkloadExplanation):
        if answer.state == "Waiting":
            yield Key(f"{answer.namespace}/{answer.name}")
        return
    name = f"{answer.namespace}/{answer.name}" if answer.namespace else answer.name
    queue = Key(name) if answer.namespace else QueueName(name)
    line = answers.line(cluster.engine, queue, (0, ROWS), holding=False)
    for one in () if line is None else line.rows:
        if one.position is not None:
            yield Key(f"{one.namespace}/{one.name}")


def written(found: Mapping[str, Estimate], pending: int) -> str:
    """Write the estimates of those who wait first in a queue, in their order, for people.

    `pending` is how many wait in all.
    """
    if not found:
        return f"When: {'nobody who waits may be tried yet' if pending else 'nobody waits'}."
    rows = (
        [
            Cell(str(place)),
            Cell(key),
            Cell(_told(one.half, one.as_of)),
            Cell(_told(one.nearly_all, one.as_of)),
        ]
        for place, (key, one) in enumerate(found.items(), start=1)
    )
    first = next(iter(found.values()))
    who = f"the first {len(found)} of the line are" if len(found) > 1 else "the first is"
    notes = dict.fromkeys(
        text for one in found.values() for text in (*one.basis, *[one.text] * (not one.known))
    )
    lines = [f"When {who} admitted, as of {first.as_of}:", rendered(made(HEADER, rows))]
    return "\n".join([*lines, *(f"  - {note}" for note in notes)])


def _told(found: Range | None, as_of: str) -> str:
    if found is None:
        return UNKNOWN
    earliest = span(moment(found.earliest) - moment(as_of))
    if found.latest is None:
        return f"not before {earliest}"
    return f"in {earliest} to {span(moment(found.latest) - moment(as_of))}"
