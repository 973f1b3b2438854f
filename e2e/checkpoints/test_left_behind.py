"""What was saved for a Job whose deletion leaves all behind that it owns, as a plain API call's."""

from e2e.checkpoints.training import TERMS, answer, make, preempt, wait_phase
from e2e.product import Controller
from e2e.world import World


def test_a_checkpoint_goes_with_the_workload_that_its_job_left_behind(
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
    space.api.wait_gone("Checkpoint", found["metadata"]["name"], space.namespace)
