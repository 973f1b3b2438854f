"""Pods and pod templates: the defaults that clients see again, and the checks they rely on."""

from collections.abc import Iterator
from typing import Any

from queueing.apiserver.failures import (
    StatusCause,
    duplicate,
    forbidden_value,
    invalid_value,
    required,
)
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import Object, dig, without_fields
from queueing_api.quantity import QuantityError, canonical

_SPEC_DEFAULTS: Object = {
    "restartPolicy": "Always",
    "terminationGracePeriodSeconds": 30,
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "default-scheduler",
}
_CONTAINER_DEFAULTS: Object = {
    "terminationMessagePath": "/dev/termination-log",
    "terminationMessagePolicy": "File",
}
_MUTABLE = ("activeDeadlineSeconds", "tolerations", "schedulingGates")


def created(obj: Object) -> Object:
    """Return a pod as it is born: pending, with its class of service."""
    return {
        **obj,
        "status": {"phase": "Pending", "qosClass": quality_of_service(obj.get("spec") or {})},
    }


def defaulted(obj: Object) -> Object:
    """Return the pod with the defaults of the API."""
    spec = {**pod_spec_defaulted(obj.get("spec") or {}, pod=True)}
    return {**obj, "spec": {"enableServiceLinks": True, **spec}}


def pod_spec_defaulted(spec: Object, *, pod: bool = False) -> Object:
    """Return a pod spec with the defaults of the API."""
    made: Object = {**_SPEC_DEFAULTS, "securityContext": {}, **spec}
    for name in ("containers", "initContainers"):
        if isinstance(spec.get(name), list):
            entries = [_container(entry) for entry in spec[name] if isinstance(entry, dict)]
            made[name] = [_with_requests(entry) for entry in entries] if pod else entries
    if pod and spec.get("serviceAccountName"):
        made.setdefault("serviceAccount", spec["serviceAccountName"])
    return made


def _container(entry: Object) -> Object:
    image = str(entry.get("image") or "")
    tag = image.rpartition("/")[2].partition("@")[0].partition(":")[2]
    latest = "@" not in image and tag in ("", "latest")
    made: Object = {
        **_CONTAINER_DEFAULTS,
        "imagePullPolicy": "Always" if latest else "IfNotPresent",
        **entry,
        "resources": _resources(entry.get("resources") or {}),
    }
    if isinstance(entry.get("ports"), list):
        made["ports"] = [{"protocol": "TCP", **port} for port in entry["ports"]]
    return made


def _resources(resources: Object) -> Object:
    """Return the resources in canonical amounts."""
    made = dict(resources)
    for word in ("limits", "requests"):
        if resources.get(word):
            made[word] = {name: _amount(text) for name, text in resources[word].items()}
    return made


def _with_requests(container: Object) -> Object:
    """Return a pod's container with requests defaulted to limits; templates are left alone."""
    resources = container["resources"]
    if not resources.get("limits"):
        return container
    requests = {**resources["limits"], **(resources.get("requests") or {})}
    return {**container, "resources": {**resources, "requests": requests}}


def _amount(text: Any) -> Any:
    """Return a quantity as the API writes it; what is none is left for the checks."""
    try:
        return canonical(text)
    except QuantityError:
        return text


def quality_of_service(spec: Object) -> str:
    """Return the pod's class: Guaranteed, Burstable or BestEffort."""
    containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    demands = [entry.get("resources") or {} for entry in containers]
    if not any(demand.get("requests") or demand.get("limits") for demand in demands):
        return "BestEffort"
    for demand in demands:
        limits, requests = demand.get("limits") or {}, demand.get("requests") or {}
        if not {"cpu", "memory"} <= set(limits) or any(
            limits.get(name) != requests.get(name, limits.get(name)) for name in ("cpu", "memory")
        ):
            return "Burstable"
    return "Guaranteed"


def violations(obj: Object, old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong with a pod; on update, what may not change."""
    spec = obj.get("spec") or {}
    if old is None:
        yield from pod_spec_violations(spec, "spec")
        return
    before = old.get("spec") or {}
    gated = bool(before.get("schedulingGates"))
    if _fixed(spec, gated=gated) != _fixed(before, gated=gated):
        detail = (
            "pod updates may not change fields other than `spec.containers[*].image`,"
            "`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
            "`spec.tolerations` (only additions to existing tolerations),"
            "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
            "negative)"
        )
        yield forbidden_value("spec", detail)


def _fixed(spec: Object, *, gated: bool) -> Object:
    """Return the part of a pod's spec that may not change once it exists, if it was gated."""
    hidden = {
        *_MUTABLE,
        "containers",
        "initContainers",
        "nodeName",
        *(("nodeSelector", "affinity") if gated else ()),
    }
    images = [
        [{**entry, "image": None} for entry in spec.get(name) or ()]
        for name in ("containers", "initContainers")
    ]
    return {"images": images, **without_fields(spec, hidden)}


def pod_spec_violations(spec: Object, path: str) -> Iterator[StatusCause]:
    """Yield what is wrong with a pod spec at `path`."""
    containers = spec.get("containers") or []
    if not containers:
        yield required(f"{path}.containers")
    seen: set[Any] = set()
    for index, entry in enumerate(containers):
        here = f"{path}.containers[{index}]"
        name = entry.get("name")
        if not name:
            yield required(f"{here}.name")
        elif name in seen:
            yield duplicate(f"{here}.name", shown(name))
        seen.add(name)
        if not entry.get("image"):
            yield required(f"{here}.image")
        yield from _quantities(entry, here)


def _quantities(entry: Object, path: str) -> Iterator[StatusCause]:
    limits = dig(entry, "resources", "limits", default={}) or {}
    requests = dig(entry, "resources", "requests", default={}) or {}
    for word, amounts in (("limits", limits), ("requests", requests)):
        for name, amount in amounts.items():
            if str(amount).startswith("-"):
                yield invalid_value(
                    f"{path}.resources.{word}[{name}]",
                    shown(str(amount)),
                    "must be greater than or equal to 0",
                )
