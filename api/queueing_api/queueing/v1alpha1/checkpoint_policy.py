"""CheckpointPolicy: how a workload is asked to save its work before it is stopped."""

from typing import Annotated, Any, Literal

from pydantic import Field

from queueing_api.marks import ATOMIC, OPAQUE, list_map
from queueing_api.meta.v1 import AtomicLabelSelector, Condition, KubeObject
from queueing_api.wire import Wire

DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
DurationText = Annotated[str, Field(max_length=32, pattern=DURATION_PATTERN)]
"""A length of time such as 30s, 5m or 1h30m."""

Driver = Literal["Annotation", "HTTP", "TerminationOnly", "Job", "Exec"]
OnFailure = Literal["Proceed", "TryOtherVictim", "Abort"]


class HttpEndpoint(Wire):
    """Where a pod listens for the request to save."""

    port: Annotated[int, Field(ge=1, le=65535)]
    """Port on the pod's own address."""
    path: Annotated[str, Field(max_length=256, pattern=r"^/[A-Za-z0-9/_.~-]*$")] = "/checkpoint"
    """Path that the request is posted to; its state is read with GET at the same path."""


class HookJob(Wire):
    """A Job that saves for the workload."""

    template: Annotated[dict[str, Any], OPAQUE]
    """Metadata and spec of the Job, as in a CronJob. It is created in the namespace of the
    workload, is never queued, and ends at the request's last deadline. The environment of its
    containers says what to save: QUEUEING_CHECKPOINT_WORKLOAD, QUEUEING_CHECKPOINT_JOBS and
    others."""


class ExecCommand(Wire):
    """A command that saves."""

    command: Annotated[
        list[Annotated[str, Field(max_length=4096)]],
        ATOMIC,
        Field(min_length=1, max_length=64),
    ]
    """The program and its arguments, not run in a shell. $(QUEUEING_CHECKPOINT_REQUEST) and others
    are replaced. Exit code 0 means that the work is saved."""
    container: Annotated[str, Field(max_length=63)] = ""
    """Container to run it in. Empty: the first one."""


class CheckpointTerms(Wire):
    """How pods are asked to save, and how long that may take."""

    driver: Driver
    """How pods get the request and answer it. Annotation: by annotations of the pod. HTTP: the
    controller posts a signed request to the pod. TerminationOnly: pods are asked by SIGTERM only,
    and answer with their termination message. Job: a Job is created that saves for them. Exec: a
    command runs in their container, if the operator allows it."""
    ack_deadline: DurationText = "20s"
    """Longest wait for the first answer. A workload without an answer in time is unresponsive."""
    save_deadline: DurationText = "5m"
    """Longest time between the first answer and the end of saving."""
    save_deadline_max: DurationText | None = None
    """Limit up to which heartbeats with progress extend the save deadline. Unset: they do not."""
    heartbeat: DurationText = "15s"
    """Interval of heartbeats while a pod saves. After three missed ones it counts as failed."""
    fresh_enough: DurationText = "2m"
    """A pod whose last checkpoint is younger may answer AlreadyFresh instead of saving again."""
    termination_grace: DurationText = "60s"
    """Time that pods get between SIGTERM and SIGKILL. Must not exceed the grace period of the
    pods."""
    force_delete_after: DurationText | None = None
    """Time after the end of the grace period at which remaining pods are deleted by force, for
    example on a lost node. Unset: never."""
    answer_from: Literal["All", "Leader"] = "All"
    """Whose answers count: those of all pods of the workload, or of those that leader selects."""
    leader: AtomicLabelSelector | None = None
    """Selects the pods whose answers count if answerFrom is Leader."""
    refusal_limit: Annotated[int, Field(ge=0, le=10)] = 1
    """How often a workload may postpone the request."""
    refusal_delay_max: DurationText = "1m"
    """Longest time by which a workload may postpone the request at once."""
    on_failure: OnFailure = "Proceed"
    """What happens when the work was not saved. Proceed: the workload is stopped anyway.
    TryOtherVictim: a preempted workload stays, and its preemptor looks for another victim, twice
    at most. Abort: it stays, and its preemptor waits; only the policy of a ClusterQueue can allow
    that."""
    http: HttpEndpoint | None = None
    """Where pods listen. Needed by the driver HTTP."""
    job: HookJob | None = None
    """The Job that saves. Needed by the driver Job."""
    exec: ExecCommand | None = None
    """The command that saves. Needed by the driver Exec."""
    minimum_runtime: DurationText = "0s"
    """For this long after its start a workload is not preempted by priority within its queue, or by
    fair shares. Does not protect against the reclaim of nominal quota. Counts up to what the
    policy of the ClusterQueue grants; without such a policy it does not count."""
    idle_after: DurationText | None = None
    """How long a workload may hold quota while all of its pods have the label
    queueing.dev/idle-since. After that it is asked to save, is stopped, and stays inactive until
    somebody activates it. Unset: without limit."""
    movable: bool = False
    """Whether a workload may be asked to save, and be stopped, only to go on at another place, so
    that a larger one gets a whole domain of a topology. It is movable if this policy or that of its
    ClusterQueue says so."""


class CheckpointPolicySpec(CheckpointTerms):
    """What is asked of pods, and how long it may take."""

    retain: Annotated[int, Field(ge=1, le=100)] = 3
    """How many finished Checkpoints are kept for each workload."""


class CheckpointPolicyStatus(Wire):
    """Whether the policy can be used."""

    conditions: Annotated[list[Condition], list_map("type")] = Field(default_factory=list)
    """Observations. Active is False when the terms contradict each other; such a policy is not
    used."""


class CheckpointPolicy(KubeObject):
    """How workloads are asked to save their work before they are stopped.

    A Job names a policy of its namespace in the annotation queueing.dev/checkpoint-policy. A
    ClusterQueue names one as namespace/name: it applies to Jobs that name none, and bounds the
    policies of the others.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["CheckpointPolicy"] = "CheckpointPolicy"
    spec: CheckpointPolicySpec
    """What is asked of pods, and how long it may take."""
    status: CheckpointPolicyStatus = Field(default_factory=CheckpointPolicyStatus)
    """Whether the policy can be used."""
