"""Random workloads for the queues of `random_worlds`."""

from collections.abc import Sequence

from queueing.core.facts import PodSet, WorkloadFact
from queueing.core.selectors import Requirement, Toleration
from queueing.testing.builders import pod_set, workload
from tests.lives.random_worlds import GOLD, QUEUES, SPOT, Choose

_TOLERATES = (Toleration(key="tier", operator="Exists"),)
_ON_GOLD = ((Requirement(key="tier", operator="In", values=(GOLD,)),),)

PLAIN: tuple[tuple[PodSet, ...], ...] = tuple((pod_set({"cpu": cpu}),) for cpu in range(1, 7))
GANGS: tuple[tuple[PodSet, ...], ...] = tuple(
    (pod_set({"cpu": cpu}, count, min_count=least),)
    for cpu, count in ((1, 2), (1, 4), (2, 2), (2, 3), (3, 2))
    for least in (None, 1, 2)
)
CHOOSY: tuple[tuple[PodSet, ...], ...] = (
    (pod_set({"cpu": 2}, node_selector={"tier": SPOT}),),
    (pod_set({"cpu": 2}, tolerations=_TOLERATES),),
    (pod_set({"cpu": 2}, tolerations=_TOLERATES, node_affinity=_ON_GOLD),),
    (pod_set({"cpu": 1, "memory": 3}),),
    (pod_set({"cpu": 3, "memory": 1}),),
    (pod_set({"cpu": 1, "gpu": 1}),),
    (pod_set({"cpu": 2, "gpu": 3}, 2, min_count=1),),
    (pod_set({"cpu": 0, "gpu": 0}),),
)
DOUBLE: tuple[tuple[PodSet, ...], ...] = (
    (pod_set({"cpu": 1}), pod_set({"cpu": 3}, name="second")),
    (pod_set({"cpu": 2}, 2, min_count=1), pod_set({"cpu": 1}, 3, name="second", min_count=1)),
    (pod_set({"cpu": 1}, group="one"), pod_set({"cpu": 2, "gpu": 1}, name="second", group="one")),
    (pod_set({"cpu": 4}), pod_set({"cpu": 1, "memory": 2}, 2, name="second")),
)
SHAPES = PLAIN * 4 + GANGS + CHOOSY + DOUBLE
"""Pod sets of a workload, the simplest first; half of them are one pod."""

DOORS = tuple(f"{space}/{name}" for space in ("team", "crew") for name in QUEUES)
RANKS = tuple((priority, float(created)) for created in range(4) for priority in range(4))


def some_job(choose: Choose, doors: Sequence[str] = DOORS) -> WorkloadFact:
    """Choose a pending workload. Its name and uid are given to it when it is submitted.

    So is another queue, in the same namespace, if the one that it names does not exist.
    """
    shape, door = choose(SHAPES), choose(doors)
    space, _, _ = door.partition("/")
    priority, created = choose(RANKS)
    return workload(
        f"{space}/job",
        pod_sets=shape,
        local_queue=door,
        priority=priority,
        created=created,
        preemption_gated=shape is SHAPES[-1],
    )
