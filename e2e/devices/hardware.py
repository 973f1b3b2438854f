"""Nodes with devices as their drivers would publish them, written by hand: no kubelet runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from e2e.api import Api
from e2e.nodes import delete_nodes, make_nodes
from e2e.wire import Object

DRIVER = "gpu.nvidia.com"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
PER_ROOT = 4
IS_GPU = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'gpu'"
IS_MIG = f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].type == 'mig'"
LABEL = "queueing.test/gpu"
"""Label of nodes with devices; its value is the model, in the test's own spelling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A kind of GPU."""

    architecture: str
    product: str
    memory: str


H100 = Model(architecture="Hopper", product="NVIDIA H100 80GB HBM3", memory="80Gi")
A100 = Model(architecture="Ampere", product="NVIDIA A100-SXM4-40GB", memory="40Gi")


def gpus(model: Model, count: int) -> list[Object]:
    """Return whole GPUs, four to a PCIe root."""
    return [
        {
            "name": f"gpu-{index}",
            "attributes": {
                "type": {"string": "gpu"},
                "productName": {"string": model.product},
                "architecture": {"string": model.architecture},
                PCIE_ROOT: {"string": f"pci0000:{index // PER_ROOT:02}"},
            },
            "capacity": {"memory": {"value": model.memory}},
        }
        for index in range(count)
    ]


def shared_gpu(memory: str = "48Gi", step: str = "1Gi") -> list[Object]:
    """Return one GPU whose memory is given out in steps to any number of claims."""
    policy = {"default": memory, "validRange": {"min": step, "max": memory, "step": step}}
    return [
        {
            "name": "gpu-0",
            "allowMultipleAllocations": True,
            "attributes": {"type": {"string": "gpu"}, "architecture": {"string": "Ada Lovelace"}},
            "capacity": {"memory": {"value": memory, "requestPolicy": policy}},
        }
    ]


SLICE_MEMORY_MI = 9984
GPU_MEMORY_MI = 81559
PROFILES: Mapping[str, tuple[int, Sequence[int]]] = {
    "1g.10gb": (1, range(7)),
    "3g.40gb": (4, (0, 4)),
}
"""MIG profile → memory slices that it takes, and where it may begin."""


def mig_counters() -> list[Object]:
    """Return what all partitions of one GPU draw on."""
    slices = {f"memory-slice-{number}": {"value": "1"} for number in range(8)}
    memory = {"memory": {"value": f"{GPU_MEMORY_MI}Mi"}}
    return [{"name": "gpu-0-counter-set", "counters": {**memory, **slices}}]


def mig_devices() -> list[Object]:
    """Return every partition that one GPU may be cut into, with what it takes of the counters."""
    return [
        _partition(profile, size, start)
        for profile, (size, starts) in PROFILES.items()
        for start in starts
    ]


def _partition(profile: str, size: int, start: int) -> Object:
    memory = {"value": f"{size * SLICE_MEMORY_MI}Mi"}
    slices = {f"memory-slice-{start + offset}": {"value": "1"} for offset in range(size)}
    return {
        "name": f"gpu-0-mig-{profile.replace('.', '')}-{start}",
        "attributes": {
            "type": {"string": "mig"},
            "profile": {"string": profile},
            "architecture": {"string": "Hopper"},
        },
        "capacity": {"memory": memory},
        "consumesCounters": [
            {"counterSet": "gpu-0-counter-set", "counters": {"memory": memory, **slices}}
        ],
    }


def resource_slice(node: str, *, number: int = 0, of: int = 1, **spec: Any) -> Object:
    """Return one of the slices of a node's pool."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{node}-{number}"},
        "spec": {
            "driver": DRIVER,
            "nodeName": node,
            "pool": {"name": node, "generation": 1, "resourceSliceCount": of},
            **spec,
        },
    }


def device_class(name: str, expression: str = IS_GPU, **spec: Any) -> Object:
    """Return a DeviceClass of what a CEL expression says."""
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name},
        "spec": {"selectors": [{"cel": {"expression": expression}}], **spec},
    }


@dataclass(slots=True)
class Rack:
    """Nodes with devices that a test made; they go with it."""

    api: Api
    prefix: str
    nodes: list[str]

    def add(
        self, model: str, slices: Sequence[Mapping[str, Any]], count: int = 1, *, group: str = ""
    ) -> list[str]:
        """Make nodes of a model, each with these slices; return their names.

        Nodes that come later need a group of their own, from which they have their names.
        """
        made = make_nodes(
            self.api,
            count,
            group=f"{self.prefix}-{group or model}",
            labels={LABEL: self.label(model)},
        )
        self.nodes += made
        for node in made:
            for number, spec in enumerate(slices):
                self.api.create(resource_slice(node, number=number, of=len(slices), **spec))
        return made

    def label(self, model: str) -> str:
        """Return the value of the nodes' label, which no other test's nodes have."""
        return f"{self.prefix}-{model}"

    def remove(self) -> None:
        """Take everything away again."""
        for one in self.api.items("ResourceSlice"):
            if one["spec"].get("nodeName") in self.nodes:
                self.api.delete("ResourceSlice", one["metadata"]["name"])
        delete_nodes(self.api, self.nodes)


@contextmanager
def rack(api: Api, prefix: str) -> Iterator[Rack]:
    """Lend a place for nodes with devices."""
    made = Rack(api, prefix, [])
    try:
        yield made
    finally:
        made.remove()
