"""Admitted work gets its devices by claims, on the real scheduler, and gives them back."""

import json

from e2e.api import condition, holds
from e2e.devices.hardware import A100, H100, PCIE_ROOT, Rack, gpus
from e2e.devices.shapes import (
    GPU,
    UID,
    allocated,
    claims_of,
    furnish,
    templates_of,
    training,
    wait_no_claims,
)
from e2e.jobs import running, stopped, wait_job, wait_workload, workload_of
from e2e.nodes import FAKE
from e2e.product import Controller
from e2e.quota import wait_nothing_held
from e2e.wire import Object
from e2e.world import World

TRAITS = "queueing.dev/traits"


def test_classic_requests_become_claims_on_the_nodes_of_the_flavor(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    traits = {TRAITS: json.dumps({GPU: {"samePCIeRoot": True}})}
    space.make(training(space, "train", 4, pods=2, template={"annotations": traits}))
    wait_job(space, "train", running, "running")
    claims = claims_of(space, "train")
    assert len(claims) == 2
    given = [allocated(one) for one in claims]
    assert sorted(len(one) for one in given) == [4, 4]
    roots = {one["name"]: one["attributes"][PCIE_ROOT]["string"] for one in gpus(H100, 8)}
    for one in given:
        assert {pool for pool, _ in one} == {f"{space.prefix}-h100-000"}
        assert len({roots[device] for _, device in one}) == 1
    pods = space.api.items("Pod", space.namespace)
    assert all(GPU not in pod["spec"]["containers"][0]["resources"]["requests"] for pod in pods)
    assert all("schedulingGates" not in pod["spec"] for pod in pods)
    assignment = workload_of(space, "train")["status"]["admission"]["podSetAssignments"][0]
    assert assignment["flavors"][GPU] == space.name("h100")
    assert assignment["resourceUsage"][GPU] == "8"


def test_the_template_stands_before_the_job_is_unsuspended(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    space.make(training(space, "train", 2))
    started = wait_job(space, "train", lambda one: not one["spec"]["suspend"], "unsuspended")
    (template,) = templates_of(space, "train")
    named = started["spec"]["template"]["metadata"]["annotations"]["queueing.dev/template"]
    assert template["metadata"]["name"] == named
    assert template["metadata"]["ownerReferences"][0]["uid"] == started["metadata"]["uid"]


def test_evicted_work_returns_on_another_flavor_with_a_new_template(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8), "a100": (A100, 8)})
    made = training(space, "train", 8)
    space.make(made)
    wait_job(space, "train", running, "running")
    (first,) = templates_of(space, "train")
    assert {pool for pool, _ in allocated(claims_of(space, "train")[0])} == {
        f"{space.prefix}-h100-000"
    }
    name, place = workload_of(space, "train")["metadata"]["name"], {"namespace": space.namespace}
    space.api.patch("Workload", name, {"spec": {"active": False}}, **place)
    back = wait_job(space, "train", restored, "stopped and as it was")
    assert back["spec"]["template"]["spec"]["nodeSelector"] == {FAKE: "fake"}
    wait_workload(space, "train", lambda one: not holds(one, "QuotaReserved"), "released")
    space.make(training(space, "next", 8))
    wait_job(space, "next", running, "running on the first flavor")
    space.api.patch("Workload", name, {"spec": {"active": True}}, **place)
    wait_job(space, "train", running, "running on the second flavor")
    (second,) = templates_of(space, "train")
    assert second["metadata"]["name"] != first["metadata"]["name"]
    assert {pool for pool, _ in allocated(claims_of(space, "train")[0])} == {
        f"{space.prefix}-a100-000"
    }


def restored(job: Object) -> bool:
    metadata = job["spec"]["template"]["metadata"]
    return stopped(job) and "queueing.dev/template" not in metadata.get("annotations", {})


def test_finished_work_leaves_no_template_and_no_quota_behind(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    space.make(training(space, "train", 4, pods=2, template={"run_s": 1}))
    wait_job(space, "train", lambda one: holds(one, "Complete"), "complete")
    wait_no_claims(space)
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_quota_is_kept_while_a_pod_on_its_way_out_holds_devices(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    space.make(training(space, "slow", 8, template={"drain_s": 6}))
    wait_job(space, "slow", running, "running")
    name = workload_of(space, "slow")["metadata"]["name"]
    place = {"namespace": space.namespace}
    space.make(training(space, "next", 8))
    space.api.patch("Workload", name, {"spec": {"active": False}}, **place)
    wait_job(space, "slow", lambda one: bool(one["spec"]["suspend"]), "suspended")
    looked = 0

    def released(left: list[Object]) -> bool:
        """Say whether no device is held; as long as one is, nobody else has its quota."""
        nonlocal looked
        held = any(allocated(one) for one in left)
        reserved = holds(workload_of(space, "next"), "QuotaReserved")
        assert not (held and reserved and any(map(allocated, claims_of(space, "slow"))))
        looked += held
        return not held

    uid = workload_of(space, "slow")["metadata"]["uid"]
    space.api.wait(
        "ResourceClaim",
        released,
        namespace=space.namespace,
        labels=f"{UID}={uid}",
        what="nothing held",
    )
    assert looked, "the pod held its devices while it was on its way out"
    wait_job(space, "next", running, "running")
    assert stopped(space.api.get("Job", "slow", space.namespace))


def test_a_pod_that_is_done_gives_its_devices_to_others_though_it_is_still_there(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    space.make(training(space, "train", 4, pods=2))
    wait_job(space, "train", running, "running")
    space.make(training(space, "next", 4))
    done, _ = space.api.items("Pod", space.namespace)
    name, place = done["metadata"]["name"], {"namespace": space.namespace}
    succeeded = {"status": {"phase": "Succeeded"}}
    space.api.patch("Pod", name, succeeded, subresource="status", **place)
    wait_job(space, "next", running, "running on what the first pod had")
    (left,) = claims_of(space, "train")
    assert left["status"]["reservedFor"][0]["uid"] != done["metadata"]["uid"]
    assert space.api.find("Pod", name, space.namespace) is not None


def test_a_template_that_somebody_deleted_is_made_again_while_work_needs_it(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    space.make(training(space, "train", 2))
    wait_job(space, "train", running, "running")
    (first,) = templates_of(space, "train")
    name = first["metadata"]["name"]
    space.api.delete("ResourceClaimTemplate", name, space.namespace)
    space.api.wait_one(
        "ResourceClaimTemplate",
        name,
        lambda one: one["metadata"]["uid"] != first["metadata"]["uid"],
        namespace=space.namespace,
        what="made again",
    )


def test_work_that_no_device_can_serve_waits_and_says_what_matches(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 4)})
    quota = "/spec/resourceGroups/0/flavors/0/resources/1/nominalQuota"
    change = [{"op": "replace", "path": quota, "value": "64"}]
    space.api.patch("ClusterQueue", space.name("cq"), change)
    space.make(training(space, "large", 8))
    waiting = wait_workload(
        space,
        "large",
        lambda one: "device" in condition(one, "QuotaReserved").get("message", ""),
        "waiting for devices",
    )
    assert "4 of 8" in condition(waiting, "QuotaReserved")["message"]
