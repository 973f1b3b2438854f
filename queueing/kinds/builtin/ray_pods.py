"""What KubeRay adds to the pods of a cluster, and so must be counted, though no template has it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.kinds.hooks import Seen
from queueing.kinds.paths import ABSENT
from queueing.kinds.pod_sets import PodSet, UnreadableError
from queueing.translate.wire.meta import Quantity
from queueing_api.quantity import parse

HEAD, SUBMITTER = "head", "submitter"
_FAULT_TOLERANT = "ray.io/ft-enabled"
_AUTOSCALER = {
    "requests": {"cpu": "500m", "memory": "512Mi"},
    "limits": {"cpu": "500m", "memory": "512Mi"},
}
_SUBMITTER = {
    "requests": {"cpu": "500m", "memory": "200Mi"},
    "limits": {"cpu": "1", "memory": "1Gi"},
}
_REDIS_CLEANUP: Mapping[str, str] = {"cpu": "200m", "memory": "256Mi"}

Template = dict[str, Any]
_template = msgspec.json.Decoder(Template)


def reads(cluster: str) -> tuple[str, ...]:
    """Return the fields of a cluster, at a path, that say what is added."""
    fields = ("enableInTreeAutoscaling", "autoscalerOptions", "gcsFaultToleranceOptions")
    return tuple(f"{cluster}.{name}" for name in fields)


def with_sidecars(job: Seen, found: Sequence[PodSet], cluster: str) -> list[PodSet]:
    """Add the autoscaler and the clean-up of Redis to the head. Raises UnreadableError."""
    changed = list(found)
    if job.value(f"{cluster}.enableInTreeAutoscaling") is True:
        options = job.value(f"{cluster}.autoscalerOptions")
        named = options.get("resources") if isinstance(options, dict) else None
        changed[0] = with_container(changed[0], "autoscaler", named or _AUTOSCALER)
    if _is_fault_tolerant(job, cluster):
        changed[0] = _with_redis_cleanup(changed[0])
    return changed


def with_container(pod_set: PodSet, name: str, resources: Mapping[str, Any]) -> PodSet:
    """Return a pod set with one container more."""

    def add(template: Template) -> None:
        spec = template.setdefault("spec", {})
        spec["containers"] = [*spec.get("containers", ()), {"name": name, "resources": resources}]

    return _changed(pod_set, add)


def with_submitter(pod_set: PodSet) -> PodSet:
    """Return the head of a job that is submitted by a container beside it."""
    return with_container(pod_set, "ray-job-submitter", _SUBMITTER)


def submitter(head: PodSet) -> Template:
    """Return the pod template that submits a job which has none: it runs the head's image."""
    return _submitting(_template.decode(head.template))


def is_made(template: Mapping[str, Any]) -> bool:
    """Say whether a template that submits is one of `submitter`, whatever the image was then."""
    return template == _submitting(template)


def _submitting(like: Mapping[str, Any]) -> Template:
    """Return the template that submits, with the image of the first container of another one."""
    containers = (like.get("spec") or {}).get("containers") or [{}]
    image = containers[0].get("image", "")
    container = {"name": "ray-job-submitter", "image": image, "resources": _SUBMITTER}
    return {"spec": {"restartPolicy": "Never", "containers": [container]}}


def _is_fault_tolerant(job: Seen, cluster: str) -> bool:
    asked = job.metadata.annotations.get(_FAULT_TOLERANT, "").lower() == "true"
    return asked or job.value(f"{cluster}.gcsFaultToleranceOptions") is not ABSENT


def _with_redis_cleanup(head: PodSet) -> PodSet:
    def raise_requests(template: Template) -> None:
        containers = template.get("spec", {}).get("containers")
        if not containers:
            problem = (
                "cannot account for Redis cleanup resources:"
                " head pod template must include the Ray container"
            )
            raise UnreadableError((*head.rule.at, "template"), problem, head.item)
        resources = containers[0].setdefault("resources", {})
        asked = resources.setdefault("requests", {})
        asked |= {key: _most(asked.get(key), least) for key, least in _REDIS_CLEANUP.items()}

    return _changed(head, raise_requests)


def _most(asked: Quantity | None, least: str) -> Quantity:
    return asked if asked is not None and parse(str(asked)).nano >= parse(least).nano else least


def _changed(pod_set: PodSet, change: Callable[[Template], None]) -> PodSet:
    template = _template.decode(pod_set.template)
    change(template)
    return replace(pod_set, template=msgspec.Raw(msgspec.json.encode(template)))
