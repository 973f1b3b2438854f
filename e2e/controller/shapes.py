"""Jobs of mixed shapes in borrowing cohorts, as a busy cluster has them."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice

from e2e.api import holds
from e2e.jobs import COMPLETE_S
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.quota import Ledger
from e2e.wire import Object
from e2e.world import World

# (pods, cpu of each, seconds): most are small, some need more than their queue's own quota.
SHAPES: tuple[tuple[int, str, float], ...] = (
    (1, "500m", 1.0),
    (2, "1", 2.0),
    (1, "250m", 0.5),
    (4, "1", 1.0),
    (3, "500m", 3.0),
    (1, "6", 1.5),
    (2, "2", 1.0),
    (8, "1", 2.0),
    (1, "1", 0.2),
    (3, "4", 1.0),
)
NOMINAL_CPU = 8
MEMORY = "64Gi"


@dataclass(frozen=True, slots=True)
class Cohorts:
    """Cohorts of equal ClusterQueues, each with a LocalQueue `q-<cohort>-<queue>`."""

    space: World
    cohorts: int
    queues: int
    places: tuple[tuple[int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        places = [(c, q) for c in range(self.cohorts) for q in range(self.queues)]
        object.__setattr__(self, "places", tuple(places))

    @property
    def names(self) -> list[str]:
        return [self.cluster_queue(*place) for place in self.places]

    def cohort(self, cohort: int) -> str:
        return self.space.name(f"cohort-{cohort}")

    def cluster_queue(self, cohort: int, queue: int) -> str:
        return self.space.name(f"cq-{cohort}-{queue}")

    def make(self, **spec: object) -> None:
        """Create the flavor, the ClusterQueues and their LocalQueues."""
        any_flavor = self.space.name("any")
        quota = {any_flavor: {"cpu": str(NOMINAL_CPU), "memory": MEMORY}}
        self.space.make(flavor(any_flavor))
        for cohort, queue in self.places:
            name = self.cluster_queue(cohort, queue)
            made = cluster_queue(name, quota, cohort=self.cohort(cohort), **spec)
            local = local_queue(self.space.namespace, f"q-{cohort}-{queue}", name)
            self.space.make(made, local)

    def jobs(self, count: int) -> Iterator[Object]:
        """Yield `count` Jobs of all shapes; the first queue of a cohort gets most of them."""
        spread = cycle([*self.places, *(place for place in self.places if place[1] == 0)])
        shapes = cycle(SHAPES)
        pairs = zip(islice(spread, count), shapes, strict=False)
        for number, ((cohort, queue), (pods, cpu, seconds)) in enumerate(pairs):
            yield job(
                self.space.namespace,
                f"job-{number:03}",
                queue=f"q-{cohort}-{queue}",
                parallelism=pods,
                pods=Pods(cpu=cpu, requests={"memory": "128Mi"}, run_s=seconds),
            )

    def wait_finished(self, count: int, ledger: Ledger) -> None:
        """Wait until so many Workloads have ended; the ledger is asked whenever one changes."""

        def finished(workloads: Sequence[Object]) -> bool:
            ledger.check(workloads)
            return sum(holds(one, "Finished") for one in workloads) == count

        self.space.api.wait(
            "Workload",
            finished,
            namespace=self.space.namespace,
            timeout_s=COMPLETE_S,
            what=f"{count} Workloads finished",
        )

    def ledger(self) -> Ledger:
        """Return the rule that no cohort ever holds more than its queues offer together."""
        limits = {}
        for cohort in range(self.cohorts):
            members = frozenset(self.cluster_queue(cohort, queue) for queue in range(self.queues))
            limits[members, "cpu"] = str(NOMINAL_CPU * self.queues)
        return Ledger(limits)
