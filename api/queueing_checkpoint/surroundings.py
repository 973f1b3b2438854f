"""What the surroundings of a process offer: a channel to be asked by, and the last checkpoint."""

import os
from collections.abc import Mapping
from pathlib import Path

from queueing_checkpoint.channels import Channel, FileChannel, SilentChannel
from queueing_checkpoint.listener import ListenerChannel
from queueing_checkpoint.messages import Saved
from queueing_checkpoint.pod import PodChannel

DIRECTORY_VARIABLE = "QUEUEING_CHECKPOINT_DIR"
URI_VARIABLE = "QUEUEING_CHECKPOINT_URI"
STEP_VARIABLE = "QUEUEING_CHECKPOINT_STEP"
URI = "queueing.dev/checkpoint-uri"
STEP = "queueing.dev/checkpoint-step"


def channel_of(environment: Mapping[str, str] | None = None) -> Channel:
    """Return what the surroundings offer: a shared folder, a port, the own pod, or nothing."""
    found = os.environ if environment is None else environment
    folder = found.get(DIRECTORY_VARIABLE)
    if folder:
        return FileChannel(Path(folder))
    return ListenerChannel.of(found) or PodChannel.of(found) or SilentChannel()


def last_checkpoint(environment: Mapping[str, str] | None = None) -> Saved | None:
    """Return what an earlier run saved; None when there is nothing.

    A pod template may hand it over by environment variables that read the pod's annotations:
    `fieldRef: {fieldPath: "metadata.annotations['queueing.dev/checkpoint-uri']"}`. Else the pod's
    own annotations are asked for, which needs permission to get the pod. Raises ConnectionError
    when the API server does not answer: to begin anew might throw hours of work away.
    """
    found = os.environ if environment is None else environment
    if URI_VARIABLE in found or STEP_VARIABLE in found:
        return _saved(found.get(URI_VARIABLE, ""), found.get(STEP_VARIABLE, ""))
    pod = PodChannel.of(found)
    notes = pod.annotations() if pod is not None else {}
    return _saved(str(notes.get(URI, "")), str(notes.get(STEP, "")))


def _saved(uri: str, step: str) -> Saved | None:
    if not uri and not step:
        return None
    return Saved(uri=uri, step=int(step) if step.isdecimal() else None)
