"""Pods of an elastic job: which of them its admitted slice covers, and what lets these go."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from queueing.translate import labels
from queueing.translate.jobs.gated_pods import GatedPod, left_of
from queueing.translate.jobs.patches import MergePatch
from queueing.translate.jobs.slices import name_of_workload, name_on_pods
from queueing.translate.wire.workloads import PodSetUpdate, Workload


class SlicePod(GatedPod, frozen=True):
    """A pod of an elastic job, which waits until a slice covers it."""

    gate: ClassVar[str] = labels.ELASTIC


@dataclass(frozen=True, slots=True)
class Cover:
    """How the pods of an elastic job stand to what its admitted slice is for."""

    due: Sequence[SlicePod]
    """Gated pods that it covers; of each pod set those of lowest name."""
    lacks: bool
    """Whether it would cover more pods than there are, or one that others will replace."""
    exceeded: bool
    """Whether more pods than it is for have been let go and have not ended."""


def cover(workload: Workload, pods: Iterable[SlicePod]) -> Cover:
    """Hold the pods of an elastic job against its slice."""
    name = name_on_pods(workload.metadata)
    ours = [one for one in pods if name_of_workload(one.metadata) == name and not one.has_ended]
    due: list[SlicePod] = []
    lacks = exceeded = False
    for pod_set in workload.spec.pod_sets:
        mine = [one for one in ours if one.metadata.labels.get(labels.POD_SET) == pod_set.name]
        gated = sorted((one for one in mine if one.is_gated), key=lambda one: one.metadata.name)
        room = pod_set.count - (len(mine) - len(gated))
        due += gated[: max(room, 0)]
        lacks |= room > len(gated) or any(one.metadata.deleting for one in mine)
        exceeded |= room < 0
    return Cover(due, lacks, exceeded)


def letting_go(pod: SlicePod, workload: Workload) -> MergePatch | None:
    """Return the patch that takes the gate from a pod, and adds what admission checks ask for.

    None if the pod has other values of that already: it was made before the checks said so.
    """
    meta, spec = pod.metadata, pod.spec
    maps = {"annotations": meta.annotations, "labels": meta.labels}
    maps["nodeSelector"] = spec.node_selector
    gained: dict[str, dict[str, str]] = {name: {} for name in maps}
    tolerations = list(spec.tolerations)
    for update in _updates(workload, meta.labels.get(labels.POD_SET, "")):
        wanted = (update.annotations, update.labels, update.node_selector)
        for (name, found), more in zip(maps.items(), wanted, strict=True):
            if any(found.get(key, value) != value for key, value in more.items()):
                return None
            gained[name] |= {key: value for key, value in more.items() if key not in found}
        tolerations += [one for one in update.tolerations if one not in tolerations]
    changed: dict[str, Any] = {"schedulingGates": left_of(spec.gates, (pod.gate,))}
    if gained["nodeSelector"]:
        changed["nodeSelector"] = gained["nodeSelector"]
    if len(tolerations) > len(spec.tolerations):
        changed["tolerations"] = msgspec.to_builtins(tolerations)
    told = {name: gained[name] for name in ("annotations", "labels") if gained[name]}
    return MergePatch(body={"metadata": told, "spec": changed})


def _updates(workload: Workload, pod_set: str) -> Iterator[PodSetUpdate]:
    for check in workload.status.admission_checks:
        yield from (one for one in check.pod_set_updates if one.name == pod_set)
