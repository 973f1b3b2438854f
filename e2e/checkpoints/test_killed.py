"""The controller killed in each state of a request to save, on real parts: the same end."""

import json
from collections.abc import Callable

import pytest

from e2e.api import holds
from e2e.jobs import running, wait_job, wait_workload
from e2e.kinds import KINDS, Resource
from e2e.nodes import POOL
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.product import LEASE, Controller
from e2e.wire import Object
from e2e.world import World

CHECKPOINT = Resource("queueing.dev/v1alpha1", "checkpoints", namespaced=True)
POLICY = Resource("queueing.dev/v1alpha1", "checkpointpolicies", namespaced=True)
KINDS.setdefault("Checkpoint", CHECKPOINT)
KINDS.setdefault("CheckpointPolicy", POLICY)
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
TERMS = {"driver": "Annotation", "ackDeadline": "60s", "heartbeat": "60s"}


def make(space: World) -> None:
    """Have a training Job run that an urgent one will preempt."""
    space.make(
        flavor(space.name("any"), nodeLabels=POOL),
        cluster_queue(
            space.name("cq"),
            {space.name("any"): {"cpu": "2"}},
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
        workload_priority(space.name("high"), 1000),
        {
            "apiVersion": "queueing.dev/v1alpha1",
            "kind": "CheckpointPolicy",
            "metadata": {"name": "save", "namespace": space.namespace},
            "spec": {
                **TERMS,
                "answerFrom": "Leader",
                "leader": {"matchLabels": {"rank": "0"}},
            },
        },
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


def answer(space: World, word: str) -> None:
    """Answer as the leading pod, once it is asked."""

    def asked(found: list[Object]) -> bool:
        return any(REQUEST in (one["metadata"].get("annotations") or {}) for one in found)

    space.api.wait("Pod", asked, namespace=space.namespace, what="a pod is asked")
    for pod in space.api.items("Pod", space.namespace):
        notes = pod["metadata"].get("annotations") or {}
        if REQUEST in notes:
            told = json.loads(notes[REQUEST])
            said = {"requestID": told["requestID"], "epoch": told["epoch"], "answer": word}
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


def selected(space: World) -> None:
    wait_phase(space, "Selected")


def notified(space: World) -> None:
    lead(space)
    wait_phase(space, "Notified")


def saving(space: World) -> None:
    notified(space)
    answer(space, "Accepted")
    wait_phase(space, "Saving")


def suspending(space: World) -> None:
    notified(space)
    answer(space, "Saved")
    wait_phase(space, "Suspending")


@pytest.mark.parametrize(
    "reach",
    [
        pytest.param(selected, id="Selected"),
        pytest.param(notified, id="Notified"),
        pytest.param(saving, id="Saving"),
        pytest.param(suspending, id="Suspending"),
    ],
)
def test_a_controller_killed_in_a_state_of_a_save_leaves_it_to_the_next(
    space: World, controllers: Callable[..., Controller], reach: Callable[[World], None]
) -> None:
    first = controllers("first", QUICK)
    make(space)
    preempt(space)
    reach(space)
    first.kill()
    if reach is selected:
        lead(space)
    controllers("second", QUICK)
    if reach is not suspending:
        assert not space.api.get("Job", "train", space.namespace)["spec"]["suspend"]
        answer(space, "Saved")
    wait_job(space, "urgent", running, "running")
    found = wait_phase(space, "Requeued")
    assert found["status"]["outcome"] == "Saved"
    assert found["status"]["checkpoint"]["step"] == 40
    wait_workload(space, "train", lambda one: not holds(one, "QuotaReserved"), "drained")
    space.api.delete("Job", "urgent", namespace=space.namespace)
    back = wait_job(space, "train", running, "running again")
    notes = back["spec"]["template"]["metadata"]["annotations"]
    assert notes["queueing.dev/checkpoint-uri"] == "s3://bucket/step-40"
