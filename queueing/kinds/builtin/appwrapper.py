"""AppWrapper: pod sets of the objects that it wraps, as it declares them or as they are known."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.kinds.builtin import job, jobset, kubeflow, ray
from queueing.kinds.compiler import Kind, compiled
from queueing.kinds.frameworks import Framework
from queueing.kinds.hooks import Hooks, Seen
from queueing.kinds.paths import ABSENT, Document, put, steps, value_at
from queueing.kinds.pod_sets import COUNT_MAX, PodSet, UnreadableError
from queueing.kinds.view import read
from queueing.translate.jobs.injection import Injection, Original
from queueing_api.queueing.v1alpha1.queueable_kind import (
    EndRule,
    KindResource,
    ManagedByRule,
    PodSetRule,
    QueueableKindSpec,
    StateRule,
    Suspension,
)

_PHASE = 'object.?status.phase.orValue("")'
_DEPLOYED = (
    "object.?status.conditions.orValue([])"
    '.exists(c, c.type == "ResourcesDeployed" && c.status == "True")'
)
COMPONENTS = "spec.components"

SPEC = QueueableKindSpec(
    resource=KindResource(
        group="workload.codeflare.dev", version="v1beta2", kind="AppWrapper", plural="appwrappers"
    ),
    suspend=Suspension(field="spec.suspend"),
    pod_sets=[
        # One for each wrapped object; the hook puts its pod sets in their place.
        PodSetRule(
            for_each=COMPONENTS,
            name="component",
            when="size(item.?podSets.orValue([])) + size(item.?podSetInfos.orValue([])) >= 0",
            template="template",
        )
    ],
    active=StateRule(condition="QuotaReserved"),
    ready=StateRule(condition="PodsReady"),
    finished=[
        EndRule(
            expression=f'{_PHASE} == "Succeeded"',
            outcome="Succeeded",
            message='"AppWrapper finished successfully"',
        ),
        EndRule(
            expression=f'{_PHASE} == "Failed" && !{_DEPLOYED}',
            outcome="Failed",
            message='"AppWrapper failed"',
        ),
    ],
    managed_by=ManagedByRule(
        field="spec.managedBy", controller="workload.codeflare.dev/appwrapper-controller"
    ),
)

_PLAIN: Mapping[tuple[str, str], tuple[str, str]] = {
    ("v1", "Pod"): ("", ""),
    ("apps/v1", "Deployment"): ("spec.replicas", "spec.template"),
    ("apps/v1", "StatefulSet"): ("spec.replicas", "spec.template"),
}
"""Where wrapped objects that are no jobs have their count and their template."""
_WITHOUT_PODS = frozenset({"", "networking.k8s.io", "policy", "rbac.authorization.k8s.io"})
"""Groups of objects that are wrapped beside jobs, and have no pods of their own."""

_object = msgspec.json.Decoder(dict[str, Any] | None)
Found = tuple[int, msgspec.Raw]
"""A count and a template."""


@cache
def _wrapped() -> Mapping[tuple[str, str], Kind]:
    """Return the jobs whose pod sets are known; a RayJob without what submits it."""
    ray_job = ray.RAY_JOB.model_copy(update={"pod_sets": ray.RAY_JOB.pod_sets[:2]})
    specs = (job.SPEC, jobset.SPEC, kubeflow.PYTORCH_JOB, ray.RAY_CLUSTER, ray_job)
    return {(one.api_version, one.name): one for one in map(compiled, specs)}


def pod_sets(wrapper: Seen, found: Sequence[PodSet]) -> Iterator[PodSet]:
    """Yield the pod sets of all wrapped objects, numbered through."""
    several = (
        replace(component, name="", count=count, template=template)
        for at, component in enumerate(found)
        for count, template in _of_component(wrapper, at, component)
    )
    name = wrapper.metadata.name
    return (replace(one, name=f"{name}-{number}") for number, one in enumerate(several))


def _of_component(wrapper: Seen, at: int, component: PodSet) -> Iterator[Found]:
    declared = _field(wrapper, at, "podSets")
    wrapped = _object.decode(component.template) or {}
    if declared:
        for index, one in enumerate(declared):
            path = steps(str(one.get("path", "")))
            yield _found({"template": wrapped}, path, one.get("replicas"), component, index)
        return
    kind = str(wrapped.get("apiVersion", "")), str(wrapped.get("kind", ""))
    if kind in _PLAIN:
        replicas, template = _PLAIN[kind]
        count = value_at(wrapped, steps(replicas)) if replicas else 1
        yield _found(wrapped, steps(template), count, component, 0)
    elif kind in _wrapped():
        for pod_set in read(_wrapped()[kind], component.template).pod_sets:
            yield pod_set.count, pod_set.template
    # Of other objects nothing is known, so that they have no pods that are counted.


def uncharged(wrapper: Seen) -> Iterator[str]:
    """Yield the wrapped objects that nothing is charged for, and that may have pods."""
    components = wrapper.value(COMPONENTS)
    for at, one in enumerate(components if isinstance(components, list) else ()):
        template = value_at(one, ("template",))
        if template is ABSENT or _field(wrapper, at, "podSets"):
            continue
        wrapped = _object.decode(template) or {}
        kind = str(wrapped.get("apiVersion", "")), str(wrapped.get("kind", ""))
        group = kind[0].rpartition("/")[0]
        if kind not in _PLAIN and kind not in _wrapped() and group not in _WITHOUT_PODS:
            yield f"{COMPONENTS}[{at}], a {kind[1]} of {kind[0]} that declares no podSets"


def _found(
    wrapped: Mapping[str, Any], path: Sequence[str], count: Any, component: PodSet, index: int
) -> Found:
    template = value_at(wrapped, path)
    field = (*component.item, "podSets", index)
    if not isinstance(template, dict):
        problem = f"{'.'.join(path)} leads to no pod template"
        raise UnreadableError((*component.rule.at, "template"), problem, (*field, "path"))
    pods = 1 if count is None or count is ABSENT else count
    if isinstance(pods, bool) or not isinstance(pods, int) or not 0 <= pods <= COUNT_MAX:
        problem = f"{pods!r} is no count: a whole number from 0 to {COUNT_MAX}"
        raise UnreadableError((*component.rule.at, "count"), problem, (*field, "replicas"))
    return pods, msgspec.Raw(msgspec.json.encode(template))


def _field(wrapper: Seen, at: int, name: str) -> list[dict[str, Any]]:
    components = wrapper.value(COMPONENTS)
    found = value_at(components, (at, name))
    return found if isinstance(found, list) else []


def start(wrapper: Seen, document: Document, added: Sequence[Injection]) -> None:
    """Write what each pod set gets beside its component; the wrapper's own controller merges it."""
    for pod_set in wrapper.pod_sets:
        value_at(document, pod_set.item)["podSetInfos"] = []
    for pod_set, one in zip(wrapper.pod_sets, added, strict=True):
        value_at(document, pod_set.item)["podSetInfos"].append(_info(one))


def _info(added: Injection) -> dict[str, Any]:
    found: dict[str, Any] = {
        "labels": dict(added.labels),
        "annotations": dict(added.annotations),
        "nodeSelector": dict(added.node_selector),
        "tolerations": msgspec.to_builtins(list(added.tolerations)),
        "schedulingGates": [{"name": name} for name in added.scheduling_gates],
    }
    return {key: value for key, value in found.items() if value}


def undo(wrapper: Seen, document: Document, _: Sequence[Original]) -> None:
    """Take away what the pod sets got."""
    for pod_set in wrapper.pod_sets:
        put(document, (*pod_set.item, "podSetInfos"), ABSENT)


HOOKS = Hooks(pod_sets=pod_sets, uncharged=uncharged, start=start, undo=undo)
FRAMEWORKS = (Framework(name="workload.codeflare.dev/appwrapper", spec=SPEC, hooks=HOOKS),)
