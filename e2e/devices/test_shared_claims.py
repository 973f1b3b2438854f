"""A claim that users made and several Jobs name: charged once, as long as any of them uses it."""

from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import GPU, allocated, device_flavor, make_known, training
from e2e.devices.test_true_up import wait_charged
from e2e.jobs import running, wait_job, wait_workload
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World


def claim(space: World, name: str, count: int) -> Object:
    """Return a claim of a user's own, to be charged to their queue."""
    exactly = {"deviceClassName": space.name("gpu"), "count": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "name": name,
            "namespace": space.namespace,
            "labels": {"kueue.x-k8s.io/queue-name": "team"},
        },
        "spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}},
    }


def using(space: World, name: str, claim: str) -> Object:
    """Return a Job of one pod that uses a claim by its name."""
    spec = {"resourceClaims": [{"name": "gpu", "resourceClaimName": claim}]}
    return job(space.namespace, name, queue="team", pods=Pods(run_s=None, spec=spec))


def test_a_claim_that_jobs_share_is_charged_once_until_the_last_of_them_ends(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    gpus_of.add("h100", [{"devices": gpus(H100, 8)}])
    name = space.name("h100")
    space.make(
        device_class(space.name("gpu")), flavor(name, nodeLabels={LABEL: gpus_of.label("h100")})
    )
    make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: "4"}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    space.make(claim(space, "ours", 4))
    for one in ("first", "second"):
        space.make(using(space, one, "ours"))
        wait_job(space, one, running, "running")
        wait_charged(space, 4)
    found = space.api.get("ResourceClaim", "ours", namespace=space.namespace)
    assert len(allocated(found)) == 4
    assert len(found["status"]["reservedFor"]) == 2
    space.make(training(space, "third", 1))
    wait_workload(space, "third", lambda one: "conditions" in one.get("status", {}), "waiting")
    space.api.delete("Job", "first", space.namespace)
    space.api.wait_gone("Job", "first", namespace=space.namespace)
    wait_charged(space, 4)
    third = space.api.get("Job", "third", namespace=space.namespace)
    assert third["spec"]["suspend"], "what it waits for is still in use"
    space.api.delete("Job", "second", space.namespace)
    wait_job(space, "third", running, "running on what the two gave back")
    wait_charged(space, 1)
    space.api.delete("Job", "third", space.namespace)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
