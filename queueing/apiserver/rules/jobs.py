"""Jobs and CronJobs: generated selector and labels, defaults, and what may change when."""

from collections.abc import Iterator
from typing import Any

from queueing.apiserver.failures import StatusCause, invalid_value, required, unsupported_value
from queueing.apiserver.rules.pods import pod_spec_defaulted, pod_spec_violations
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import Object, dig, name_of, uid_of, with_value, without_fields

_SCHEDULING = ("nodeSelector", "tolerations", "affinity", "schedulingGates")
_RESTARTS = ("Never", "OnFailure")
_BACKOFF_MAX_INDEXED = 2**31 - 1


def created(obj: Object) -> Object:
    """Return the Job with the selector and the pod labels that tie its pods to it."""
    if dig(obj, "spec", "manualSelector"):
        return obj
    uid = uid_of(obj)
    ours = {
        "controller-uid": uid,
        "batch.kubernetes.io/controller-uid": uid,
        "job-name": name_of(obj),
        "batch.kubernetes.io/job-name": name_of(obj),
    }
    labels = {**(dig(obj, "spec", "template", "metadata", "labels", default={}) or {}), **ours}
    made = with_value(obj, ("spec", "template", "metadata", "labels"), labels)
    if not (obj.get("metadata") or {}).get("labels"):
        made = with_value(made, ("metadata", "labels"), labels)
    selector = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    return with_value(made, ("spec", "selector"), selector)


def defaulted(obj: Object) -> Object:
    """Return the Job with the defaults of the API."""
    spec = obj.get("spec")
    return (
        {**obj, "spec": job_spec_defaulted(spec)} if isinstance(spec, dict) else {**obj, "spec": {}}
    )


def job_spec_defaulted(spec: Object) -> Object:
    """Return a Job's spec with the defaults of the API."""
    made: Object = {
        "completionMode": "NonIndexed",
        "suspend": False,
        "manualSelector": False,
        **spec,
    }
    if spec.get("completions") is None and spec.get("parallelism") is None:
        made.update(completions=1, parallelism=1)
    made.setdefault("parallelism", 1)
    per_index = spec.get("backoffLimitPerIndex") is not None
    made.setdefault("backoffLimit", _BACKOFF_MAX_INDEXED if per_index else 6)
    made.setdefault(
        "podReplacementPolicy", "Failed" if spec.get("podFailurePolicy") else "TerminatingOrFailed"
    )
    template = spec.get("template")
    if isinstance(template, dict):
        pod = pod_spec_defaulted(template.get("spec") or {})
        if not dig(template, "spec", "restartPolicy"):
            pod["restartPolicy"] = "Always"
        made["template"] = {"metadata": {}, **template, "spec": pod}
    return made


def cron_defaulted(obj: Object) -> Object:
    """Return the CronJob with the defaults of the API."""
    spec = obj.get("spec") or {}
    made: Object = {
        "concurrencyPolicy": "Allow",
        "suspend": False,
        "successfulJobsHistoryLimit": 3,
        "failedJobsHistoryLimit": 1,
        **spec,
    }
    template = dig(spec, "jobTemplate", "spec", "template")
    if isinstance(template, dict):
        pod = pod_spec_defaulted(template.get("spec") or {})
        made = with_value(
            made, ("jobTemplate", "spec", "template"), {"metadata": {}, **template, "spec": pod}
        )
    return {**obj, "spec": made}


def cron_violations(obj: Object, _old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong with a CronJob."""
    if not dig(obj, "spec", "schedule"):
        yield required("spec.schedule")
    template = dig(obj, "spec", "jobTemplate", "spec", "template", "spec", default={})
    yield from _template_violations(template, "spec.jobTemplate.spec.template.spec")


def violations(obj: Object, old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong with a Job; on update, what may not change now."""
    spec = obj.get("spec") or {}
    for name in (
        "parallelism",
        "completions",
        "backoffLimit",
        "activeDeadlineSeconds",
        "ttlSecondsAfterFinished",
    ):
        value = spec.get(name)
        if isinstance(value, int) and value < 0:
            yield invalid_value(f"spec.{name}", str(value), "must be greater than or equal to 0")
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield required("spec.completions", "when completion mode is Indexed")
    yield from _template_violations(
        dig(spec, "template", "spec", default={}) or {}, "spec.template.spec"
    )
    if old is not None:
        yield from _changes(spec, old)


def _template_violations(pod: Object, path: str) -> Iterator[StatusCause]:
    yield from pod_spec_violations(pod, path)
    policy = pod.get("restartPolicy")
    if policy not in _RESTARTS:
        names, field = ('"OnFailure"', '"Never"'), f"{path}.restartPolicy"
        if policy in (None, "Always"):
            yield required(field, f"valid values: {', '.join(names)}")
        else:
            yield unsupported_value(field, shown(policy), names)


def _changes(spec: Object, old: Object) -> Iterator[StatusCause]:
    before = old.get("spec") or {}
    elastic = spec.get("completionMode") == "Indexed" and spec.get("completions") == spec.get(
        "parallelism"
    )
    if spec.get("completions") != before.get("completions") and not elastic:
        yield invalid_value(
            "spec.completions", shown(spec.get("completions")), "field is immutable"
        )
    for name in (
        "selector",
        "completionMode",
        "podFailurePolicy",
        "backoffLimitPerIndex",
        "managedBy",
    ):
        if spec.get(name) != before.get(name):
            yield invalid_value(f"spec.{name}", shown(spec.get(name)), "field is immutable")
    mutable = bool(before.get("suspend")) and not _started(old)
    if _fixed(spec.get("template"), mutable=mutable) != _fixed(
        before.get("template"), mutable=mutable
    ):
        yield invalid_value("spec.template", shown(spec.get("template")), "field is immutable")


def _started(job: Object) -> bool:
    """Tell whether the Job runs; suspended again without pods, it does not."""
    status = job.get("status") or {}
    if status.get("startTime") is None:
        return False
    suspended = any(
        c.get("type") == "Suspended" and c.get("status") == "True"
        for c in status.get("conditions") or ()
    )
    return not suspended or bool(status.get("active"))


def _fixed(template: Any, *, mutable: bool) -> Any:
    """Return the part of a Job's pod template that may not change."""
    if not mutable or not isinstance(template, dict):
        return template
    pod = template.get("spec") or {}
    meta = template.get("metadata") or {}
    rest = without_fields(pod, (*_SCHEDULING, "containers", "initContainers"))
    fixed_containers = [
        [{**entry, "resources": None} for entry in pod.get(name) or ()]
        for name in ("containers", "initContainers")
    ]
    return rest, fixed_containers, without_fields(meta, ("labels", "annotations"))
