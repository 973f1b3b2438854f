"""Claims that `deviceClassMappings` count, and for which the whole cluster has too few devices."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from e2e.api import condition
from e2e.devices.hardware import DRIVER, H100, LABEL, Rack, device_class, gpus
from e2e.jobs import running, wait_job, wait_workload
from e2e.objects import IMAGE, Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

QUOTA = "whole-gpus"


def claiming(space: World, name: str, architecture: str, count: int) -> list[Object]:
    """Return a template for so many devices of an architecture, and a Job that claims them."""
    expression = f"device.attributes['{DRIVER}'].architecture == '{architecture}'"
    exactly = {
        "deviceClassName": space.name("gpu"),
        "count": count,
        "selectors": [{"cel": {"expression": expression}}],
    }
    template = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaimTemplate",
        "metadata": {"name": name, "namespace": space.namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": "gpu", "exactly": exactly}]}}},
    }
    resources = {"requests": {"cpu": "1"}, "claims": [{"name": "gpu"}]}
    spec = {
        "containers": [{"name": "main", "image": IMAGE, "resources": resources}],
        "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": name}],
    }
    return [template, job(space.namespace, name, queue="team", pods=Pods(run_s=None, spec=spec))]


@pytest.mark.parametrize("mode", ["Kueue", "Queueing"])
def test_a_lack_in_the_whole_cluster_is_told_until_devices_come(
    space: World, controllers: Callable[..., Controller], gpus_of: Rack, mode: str
) -> None:
    rare = replace(H100, architecture=space.name("rare"))
    gpus_of.add("h100", [{"devices": gpus(rare, 1)}])
    class_name, name = space.name("gpu"), space.name("h100")
    mapping = {"name": QUOTA, "deviceClassNames": [class_name]}
    controllers(
        "mapped", {"resources": {"deviceClassMappings": [mapping]}}, ours={"compatibility": mode}
    )
    space.make(
        device_class(class_name),
        flavor(name, nodeLabels={LABEL: gpus_of.label("h100")}),
        cluster_queue(space.name("cq"), {name: {"cpu": "100", QUOTA: "8"}}),
        local_queue(space.namespace, "team", space.name("cq")),
        *claiming(space, "two", rare.architecture, 2),
    )
    lack = (
        f"insufficient matching devices for CEL selector in DeviceClass {class_name}:"
        " 1 device(s) match in the cluster but 2 requested"
    )

    def told(one: Object) -> bool:
        wanted = {"QuotaReserved": "Misconfigured", "Requeued": "Inadmissible"}
        found = {kind: condition(one, kind) for kind in wanted}
        return all(
            (one.get("status"), one.get("reason"), one.get("message")) == ("False", reason, lack)
            for one, reason in zip(found.values(), wanted.values(), strict=True)
        )

    wait_workload(space, "two", told, "told that devices are missing")
    gpus_of.add("h100", [{"devices": gpus(rare, 2)}], group="more")
    wait_job(space, "two", running, "running")
    admitted = wait_workload(space, "two", lambda one: not condition(one, "Requeued"), "free")
    (assigned,) = admitted["status"]["admission"]["podSetAssignments"]
    assert assigned["resourceUsage"][QUOTA] == "2"
