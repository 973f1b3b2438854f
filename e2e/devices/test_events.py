"""What users read when admitted work does not get its devices, on the real scheduler."""

import time

from e2e.devices.hardware import H100, Rack
from e2e.devices.shapes import allocated, claims_of, furnish, training
from e2e.jobs import running, wait_job, wait_told, workload_of
from e2e.product import Controller
from e2e.world import World
from queueing.webhooks import pods
from queueing.webhooks.policies import claims

IN_FORCE_S = 30.0


def test_a_resource_quota_that_refuses_claims_is_quoted_and_the_rest_runs_when_it_is_raised(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    counted = f"{space.name('gpu')}.deviceclass.resource.k8s.io/devices"
    limit = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "devices", "namespace": space.namespace},
        "spec": {"hard": {counted: "3"}},
    }
    space.make(limit, training(space, "train", 2, pods=2))
    told = wait_told(space, "Job", "train", "NamespaceQuotaExceeded")
    assert "1 of 2 pod(s)" in told
    assert "exceeded quota: devices" in told
    workload = workload_of(space, "train")["metadata"]["name"]
    assert wait_told(space, "Workload", workload, "NamespaceQuotaExceeded") == told
    raised = {"spec": {"hard": {counted: "4"}}}
    space.api.patch("ResourceQuota", "devices", raised, namespace=space.namespace)
    wait_job(space, "train", running, "running, for there is room now")


def test_devices_that_somebody_else_holds_are_told_beside_what_the_scheduler_says(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    request = {"name": "gpu", "exactly": {"deviceClassName": space.name("gpu"), "count": 6}}
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "foreign", "namespace": space.namespace},
        "spec": {"devices": {"requests": [request]}},
    }
    container = {"name": "c", "image": "x", "resources": {"claims": [{"name": "gpu"}]}}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "foreign", "namespace": space.namespace},
        "spec": {
            "containers": [container],
            "resourceClaims": [{"name": "gpu", "resourceClaimName": "foreign"}],
        },
    }
    space.make(claim, pod)
    space.api.wait_one(
        "ResourceClaim",
        "foreign",
        lambda one: bool(one.get("status", {}).get("allocation")),
        namespace=space.namespace,
        what="an allocated claim",
    )
    space.make(training(space, "train", 4))
    told = wait_told(space, "Job", "train", "DevicesNotAllocated")
    assert "cannot allocate all claims" in told
    assert f"free devices: 2 of 8 on {space.prefix}-h100-000" in told
    space.api.delete("Pod", "foreign", space.namespace)
    wait_job(space, "train", running, "running on what was freed")


def test_pods_that_no_policy_gave_their_claims_wait_and_are_made_anew_when_it_is_back(
    space: World, controller: Controller, gpus_of: Rack
) -> None:
    furnish(space, gpus_of, {"h100": (H100, 8)})
    policy, binding = claims.render()
    space.api.delete(binding["kind"], binding["metadata"]["name"])
    try:
        wait_in_force(space, expected=False)
        space.make(training(space, "train", 2, pods=2, backoffLimit=0))
        told = wait_told(space, "Job", "train", "InjectionPolicyMissing")
        assert f"2 of 2 pod(s) keep the scheduling gate {pods.GATE}" in told
        assert policy["metadata"]["name"] in told
        # Nobody else puts the binding back: the controller does, and then has new pods made.
        job = wait_job(space, "train", running, "running, with new pods")
    finally:
        space.api.apply(binding)
    assert wait_told(space, "Job", "train", "PodsRemade").startswith("2 of 2 pod(s)")
    assert not job["status"].get("failed"), "pods that never ran count as no failure"
    assert [len(allocated(one)) for one in claims_of(space, "train")] == [2, 2]


def wait_in_force(space: World, *, expected: bool) -> None:
    """Wait until the server gives pods their claims, or does not."""
    container = {"name": "c", "image": "x", "resources": {"limits": {"nvidia.com/gpu": "1"}}}
    notes = {pods.TEMPLATE: "kq-a", pods.RESOURCES: "nvidia.com/gpu"}
    metadata = {"name": "probe", "namespace": space.namespace, "annotations": notes}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "labels": {pods.INJECT: "true"}},
        "spec": {"containers": [container]},
    }
    path, deadline = f"/api/v1/namespaces/{space.namespace}/pods", time.monotonic() + IN_FORCE_S
    found: bool | None = None
    while found is not expected:
        assert time.monotonic() < deadline, "the policy did not follow its binding"
        made = space.api.wire.call("POST", path, query={"dryRun": "All"}, body=pod)
        found = "resourceClaims" in made["spec"]
