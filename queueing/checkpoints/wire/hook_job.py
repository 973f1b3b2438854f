"""Hook Jobs, which save for a workload (driver Job): made of a policy's template, and their answer.

A request has one hook Job, whose name follows from the request, so that all replicas create the
same one.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from queueing.checkpoints.rules.answers import URI, Word
from queueing.checkpoints.rules.record import SaveRequest
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire import pods as spoken
from queueing.checkpoints.wire.objects import Pod
from queueing.checkpoints.wire.outbound import API_VERSION, time_text
from queueing.translate.jobs.view import JobView
from queueing.translate.problems import Problems
from queueing.translate.requests import Surroundings, counted_requests
from queueing.translate.wire.meta import Meta

KEPT_S = 600
"""`ttlSecondsAfterFinished` of a hook Job, unless its template has one."""
_QUEUES = ("kueue.x-k8s.io/", "queueing.dev/")
_NOT_TAKEN = frozenset({"selector", "manualSelector", "suspend", "activeDeadlineSeconds"})
_MESSAGE_MAX = 500
_PODS = ("active", "failed", "terminating", "succeeded")
"""Fields of its status that count pods."""
_ENDS = frozenset({Word.SAVED, Word.ALREADY_FRESH, Word.FAILED})
"""The answers that a complete Job may give."""


def name_of(request: SaveRequest) -> str:
    """Return the name of a request's hook Job."""
    return f"save-{request.request_id}"


def surroundings(request: SaveRequest, workload: str, jobs: Sequence[JobView]) -> dict[str, str]:
    """Return the environment variables by which a hook Job or a command learns of its request."""
    return {
        "QUEUEING_CHECKPOINT_REQUEST": request.request_id,
        "QUEUEING_CHECKPOINT_EPOCH": str(request.epoch),
        "QUEUEING_CHECKPOINT_REASON": request.cause.reason,
        "QUEUEING_CHECKPOINT_SAVE_BY": time_text(request.save_by),
        "QUEUEING_CHECKPOINT_WORKLOAD": workload,
        "QUEUEING_CHECKPOINT_JOBS": " ".join(job.metadata.name for job in jobs),
    }


def used(job: JobView, around: Surroundings) -> dict[str, int]:
    """Return what the pods of a hook Job request together; nothing once it has finished."""
    if job.ended or job.suspended:
        return {}
    spec, count = job.template.spec, job.pods
    # What is wrong with the template, the API server has said when the Job was made.
    asked = counted_requests(spec, around, path="spec.template.spec", problems=Problems())
    return {name: amount * count for name, amount in asked.items() if amount * count > 0}


def made(request: SaveRequest, checkpoint: Meta, told: Mapping[str, str]) -> dict[str, Any]:
    """Return the Job to create: owned by the Checkpoint, never queued, limited to the deadline."""
    template = _object(msgspec.json.decode(request.terms.job))
    meta, spec = _object(template.get("metadata")), _object(template.get("spec"))
    pod = _object(spec.get("template"))
    pod_meta, pod_spec = _object(pod.get("metadata")), _object(pod.get("spec"))
    inside = {
        kind: [_with_environment(one, told) for one in pod_spec[kind]]
        for kind in ("initContainers", "containers")
        if isinstance(pod_spec.get(kind), list)
    }
    longest_s = max(math.ceil(request.save_by - request.requested_at), 1)
    given = spec.get("activeDeadlineSeconds")
    owner = {"apiVersion": API_VERSION, "kind": "Checkpoint", "controller": True}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name_of(request),
            "namespace": checkpoint.namespace,
            "labels": {**_unqueued(meta.get("labels")), names.REQUEST: request.request_id},
            "annotations": _object(meta.get("annotations")),
            "ownerReferences": [{**owner, "name": checkpoint.name, "uid": checkpoint.uid}],
        },
        "spec": {
            "ttlSecondsAfterFinished": KEPT_S,
            **{name: value for name, value in spec.items() if name not in _NOT_TAKEN},
            "suspend": False,
            "activeDeadlineSeconds": min(given, longest_s) if isinstance(given, int) else longest_s,
            "template": {
                **pod,
                "metadata": {**pod_meta, "labels": _unqueued(pod_meta.get("labels"))},
                "spec": {"restartPolicy": "Never", **pod_spec, **inside},
            },
        },
    }


def said(request: SaveRequest, job: JobView | None, pods: Sequence[Pod], beat: str) -> bytes:
    """Return the answer that the Job's state amounts to; empty while it has not begun.

    That it runs is its heartbeat. When it is complete the work is saved; where to, its pods may
    say in their termination message: as an answer, or as a mere URI.
    """
    told: dict[str, Any] = {"requestID": request.request_id, "epoch": request.epoch}
    if job is None:
        told |= {"answer": Word.FAILED, "message": "it is gone"}
        return msgspec.json.encode(told)
    ended = job.end
    if ended is None:
        if not any(job.source.value(f"status.{name}") for name in _PODS):
            return b""
        return msgspec.json.encode(told | {"answer": Word.HEARTBEAT, "beat": beat})
    succeeded, message = ended
    words = [text for pod in pods for text in _last_words(pod, succeeded=succeeded)]
    if not succeeded:
        full = "; ".join([message, *words])[:_MESSAGE_MAX]
        return msgspec.json.encode(told | {"answer": Word.FAILED, "message": full})
    parts = next((found for text in words if (found := parts_of(text))), {})
    if parts.get("answer", Word.SAVED) not in _ENDS:
        parts = {"answer": Word.FAILED, "message": f"it answered {parts['answer']}"}
    return msgspec.json.encode({"answer": Word.SAVED, **parts, **told})


def _last_words(pod: Pod, *, succeeded: bool) -> list[str]:
    return [
        text
        for one in pod.status.container_statuses
        if (ended := one.state.terminated) is not None
        and (text := ended.message.strip())
        and (ended.exit_code == 0) is succeeded
    ]


def parts_of(text: str) -> dict[str, Any]:
    """Read from a line of output what was saved: a URI, or JSON; empty for any other text."""
    if URI.match(text):
        return {"uri": text}
    try:
        found = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return {}
    known = ("answer", "uri", "step", "size", "at", "message")
    parts = {name: _object(found)[name] for name in known if name in _object(found)}
    whole = {"answer": Word.SAVED, **parts}
    return parts if spoken.answer(msgspec.json.encode(whole)) is not None else {}


def _with_environment(container: Any, told: Mapping[str, str]) -> Any:
    """Add environment variables to a container, but for those that it sets itself."""
    if not isinstance(container, dict):
        return container
    given = container.get("env")
    own = given if isinstance(given, list) else []
    known = {one.get("name") for one in own if isinstance(one, dict)}
    added = [{"name": name, "value": value} for name, value in told.items() if name not in known]
    return {**container, "env": [*added, *own]}


def _unqueued(labels: Any) -> dict[str, Any]:
    """Return labels without those that would put the Job or its pods into a queue."""
    return {key: value for key, value in _object(labels).items() if not key.startswith(_QUEUES)}


def _object(found: Any) -> dict[str, Any]:
    return found if isinstance(found, dict) else {}
