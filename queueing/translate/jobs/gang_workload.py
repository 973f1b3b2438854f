"""Composes the Workload of a gang, as it is created and as it follows changes of its Jobs."""

import re
from collections.abc import Mapping, Sequence
from hashlib import sha1
from typing import Any

import msgspec

from queueing.translate import labels
from queueing.translate.jobs.composition import API_VERSION, Priority, max_execution_time
from queueing.translate.jobs.gang import OnFailure, on_failure, pod_set_names
from queueing.translate.jobs.gang_keys import gang_name
from queueing.translate.jobs.view import JobView
from queueing.translate.wire.meta import Meta

_DIGEST_LENGTH = 5
_COPIED_PREFIX = "provreq.kueue.x-k8s.io/"


def name_of(members: Sequence[JobView]) -> str:
    """Return `gang-<name>-<5 hex digits>`: the same for the same lives of the same Jobs."""
    name = gang_name(members[0].metadata)
    lives = ",".join(sorted(job.metadata.uid for job in members))
    text = f"Gang\n{labels.GANG}\n{name}\n{lives}"
    digest = sha1(text.encode(), usedforsecurity=False).hexdigest()[:_DIGEST_LENGTH]
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    return f"gang-{plain}-{digest}"


def compose(members: Sequence[JobView], priority: Priority, labels_to_copy: Sequence[str]) -> bytes:
    """Return the Workload to create: every Job owns it, and has its pod sets in it.

    No Job is its controller, so that it lives until the last of them is gone.
    """
    metas = [job.metadata for job in members]
    return body_of(
        {
            "name": name_of(members),
            "labels": {**common_labels(metas, labels_to_copy), labels.GANG: gang_name(metas[0])},
            "annotations": annotations(metas),
        },
        {"podSets": pod_sets(members), **following(members, priority)},
        members,
    )


def body_of(
    metadata: Mapping[str, Any], spec: Mapping[str, Any], members: Sequence[JobView]
) -> bytes:
    """Return a Workload that several jobs own, with these fields beside those that all have."""
    return msgspec.json.encode(
        {
            "apiVersion": API_VERSION,
            "kind": "Workload",
            "metadata": {
                **metadata,
                "namespace": members[0].metadata.namespace,
                "finalizers": [labels.RESOURCE_IN_USE],
                "ownerReferences": [owner_of(job) for job in members],
            },
            "spec": {
                "active": True,
                **{key: value for key, value in spec.items() if value is not None},
            },
        }
    )


def pod_sets(members: Sequence[JobView]) -> list[dict[str, Any]]:
    """Return the pod sets of all jobs, with names that tell whose they are."""
    return [
        pod_set | {"name": name}
        for job in members
        for name, pod_set in zip(pod_set_names(job), job.wire_pod_sets(), strict=True)
    ]


def following(members: Sequence[JobView], priority: Priority) -> dict[str, Any]:
    """Return the other fields of the spec that follow the Jobs; None takes one away."""
    first = members[0].metadata
    return {
        "queueName": first.labels.get(labels.QUEUE_NAME) or None,
        "maximumExecutionTimeSeconds": max_execution_time(first),
        "priorityClassRef": None,
        **priority.fields(),
    }


def owner_of(job: JobView) -> dict[str, Any]:
    """Return the reference by which one of several jobs owns a Workload."""
    return {
        "apiVersion": job.kind.api_version,
        "kind": job.kind.kind,
        "name": job.metadata.name,
        "uid": job.metadata.uid,
    }


def common_labels(metas: Sequence[Meta], wanted: Sequence[str]) -> dict[str, str]:
    """Copy the labels that all Jobs have with one value."""
    first = metas[0].labels
    return {
        name: first[name]
        for name in wanted
        if name in first and all(meta.labels.get(name) == first[name] for meta in metas)
    }


def annotations(metas: Sequence[Meta]) -> Mapping[str, str]:
    """Return the annotations that a Workload gets of its jobs'."""
    found: dict[str, str] = {}
    gates: dict[str, None] = {}
    for meta in metas:
        for key, value in meta.annotations.items():
            if key.startswith(_COPIED_PREFIX) or key == labels.TRACE_PARENT:
                found.setdefault(key, value)
        text = meta.annotations.get(labels.ADMISSION_GATED_BY, "")
        gates |= dict.fromkeys(gate.strip() for gate in text.split(",") if gate.strip())
    if gates:
        found[labels.ADMISSION_GATED_BY] = ",".join(gates)
    if on_failure(metas[0]) is OnFailure.CONTINUE:
        found[labels.GANG_ON_FAILURE] = OnFailure.CONTINUE
    return found
