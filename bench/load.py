"""What is submitted in scenarios (a), (b), (c), (h) and (i), and how fast that could be done."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from types import MappingProxyType
from typing import Any

from bench.core_alone import Run
from queueing.core.facts import WorkloadFact
from queueing.core.settings import Settings
from queueing.core.topology.assignment import HOSTNAME
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    pod_set,
    quota,
    workload,
)

NAMESPACE = "bench"
POOL = {"bench": "racks"}
"""Labels of the nodes on which pods are placed."""
THIRD = "i, a third"
"""A load of its own: no one rounding makes its published counts out of the full ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A class of workloads of one queue; those that no quota can hold wait for ever."""

    name: str
    count: int
    cpu: int
    runs_s: float
    every_s: float
    priority: int = 0
    fits: bool = True
    level: str = ""
    """The level of the topology that its pods, of 1 cpu each, must share; else it is one pod."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """Queues, what each may use, and what comes to each."""

    queues: int
    per_cohort: int
    nominal: int
    borrowing: int
    sizes: tuple[Size, ...]
    preemption: Mapping[str, str] = field(default_factory=dict)
    """As in the spec of a ClusterQueue; nobody is preempted unless it says so."""
    places: bool = False
    """Whether pods are placed, on the nodes of `racks`."""

    def cohort_of(self, queue: int) -> str:
        """Return the cohort of a queue, by number."""
        return f"cohort-{queue // self.per_cohort}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One workload, when it comes, and for how long it runs."""

    name: str
    queue: str
    at: float
    cpu: int
    runs_s: float
    priority: int = 0
    fits: bool = True
    level: str = ""

    @property
    def pods(self) -> int:
        """How many pods share its cpu."""
        return self.cpu if self.level else 1

    @property
    def size(self) -> str:
        """Return the name of its class."""
        return self.name.partition("-")[0]


def queue_name(number: int) -> str:
    """Return the name of a ClusterQueue, and of its LocalQueue."""
    return f"queue-{number:03}"


def _sizes(small: int, medium: int, large: int) -> tuple[Size, ...]:
    """Return so many of each size of Kueue's published configuration."""
    return (
        Size(name="small", count=small, cpu=1, runs_s=0.2, every_s=0.1),
        Size(name="medium", count=medium, cpu=5, runs_s=0.5, every_s=0.5),
        Size(name="large", count=large, cpu=20, runs_s=1.0, every_s=1.2),
    )


def _with_priorities(small: int, medium: int, large: int) -> Load:
    """Return the load of Kueue's own runner, so many of each size in a queue."""
    priorities = {"small": 50, "medium": 100, "large": 200}
    sizes = _sizes(small, medium, large)
    return Load(
        queues=30,
        per_cohort=6,
        nominal=20,
        borrowing=100,
        sizes=tuple(replace(one, priority=priorities[one.name]) for one in sizes),
        preemption={"withinClusterQueue": "LowerPriority", "reclaimWithinCohort": "Any"},
    )


A = Load(queues=30, per_cohort=6, nominal=20, borrowing=100, sizes=_sizes(350, 100, 50))
_LEVELS = {"small": HOSTNAME, "medium": "rack", "large": "block"}
LOADS = MappingProxyType(
    {
        "a": A,
        "b": Load(
            queues=1_000,
            per_cohort=100,
            nominal=20,
            borrowing=100,
            sizes=_sizes(35, 10, 5),
        ),
        "c": Load(
            queues=1,
            per_cohort=1,
            nominal=200,
            borrowing=0,
            sizes=(
                Size(name="small", count=3_000, cpu=1, runs_s=0.2, every_s=0.0),
                Size(name="medium", count=1_000, cpu=5, runs_s=0.5, every_s=0.0),
                Size(name="never", count=6_000, cpu=300, runs_s=0.0, every_s=0.0, fits=False),
            ),
        ),
        "h": replace(
            A,
            places=True,
            sizes=tuple(replace(one, level=_LEVELS[one.name]) for one in A.sizes),
        ),
        "i": _with_priorities(350, 100, 50),
        THIRD: _with_priorities(117, 33, 16),
    }
)
"""(a) is Kueue's published configuration; (b) has the queues and counts of the large one, with the
sizes and runtimes of (a); (c) is one deep queue, 60 % of it hopeless; (h) is (a) with pods of 1 cpu
that must share a host, a rack or a block; (i) is (a) with priorities
and preemption, as Kueue's own runner has it."""


def schedule(load: Load, scale: float) -> list[Item]:
    """Return the workloads of all queues in the order in which they come."""
    items: list[tuple[float, float, Item]] = []
    for size in load.sizes:
        count = max(1, round(size.count * scale))
        for number in range(count):
            at = number * size.every_s
            for queue in range(load.queues):
                item = Item(
                    name=f"{size.name}-{queue:03}-{number:04}",
                    queue=queue_name(queue),
                    at=at,
                    cpu=size.cpu,
                    runs_s=size.runs_s,
                    priority=size.priority,
                    fits=size.fits,
                    level=size.level,
                )
                # What comes at once comes mixed, each class spread evenly.
                items.append((at, number / count, item))
    items.sort(key=lambda one: (one[0], one[1], one[2].name))
    return [item for _, _, item in items]


def queues(load: Load) -> Iterator[dict[str, Any]]:
    """Give the flavor, with its Topology if it has one, the ClusterQueues and their LocalQueues."""
    if load.places:
        levels = [{"nodeLabel": one} for one in ("block", "rack", HOSTNAME)]
        yield _object("Topology", "dc", {"levels": levels})
        yield _object("ResourceFlavor", "default", {"nodeLabels": POOL, "topologyName": "dc"})
    else:
        yield _object("ResourceFlavor", "default", {})
    for number in range(load.queues):
        name = queue_name(number)
        cpu = {"name": "cpu", "nominalQuota": load.nominal, "borrowingLimit": load.borrowing}
        group = {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "default", "resources": [cpu]}],
        }
        spec: dict[str, Any] = {
            "cohortName": load.cohort_of(number),
            "namespaceSelector": {},
            "resourceGroups": [group],
        }
        if load.preemption:
            spec["preemption"] = dict(load.preemption)
        yield _object("ClusterQueue", name, spec)
        yield _object("LocalQueue", name, {"clusterQueue": name}, NAMESPACE)


def racks() -> Iterator[tuple[str, dict[str, str]]]:
    """Give the names of 640 nodes, in 10 blocks of 4 racks, and their labels."""
    for block, rack, host in product(range(10), range(4), range(16)):
        place = {"block": f"b{block}", "rack": f"b{block}-r{rack}"}
        yield f"b{block}-r{rack}-h{host:02}", {**POOL, **place}


def workload_object(item: Item, space: str = NAMESPACE) -> dict[str, Any]:
    """Return the Workload to create."""
    each = {"requests": {"cpu": str(item.cpu // item.pods)}}
    container = {"name": "c", "image": "i", "resources": each}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    pods: dict[str, Any] = {"name": "main", "count": item.pods, "template": template}
    if item.level:
        pods["topologyRequest"] = {"required": item.level}
    spec = {"queueName": item.queue, "podSets": [pods]}
    priority = {"priority": item.priority} if item.priority else {}
    return _object("Workload", item.name, {**spec, **priority}, space)


def _object(kind: str, name: str, spec: dict[str, Any], space: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": space} if space else {"name": name}
    api_version = "kueue.x-k8s.io/v1beta2"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _arrive(run: Run, fact: WorkloadFact, _now: float) -> None:
    run.observe([fact])


def ideal(load: Load, items: list[Item]) -> list[float]:
    """Return when each admission would come if neither deciding nor writing took any time.

    Nobody is preempted: that would only make it later.
    """
    run = Run(Settings())
    limits = {"cpu": quota(load.nominal * 1_000, borrowing=load.borrowing * 1_000)}
    run.observe([namespace(NAMESPACE), flavor("default")])
    for number in range(load.queues):
        name = queue_name(number)
        cohort = load.cohort_of(number)
        run.observe([cluster_queue(name, {"default": limits}, cohort=cohort)])
        run.observe([local_queue(f"{NAMESPACE}/{name}", name)])
    for item in items:
        if not item.fits:
            continue
        made = workload(
            f"{NAMESPACE}/{item.name}",
            local_queue=f"{NAMESPACE}/{item.queue}",
            pod_sets=(pod_set({"cpu": item.cpu * 1_000}),),
            created=item.at,
        )
        run.time.at(item.at, partial(_arrive, run, made))
    run.to_the_end()
    return run.counts.admissions
