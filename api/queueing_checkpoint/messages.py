"""What is asked and answered, and where the last run left off."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

URI_VARIABLE = "QUEUEING_CHECKPOINT_URI"
STEP_VARIABLE = "QUEUEING_CHECKPOINT_STEP"
URI = "queueing.dev/checkpoint-uri"
STEP = "queueing.dev/checkpoint-step"


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """What was saved. `uri` has a scheme or is an absolute path; `size` is in bytes."""

    uri: str = ""
    step: int | None = None
    size: int | None = None

    def told(self) -> dict[str, Any]:
        """Return the parts that are known."""
        parts = {"uri": self.uri, "step": self.step, "size": self.size}
        return {name: value for name, value in parts.items() if value not in ("", None)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """A request to save."""

    request_id: str
    epoch: int
    reason: str = ""
    heartbeat_s: float = 15.0
    fresh_s: float = 0.0
    cancelled: bool = False
    """The workload stays after all."""

    @classmethod
    def read(cls, text: str | None) -> "Notice | None":
        """Read a request; None for what is none."""
        try:
            found = json.loads(text or "")
            return cls(
                request_id=str(found["requestID"]),
                epoch=int(found["epoch"]),
                reason=str(found.get("reason", "")),
                heartbeat_s=float(found.get("heartbeatSeconds", 15.0)),
                fresh_s=float(found.get("freshSeconds", 0.0)),
                cancelled=bool(found.get("cancelled", False)),
            )
        except (ValueError, TypeError, KeyError, AttributeError):
            return None

    def told(self, **parts: Any) -> str:
        """Spell the request, for whoever reads files."""
        return json.dumps({"requestID": self.request_id, "epoch": self.epoch, **parts})

    def answer(self, word: str, **parts: Any) -> str:
        """Spell an answer to this request."""
        return json.dumps(
            {"requestID": self.request_id, "epoch": self.epoch, "answer": word, **parts}
        )


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
    from queueing_checkpoint.pod import PodChannel  # noqa: PLC0415 - ssl is slow to import

    pod = PodChannel.of(found)
    notes = pod.annotations() if pod is not None else {}
    return _saved(str(notes.get(URI, "")), str(notes.get(STEP, "")))


def _saved(uri: str, step: str) -> Saved | None:
    if not uri and not step:
        return None
    return Saved(uri=uri, step=int(step) if step.isdecimal() else None)
