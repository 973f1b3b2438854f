"""Pods that save when they are asked, as a training does; a step is a simulated second."""

import json
from typing import Any

from queueing.apiserver.simulation import annotations
from queueing.apiserver.tree import Object, metadata

_REQUEST = "queueing.dev/checkpoint-request"
_ANSWER = "queueing.dev/checkpoint-answer"
_STEP = "queueing.dev/checkpoint-step"


def step_before(pod: Object) -> int:
    """Return how far earlier runs came, as the pod was told."""
    word = str((metadata(pod).get("annotations") or {}).get(_STEP, ""))
    return int(word) if word.isdecimal() else 0


def request_of(pod: Object, job: Object | None) -> str:
    """Return the id of a request that the pod will answer; empty when there is none."""
    if annotations.save_seconds(pod, job) is None:
        return ""
    asked = _asked(pod)
    return "" if asked.get("cancelled") else str(asked.get("requestID", ""))


def answered(pod: Object, step: int) -> Object:
    """Return the pod with its answer: it has saved all it has done."""
    asked, meta = _asked(pod), metadata(pod)
    owners = meta.get("ownerReferences") or [{}]
    said = {
        "requestID": asked.get("requestID"),
        "epoch": asked.get("epoch"),
        "answer": "Saved",
        "uri": f"simulated://{meta.get('namespace')}/{owners[0].get('name')}/step-{step}",
        "step": step,
    }
    notes = {**(meta.get("annotations") or {}), _ANSWER: json.dumps(said)}
    return {**pod, "metadata": {**meta, "annotations": notes}}


def _asked(pod: Object) -> dict[str, Any]:
    try:
        found = json.loads((metadata(pod).get("annotations") or {}).get(_REQUEST, "{}"))
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
