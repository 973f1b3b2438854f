"""The cohorts above each queue, by the objects' specs; a cycle of parents is followed once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

from queueing.controller.stores.objects import Objects
from queueing.core.names import CohortName, QueueName


@dataclass(frozen=True, slots=True)
class CohortTree:
    """All ClusterQueues and cohorts at one moment."""

    queues: Sequence[QueueName] = ()
    members: Mapping[CohortName, Sequence[QueueName]] = field(default_factory=dict)
    """The ClusterQueues below each cohort, at any depth."""
    paths: Mapping[QueueName, Sequence[CohortName]] = field(default_factory=dict)
    """The cohorts above each ClusterQueue, its own first."""

    @property
    def cohorts(self) -> Sequence[CohortName]:
        return tuple(self.members)

    def above(self, queue: QueueName) -> Sequence[CohortName]:
        """Return the cohorts above a ClusterQueue, its own first."""
        return self.paths.get(queue, ())

    @classmethod
    def of(cls, objects: Objects) -> Self:
        """Return the tree of the objects as they are now."""
        queues = [QueueName(one) for one in objects.cluster_queues]
        paths = {name: objects.cohorts_above(name) for name in queues}
        members: dict[CohortName, list[QueueName]] = {CohortName(n): [] for n in objects.cohorts}
        for name, path in paths.items():
            for cohort in path:
                members.setdefault(cohort, []).append(name)
        return cls(queues, members, paths)
