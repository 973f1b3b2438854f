"""SparkApplication: a driver and executors, whose pods are made of fields of their own."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, Seen
from queueing.kinds.paths import ABSENT, Document, clear, put, value_at
from queueing.kinds.pod_sets import PodSet, UnreadableError
from queueing.kinds.starting import inject, restore
from queueing.translate.jobs.injection import Injection, Original
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    PodPlaces,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

SELECTOR = "queueing.dev/node-selector"
"""Annotation of a running application: the selector of all its pods, which a start moves into the
roles, as JSON."""
_STATE = 'object.?status.applicationState.state.orValue("")'
_EXECUTORS = "object.?status.executorState.orValue({})"
_UP = f'{_EXECUTORS}.filter(name, {_EXECUTORS}[name] in ["RUNNING", "COMPLETED"])'
_ROLES: Mapping[str, str] = {
    "driver": "spark-kubernetes-driver",
    "executor": "spark-kubernetes-executor",
}
_LOCAL_DIR = "spark-local-dir-"
_GLOBAL = ("spec", "nodeSelector")
_DYNAMIC = ("spec", "dynamicAllocation", "enabled")


def _role(name: str, count: str) -> PodSetRule:
    role = f"spec.{name}"
    return PodSetRule(
        name=name,
        count=count,
        template=f"{role}.template",
        places=PodPlaces(
            labels=f"{role}.labels",
            annotations=f"{role}.annotations",
            node_selector=f"{role}.nodeSelector",
            tolerations=f"{role}.tolerations",
            scheduling_gates=f"{role}.template.spec.schedulingGates",
        ),
    )


SPEC = QueueableKindSpec(
    resource=KindResource(
        group="sparkoperator.k8s.io",
        version="v1beta2",
        kind="SparkApplication",
        plural="sparkapplications",
    ),
    suspend=Suspension(field="spec.suspend"),
    pod_sets=[
        _role("driver", "1"),
        _role("executor", "object.spec.?executor.instances.orValue(0)"),
    ],
    active=StateRule(expression=f'{_STATE} == "RUNNING"'),
    ready=StateRule(
        expression=f'{_STATE} == "RUNNING"'
        f" && size({_UP}) >= object.spec.?executor.instances.orValue(0)"
    ),
    finished=[
        EndRule(
            expression=f'{_STATE} in ["COMPLETED", "FAILED", "SUBMISSION_FAILED"]',
            succeeded=f'{_STATE} == "COMPLETED"',
            message="object.?status.applicationState.errorMessage",
        )
    ],
)


def pod_sets(app: Seen, found: Sequence[PodSet]) -> list[PodSet]:
    """Make the templates of driver and executors of the fields of their roles.

    Raises UnreadableError for one whose executors come and go: their number could not be charged.
    """
    if app.value(".".join(_DYNAMIC)) is True:
        problem = "executors that are allocated dynamically are not queued"
        raise UnreadableError(("spec", "podSets", 1, "count"), problem, _DYNAMIC)
    volumes = app.value("spec.volumes")
    named = volumes if isinstance(volumes, list) else []
    return [replace(one, template=_encoded(_pod(app, one.name, named))) for one in found]


def _encoded(template: Mapping[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(template))


def _pod(app: Seen, name: str, volumes: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found = app.value(f"spec.{name}")
    role: dict[str, Any] = found if isinstance(found, dict) else {}
    template = role.get("template") or {}
    mounts = role.get("volumeMounts") or []
    mounted = {one.get("name") for one in mounts}
    fields = {
        "volumes": [one for one in volumes if one["name"] in mounted and _is_own(one["name"])],
        "initContainers": role.get("initContainers"),
        "priorityClassName": role.get("priorityClassName"),
        "nodeSelector": role.get("nodeSelector"),
        "affinity": role.get("affinity"),
        "tolerations": role.get("tolerations"),
    }
    containers = [_container(role, template, name, mounts), *(role.get("sidecars") or ())]
    spec = {"containers": containers} | {key: value for key, value in fields.items() if value}
    metadata = {
        key: {**(value_at(template, ("metadata", key)) or {}), **(role.get(key) or {})}
        for key in ("labels", "annotations")
    }
    filled = {key: value for key, value in metadata.items() if value}
    return {"spec": spec} | ({"metadata": filled} if filled else {})


def _is_own(volume: str) -> bool:
    return not volume.startswith(_LOCAL_DIR)


def _container(
    role: Mapping[str, Any], template: Mapping[str, Any], name: str, mounts: Sequence[Any]
) -> dict[str, Any]:
    written = value_at(template, ("spec", "containers"))
    resources: dict[str, dict[str, Any]] = {}
    for part, key, value in _asked(role):
        resources.setdefault(part, {})[key] = value
    made = {"name": _name(written, name), "resources": resources}
    if image := role.get("image"):
        made["image"] = image
    return made | ({"volumeMounts": list(mounts)} if mounts else {})


def _name(written: Any, name: str) -> str:
    """Return the name of the container that Spark uses: by its name, else the first."""
    names = [one.get("name") for one in written] if isinstance(written, list) else []
    return _ROLES[name] if _ROLES[name] in names or not names else str(names[0])


def _asked(role: Mapping[str, Any]) -> Iterator[tuple[str, str, Any]]:
    gpu = role.get("gpu") or {}
    for part, resource, value in (
        ("requests", "cpu", role.get("coreRequest")),
        ("limits", "cpu", role.get("coreLimit")),
        ("requests", "memory", role.get("memory")),
        ("limits", "memory", role.get("memoryLimit")),
        ("limits", gpu.get("name"), gpu.get("quantity")),
    ):
        if resource and value is not None:
            yield part, resource, _quantity(value) if resource == "memory" else value


def _quantity(memory: Any) -> Any:
    """Return an amount of memory as Kubernetes spells it; Spark means powers of two by `512m`."""
    text = str(memory).lower().removesuffix("b").removesuffix("i")
    suffix = {"k": "Ki", "m": "Mi", "g": "Gi", "t": "Ti"}.get(text[-1:])
    return f"{text[:-1]}{suffix}" if suffix and text[:-1].isdecimal() else memory


def start(app: Seen, document: Document, added: Sequence[Injection]) -> None:
    """Add to the roles; the selector of all pods, which excludes theirs, moves into them."""
    shared = app.value("spec.nodeSelector")
    for pod_set, one in zip(app.pod_sets, added, strict=True):
        if isinstance(shared, dict) and shared:
            selector = {**(value_at(document, pod_set.places.node_selector) or {}), **shared}
            put(document, pod_set.places.node_selector, selector)
        inject(document, pod_set.places, one)
        _name_container(document, pod_set)
    if isinstance(shared, dict) and shared:
        put(document, ("metadata", "annotations", SELECTOR), json.dumps(shared, sort_keys=True))
        put(document, _GLOBAL, ABSENT)


def _name_container(document: Document, pod_set: PodSet) -> None:
    """Give a template that a gate needs the one container that it must have."""
    role = pod_set.places.labels[:-1]
    spec = value_at(document, (*role, "template", "spec"))
    if isinstance(spec, dict) and not spec.get("containers"):
        spec["containers"] = [{"name": _ROLES[pod_set.name]}]


def undo(app: Seen, document: Document, originals: Sequence[Original]) -> None:
    """Restore the roles, and the selector of all pods."""
    for pod_set, original in zip(app.pod_sets, originals, strict=True):
        restore(document, pod_set, original)
        role = pod_set.places.labels[:-1]
        if value_at(document, (*role, "template")) == _made_template(pod_set.name):
            put(document, (*role, "template"), ABSENT)
    shared = app.metadata.annotations.get(SELECTOR)
    if shared:
        put(document, _GLOBAL, json.loads(shared))
        clear(document, ("metadata", "annotations", SELECTOR))


def _made_template(name: str) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": _ROLES[name]}]}}


HOOKS = Hooks(
    reads=(
        "spec.driver",
        "spec.executor",
        "spec.volumes",
        "spec.nodeSelector",
        ".".join(_DYNAMIC),
    ),
    pod_sets=pod_sets,
    start=start,
    undo=undo,
)
FRAMEWORKS = (
    Framework(
        name="sparkoperator.k8s.io/sparkapplication",
        spec=SPEC,
        hooks=HOOKS,
        prebuilt=False,
        gate="SparkApplicationIntegration",
    ),
)
