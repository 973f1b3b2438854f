"""Requests to pods and their answers: annotations, and containers' termination messages.

Requests by HTTP are signed: HMAC-SHA256 with a key that only the run's pods are handed.
"""

import hmac
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from typing import Any

import msgspec

from queueing.checkpoints.rules.answers import PodState, SaveAnswer, Voice, Word
from queueing.checkpoints.rules.record import Record, Saved
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire.objects import Pod
from queueing.checkpoints.wire.outbound import time_text

TIMESTAMP = "X-Queueing-Timestamp"
SIGNATURE = "X-Queueing-Signature"
_MESSAGE_MAX = 500
_INTEGER_MAX = 2**63 - 1


class _Said(msgspec.Struct, rename="camel"):
    """An answer as the pod, or its user, wrote it."""

    answer: str
    request_id: str = msgspec.field(name="requestID", default="")
    epoch: int = 0
    message: str = ""
    uri: str = ""
    step: int | None = None
    size: int | None = None
    at: float | None = None
    progress: float | None = None
    beat: str = ""
    retry_after_s: float = msgspec.field(name="retryAfterSeconds", default=0.0)


_decoder = msgspec.json.Decoder(_Said)


def request(record: Record, *, cancelled: bool = False) -> Mapping[str, Any]:
    """Return a request to a pod as JSON fields; it holds until the next one."""
    asked = record.request
    told: dict[str, Any] = {
        "requestID": record.asking_id,
        "epoch": asked.epoch,
        "reason": asked.cause.reason,
    }
    if cancelled:
        return told | {"cancelled": True}
    return told | {
        "ackBy": time_text(record.ack_by),
        "saveBy": time_text(asked.save_by),
        "heartbeatSeconds": asked.terms.heartbeat_s,
        "freshSeconds": asked.terms.fresh_s,
    }


def notice(record: Record, *, cancelled: bool = False) -> Mapping[str, Any]:
    """Return the patch that asks a pod by annotation. With its label, the pod is watched."""
    text = msgspec.json.encode(request(record, cancelled=cancelled)).decode()
    return {
        "metadata": {
            "labels": {names.REQUEST: record.request.request_id},
            "annotations": {names.REQUEST: text},
        }
    }


def mark(record: Record) -> Mapping[str, Any]:
    """Return the patch that only labels a pod, so that it is watched: it is asked otherwise."""
    return {"metadata": {"labels": {names.REQUEST: record.request.request_id}}}


def answer(text: str | bytes) -> SaveAnswer | None:
    """Read an answer; None for a text that is not one, since users may write anything there."""
    try:
        said = _decoder.decode(text)
        word = Word(said.answer)
    except (msgspec.MsgspecError, ValueError):
        return None
    return SaveAnswer(
        request_id=said.request_id,
        epoch=said.epoch,
        word=word,
        message=said.message[:_MESSAGE_MAX],
        uri=said.uri,
        step=_natural(said.step),
        size=_natural(said.size),
        at=said.at,
        progress=said.progress,
        beat=said.beat,
        delay_s=said.retry_after_s,
    )


def _natural(found: int | None) -> int | None:
    return found if found is not None and 0 <= found <= _INTEGER_MAX else None


def last_words(pod: Pod, record: Record) -> SaveAnswer | None:
    """Read what a container that was told to end left behind: code 85 and an answer.

    It may not know the request: only its life does, and this request is what ended it.
    """
    for one in pod.status.container_statuses:
        ended = one.state.terminated
        if ended is None or ended.exit_code != names.EXIT_CODE:
            continue
        found = answer(ended.message)
        if found is None:
            continue
        asked = record.request
        if found.request_id:
            return found
        return replace(found, request_id=record.asking_id, epoch=asked.epoch)
    return None


def voice(pod: Pod | None, record: Record, said: bytes = b"") -> Voice:
    """Return the state and the last answer of a pod that was asked; `pod` is None when gone.

    `said` is an answer that it gave otherwise than by its annotation.
    """
    if pod is None:
        return Voice(condition=PodState.LOST, answer=answer(said) if said else None)
    words = last_words(pod, record)
    if words is None:
        text = said or pod.metadata.annotations.get(names.ANSWER, "")
        words = answer(text) if text else None
    if pod.status.phase == "Succeeded":
        return Voice(condition=PodState.SUCCEEDED, answer=words)
    lost = pod.status.phase == "Failed" or pod.metadata.deleting
    return Voice(condition=PodState.LOST if lost else PodState.RUNNING, answer=words)


def has_spoken_last(pod: Pod) -> bool:
    """Say whether a pod has nothing more to say: a container left its message when it terminated.

    Others of its containers may still run, so that quota does not go by this.
    """
    return pod.status.is_terminal or any(
        one.state.terminated is not None for one in pod.status.container_statuses
    )


def signature(key: str, timestamp: str, method: str, path: str, body: bytes) -> str:
    """Return the signature of a request. The time in it bounds how long it can be replayed."""
    signed = f"{timestamp}\n{method}\n{path}\n".encode() + body
    return "sha256=" + hmac.new(key.encode(), signed, sha256).hexdigest()


def handed_over(saved: Saved | None, own: Mapping[str, str]) -> dict[str, str]:
    """Return annotations that tell the pods of the next run which checkpoint to resume from.

    They are added to pods that do not say otherwise themselves.
    """
    if saved is None:
        return {}
    told = {names.URI: saved.uri, names.STEP: "" if saved.step is None else str(saved.step)}
    return {name: value for name, value in told.items() if value and name not in own}
