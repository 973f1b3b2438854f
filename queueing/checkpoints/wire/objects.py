"""Checkpoints, CheckpointPolicies and pods, with the fields that we read."""
# ruff: noqa: RUF012 - msgspec gives every instance its own copy of an empty default

from datetime import datetime

import msgspec

from queueing.translate.wire.meta import Condition, LabelSelector, Meta, Wire


class HttpEndpoint(Wire, frozen=True):
    """Where a pod listens."""

    port: int
    path: str = "/checkpoint"


class JobTemplate(Wire, frozen=True):
    """A Job to make; kept as bytes, since it is only handed on."""

    template: msgspec.Raw


class ExecCommand(Wire, frozen=True):
    """What is run in a container."""

    command: list[str]
    container: str = ""


class Terms(Wire, frozen=True):
    """What is asked of pods."""

    driver: str
    ack_deadline: str = "20s"
    save_deadline: str = "5m"
    save_deadline_max: str | None = None
    heartbeat: str = "15s"
    fresh_enough: str = "2m"
    termination_grace: str = "60s"
    force_delete_after: str | None = None
    answer_from: str = "All"
    leader: LabelSelector | None = None
    refusal_limit: int = 1
    refusal_delay_max: str = "1m"
    on_failure: str = "Proceed"
    http: HttpEndpoint | None = None
    job: JobTemplate | None = None
    command: ExecCommand | None = msgspec.field(name="exec", default=None)
    minimum_runtime: str = "0s"
    idle_after: str | None = None
    movable: bool = False


class PolicySpec(Terms, frozen=True):
    """Spec of a CheckpointPolicy."""

    retain: int = 3


class PolicyStatus(Wire, frozen=True):
    """Status of a CheckpointPolicy."""

    conditions: list[Condition] = []


class CheckpointPolicy(Wire, frozen=True):
    """A CheckpointPolicy."""

    metadata: Meta
    spec: PolicySpec
    status: PolicyStatus = PolicyStatus()


class WorkloadReference(Wire, frozen=True):
    """One life of a Workload."""

    name: str
    uid: str


class CheckpointSpec(Wire, frozen=True):
    """Spec of a Checkpoint."""

    workload: WorkloadReference
    epoch: int
    reason: str
    terms: Terms
    requested_at: datetime
    ack_by: datetime
    save_by: datetime
    request_id: str = msgspec.field(name="requestID")
    preemptor: str = ""
    policy: str = ""


class SavedWork(Wire, frozen=True):
    """What was saved."""

    uri: str = ""
    step: int | None = None
    size: int | None = None
    at: datetime | None = None
    by: str = ""


class CheckpointStatus(Wire, frozen=True):
    """Status of a Checkpoint."""

    phase: str = "Selected"
    message: str = ""
    outcome: str | None = None
    asked: list[str] = []
    attempts: int = 0
    refusals: int = 0
    notified_at: datetime | None = None
    accepted_at: datetime | None = None
    save_by: datetime | None = None
    heard_at: datetime | None = None
    resume_at: datetime | None = None
    suspended_at: datetime | None = None
    kill_by: datetime | None = None
    ended_at: datetime | None = None
    checkpoint: SavedWork | None = None


class Checkpoint(Wire, frozen=True):
    """A Checkpoint."""

    metadata: Meta
    spec: CheckpointSpec
    status: CheckpointStatus = CheckpointStatus()


class Terminated(Wire, frozen=True):
    """How a container ended."""

    exit_code: int = 0
    message: str = ""


class ContainerState(Wire, frozen=True):
    """What a container does."""

    terminated: Terminated | None = None


class ContainerStatus(Wire, frozen=True):
    """Status of a container."""

    name: str = ""
    state: ContainerState = ContainerState()


class PodStatus(Wire, frozen=True):
    """The part of a pod's status that we read."""

    phase: str = "Pending"
    pod_ip: str = msgspec.field(name="podIP", default="")
    container_statuses: list[ContainerStatus] = []

    @property
    def is_terminal(self) -> bool:
        """Whether the pod has given back all that it used: quota is released by this alone.

        The kubelet reports such a phase only when no container runs any more and none will be
        started again. That one container has terminated says less: others of the pod may run.
        """
        return self.phase in {"Succeeded", "Failed"}


class Pod(Wire, frozen=True):
    """A pod that is asked."""

    metadata: Meta
    status: PodStatus = PodStatus()
