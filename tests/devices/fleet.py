"""A fleet of devices, as drivers publish it: shapes that a real API server takes."""

from typing import Any

from queueing.devices.rules.index import DeviceIndex, index_of
from queueing.devices.wire import objects as wire
from queueing.devices.wire.asks import DeviceSurroundings
from queueing.devices.wire.catalog import catalog_of
from queueing.devices.wire.realisation import ClaimOwner
from queueing.devices.wire.slices import slice_of
from queueing.translate.inbound.manifests import read
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload

Wire = dict[str, Any]
DRIVER = "gpu.nvidia.com"
HOPPER = f"device.attributes['{DRIVER}'].architecture == 'Hopper'"
AT_LEAST = f"device.capacity['{DRIVER}'].memory.compareTo(quantity('{{value}}')) >= 0"
PCIE = "resource.kubernetes.io/pcieRoot"
OWNER = ClaimOwner(
    api_version="batch/v1",
    kind="Job",
    metadata=Meta(name="train", namespace="team", uid="job-uid"),
)


def gpu(number: int, *, model: str = "Hopper", memory: str = "80Gi", **more: Any) -> Wire:
    root = f"pci0000:0{number // 4}"
    attributes = {"type": "gpu", "architecture": model, PCIE: root, "uuid": f"GPU-{number}"}
    return {
        "name": f"gpu-{number}",
        "attributes": {name: {"string": value} for name, value in attributes.items()},
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def resource_slice(
    node: str, devices: list[Wire], *, generation: int = 1, count: int = 1, part: str = "gpu"
) -> Wire:
    pool = {"name": node, "generation": generation, "resourceSliceCount": count}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{part}"},
        "spec": {"driver": DRIVER, "nodeName": node, "pool": pool, "devices": devices},
    }


def node(name: str, **labels: str) -> Wire:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def device_class(name: str = DRIVER, kind: str = "gpu", **spec: Any) -> Wire:
    expression = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == '{kind}'"
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


def device_flavor(name: str = "h100", flavor: str = "", *resources: Wire) -> Wire:
    return {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "DeviceFlavor",
        "metadata": {"name": name},
        "spec": {"resourceFlavor": flavor or name, "resources": list(resources) or [whole_gpu()]},
    }


def whole_gpu(*selectors: str, **more: Any) -> Wire:
    """Serve nvidia.com/gpu by whole GPUs, with the traits that most fleets offer."""
    request: Wire = {"deviceClassName": DRIVER}
    if selectors:
        request["selectors"] = [{"cel": {"expression": one}} for one in selectors]
    traits = {"minMemory": {"selector": AT_LEAST}, "samePCIeRoot": {"matchAttribute": PCIE}}
    return {"name": "nvidia.com/gpu", "request": request, "traits": traits, **more}


def fleet() -> list[Wire]:
    """Return two nodes of eight H100 and one of four A100, with all that serves them."""
    a100 = f"device.attributes['{DRIVER}'].architecture == 'Ampere'"
    return [
        node("n0", gpu="h100"),
        node("n1", gpu="h100"),
        node("n2", gpu="a100"),
        resource_slice("n0", [gpu(at) for at in range(8)]),
        resource_slice("n1", [gpu(at) for at in range(8)]),
        resource_slice("n2", [gpu(at, model="Ampere", memory="40Gi") for at in range(4)]),
        device_class(),
        device_flavor("h100", "h100", whole_gpu(HOPPER)),
        device_flavor("a100", "a100", whole_gpu(a100)),
    ]


def of_kind(documents: list[Wire], kind: str, shape: type[Any]) -> list[Any]:
    return [read(shape, one) for one in documents if one["kind"] == kind]


def index(documents: list[Wire]) -> DeviceIndex:
    nodes = of_kind(documents, "Node", wire.Node)
    slices = of_kind(documents, "ResourceSlice", wire.ResourceSlice)
    labels = {one.metadata.name: one.metadata.labels for one in nodes}
    return index_of(map(slice_of, slices), labels)


def around(documents: list[Wire], namespace: str = "team") -> DeviceSurroundings:
    templates = of_kind(documents, "ResourceClaimTemplate", wire.ResourceClaimTemplate)
    claims = of_kind(documents, "ResourceClaim", wire.ResourceClaim)
    return DeviceSurroundings(
        catalog=catalog_of(
            of_kind(documents, "DeviceFlavor", wire.DeviceFlavor),
            of_kind(documents, "DeviceClass", wire.DeviceClass),
        ),
        templates={o.metadata.name: o for o in templates if o.metadata.namespace == namespace},
        claims={o.metadata.name: o for o in claims if o.metadata.namespace == namespace},
    )


def flavor(name: str, **labels: str) -> ResourceFlavor:
    return read(ResourceFlavor, {"metadata": {"name": name}, "spec": {"nodeLabels": labels}})


def workload(
    template: Wire, *, count: int = 1, flavors: Wire | None = None, **more: Any
) -> Workload:
    """Return a Workload of one pod set; with flavors it is admitted to them, with `more`."""
    status: Wire = {}
    if flavors is not None:
        assigned = {"name": "main", "count": count, "flavors": flavors, "resourceUsage": {}, **more}
        status = {"admission": {"clusterQueue": "cq", "podSetAssignments": [assigned]}}
    return read(
        Workload,
        {
            "metadata": {"name": "job-train", "namespace": "team", "uid": "workload-uid"},
            "spec": {
                "queueName": "main",
                "podSets": [{"name": "main", "count": count, "template": template}],
            },
            "status": status,
        },
    )


def pod_template(
    *containers: Wire, annotations: Wire | None = None, claims: list[Wire] | None = None
) -> Wire:
    spec: Wire = {"restartPolicy": "Never", "containers": list(containers)}
    if claims is not None:
        spec["resourceClaims"] = claims
    metadata: Wire = {"labels": {"app": "train"}}
    if annotations:
        metadata["annotations"] = annotations
    return {"metadata": metadata, "spec": spec}


def gpus(count: int, name: str = "train") -> Wire:
    limits = {"nvidia.com/gpu": str(count)}
    requests = {"cpu": "1", **limits}
    return {"name": name, "image": "i", "resources": {"requests": requests, "limits": limits}}
