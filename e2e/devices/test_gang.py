"""A large gang with devices: admitted, preempted, admitted on another flavor, finished."""

from collections.abc import Sequence

from e2e.api import holds
from e2e.devices.hardware import A100, H100, LABEL, Model, Rack, device_class, gpus
from e2e.devices.shapes import (
    GPU,
    UID,
    allocated,
    claims_of,
    device_flavor,
    make_known,
    training,
    wait_no_claims,
)
from e2e.jobs import running, wait_job, workload_of
from e2e.objects import cluster_queue, flavor, local_queue, workload_priority
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

PODS, EACH = 64, 8


def furnish(space: World, rack: Rack, models: Sequence[tuple[str, Model]]) -> None:
    space.make(device_class(space.name("gpu")))
    quotas = {}
    for model, kind in models:
        rack.add(model, [{"devices": gpus(kind, EACH)}], PODS)
        name = space.name(model)
        quotas[name] = {"cpu": "1000", GPU: str(PODS * EACH)}
        space.make(flavor(name, nodeLabels={LABEL: rack.label(model)}))
        make_known(space, device_flavor(name, space.name("gpu")))
    space.make(
        workload_priority(space.name("high"), 1000),
        # Without quota for the second flavor at first: the urgent work has to preempt.
        cluster_queue(
            space.name("cq"),
            {
                name: quota if name == next(iter(quotas)) else {"cpu": "0", GPU: "0"}
                for name, quota in quotas.items()
            },
            preemption={"withinClusterQueue": "LowerPriority"},
        ),
        local_queue(space.namespace, "team", space.name("cq")),
    )


def pools(claims: Sequence[Object]) -> set[str]:
    return {pool.rsplit("-", 1)[0] for one in claims for pool, _ in allocated(one)}


def check_charge(space: World, name: str, pool: str) -> None:
    """What is charged is what the scheduler gave."""
    claims = claims_of(space, name)
    given = [device for one in claims for device in allocated(one)]
    assert len(given) == len(set(given)) == PODS * EACH
    assert pools(claims) == {pool}
    assignment = workload_of(space, name)["status"]["admission"]["podSetAssignments"][0]
    assert assignment["resourceUsage"][GPU] == str(len(given))
    flavor_name = assignment["flavors"][GPU]

    def counts(queue: Object) -> bool:
        used = {
            (one["name"], resource["name"]): resource["total"]
            for one in queue["status"]["flavorsUsage"]
            for resource in one["resources"]
        }
        return bool(used[flavor_name, GPU] == str(len(given)))

    space.api.wait_one("ClusterQueue", space.name("cq"), counts, what="as much used as was given")
    space.api.wait(
        "ResourceClaimTemplate",
        lambda found: len(found) == 1,
        namespace=space.namespace,
        labels=f"{UID}={workload_of(space, name)['metadata']['uid']}",
        what=f"one template of {name}, none of another admission",
    )


def test_a_gang_of_64_pods_with_8_gpus_each_is_moved_by_a_preemption_and_finishes(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, [("h100", H100), ("a100", A100)])
    space.make(training(space, "train", EACH, pods=PODS))
    wait_job(space, "train", running, "running", 300)
    check_charge(space, "train", f"{space.prefix}-h100")
    labels = {"kueue.x-k8s.io/priority-class": space.name("high")}
    space.make(training(space, "urgent", EACH, pods=PODS, labels=labels))
    wait_job(space, "urgent", running, "running in its place", 300)
    check_charge(space, "urgent", f"{space.prefix}-h100")
    assert not claims_of(space, "train")
    path = "/spec/resourceGroups/0/flavors/1/resources"
    quotas = ("1000", str(PODS * EACH))
    change = [
        {"op": "replace", "path": f"{path}/{number}/nominalQuota", "value": value}
        for number, value in enumerate(quotas)
    ]
    space.api.patch("ClusterQueue", space.name("cq"), change)
    wait_job(space, "train", running, "running on the other flavor", 300)
    check_charge(space, "train", f"{space.prefix}-a100")
    for pod in space.api.items("Pod", space.namespace):
        done = {"status": {"phase": "Succeeded"}}
        name = pod["metadata"]["name"]
        space.api.patch("Pod", name, done, namespace=space.namespace, subresource="status")
    for name in ("train", "urgent"):
        wait_job(space, name, lambda one: holds(one, "Complete"), "complete", 300)
    wait_no_claims(space)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])
