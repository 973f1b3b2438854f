"""What an engine knows at one moment: a recording of facts, without a decision.

Finished workloads that are still stored are among them: they tell how long work runs.
"""

from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import chain

from queueing.core.facts import Fact, WorkloadFact
from queueing.core.names import Key
from queueing.core.settings import Settings
from queueing.recording.lines import RecordingError, header, line, read
from queueing.recording.recorder import BEGIN, OBSERVE
from queueing.state.memory.memory import Memory
from queueing.state.memory.objects import Objects

NOW = "now"
WORKLOADS_MAX = 20_000
"""Waiting and running workloads of a tree up to which a snapshot is made."""
ENDED_MAX = 2_000
"""Finished workloads that are in a snapshot, the latest: how long work runs is told by few."""


def facts_around(memory: Memory, key: Key) -> list[Fact] | None:
    """Return all that the fate of a waiting workload depends on: the facts of its quota tree.

    None if it does not wait in a queue, or its tree is too large. Where pods are placed by topology
    trees share nodes, so that all facts are returned.
    """
    item = memory.items.get(key)
    root = None if item is None else memory.root_of(item.peers.queue)
    if root is None:
        return None
    names, objects = memory.queues_of(root), memory.objects
    if any(objects.rules[name].offer.places for name in names):
        names = sorted(objects.queues)
    within = frozenset(names)
    doors = [one for one in objects.local_queues.values() if one.cluster_queue in within]
    keys = dict.fromkeys(
        chain(
            (one.holder.key for name in names for one in memory.ledger.charges_of(name)),
            (one for door in doors for one in memory.workloads.behind.get(door.key, ())),
        )
    )
    known = [memory.workloads[one] for one in keys]
    present = [one for one in known if not one.finished]
    if len(present) > WORKLOADS_MAX:
        return None
    ended = nlargest(ENDED_MAX, (one for one in known if one.finished), key=_ended_at)
    queues = (objects.queues[name] for name in names)
    return [*_shared(objects), *queues, *doors, *present, *ended]


def facts_of(memory: Memory) -> list[Fact]:
    """Return all that is known of objects and workloads, credits apart."""
    objects = memory.objects
    queues, doors = objects.queues.values(), objects.local_queues.values()
    return [*_shared(objects), *queues, *doors, *memory.workloads.values()]


def _shared(objects: Objects) -> Iterator[Fact]:
    """Yield what all quota trees share."""
    yield from objects.namespaces.values()
    yield from objects.flavors.values()
    yield from objects.checks.values()
    yield from objects.topologies.values()
    yield from objects.nodes.values()
    yield from objects.node_usage.values()
    yield from objects.node_devices.values()
    yield from objects.cohorts.values()


def _ended_at(fact: WorkloadFact) -> float:
    return fact.conditions["Finished"].changed


def beginning(settings: Settings, now: float) -> str:
    """Return the lines before those of facts."""
    return header() + line(BEGIN, settings) + line(NOW, now)


def lines(facts: Iterable[Fact]) -> str:
    """Return the lines of facts."""
    return "".join(line(OBSERVE, one) for one in facts)


def read_snapshot(source: Iterator[bytes], file: str) -> tuple[Settings, float, list[Fact]]:
    """Return settings, moment and facts of a snapshot. Raises RecordingError if it is none."""
    settings: Settings | None = None
    now: float | None = None
    facts: list[Fact] = []
    for one in read(source, file):
        match one.event:
            case "begin":
                settings = one.body
            case "now":
                now = one.body
            case "observe":
                facts.append(one.body)
            case _:
                raise RecordingError(file, one.number, f"{one.event} is not of a snapshot")
    if settings is None or now is None:
        raise RecordingError(file, 1, "is no snapshot: it does not say settings and moment")
    return settings, now, facts
