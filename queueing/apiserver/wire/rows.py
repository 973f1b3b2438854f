"""Columns and rows of the built-in kinds that people look at most."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from queueing.apiserver.resources.resource import Column
from queueing.apiserver.tree import Object, dig, metadata
from queueing.apiserver.wire.ages import age, duration, seconds_between

_ROLE = "node-role.kubernetes.io/"


def _columns(text: str) -> tuple[Column, ...]:
    """`*` before a name marks a wide column, `#` a number."""
    made = []
    for word in text.split(", "):
        name = word.lstrip("*#")
        kind = "integer" if "#" in word else "string"
        made.append(
            Column(
                name=name,
                path="",
                type=kind,
                priority=int(word.startswith("*")),
                description=f"{name}.",
            )
        )
    return tuple(made)


BUILTIN_COLUMNS: Mapping[str, tuple[Column, ...]] = MappingProxyType(
    {
        "namespaces": _columns("Status, Age"),
        "nodes": _columns(
            "Status, Roles, Age, Version, *Internal-IP, *External-IP, *OS-Image, "
            "*Kernel-Version, *Container-Runtime"
        ),
        "pods": _columns(
            "Ready, Status, Restarts, Age, *IP, *Node, *Nominated Node, *Readiness Gates"
        ),
        "jobs.batch": _columns(
            "Status, Completions, Duration, Age, *Containers, *Images, *Selector"
        ),
        "cronjobs.batch": _columns(
            "Schedule, Timezone, Suspend, Active, Last Schedule, Age, *Containers, "
            "*Images, *Selector"
        ),
        "events": _columns(
            "Last Seen, Type, Reason, Object, *Subobject, *Source, Message, *First "
            "Seen, *#Count, *Name"
        ),
        "configmaps": _columns("Data, Age"),
        "secrets": _columns("Type, Data, Age"),
        "leases.coordination.k8s.io": _columns("Holder, Age"),
        "priorityclasses.scheduling.k8s.io": _columns(
            "Value, Global-Default, Age, PreemptionPolicy"
        ),
        "customresourcedefinitions.apiextensions.k8s.io": _columns("Created At"),
    }
)


def _age(obj: Object, now: float) -> str:
    return age(str(metadata(obj).get("creationTimestamp")), now)


def _namespace(obj: Object, now: float) -> list[Any]:
    return [dig(obj, "status", "phase", default=""), _age(obj, now)]


def _node(obj: Object, now: float) -> list[Any]:
    conditions = dig(obj, "status", "conditions", default=[])
    ready = next((c.get("status") for c in conditions if c.get("type") == "Ready"), None)
    status = {"True": "Ready", None: "Unknown"}.get(ready, "NotReady")
    if dig(obj, "spec", "unschedulable"):
        status += ",SchedulingDisabled"
    roles = sorted(
        name.removeprefix(_ROLE)
        for name in metadata(obj).get("labels") or {}
        if name.startswith(_ROLE)
    )
    info = dig(obj, "status", "nodeInfo", default={})
    addresses = {
        a.get("type"): a.get("address") for a in dig(obj, "status", "addresses", default=[])
    }
    wide = [
        info.get(name, "<unknown>")
        for name in ("osImage", "kernelVersion", "containerRuntimeVersion")
    ]
    return [
        status,
        ",".join(roles) or "<none>",
        _age(obj, now),
        info.get("kubeletVersion", ""),
        addresses.get("InternalIP", "<none>"),
        addresses.get("ExternalIP", "<none>"),
        *wide,
    ]


def _pod(obj: Object, now: float) -> list[Any]:
    status = obj.get("status") or {}
    containers = dig(obj, "spec", "containers", default=[])
    states = status.get("containerStatuses") or []
    ready = sum(1 for state in states if state.get("ready"))
    restarts = sum(state.get("restartCount", 0) for state in states)
    return [
        f"{ready}/{len(containers)}",
        _pod_status(obj, states),
        str(restarts),
        _age(obj, now),
        status.get("podIP") or "<none>",
        dig(obj, "spec", "nodeName") or "<none>",
        status.get("nominatedNodeName") or "<none>",
        "<none>",
    ]


def _pod_status(obj: Object, states: list[Object]) -> str:
    status = obj.get("status") or {}
    reason = str(status.get("reason") or status.get("phase") or "")
    for state in states:
        ended = dig(state, "state", "terminated", default={})
        waiting = dig(state, "state", "waiting", "reason")
        if ended:
            reason = ended.get("reason") or f"ExitCode:{ended.get('exitCode')}"
        elif waiting:
            reason = waiting
    if any(c.get("reason") == "SchedulingGated" for c in status.get("conditions") or ()):
        reason = "SchedulingGated"
    return "Terminating" if metadata(obj).get("deletionTimestamp") else reason


def _job(obj: Object, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    succeeded, completions = status.get("succeeded", 0), spec.get("completions")
    parallelism = spec.get("parallelism", 1)
    if completions is None:
        done = f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"
    else:
        done = f"{succeeded}/{completions}"
    start, end = status.get("startTime"), status.get("completionTime")
    took = "" if not start else duration(seconds_between(start, end)) if end else age(start, now)
    return [
        _job_status(obj),
        done,
        took,
        _age(obj, now),
        *_template(dig(spec, "template", "spec")),
        _selector(spec),
    ]


def _job_status(obj: Object) -> str:
    true = {
        c.get("type")
        for c in dig(obj, "status", "conditions", default=[])
        if c.get("status") == "True"
    }
    for name in ("Complete", "Failed"):
        if name in true:
            return name
    if metadata(obj).get("deletionTimestamp"):
        return "Terminating"
    for name in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if name in true:
            return name
    return "Running"


def _template(pod: Object | None) -> list[str]:
    containers = (pod or {}).get("containers") or []
    return [",".join(str(c.get(name, "")) for c in containers) for name in ("name", "image")]


def _selector(spec: Object) -> str:
    labels = dig(spec, "selector", "matchLabels", default={})
    return ",".join(f"{name}={value}" for name, value in sorted(labels.items())) or "<none>"


def _cron_job(obj: Object, now: float) -> list[Any]:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    last = status.get("lastScheduleTime")
    pod = dig(spec, "jobTemplate", "spec", "template", "spec")
    return [
        spec.get("schedule", ""),
        spec.get("timeZone") or "<none>",
        str(bool(spec.get("suspend"))),
        len(status.get("active") or ()),
        age(last, now) if last else "<none>",
        _age(obj, now),
        *_template(pod),
        _selector(dig(spec, "jobTemplate", "spec", default={})),
    ]


def _event(obj: Object, now: float) -> list[Any]:
    about = obj.get("involvedObject") or {}
    first = (
        obj.get("firstTimestamp") or obj.get("eventTime") or metadata(obj).get("creationTimestamp")
    )
    last = dig(obj, "series", "lastObservedTime") or obj.get("lastTimestamp") or first
    source = obj.get("source") or {}
    count = dig(obj, "series", "count") or obj.get("count") or 1
    return [
        age(str(last), now),
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{str(about.get('kind', '')).lower()}/{about.get('name', '')}",
        about.get("fieldPath", ""),
        source.get("component") or obj.get("reportingComponent", ""),
        str(obj.get("message", "")).strip(),
        age(str(first), now),
        count,
        metadata(obj).get("name"),
    ]


def _config_map(obj: Object, now: float) -> list[Any]:
    return [len(obj.get("data") or {}) + len(obj.get("binaryData") or {}), _age(obj, now)]


def _secret(obj: Object, now: float) -> list[Any]:
    return [obj.get("type", ""), len(obj.get("data") or {}), _age(obj, now)]


def _lease(obj: Object, now: float) -> list[Any]:
    return [dig(obj, "spec", "holderIdentity", default=""), _age(obj, now)]


def _priority_class(obj: Object, now: float) -> list[Any]:
    return [
        obj.get("value", 0),
        bool(obj.get("globalDefault")),
        _age(obj, now),
        obj.get("preemptionPolicy"),
    ]


def _definition(obj: Object, _now: float) -> list[Any]:
    return [metadata(obj).get("creationTimestamp")]


NAMELESS = frozenset({"events"})
"""Kinds whose first column is not the name."""

BUILTIN_ROWS: Mapping[str, Callable[[Object, float], list[Any]]] = MappingProxyType(
    {
        "namespaces": _namespace,
        "nodes": _node,
        "pods": _pod,
        "jobs.batch": _job,
        "cronjobs.batch": _cron_job,
        "events": _event,
        "configmaps": _config_map,
        "secrets": _secret,
        "leases.coordination.k8s.io": _lease,
        "priorityclasses.scheduling.k8s.io": _priority_class,
        "customresourcedefinitions.apiextensions.k8s.io": _definition,
    }
)
