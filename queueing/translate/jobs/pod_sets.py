"""Pod sets of jobs: what of a pod template goes into a Workload, and whether that still equals it.

Environment variables that a container names twice, which the API server allows in a job, are in a
Workload once, with the last value, which is the one that the container gets: so its template can be
applied and compared by name. The job keeps what it was created with.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from queueing.devices.wire.swaps import same_but_swapped
from queueing.translate import labels
from queueing.translate.jobs.view import JobPodSet, JobView
from queueing.translate.wire.meta import Wire
from queueing.translate.wire.pods import PodTemplate
from queueing.translate.wire.workloads import PodSet, SliceConstraint, Workload

TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_constraints = msgspec.json.Decoder(list[SliceConstraint])
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of the pods of an Indexed Job: their number."""


_LISTS = ("containers", "initContainers")


class _Variable(Wire, frozen=True):
    name: str = ""


class _Container(Wire, frozen=True):
    env: list[_Variable] | None = None


class _Containers(Wire, frozen=True):
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = None


_containers = msgspec.json.Decoder(_Containers)
_spec = msgspec.json.Decoder(dict[str, Any])


def each_name_once(spec: msgspec.Raw) -> msgspec.Raw:
    """Return the spec of pods whose containers name each variable once; mostly the same object.

    A name stands where it stood first, with its last value.
    """
    found = _containers.decode(spec)
    named = [
        one.env for one in (*(found.containers or ()), *(found.init_containers or ())) if one.env
    ]
    if not any(map(_repeats, named)):
        return spec
    whole = _spec.decode(spec)
    for name in _LISTS:
        for container in whole.get(name) or ():
            if container.get("env"):
                container["env"] = _last_of_each(container["env"])
    return msgspec.Raw(msgspec.json.encode(whole))


def _repeats(named: Sequence[_Variable]) -> bool:
    return len({one.name for one in named}) < len(named)


def _last_of_each(variables: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return list({one["name"]: one for one in variables}.values())


def topology_request(
    annotations: Mapping[str, str], indexes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the field `topologyRequest` of a pod set; empty if there is nothing to say.

    Of several levels the required one counts, then the preferred one, then none. `indexes` are the
    fields that say how its pods are numbered: they are there also if nothing is asked for, because
    a queue may place the pods all the same. What cannot be read counts as not written: it is
    refused where jobs are validated.
    """
    asked = {**_level(annotations), **_slices(annotations)} if annotations else {}
    if not asked and not indexes:
        return {}
    group = annotations.get(labels.TOPOLOGY_GROUP)
    if group and ("required" in asked or "preferred" in asked):
        asked["podSetGroupName"] = group
    return {"topologyRequest": {**asked, **(indexes or {})}}


def _level(annotations: Mapping[str, str]) -> dict[str, Any]:
    required = annotations.get(labels.TOPOLOGY_REQUIRED)
    preferred = annotations.get(labels.TOPOLOGY_PREFERRED)
    anywhere = annotations.get(labels.TOPOLOGY_UNCONSTRAINED)
    if required is not None:
        return {"required": required}
    if preferred is not None:
        return {"preferred": preferred}
    if anywhere in TRUE | FALSE:
        return {"unconstrained": anywhere in TRUE}
    return {}


def _slices(annotations: Mapping[str, str]) -> dict[str, Any]:
    layers = annotations.get(labels.TOPOLOGY_SLICES)
    if layers is not None:
        try:
            found = _constraints.decode(layers)
        except (msgspec.DecodeError, msgspec.ValidationError):
            found = []
        if found:
            told = [{"topology": one.topology, "size": one.size} for one in found]
            return {"podsetSliceRequiredTopologyConstraints": told}
    level, size = annotations.get(labels.TOPOLOGY_SLICE), annotations.get(labels.TOPOLOGY_SIZE, "")
    if level is None or not size.isdecimal():
        return {}
    return {"podSetSliceRequiredTopology": level, "podSetSliceSize": int(size)}


def equivalent(job: JobView, workload: Workload) -> bool:
    """Say whether a Workload's pod sets still equal those of a job, in order.

    The number of pods and the containers must always be equal; what an admission itself changes
    (tolerations, node selector) only while the Workload holds no quota. A job that runs with fewer
    pods by partial admission is equal.
    """
    mine, theirs = job.pod_sets, workload.spec.pod_sets
    return len(mine) == len(theirs) and all(
        _alike(one, other, workload) for one, other in zip(mine, theirs, strict=True)
    )


def _alike(mine: JobPodSet, want: PodSet, workload: Workload) -> bool:
    admission = workload.status.admission
    counts = {want.count}
    if admission is not None and want.min_count is not None:
        counts |= {
            one.count
            for one in admission.pod_set_assignments
            if one.name == want.name and one.count is not None
        }
    if mine.count not in counts or mine.least != want.min_count:
        return False
    return _same_template(mine.template, want, reserved=admission is not None)


def _same_template(template: PodTemplate, want: PodSet, *, reserved: bool) -> bool:
    mine, other = template.spec, want.template.spec
    if (mine.resources, mine.priority_class_name) != (other.resources, other.priority_class_name):
        return False
    containers = (mine.containers, mine.init_containers)
    if containers != (other.containers, other.init_containers) and not (
        reserved
        and same_but_swapped(mine.containers, other.containers)
        and same_but_swapped(mine.init_containers, other.init_containers)
    ):
        return False
    if reserved:
        return True
    return (mine.tolerations, mine.node_selector, mine.affinity) == (
        other.tolerations,
        other.node_selector,
        other.affinity,
    )
