"""A training Job that saves, and what its pods say: shared by the tests of requests to save."""

import json
from collections.abc import Mapping
from typing import Any

from e2e.jobs import running, wait_job
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    checkpoint_policy,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import LEASE
from e2e.wire import Object
from e2e.world import World

REQUEST = "queueing.dev/checkpoint-request"
ANSWER = "queueing.dev/checkpoint-answer"
QUICK = {
    "leaderElection": {
        "leaderElect": True,
        "resourceName": LEASE,
        "leaseDuration": "4s",
        "renewDeadline": "3s",
        "retryPeriod": "1s",
    }
}
TERMS: dict[str, Any] = {"driver": "Annotation", "ackDeadline": "60s", "heartbeat": "60s"}


LED: dict[str, Any] = {
    **TERMS,
    "answerFrom": "Leader",
    "leader": {"matchLabels": {"rank": "0"}},
}
"""Terms by which nobody is asked before a test makes one pod the leader."""


def make(space: World, pool: Mapping[str, str] = POOL, **terms: Any) -> None:
    """Have a training Job run that an urgent one will preempt."""
    space.make(
        flavor(space.name("any"), nodeLabels=dict(pool)),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): {"cpu": "2"}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
        checkpoint_policy(space.namespace, "save", terms or LED),
    )
    train = job(
        space.namespace, "train", queue="team", parallelism=2, pods=Pods(run_s=None, drain_s=6)
    )
    train["metadata"].setdefault("annotations", {})["queueing.dev/checkpoint-policy"] = "save"
    space.make(train)
    wait_job(space, "train", running, "running")


def lead(space: World) -> None:
    """Make one pod the leader, whose answer counts."""
    pod = space.api.items("Pod", space.namespace)[0]
    body = {"metadata": {"labels": {"rank": "0"}}}
    space.api.patch("Pod", pod["metadata"]["name"], body, namespace=space.namespace)


def answer(space: World, word: str, **more: Any) -> None:
    """Answer as the leading pod, once it is asked."""

    def asked(found: list[Object]) -> bool:
        return any(REQUEST in (one["metadata"].get("annotations") or {}) for one in found)

    space.api.wait("Pod", asked, namespace=space.namespace, what="a pod is asked")
    for pod in space.api.items("Pod", space.namespace):
        notes = pod["metadata"].get("annotations") or {}
        if REQUEST in notes:
            told = json.loads(notes[REQUEST])
            said = {"requestID": told["requestID"], "epoch": told["epoch"], "answer": word}
            said |= more
            said |= {"uri": "s3://bucket/step-40", "step": 40} if word == "Saved" else {}
            body = {"metadata": {"annotations": {ANSWER: json.dumps(said)}}}
            space.api.patch("Pod", pod["metadata"]["name"], body, namespace=space.namespace)


def preempt(space: World) -> None:
    labels = {PRIORITY_CLASS: space.name("high")}
    space.make(
        job(
            space.namespace,
            "urgent",
            queue="team",
            parallelism=2,
            pods=Pods(run_s=None),
            labels=labels,
        )
    )


def wait_phase(space: World, *wanted: str) -> Object:
    def there(found: list[Object]) -> bool:
        return [one.get("status", {}).get("phase", "Selected") in wanted for one in found] == [True]

    space.api.wait("Checkpoint", there, namespace=space.namespace, what=f"phase {wanted}")
    (found,) = space.api.items("Checkpoint", space.namespace)
    return found
