"""Writes that concern a Workload alone, as values; both ladders (`jobs`, `gangs`) return them."""

from collections.abc import Mapping
from dataclasses import dataclass

from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True)
class Release:
    """Release the quota of an evicted Workload."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Finish:
    """Set the condition `Finished`."""

    workload: Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class LetGo:
    """Remove our finalizer from a Workload that has finished or is being deleted."""

    workload: Workload


@dataclass(frozen=True, slots=True)
class Ready:
    """Set the condition `PodsReady`: all pods are ready, or no longer are."""

    workload: Workload
    ready: bool


@dataclass(frozen=True, slots=True)
class Reclaim:
    """Write `reclaimablePods`: by pod set, how many pods will not need their quota again."""

    workload: Workload
    counts: Mapping[str, int]


WorkloadWrite = Release | Finish | LetGo | Ready | Reclaim
