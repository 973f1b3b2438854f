"""`batch/v1`: Jobs, as far as queueing reads them; the rest is carried along."""

from typing import Literal

from pydantic import Field

from queueing_api.core.pod import PodCondition, PodTemplateSpec
from queueing_api.meta.v1 import KubeObject, LabelSelector
from queueing_api.wire import Int32, Int64, Wire


class JobSpec(Wire):
    """What a Job should do."""

    suspend: bool = False
    """Whether no pods are to run for now."""
    parallelism: Int32 = 1
    """Pods that run at once."""
    completions: Int32 | None = None
    """Pods that must succeed; unset means that one success is enough."""
    completion_mode: str = "NonIndexed"
    """Indexed gives each pod a number; NonIndexed does not."""
    backoff_limit: Int32 | None = None
    """Retries before the Job fails."""
    active_deadline_seconds: Int64 | None = None
    """Seconds after which a running Job fails."""
    ttl_seconds_after_finished: Int32 | None = None
    """Seconds after which a finished Job is deleted."""
    managed_by: str | None = None
    """Controller that runs the Job, when it is not Kubernetes' own."""
    selector: LabelSelector | None = None
    """Pods of the Job."""
    template: PodTemplateSpec = Field(default_factory=PodTemplateSpec)
    """What each pod is made from."""


class JobStatus(Wire):
    """How far a Job is."""

    active: Int32 = 0
    """Pods that run or wait to."""
    ready: Int32 | None = None
    """Pods that are ready."""
    terminating: Int32 | None = None
    """Pods that are being ended."""
    succeeded: Int32 = 0
    """Pods that succeeded."""
    failed: Int32 = 0
    """Pods that failed."""
    completed_indexes: str = ""
    """Numbers that succeeded, as ranges such as 1,3-5."""
    failed_indexes: str | None = None
    """Numbers that failed for good, as ranges."""
    start_time: str | None = None
    """When the Job was started, or resumed, last."""
    completion_time: str | None = None
    """When the Job succeeded."""
    conditions: list[PodCondition] = Field(default_factory=list)
    """Observations: Complete, Failed, Suspended and others."""


class Job(KubeObject):
    """Work that ends."""

    api_version: Literal["batch/v1"] = "batch/v1"
    kind: Literal["Job"] = "Job"
    spec: JobSpec = Field(default_factory=JobSpec)
    """What it should do."""
    status: JobStatus = Field(default_factory=JobStatus)
    """How far it is."""
