"""What the engine tells of its memory: whether queues are active, and which views changed."""

from dataclasses import dataclass

from queueing.core.names import CohortName, Key, QueueName


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """The Active condition of a queue."""

    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """Names, sorted, of objects whose view may have changed since the last such answer."""

    cluster_queues: tuple[QueueName, ...] = ()
    local_queues: tuple[Key, ...] = ()
    cohorts: tuple[CohortName, ...] = ()
