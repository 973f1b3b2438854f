"""Small and large worlds: lists of facts in the order in which an informer might deliver them."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from queueing.core.facts import ClusterQueueFact, Fact, FlavorFact, Preemption
from queueing.core.names import FlavorName
from queueing.testing.builders import (
    NAMESPACE,
    cluster_queue,
    flavor,
    local_queue,
    namespace,
    pod_set,
    quota,
    workload,
)


def world(*facts: Fact, cluster_queues: Iterable[ClusterQueueFact] = ()) -> list[Fact]:
    """Complete some facts so that every ClusterQueue can be used.

    Adds the namespace `team`, every flavor that a queue names and no fact gives, and for each
    queue of `cluster_queues` a LocalQueue `team/<its name>`.
    """
    queues = list(cluster_queues) or [one for one in facts if isinstance(one, ClusterQueueFact)]
    given = {one.name for one in facts if isinstance(one, FlavorFact)}
    named: dict[FlavorName, None] = {}
    for queue in queues:
        for group in queue.groups:
            named.update(dict.fromkeys(one.flavor for one in group.flavors))
    doors = [local_queue(f"{NAMESPACE}/{queue.name}", queue.name) for queue in queues]
    missing = [flavor(name) for name in named if name not in given]
    rest = [one for one in queues if one not in facts]
    return [namespace(), *missing, *rest, *doors, *facts]


@dataclass(frozen=True, slots=True, kw_only=True)
class Deep:
    """A large world of many queues with many pending workloads each."""

    queues: int = 1_000
    each: int = 100
    queues_per_cohort: int = 10
    shapes: int = 1_000
    nominal_milli: int = 20_000
    borrowing_milli: int | None = 100_000
    preemption: Preemption = field(default_factory=Preemption)
    flavors: tuple[str, ...] = ("default",)

    def objects(self) -> Iterator[Fact]:
        """Give namespace, flavors and queues."""
        yield namespace()
        for name in self.flavors:
            yield flavor(name)
        limits = {"cpu": quota(self.nominal_milli, borrowing=self.borrowing_milli)}
        for number in range(self.queues):
            name = f"queue-{number:05}"
            yield cluster_queue(
                name,
                dict.fromkeys(self.flavors, limits),
                cohort=f"cohort-{number // self.queues_per_cohort:04}",
                preemption=self.preemption,
            )
            yield local_queue(f"{NAMESPACE}/{name}", name)

    def workloads(self) -> Iterator[Fact]:
        """Give the pending workloads: in each ten, seven small, two medium and one large."""
        sizes = (1, 1, 1, 1, 1, 1, 1, 5, 5, 20)
        shapes = [
            (
                pod_set(
                    {"cpu": sizes[number % len(sizes)] * 1_000 - number // len(sizes) % 100},
                    shape=f"shape-{number}",
                ),
            )
            for number in range(self.shapes)
        ]
        total = self.queues * self.each
        for number in range(total):
            queue = number % self.queues
            turn = number // self.queues
            yield workload(
                f"{NAMESPACE}/job-{number:06}",
                local_queue=f"{NAMESPACE}/queue-{queue:05}",
                pod_sets=shapes[(queue * 7 + turn) % self.shapes],
                priority=(0, 0, 0, 0, 0, 0, 0, 100, 100, 200)[number % 10],
                created=float(number),
            )
