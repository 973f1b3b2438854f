"""Claims that the pod template declares: slots that an admission fills, and claims of one's own."""

import json
from typing import Any

import pytest

from e2e.api import holds
from e2e.devices.hardware import H100, LABEL, Rack, device_class, gpus
from e2e.devices.shapes import (
    GPU,
    allocated,
    claims_of,
    device_flavor,
    make_known,
    served,
    templates_of,
    training,
)
from e2e.jobs import running, stopped, wait_job, workload_of
from e2e.objects import IMAGE, Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

GATE = "example.com/data-is-there"
DEVICES = 4


@pytest.fixture
def queue(space: World, controller: Controller, gpus_of: Rack) -> World:
    """Lend a queue with a node of four GPUs."""
    gpus_of.add("h100", [{"devices": gpus(H100, DEVICES)}])
    name, class_name = space.name("h100"), space.name("gpu")
    space.make(device_class(class_name), flavor(name, nodeLabels={LABEL: gpus_of.label("h100")}))
    by_claim = served(GPU, class_name, charge={"allMatching": DEVICES})
    make_known(space, device_flavor(name, "", by_claim))
    space.make(
        cluster_queue(space.name("cq"), {name: {"cpu": "100", GPU: str(DEVICES)}}),
        local_queue(space.namespace, "team", space.name("cq")),
    )
    return space


def declaring(space: World, name: str, template: str, **more: Any) -> Object:
    """Return a Job whose only container uses a claim of a template."""
    container = {
        "name": "main",
        "image": IMAGE,
        "resources": {"requests": {"cpu": "1"}, "claims": [{"name": "gpu"}]},
    }
    spec = {
        "containers": [container],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": template}],
        **more.pop("spec", {}),
    }
    return job(space.namespace, name, queue="team", pods=Pods(run_s=None, spec=spec, **more))


def claim_template(space: World, name: str, **exactly: Any) -> Object:
    """Return a template of a user's own."""
    request = {"name": "gpu", "exactly": {"deviceClassName": space.name("gpu"), **exactly}}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def charged(space: World, name: str) -> str:
    (assigned,) = workload_of(space, name)["status"]["admission"]["podSetAssignments"]
    usage: str = assigned["resourceUsage"].get(GPU, "0")
    return usage


def test_a_slot_is_filled_at_admission_and_its_pod_runs_when_its_own_gate_opens(
    queue: World,
) -> None:
    slot = {"queueing.dev/slot.gpu": json.dumps({"resource": GPU, "count": 2})}
    gate = {"schedulingGates": [{"name": GATE}]}
    waiting = declaring(queue, "train", "train-dra", annotations=slot, spec=gate)
    queue.make(training(queue, "first", DEVICES))
    wait_job(queue, "first", running, "running")
    queue.make(waiting)
    assert "admission" not in workload_of(queue, "train").get("status", {})
    assert queue.api.find("ResourceClaimTemplate", "train-dra", queue.namespace) is None
    queue.api.delete("Job", "first", queue.namespace)
    (pod,) = queue.api.wait(
        "Pod",
        lambda found: len(found) == 1 and bool(found[0]["spec"].get("resourceClaims")),
        namespace=queue.namespace,
        labels="batch.kubernetes.io/job-name=train",
        what="the gated pod",
    )
    assert charged(queue, "train") == "2"
    (template,) = templates_of(queue, "train")
    assert template["metadata"]["name"] == "train-dra"
    (claim,) = queue.api.wait(
        "ResourceClaim",
        lambda found: len(found) == 1,
        namespace=queue.namespace,
        what="only the claim of the gated pod",
    )
    assert claim["metadata"]["annotations"]["resource.kubernetes.io/pod-claim-name"] == "gpu"
    assert not allocated(claim)
    gates = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
    queue.api.patch("Pod", pod["metadata"]["name"], gates, namespace=queue.namespace)
    wait_job(queue, "train", running, "running")
    (claim,) = claims_of(queue, "train")
    assert len(allocated(claim)) == 2
    name = workload_of(queue, "train")["metadata"]["name"]
    queue.api.patch("Workload", name, {"spec": {"active": False}}, namespace=queue.namespace)
    wait_job(queue, "train", stopped, "stopped")
    queue.api.wait(
        "ResourceClaimTemplate", lambda left: not left, namespace=queue.namespace, what="none left"
    )


def test_a_claim_for_all_devices_counts_as_said_and_one_that_only_looks_is_free(
    queue: World,
) -> None:
    label = {"metadata": {"labels": {"resource.kubernetes.io/admin-access": "true"}}}
    queue.api.patch("Namespace", queue.namespace, label)
    queue.make(
        claim_template(queue, "all", allocationMode="All"),
        claim_template(queue, "look", allocationMode="All", adminAccess=True),
        declaring(queue, "train", "all"),
        declaring(queue, "watch", "look"),
    )
    for name in ("train", "watch"):
        wait_job(queue, name, running, "running")
    assert (charged(queue, "train"), charged(queue, "watch")) == (str(DEVICES), "0")
    claims = queue.api.items("ResourceClaim", queue.namespace)
    assert sorted(len(allocated(one)) for one in claims) == [DEVICES, DEVICES]
    for name in ("train", "watch"):
        assert holds(workload_of(queue, name), "Admitted")
