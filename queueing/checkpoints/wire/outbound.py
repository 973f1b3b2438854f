"""Bodies of writes: a new Checkpoint, its status, and the patch that takes an eviction back."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec

from queueing.checkpoints.rules.record import Record, Saved, SaveRequest
from queueing.checkpoints.rules.terms import Command, Terms
from queueing.translate.jobs.composition import owner_reference
from queueing.translate.jobs.view import JobView
from queueing.translate.outbound.conditions import Conditions, patch
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload
from queueing_api.config.duration import duration_text

API_VERSION = "queueing.dev/v1alpha1"
WORKLOAD_VERSION = "kueue.x-k8s.io/v1beta2"
_NAME_MAX = 253
_MESSAGE_MAX = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestOwners:
    """The Workload and Jobs of a request. They own the Checkpoint, which is deleted after all."""

    workload: Workload
    jobs: tuple[JobView, ...]
    policy: str


def request_id(workload: Workload, epoch: int) -> str:
    """Return the identity of a request: by the Workload's uid and the number of the eviction."""
    return sha256(f"{workload.metadata.uid}/{epoch}".encode()).hexdigest()[:16]


def name_of(workload: Workload, epoch: int) -> str:
    """Return the name of an eviction's Checkpoint, which is the same for all replicas."""
    tail = f"-{epoch}-{request_id(workload, epoch)[:6]}"
    return workload.metadata.name[: _NAME_MAX - len(tail)].rstrip("-.") + tail


def epoch_of(workload: Workload) -> int:
    """Return the number of a Workload's last eviction, by `status.schedulingStats`; at least 1."""
    stats = workload.status.scheduling_stats
    return max(sum(one.count for one in stats.evictions) if stats is not None else 0, 1)


def made(origin: RequestOwners, request: SaveRequest) -> bytes:
    """Return the Checkpoint to create."""
    meta = origin.workload.metadata
    body = {
        "apiVersion": API_VERSION,
        "kind": "Checkpoint",
        "metadata": {
            "name": name_of(origin.workload, request.epoch),
            "namespace": meta.namespace,
            "ownerReferences": _owners(origin),
        },
        "spec": {
            "workload": {"name": meta.name, "uid": meta.uid},
            "requestID": request.request_id,
            "epoch": request.epoch,
            "reason": request.cause.reason,
            **({"preemptor": request.cause.preemptor} if request.cause.preemptor else {}),
            "policy": origin.policy,
            "terms": _terms(request.terms),
            "requestedAt": time_text(request.requested_at),
            "ackBy": time_text(request.ack_by),
            "saveBy": time_text(request.save_by),
        },
    }
    return msgspec.json.encode(body)


def status(of: Meta, record: Record) -> bytes:
    """Return the patch that stores a record."""
    times = {
        "notifiedAt": record.notified_at,
        "acceptedAt": record.accepted_at,
        "saveBy": record.save_by,
        "heardAt": record.heard_at,
        "resumeAt": record.resume_at,
        "suspendedAt": record.suspended_at,
        "killBy": record.kill_by,
        "endedAt": record.ended_at,
    }
    body = {
        "phase": record.phase,
        "message": record.message[:_MESSAGE_MAX],
        "outcome": record.outcome,
        "asked": list(record.asked) or None,
        "attempts": record.attempts,
        "refusals": record.refusals,
        "checkpoint": _saved(record.saved),
        **{name: None if at is None else time_text(at) for name, at in times.items()},
    }
    return patch(of, {"status": body})


def spare(workload: Workload, message: str, now: float, *, reason: str = "Spared") -> bytes:
    """Set `Evicted` and `Preempted` of a Workload to False: it is not stopped after all.

    The reason is `Spared` when it could not save, `Withdrawn` when its quota is not needed.
    """
    found = workload.status.conditions
    conditions = Conditions(found, now=now, generation=workload.metadata.generation)
    for kind in ("Evicted", "Preempted"):
        if conditions.is_true(kind):
            conditions.set(kind, true=False, reason=reason, message=message)
    return patch(workload.metadata, {"status": {"conditions": conditions.wire()}})


def active(of: Meta, found: Conditions) -> bytes:
    """Return the patch of the conditions of a CheckpointPolicy."""
    return patch(of, {"status": {"conditions": found.wire()}})


def time_text(at: float) -> str:
    """Spell a time with milliseconds."""
    moment = datetime.fromtimestamp(round(at, 3), tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _owners(origin: RequestOwners) -> list[Mapping[str, Any]]:
    """Return the Jobs and the Workload as owners: a Job may be deleted without its dependents."""
    owners = [
        owner_reference(job.kind.api_version, job.kind.kind, job.metadata) for job in origin.jobs
    ]
    owners.append(owner_reference(WORKLOAD_VERSION, "Workload", origin.workload.metadata))
    return [{**one, "controller": False, "blockOwnerDeletion": False} for one in owners]


def _terms(terms: Terms) -> Mapping[str, Any]:
    leader = None
    if terms.leader is not None:
        expressions = [
            {"key": one.key, "operator": str(one.operator), "values": list(one.values)}
            for one in terms.leader.requirements
        ]
        leader = {"matchExpressions": expressions}
    found = {
        "driver": terms.driver,
        "ackDeadline": duration_text(terms.ack_s),
        "saveDeadline": duration_text(terms.save_s),
        "saveDeadlineMax": duration_text(terms.save_max_s),
        "heartbeat": duration_text(terms.heartbeat_s),
        "freshEnough": duration_text(terms.fresh_s),
        "terminationGrace": duration_text(terms.grace_s),
        "forceDeleteAfter": _perhaps(terms.force_after_s),
        "answerFrom": "All" if leader is None else "Leader",
        "leader": leader,
        "refusalLimit": terms.refusal_limit,
        "refusalDelayMax": duration_text(terms.refusal_delay_s),
        "onFailure": terms.on_failure,
        "minimumRuntime": duration_text(terms.minimum_runtime_s),
        "idleAfter": _perhaps(terms.idle_after_s),
        "movable": terms.movable or None,
        "http": None if terms.http is None else {"port": terms.http.port, "path": terms.http.path},
        "job": {"template": msgspec.Raw(terms.job)} if terms.job else None,
        "exec": _command(terms.command),
    }
    return {name: value for name, value in found.items() if value is not None}


def _perhaps(length_s: float | None) -> str | None:
    return None if length_s is None else duration_text(length_s)


def _command(found: Command | None) -> Mapping[str, Any] | None:
    if found is None:
        return None
    container = {"container": found.container} if found.container else {}
    return {"command": list(found.words), **container}


def _saved(found: Saved | None) -> Mapping[str, Any] | None:
    if found is None:
        return None
    parts = {
        "uri": found.uri or None,
        "step": found.step,
        "size": found.size,
        "at": None if found.at is None else time_text(found.at),
        "by": found.by or None,
    }
    return {name: value for name, value in parts.items() if value is not None}
