"""What is submitted in scenario (a), and how fast it could be done at all."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from bench.core_alone import Run
from queueing.core.facts import WorkloadFact
from queueing.core.settings import Settings
from queueing.testing.builders import (
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    pod_set,
    quota,
    workload,
)

QUEUES = 30
PER_COHORT = 6
NAMESPACE = "bench"
NOMINAL = 20
BORROWING = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """A class of workloads of one queue."""

    name: str
    count: int
    cpu: int
    runs_s: float
    every_s: float


SIZES = (
    Size(name="small", count=350, cpu=1, runs_s=0.2, every_s=0.1),
    Size(name="medium", count=100, cpu=5, runs_s=0.5, every_s=0.5),
    Size(name="large", count=50, cpu=20, runs_s=1.0, every_s=1.2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One workload, when it comes, and for how long it runs."""

    name: str
    queue: str
    at: float
    cpu: int
    runs_s: float


def schedule(scale: float) -> list[Item]:
    """Return the workloads of all queues in the order in which they come."""
    items = [
        Item(
            name=f"{size.name}-{queue:02}-{number:03}",
            queue=f"queue-{queue:02}",
            at=number * size.every_s,
            cpu=size.cpu,
            runs_s=size.runs_s,
        )
        for queue in range(QUEUES)
        for size in SIZES
        for number in range(max(1, round(size.count * scale)))
    ]
    return sorted(items, key=lambda item: (item.at, item.name))


def cohort_of(queue: int) -> str:
    """Return the cohort of a queue: five of them, six queues each."""
    return f"cohort-{queue // PER_COHORT}"


def queues() -> Iterator[dict[str, Any]]:
    """Give the flavor, the ClusterQueues and their LocalQueues."""
    yield _object("ResourceFlavor", "default", {})
    for number in range(QUEUES):
        name = f"queue-{number:02}"
        cpu = {"name": "cpu", "nominalQuota": NOMINAL, "borrowingLimit": BORROWING}
        group = {
            "coveredResources": ["cpu"],
            "flavors": [{"name": "default", "resources": [cpu]}],
        }
        spec = {
            "cohortName": cohort_of(number),
            "namespaceSelector": {},
            "resourceGroups": [group],
        }
        yield _object("ClusterQueue", name, spec)
        yield _object("LocalQueue", name, {"clusterQueue": name}, NAMESPACE)


def workload_object(item: Item, space: str = NAMESPACE) -> dict[str, Any]:
    """Return the Workload to create."""
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": str(item.cpu)}}}
    template = {"spec": {"restartPolicy": "Never", "containers": [container]}}
    pod_sets = [{"name": "main", "count": 1, "template": template}]
    return _object("Workload", item.name, {"queueName": item.queue, "podSets": pod_sets}, space)


def _object(kind: str, name: str, spec: dict[str, Any], space: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": space} if space else {"name": name}
    api_version = "kueue.x-k8s.io/v1beta2"
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}


def _arrive(run: Run, fact: WorkloadFact, _now: float) -> None:
    run.observe([fact])


def ideal(items: list[Item]) -> list[float]:
    """Return when each admission would come if neither deciding nor writing took any time."""
    run = Run(Settings())
    limits = {"cpu": quota(NOMINAL * 1_000, borrowing=BORROWING * 1_000)}
    run.observe([namespace(NAMESPACE), flavor("default")])
    for number in range(QUEUES):
        name = f"queue-{number:02}"
        cohort = cohort_of(number)
        run.observe([cluster_queue(name, {"default": limits}, cohort=cohort)])
        run.observe([local_queue(f"{NAMESPACE}/{name}", name)])
    for item in items:
        made = workload(
            f"{NAMESPACE}/{item.name}",
            local_queue=f"{NAMESPACE}/{item.queue}",
            pod_sets=(pod_set({"cpu": item.cpu * 1_000}),),
            created=item.at,
        )
        run.time.at(item.at, partial(_arrive, run, made))
    run.to_the_end()
    return run.counts.admissions
