"""What is written into a Workload alone, whether it speaks of one Job or of a gang of them."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Release:
    """Give the quota of an evicted Workload back."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Finish:
    """Record that the work has ended."""

    workload: Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """Take our finalizer off a Workload that is no longer needed."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Ready:
    """Record that all pods are ready, or no longer are."""

    workload: Workload
    ready: bool


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Record, by pod set, how many pods will not be needed again."""

    workload: Workload
    counts: Mapping[str, int]


WorkloadWrite = Release | Finish | LetGo | Ready | Reclaim
