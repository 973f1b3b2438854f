"""What is submitted: a Job for a command line, or the objects of a manifest, labelled. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from queueing.checkpoints.wire.names import POLICY
from queueing.cli.output import UsageProblem
from queueing.translate import labels

_ODD = re.compile(r"[^a-z0-9-]+")
NAME_MAX = 50

Wire = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueingOptions:
    """How the objects are to be queued; what is empty is left as it is."""

    namespace: str
    queue: str = ""
    priority: str = ""
    gang: str = ""
    gang_size: int = 0
    checkpoint_policy: str = ""
    seconds: int = 0
    """Maximum execution time."""
    traceparent: str = ""
    """The submitter's trace; a manifest's own annotation counts more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """What the pods of a command line run."""

    command: Sequence[str]
    image: str
    pods: int = 1
    requests: Mapping[str, str]
    traced: bool = False
    """Whether it is told its trace, as the environment variable TRACEPARENT."""


TRACED = {
    "name": "TRACEPARENT",
    "valueFrom": {"fieldRef": {"fieldPath": f"metadata.annotations['{labels.TRACE_PARENT}']"}},
}
"""The annotation that pods get at their start, as an environment variable."""


def job_of(container: Container, name: str) -> Wire:
    """Return a Job that runs a command line; without a name the server makes one up."""
    made = _ODD.sub("-", container.command[0].rpartition("/")[2].lower()).strip("-")[:NAME_MAX]
    metadata = {"name": name} if name else {"generateName": f"{made or 'job'}-"}
    body: Wire = {
        "name": "main",
        "image": container.image,
        "command": list(container.command),
        "resources": {"requests": dict(container.requests), "limits": _limits(container.requests)},
    }
    if container.traced:
        body["env"] = [TRACED]
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {
            "parallelism": container.pods,
            "completions": container.pods,
            "backoffLimit": 0,
            "template": {"spec": {"restartPolicy": "Never", "containers": [body]}},
        },
    }


def _limits(requests: Mapping[str, str]) -> Wire:
    """Return the limits that Kubernetes demands: extended resources cannot be exceeded."""
    return {name: amount for name, amount in requests.items() if "/" in name}


def queued(value: Mapping[str, Any], asked: QueueingOptions) -> Wire:
    """Return an object with the labels by which it is queued as asked; a Job is suspended."""
    metadata = dict(value["metadata"])
    metadata.setdefault("namespace", asked.namespace)
    marks = {
        labels.QUEUE_NAME: asked.queue,
        labels.PRIORITY_CLASS: asked.priority,
        labels.GANG: asked.gang,
        labels.MAX_EXECUTION_TIME: str(asked.seconds or ""),
    }
    notes = {
        labels.GANG_SIZE: str(asked.gang_size or ""),
        POLICY: asked.checkpoint_policy,
        labels.TRACE_PARENT: (metadata.get("annotations") or {}).get(labels.TRACE_PARENT)
        or asked.traceparent,
    }
    for field, given in (("labels", marks), ("annotations", notes)):
        added = {key: text for key, text in given.items() if text}
        if added:
            metadata[field] = {**(metadata.get(field) or {}), **added}
    made = {**value, "metadata": metadata}
    if (value["apiVersion"], value["kind"]) == ("batch/v1", "Job"):
        made["spec"] = {**value["spec"], "suspend": True}
    if not (metadata.get("labels") or {}).get(labels.QUEUE_NAME):
        name = metadata.get("name") or metadata.get("generateName")
        raise UsageProblem(f"{value['kind']} {name} names no queue: give one with --queue")
    return made


def requests_of(pairs: Iterable[str]) -> dict[str, str]:
    """Read `cpu=1`, `nvidia.com/gpu=2`. Raises UsageProblem for anything else."""
    found = {}
    for one in pairs:
        name, equals, amount = one.partition("=")
        if not name or not equals or not amount:
            raise UsageProblem(f"{one!r} must be like cpu=1")
        found[name] = amount
    return found
