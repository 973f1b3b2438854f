"""Checkpoint: one request to save, from the first notice to what was saved."""

from typing import Annotated, Literal

from pydantic import Field

from queueing_api.marks import SET
from queueing_api.meta.v1 import KubeObject
from queueing_api.queueing.v1alpha1.checkpoint_policy import CheckpointTerms
from queueing_api.wire import Int64, Time, Wire

Phase = Literal[
    "Selected",
    "Notified",
    "Saving",
    "Saved",
    "Refused",
    "Unresponsive",
    "Failed",
    "Suspending",
    "Drained",
    "Released",
    "Requeued",
    "Finished",
    "Cancelled",
]
Text = Annotated[str, Field(max_length=1024)]


class WorkloadReference(Wire):
    """One life of a Workload of the same namespace."""

    name: Annotated[str, Field(max_length=253)]
    """Name of the Workload."""
    uid: Annotated[str, Field(max_length=63)]
    """Identity of the Workload; a later one of the same name is another."""


class CheckpointSpec(Wire):
    """What is asked, of whom, and until when. Nothing of it changes."""

    workload: WorkloadReference
    """Workload that is to be stopped."""
    request_id: Annotated[str, Field(alias="requestID", min_length=1, max_length=63)]
    """Identity of this request. Answers to any other are ignored."""
    epoch: Annotated[Int64, Field(ge=1)]
    """Number of this request among all of the workload; grows with each."""
    reason: Annotated[str, Field(max_length=316)]
    """Why the workload is to be stopped: the reason of its Evicted condition."""
    preemptor: Annotated[str, Field(max_length=63)] = ""
    """Identity of the Workload that needs the room, for a preemption."""
    policy: Annotated[str, Field(max_length=317)]
    """CheckpointPolicy that the terms come from, as namespace/name."""
    terms: CheckpointTerms
    """The terms as they hold: those of the policy within the bounds of the ClusterQueue."""
    requested_at: Time
    """When the request was made."""
    ack_by: Time
    """Time by which the first answer is needed."""
    save_by: Time
    """Time by which saving must end, with no extension left."""


class SavedWork(Wire):
    """What was saved."""

    uri: Text = ""
    """Where the checkpoint is, in the words of the workload. The next run finds it in the
    annotation queueing.dev/checkpoint-uri of its pods."""
    step: Int64 | None = None
    """How far the work was."""
    size: Int64 | None = None
    """Bytes of the checkpoint."""
    at: Time | None = None
    """When it was saved."""
    by: Text = ""
    """Pod that said so."""


class CheckpointStatus(Wire):
    """How far the request is."""

    phase: Phase = "Selected"
    """Where the request stands."""
    message: Text = ""
    """Why it stands there, for people."""
    outcome: Literal["Saved", "Unresponsive", "Failed", "NotAsked"] | None = None
    """How the asking ended; unset while it has not."""
    asked: Annotated[list[Annotated[str, Field(max_length=253)]], SET, Field(max_length=10000)] = (
        Field(default_factory=list)
    )
    """Pods that were asked, and whose answers count."""
    attempts: Annotated[int, Field(ge=0)] = 0
    """How often the notice could not be delivered."""
    refusals: Annotated[int, Field(ge=0)] = 0
    """How often the workload asked for a later time."""
    notified_at: Time | None = None
    """When the pods were asked."""
    accepted_at: Time | None = None
    """When the pods began to save."""
    save_by: Time | None = None
    """Time by which saving must end, as heartbeats have extended it."""
    heard_at: Time | None = None
    """When something was last heard of pods that save."""
    resume_at: Time | None = None
    """Time at which pods that asked for it are asked again."""
    suspended_at: Time | None = None
    """When the pods were told to end."""
    kill_by: Time | None = None
    """Time by which the pods must have ended."""
    ended_at: Time | None = None
    """When the request was over."""
    checkpoint: SavedWork | None = None
    """What was saved."""


class Checkpoint(KubeObject):
    """One request to save work before it is stopped, and what was saved.

    The controller makes it before the pods are asked, and any replica goes on from it.
    """

    api_version: Literal["queueing.dev/v1alpha1"] = "queueing.dev/v1alpha1"
    kind: Literal["Checkpoint"] = "Checkpoint"
    spec: CheckpointSpec
    """What is asked, of whom, and until when."""
    status: CheckpointStatus = Field(default_factory=CheckpointStatus)
    """How far the request is."""
