"""What each kind says differently in the two versions, as a pair of changes.

A pair may lose what the other version cannot say; `versions` keeps that beside the object.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from queueing_api.kueue.convert.fields import (
    Change,
    Document,
    changed,
    each,
    gone,
    inside,
    renamed,
)
from queueing_api.kueue.convert.placement import to_domains, to_slices

_OLD_TIME: Final = "accumulatedPastExexcutionTimeSeconds"  # spelt so in v1beta1
_NEW_TIME: Final = "accumulatedPastExecutionTimeSeconds"
_CLASS_OF_SOURCE: Final = {
    "kueue.x-k8s.io/workloadpriorityclass": ("kueue.x-k8s.io", "WorkloadPriorityClass"),
    "scheduling.k8s.io/priorityclass": ("scheduling.k8s.io", "PriorityClass"),
}
_SOURCE_OF_CLASS: Final[Mapping[Any, str]] = {
    target: source for source, target in _CLASS_OF_SOURCE.items()
}


@dataclass(frozen=True, slots=True)
class Pair:
    """The two ways between the versions of a kind."""

    to_v1beta2: Change
    to_v1beta1: Change


def _same(document: Any) -> Any:
    return document


def _instead(old: str, new: str) -> Change:
    return lambda value: new if value == old else value


def _fungibility(field: str, old: str, new: str) -> Change:
    return inside("flavorFungibility", field, change=_instead(old, new))


_BORROW_UP: Final = _fungibility("whenCanBorrow", "Borrow", "MayStopSearch")
_BORROW_DOWN: Final = _fungibility("whenCanBorrow", "MayStopSearch", "Borrow")
_PREEMPT_UP: Final = _fungibility("whenCanPreempt", "Preempt", "MayStopSearch")
_PREEMPT_DOWN: Final = _fungibility("whenCanPreempt", "MayStopSearch", "Preempt")


def _queue_up(spec: Any) -> Any:
    spec = _BORROW_UP(_PREEMPT_UP(renamed(spec, "cohort", "cohortName")))
    names = spec.get("admissionChecks")
    if not isinstance(names, list):
        return spec
    rest = {key: value for key, value in spec.items() if key != "admissionChecks"}
    strategy = rest.get("admissionChecksStrategy") or {}
    rules = strategy.get("admissionChecks") or []
    known = {rule["name"] for rule in rules}
    added = [{"name": name} for name in names if name not in known]
    if not added:
        return rest
    return {**rest, "admissionChecksStrategy": {**strategy, "admissionChecks": [*rules, *added]}}


def _queue_down(spec: Any) -> Any:
    return _BORROW_DOWN(_PREEMPT_DOWN(renamed(spec, "cohortName", "cohort")))


def _priority_up(spec: Document) -> Document:
    if not {"priorityClassName", "priorityClassSource"} & spec.keys():
        return spec
    name, source = spec.get("priorityClassName"), spec.get("priorityClassSource")
    rest = {k: v for k, v in spec.items() if k not in ("priorityClassName", "priorityClassSource")}
    if not name or source not in _CLASS_OF_SOURCE:
        return rest
    group, kind = _CLASS_OF_SOURCE[source]
    return {**rest, "priorityClassRef": {"group": group, "kind": kind, "name": name}}


def _priority_down(spec: Document) -> Document:
    reference = spec.get("priorityClassRef")
    if not isinstance(reference, dict):
        return spec
    rest = {key: value for key, value in spec.items() if key != "priorityClassRef"}
    source = _SOURCE_OF_CLASS.get((reference.get("group"), reference.get("kind")))
    if source is None:
        return rest
    return {**rest, "priorityClassName": reference["name"], "priorityClassSource": source}


def _assignments(change: Change) -> Change:
    item = inside("topologyAssignment", change=change)
    return inside("admission", "podSetAssignments", change=each(item))


def _status_up(status: Any) -> Any:
    return renamed(_assignments(to_slices)(status), _OLD_TIME, _NEW_TIME)


def _status_down(status: Any) -> Any:
    return renamed(_assignments(to_domains)(status), _NEW_TIME, _OLD_TIME)


_SLICES: Final = inside(
    "podSets",
    change=each(inside("topologyRequest", "podsetSliceRequiredTopologyConstraints", change=gone)),
)


def _workload(spec: Change, status: Change) -> Change:
    return lambda document: changed(changed(document, "spec", spec), "status", status)


def _worker_up(spec: Document) -> Document:
    if "kubeConfig" not in spec:
        return spec
    rest = {key: value for key, value in spec.items() if key != "kubeConfig"}
    return {**rest, "clusterSource": {"kubeConfig": spec["kubeConfig"]}}


def _worker_down(spec: Document) -> Document:
    source = spec.get("clusterSource")
    if not isinstance(source, dict):
        return spec
    rest = {key: value for key, value in spec.items() if key != "clusterSource"}
    return {**rest, "kubeConfig": source["kubeConfig"]} if "kubeConfig" in source else rest


def _rename_in(part: str, old: str, new: str) -> Change:
    return inside(part, change=partial(renamed, field=old, name=new))


UNCHANGED: Final = Pair(_same, _same)
PAIRS: Final[Mapping[str, Pair]] = MappingProxyType(
    {
        "ClusterQueue": Pair(inside("spec", change=_queue_up), inside("spec", change=_queue_down)),
        "LocalQueue": Pair(
            _rename_in("status", "flavorUsage", "flavorsUsage"),
            _rename_in("status", "flavorsUsage", "flavorUsage"),
        ),
        "MultiKueueCluster": Pair(
            inside("spec", change=_worker_up), inside("spec", change=_worker_down)
        ),
        "MultiKueueConfig": Pair(_same, inside("spec", "quotaManagement", change=gone)),
        "Workload": Pair(
            _workload(_priority_up, _status_up),
            _workload(lambda spec: _SLICES(_priority_down(spec)), _status_down),
        ),
    }
)
