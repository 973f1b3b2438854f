"""What was saved for a Job whose deletion leaves all behind that it owns, as a plain API call's."""

import pytest

from e2e.api import holds
from e2e.checkpoints.training import TERMS, answer, make, preempt, wait_phase
from e2e.product import Controller
from e2e.world import World


@pytest.mark.usefixtures("collected")
def test_a_checkpoint_stays_with_the_workload_that_its_job_left_behind_and_goes_with_it(
    space: World, controller: Controller
) -> None:
    make(space, **TERMS)
    preempt(space)
    wait_phase(space, "Notified")
    answer(space, "Saved")
    found = wait_phase(space, "Released", "Requeued")
    kinds = [one["kind"] for one in found["metadata"]["ownerReferences"]]
    assert kinds == ["Job", "Workload"]
    space.api.delete("Job", "train", space.namespace, propagation="Orphan")
    name, workload = found["metadata"]["name"], found["spec"]["workload"]["name"]
    space.api.wait_one(
        "Workload", workload, lambda one: holds(one, "Finished"), namespace=space.namespace
    )
    left = space.api.wait_one(
        "Checkpoint",
        name,
        lambda one: len(one["metadata"]["ownerReferences"]) == 1,
        namespace=space.namespace,
    )
    assert left["metadata"]["ownerReferences"][0]["name"] == workload
    space.api.delete("Workload", workload, space.namespace)
    space.api.wait_gone("Checkpoint", name, space.namespace)
