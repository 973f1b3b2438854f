"""Lines about Jobs, pods, devices, and of kinds that have no words of their own → objects."""

from collections.abc import Callable, Mapping
from functools import partial

from queueing.sim.documents import Document
from queueing_api.batch.v1 import JobSpec
from queueing_api.queueing.v1alpha1.device_flavor import DeviceFlavorSpec
from queueing_api.resource.v1 import ResourceClaimSpec, ResourceSliceSpec
from tests.scenarios.lines import METADATA, Json, Line, at, fields
from tests.scenarios.workload_lines import OF_TEMPLATE, pods

QUEUE = "kueue.x-k8s.io/queue-name"
OWN = "queueing.dev/v1alpha1"
DEVICES = "resource.k8s.io/v1"
DRIVER = "gpu.example.com"
SERVED = "nvidia.com/gpu"
"""The resource that devices serve unless a line says another."""
BESIDE = frozenset({"globalDefault", "handler", "overhead", "status", "value"})
"""Fields that stand beside the spec, or in its place."""
OF_JOB = fields(JobSpec, but=("template",))
OF_SLICE = fields(ResourceSliceSpec)
OF_DEVICE_FLAVOR = fields(DeviceFlavorSpec)
OF_CLAIM = fields(ResourceClaimSpec)


def _plain(kind: tuple[str, str], line: Line) -> Document:
    """Make an object of a kind without words of its own: all are fields of the API."""
    identity = line.identity if kind in IN_A_NAMESPACE.values() else {"name": line.name}
    value: Json = {"metadata": identity}
    for word, said in line.words.items():
        if word in BESIDE:
            value[word] = said
        else:
            value.setdefault("metadata" if word in METADATA else "spec", {})[word] = said
    return line.document(*kind, value)


def _job(line: Line) -> Document:
    """Make a Job that is suspended."""
    own = frozenset({"queue", "created"})
    words = line.sort(own=own, metadata=METADATA, spec=OF_JOB, pods=OF_TEMPLATE)
    template = pods(line, "main", words["pods"], words["resources"]).template
    spec = {"suspend": True, "template": template, **words["spec"]}
    return line.document("batch/v1", "Job", {"metadata": _queued(line, words), "spec": spec})


def _pod(line: Line) -> Document:
    own = frozenset({"queue", "created", "phase"})
    words = line.sort(own=own, metadata=METADATA, pods=OF_TEMPLATE)
    spec = pods(line, "main", words["pods"], words["resources"]).template["spec"]
    phase = {"phase": words["own"]["phase"]} if "phase" in words["own"] else {}
    value = {"metadata": _queued(line, words), "spec": spec, "status": phase}
    return line.document("v1", "Pod", value)


def _queued(line: Line, words: Mapping[str, Json]) -> Json:
    """Return the metadata of what names its LocalQueue by a label."""
    own, metadata = words["own"], line.identity | words["metadata"]
    if queue := own.get("queue"):
        metadata["labels"] = {QUEUE: queue} | metadata.get("labels", {})
    return metadata | ({"creationTimestamp": at(own["created"])} if "created" in own else {})


def _devices(line: Line) -> Document:
    """Make the ResourceSlice of a node, by default all that there is of its pool."""
    words = line.sort(own=frozenset({"count", "node", "slices"}), spec=OF_SLICE)
    own, node = words["own"], words["own"].get("node", line.name)
    spec = {"driver": DRIVER} | ({} if "allNodes" in words["spec"] else {"nodeName": node})
    spec["pool"] = {"name": node, "generation": 1, "resourceSliceCount": own.get("slices", 1)}
    if count := own.get("count"):
        spec["devices"] = [{"name": f"gpu-{number}"} for number in range(count)]
    value = {"metadata": {"name": line.name}, "spec": spec | words["spec"]}
    return line.document(DEVICES, "ResourceSlice", value)


def _device_class(line: Line) -> Document:
    """Make a class, of all devices of the driver unless the line says otherwise."""
    mine = {"selectors": [{"cel": {"expression": f"device.driver == '{DRIVER}'"}}]}
    value = {"metadata": {"name": line.name}, "spec": line.words or mine}
    return line.document(DEVICES, "DeviceClass", value)


def _device_flavor(line: Line) -> Document:
    """Make the DeviceFlavor of the ResourceFlavor and the DeviceClass of its name."""
    spec = {
        "resourceFlavor": line.name,
        "resources": [{"name": SERVED, "request": {"deviceClassName": line.name}}],
        **line.sort(spec=OF_DEVICE_FLAVOR)["spec"],
    }
    value = {"metadata": {"name": line.name}, "spec": spec}
    return line.document(OWN, "DeviceFlavor", value)


def _claim(line: Line) -> Document:
    """Make a claim of one device, and say which it has, and for which Workload it was made."""
    own = frozenset({"device", "of", "resource", "consumedCapacity"})
    words = line.sort(own=own, metadata=METADATA, spec=OF_CLAIM)
    said, metadata = words["own"], line.identity | words["metadata"]
    if workload := said.get("of"):
        mark = {"queueing.dev/workload-uid": workload, "queueing.dev/pod-set": "main"}
        metadata |= {"labels": mark}
        metadata |= {"annotations": {"queueing.dev/resource": said.get("resource", SERVED)}}
    one = {"name": "one", "exactly": {"deviceClassName": "gpu", "count": 1}}
    value = {"metadata": metadata, "spec": {"devices": {"requests": [one]}} | words["spec"]}
    if device := said.get("device"):
        pool, _, name = device.partition("/")
        result = {"driver": DRIVER, "pool": pool, "device": name, "request": "one"}
        result |= {word: said[word] for word in ("consumedCapacity",) if word in said}
        value["status"] = {"allocation": {"devices": {"results": [result]}}}
    return line.document(DEVICES, "ResourceClaim", value)


IN_A_NAMESPACE = {
    "limitRanges": ("v1", "LimitRange"),
    "checkpointPolicies": (OWN, "CheckpointPolicy"),
    "claimTemplates": (DEVICES, "ResourceClaimTemplate"),
}
EVERYWHERE = {
    "namespaces": ("v1", "Namespace"),
    "runtimeClasses": ("node.k8s.io/v1", "RuntimeClass"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "workloadPriorityClasses": ("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass"),
    "creditPolicies": (OWN, "CreditPolicy"),
    "creditAccounts": (OWN, "CreditAccount"),
}
FURTHER: Mapping[str, Callable[[Line], Document]] = {
    **{section: partial(_plain, kind) for section, kind in (IN_A_NAMESPACE | EVERYWHERE).items()},
    "deviceClasses": _device_class,
    "deviceFlavors": _device_flavor,
    "devices": _devices,
    "claims": _claim,
    "jobs": _job,
    "pods": _pod,
}
"""The sections of kinds that a scenario needs beside queues and workloads."""
