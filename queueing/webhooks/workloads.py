"""Workloads: what a spec may say, what may change while reserved, what a status may hold."""

import re
from collections.abc import Iterator

from queueing.webhooks.findings import (
    Finding,
    Wire,
    dig,
    entries,
    forbidden,
    immutable,
    invalid,
    of_definition,
)
from queueing.webhooks.topology import check_requests
from queueing_api.quantity import QuantityError, parse

BOOST = "kueue.x-k8s.io/priority-boost"
GATED_BY = "kueue.x-k8s.io/admission-gated-by"
ELASTIC = "kueue.x-k8s.io/elastic-job"
SIGNED_INTEGER = re.compile(r"[+-]?[0-9]+")
GATE_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?")
CONTAINER_LISTS = ("initContainers", "containers")


def default_workload(workload: Wire) -> Wire:
    """Return the workload with the names and counts that the API fills in."""
    pod_sets = [
        {**pod_set, "name": str(pod_set.get("name") or "main").lower()}
        for pod_set in entries(workload, "spec", "podSets")
    ]
    return {**workload, "spec": {**(workload.get("spec") or {}), "podSets": pod_sets}}


def check_workload(workload: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a Workload, new or changed from `old`."""
    found = [
        *_pod_sets(workload),
        *_boost(workload),
        *check_gates(workload, old),
        *check_requests(workload),
        *_status(workload),
    ]
    return found if old is None else [*found, *_changes(workload, old)]


def _pod_sets(workload: Wire) -> Iterator[Finding]:
    pod_sets = entries(workload, "spec", "podSets")
    partial = [index for index, one in enumerate(pod_sets) if one.get("minCount") is not None]
    if len(partial) > 1:
        told = "at most one podSet can use minCount"
        yield from of_definition([invalid("spec.podSets", len(partial), told)])
    if partial and dig(workload, "metadata", "annotations", ELASTIC) == "true":
        told = "partial admission and elastic job cannot be used together"
        yield forbidden(f"spec.podSets[{partial[0]}].minCount", told)
    for index, pod_set in enumerate(pod_sets):
        spec = dig(pod_set, "template", "spec")
        for kind in CONTAINER_LISTS:
            for place, container in enumerate(entries(spec, kind)):
                path = f"spec.podSets[{index}].template.spec.{kind}[{place}].resources.requests"
                yield from _requests(dig(container, "resources", "requests") or {}, path)


def _requests(requests: Wire, path: str) -> Iterator[Finding]:
    for resource, text in sorted(requests.items()):
        where = f"{path}[{resource}]"
        if resource == "pods":
            yield invalid(where, resource, "the key is reserved for internal kueue use")
            continue
        try:
            negative = parse(text).nano < 0
        except (QuantityError, TypeError) as error:
            yield invalid(where, text, str(error))
            continue
        if negative:
            yield invalid(where, text, "must be non-negative")


def _boost(workload: Wire) -> Iterator[Finding]:
    boost = dig(workload, "metadata", "annotations", BOOST)
    if boost is not None and not SIGNED_INTEGER.fullmatch(str(boost)):
        told = 'must be a valid signed integer; use "0" explicitly, empty string is not allowed'
        yield invalid(f"metadata.annotations[{BOOST}]", boost, told)


def check_gates(thing: Wire, old: Wire | None) -> Iterator[Finding]:
    """Yield what is wrong with the admission gates of a Workload or Job."""
    path = f"metadata.annotations[{GATED_BY}]"
    now = _gates(thing)
    for gate in now:
        if not GATE_NAME.fullmatch(gate):
            yield invalid(path, gate, "must be a list of names of the form domain/name")
    if old is None:
        return
    before = _gates(old)
    if now and not before:
        yield forbidden(path, "cannot add admission gate after creation")
    elif set(now) - set(before):
        yield forbidden(path, "can only remove gates, not add new ones")


def _gates(thing: Wire) -> list[str]:
    text = dig(thing, "metadata", "annotations", GATED_BY) or ""
    return [gate.strip() for gate in str(text).split(",") if gate.strip()]


def _is_true(workload: Wire, condition: str) -> bool:
    return any(
        one.get("type") == condition and one.get("status") == "True"
        for one in entries(workload, "status", "conditions")
    )


def _status(workload: Wire) -> Iterator[Finding]:
    admission = dig(workload, "status", "admission")
    if _is_true(workload, "QuotaReserved") and not admission:
        told = "must be set while the QuotaReserved condition is true"
        yield from of_definition([forbidden("status.admission", told)])
    for index, one in enumerate(entries(admission, "podSetAssignments")):
        yield from _divisible(one, f"status.admission.podSetAssignments[{index}]")
    counts = {
        str(one.get("name")): one.get("count", 1) for one in entries(workload, "spec", "podSets")
    }
    for index, one in enumerate(entries(workload, "status", "reclaimablePods")):
        most = counts.get(str(one.get("name")), 0)
        if int(one.get("count") or 0) > most:
            path = f"status.reclaimablePods[{index}].count"
            yield invalid(path, one.get("count"), f"should be less or equal to {most}")
    yield from of_definition(_cluster_name(workload))


def _divisible(assignment: Wire, path: str) -> Iterator[Finding]:
    count = int(assignment.get("count") or 0)
    for resource, text in sorted((assignment.get("resourceUsage") or {}).items()):
        try:
            nano = parse(text).nano
        except (QuantityError, TypeError) as error:
            yield invalid(f"{path}.resourceUsage[{resource}]", text, str(error))
            continue
        unit = 10**6 if resource == "cpu" else 10**9
        # Fewer units than pods: the pods share them, say one device for all.
        if 0 < count <= nano // unit and (nano // unit) % count:
            told = f"is not a multiple of {count}"
            yield invalid(f"{path}.resourceUsage[{resource}]", text, told)


def _cluster_name(workload: Wire) -> Iterator[Finding]:
    name = dig(workload, "status", "clusterName")
    nominated = dig(workload, "status", "nominatedClusterNames")
    if name and nominated is not None and name not in nominated:
        told = "when setting clusterName it must be one of the nominatedClusterNames"
        yield invalid("status.clusterName", name, told)


def _changes(workload: Wire, old: Wire) -> Iterator[Finding]:
    reserved = _is_true(workload, "QuotaReserved") and _is_true(old, "QuotaReserved")
    if reserved:
        now, before = workload.get("spec") or {}, old.get("spec") or {}
        if now.get("podSets") != before.get("podSets"):
            yield immutable("spec.podSets", "podSets")
        yield from of_definition(_under_reservation(now, before))
    yield from of_definition(_held(workload, old))
    yield from _reclaimable(workload, old, reserved=reserved)


def _held(workload: Wire, old: Wire) -> Iterator[Finding]:
    if _is_true(workload, "Admitted") and _is_true(old, "Admitted"):
        now = dig(workload, "spec", "maximumExecutionTimeSeconds")
        if now != dig(old, "spec", "maximumExecutionTimeSeconds"):
            yield immutable("spec.maximumExecutionTimeSeconds", now)
    before = dig(old, "status", "clusterName")
    if before and dig(workload, "status", "clusterName") not in {None, before}:
        yield immutable("status.clusterName", dig(workload, "status", "clusterName"))


def _under_reservation(spec: Wire, old: Wire) -> Iterator[Finding]:
    if spec.get("queueName") != old.get("queueName"):
        yield immutable("spec.queueName", spec.get("queueName"))
    now, before = spec.get("priorityClassRef"), old.get("priorityClassRef")
    if bool(now) != bool(before):
        yield immutable("spec.priorityClassRef", dig(now, "name"))
        return
    for name in ("group", "kind"):
        if dig(now, name) != dig(before, name):
            yield immutable(f"spec.priorityClassRef.{name}", dig(now, name))
    if dig(now, "kind") == "PriorityClass" and dig(now, "name") != dig(before, "name"):
        yield immutable("spec.priorityClassRef.name", dig(now, "name"))


def _reclaimable(workload: Wire, old: Wire, *, reserved: bool) -> Iterator[Finding]:
    if not reserved:
        return
    now = {one.get("name"): one for one in entries(workload, "status", "reclaimablePods")}
    for one in entries(old, "status", "reclaimablePods"):
        name, least = one.get("name"), int(one.get("count") or 0)
        path = f"status.reclaimablePods[{name}]"
        if name not in now:
            yield forbidden(path, "cannot be removed")
        elif int(now[name].get("count") or 0) < least:
            yield invalid(path, now[name].get("count"), f"cannot be less than {least}")
