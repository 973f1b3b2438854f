"""Quota that is held and not used, on real parts and under the controller's own account."""

from e2e.api import holds
from e2e.checkpoints.promises import charged
from e2e.checkpoints.training import TERMS, answer, make, wait_phase
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.product import Controller
from e2e.world import World

IDLE = "queueing.dev/idle-since"


def test_pods_that_all_do_nothing_save_and_give_their_quota_back(
    space: World, controller: Controller
) -> None:
    make(space, **TERMS, idleAfter="1s")
    name = workload_of(space, "train")["metadata"]["name"]
    for pod in space.api.items("Pod", space.namespace):
        assert charged(space) == ["train"], "not all of its pods are idle"
        label = {"metadata": {"labels": {IDLE: "1"}}}
        space.api.patch("Pod", pod["metadata"]["name"], label, namespace=space.namespace)
    wait_phase(space, "Notified")
    answer(space, "Saved")
    found = wait_phase(space, "Released")
    assert found["spec"]["reason"] == "DeactivatedDueToIdle"
    assert found["status"]["outcome"] == "Saved"
    stopped = wait_workload(
        space, "train", lambda one: not holds(one, "QuotaReserved"), "without quota"
    )
    assert stopped["spec"]["active"] is False
    space.api.patch("Workload", name, {"spec": {"active": True}}, namespace=space.namespace)
    back = wait_job(space, "train", running, "running again")
    notes = back["spec"]["template"]["metadata"]["annotations"]
    assert notes["queueing.dev/checkpoint-uri"] == "s3://bucket/step-40"
