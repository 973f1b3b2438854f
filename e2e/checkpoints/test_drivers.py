"""Requests to save by a Job and over HTTP, on real parts and under the controller's own account."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from e2e.checkpoints.training import make, preempt, wait_phase
from e2e.components import HOST
from e2e.jobs import running, wait_job
from e2e.objects import Pods, checkpoint_policy
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World
from queueing.testing.ports import free_ports
from queueing_checkpoint import ListenerChannel, Notice

KEY = "queueing.dev/checkpoint-key"


def active(status: str, reason: str) -> Callable[[Object], bool]:
    def holds(one: Object) -> bool:
        return any(
            found["status"] == status and found["reason"] == reason
            for found in one.get("status", {}).get("conditions", [])
        )

    return holds


def test_a_job_of_the_teams_saves_for_work_that_cannot_be_asked(
    space: World, controller: Controller
) -> None:
    said = '{"uri": "snap://volume/8", "step": 8}'
    pods = Pods(run_s=1, annotations={"queueing.test/message": said}).template()
    make(space, driver="Job", job={"template": {"spec": {"template": pods}}})
    space.api.wait_one(
        "CheckpointPolicy", "save", active("True", "Ready"), namespace=space.namespace
    )
    preempt(space)
    wait_job(space, "urgent", running, "running")
    found = wait_phase(space, "Requeued")
    assert found["status"]["outcome"] == "Saved", found["status"]
    assert found["status"]["checkpoint"]["uri"] == "snap://volume/8"
    hook = space.api.get("Job", f"save-{found['spec']['requestID']}", space.namespace)
    assert hook["metadata"]["ownerReferences"][0]["uid"] == found["metadata"]["uid"]
    assert hook["status"]["succeeded"] == 1
    assert len(space.api.items("Workload", space.namespace)) == 2
    space.api.delete("Job", "urgent", namespace=space.namespace)
    back = wait_job(space, "train", running, "running again")
    notes = back["spec"]["template"]["metadata"]["annotations"]
    assert notes["queueing.dev/checkpoint-uri"] == "snap://volume/8"
    space.api.delete("Checkpoint", found["metadata"]["name"], namespace=space.namespace)
    space.api.wait_gone("Job", hook["metadata"]["name"], namespace=space.namespace)


def test_a_job_that_the_api_server_would_not_take_is_told_of_its_policy(
    space: World, controller: Controller
) -> None:
    broken = {"spec": {"template": {"spec": {"containers": [{"name": "No Name"}]}}}}
    terms = {"driver": "Job", "job": {"template": broken}}
    space.make(checkpoint_policy(space.namespace, "save", terms))
    found = space.api.wait_one(
        "CheckpointPolicy", "save", active("False", "InvalidTemplate"), namespace=space.namespace
    )
    message = found["status"]["conditions"][0]["message"]
    assert "spec.template.spec.containers[0].image" in message


@contextmanager
def listening(key: str, port: int) -> Iterator[list[Notice]]:
    """Stand for the pods of the training Job: they are where this process listens."""
    heard: list[Notice] = []
    channel = ListenerChannel(key, port, HOST)

    def take(notice: Notice) -> None:
        heard.append(notice)
        channel.answer(notice.answer("Saved", uri="s3://bucket/step-9", step=9))

    ended = threading.Event()
    thread = threading.Thread(target=channel.listen, args=(take, ended))
    thread.start()
    try:
        yield heard
    finally:
        ended.set()
        thread.join(30)


def move_here(space: World) -> None:
    """Give the pods of the training Job this machine's own address: KWOK gives them none."""
    for pod in space.api.items("Pod", space.namespace):
        where = {"podIP": HOST, "podIPs": [{"ip": HOST}]}
        name = pod["metadata"]["name"]
        space.api.patch(
            "Pod", name, {"status": where}, namespace=space.namespace, subresource="status"
        )


def test_a_signed_notice_is_posted_to_the_pods_and_their_answer_read(
    space: World, controller: Controller
) -> None:
    (port,) = free_ports(1)
    make(space, driver="HTTP", http={"port": port, "path": "/save"}, ackDeadline="60s")
    job = space.api.get("Job", "train", space.namespace)
    move_here(space)
    with listening(job["spec"]["template"]["metadata"]["annotations"][KEY], port) as heard:
        preempt(space)
        wait_job(space, "urgent", running, "running")
    found = wait_phase(space, "Requeued")
    assert found["status"]["outcome"] == "Saved", found["status"]
    assert found["status"]["checkpoint"]["uri"] == "s3://bucket/step-9"
    assert {one.request_id for one in heard} == {found["spec"]["requestID"]}
    assert len(found["status"]["asked"]) == 2
    assert KEY not in space.api.get("Job", "train", space.namespace)["spec"]["template"][
        "metadata"
    ].get("annotations", {})
