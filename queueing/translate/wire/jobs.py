"""The batch/v1 Job; its pod template stays encoded, because a Workload copies it whole."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime

import msgspec

from queueing.translate.wire.meta import Condition, Meta, Wire


class JobSpec(Wire, frozen=True):
    """Spec of a Job."""

    template: msgspec.Raw
    suspend: bool = False
    parallelism: int = 1
    completions: int | None = None
    completion_mode: str = "NonIndexed"
    managed_by: str = ""
    ttl_seconds_after_finished: int | None = None


class UncountedPods(Wire, frozen=True):
    """Uids of pods that ended and are not in the counts of the status yet."""

    succeeded: list[str] = []


class JobStatus(Wire, frozen=True):
    """Status of a Job."""

    active: int = 0
    ready: int = 0
    succeeded: int = 0
    failed: int = 0
    terminating: int = 0
    start_time: datetime | None = None
    uncounted_terminated_pods: UncountedPods | None = None
    completed_indexes: str = ""
    failed_indexes: str = ""
    conditions: list[Condition] = []


class Job(Wire, frozen=True):
    """A batch/v1 Job."""

    metadata: Meta
    spec: JobSpec
    status: JobStatus = JobStatus()
