"""Slices: the Workloads of one elastic job, each for another number of pods.

The job runs on one of them. When it grows, another one that replaces it asks for what the job wants
now; when that is admitted, the first has done its part. Pods keep the name of the first slice of
the chain, because the template of a running job is not changed when a slice is replaced.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from queueing.translate import labels
from queueing.translate.jobs.view import JobPodSet
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import Workload

REPLACED = "WorkloadSliceReplaced"
OUT_OF_SYNC = "OutOfSync"
OUT_OF_SYNC_MESSAGE = "The workload slice is out of sync with its parent job"

Counts = Mapping[str, int]
"""Pods by pod set."""


def asks_to_be_elastic(meta: Meta) -> bool:
    """Say whether a job asks to grow and shrink while it runs."""
    return meta.annotations.get(labels.ELASTIC) == "true"


def slice_name(meta: Meta) -> str:
    """Return the name of the first slice of a Workload's chain; empty for one that is no slice."""
    return meta.annotations.get(labels.SLICE_NAME, "") if asks_to_be_elastic(meta) else ""


def name_on_pods(meta: Meta) -> str:
    """Return the Workload's name that its pods have: see `name_of_workload`."""
    return slice_name(meta) or meta.name


def name_of_workload(pod: Meta) -> str:
    """Return the name of the Workload that started a pod, or of the first slice of its chain."""
    found = pod.annotations
    return found.get(labels.SLICE_NAME) or found.get(labels.POD_WORKLOAD, "")


def slice_of(meta: Meta) -> str:
    """Return what the slices of one elastic job have in common, and nothing else has.

    That is the job, and the first slice; empty for a Workload that is no slice.
    """
    first = slice_name(meta)
    if not first:
        return ""
    above = meta.controller
    return f"{meta.namespace}/{first} {above.uid if above is not None else ''}"


def is_superseded(workload: Workload) -> bool:
    """Say whether a slice has finished only because others stand for its job."""
    end = workload.status.true_condition("Finished")
    ours = end is not None and end.reason in (REPLACED, OUT_OF_SYNC)
    return ours and bool(slice_name(workload.metadata))


def replaces(workload: Workload, other: Workload) -> bool:
    """Say whether a slice was made to replace another one."""
    named = workload.metadata.annotations.get(labels.SLICE_REPLACES)
    return named == f"{other.metadata.namespace}/{other.metadata.name}"


def counts_of(pod_sets: Sequence[JobPodSet]) -> Counts:
    """Return how many pods a job wants of each set."""
    return {one.name: one.count for one in pod_sets}


def counts_in(workload: Workload) -> Counts:
    """Return for how many pods of each set a Workload is."""
    return {one.name: one.count for one in workload.spec.pod_sets}


def grows(counts: Counts, workload: Workload) -> bool:
    """Say whether a job wants more pods of any set than a Workload is for."""
    has = counts_in(workload)
    return any(count > has.get(name, count) for name, count in counts.items())


def resized(workload: Workload, counts: Counts) -> Workload:
    """Return a Workload for other numbers of pods; one with other pod sets stays as it is."""
    if counts_in(workload).keys() != counts.keys():
        return workload
    pod_sets = [replace(one, count=counts[one.name]) for one in workload.spec.pod_sets]
    return replace(workload, spec=replace(workload.spec, pod_sets=pod_sets))


def resized_spec(stored: bytes, counts: Counts) -> dict[str, Any]:
    """Return the spec of a Workload, as the API server stores it, with other numbers of pods.

    Nothing else of it changes: a job that runs has another template now than it was made with.
    """
    spec: dict[str, Any] = msgspec.json.decode(stored)["spec"]
    pod_sets = [
        {**one, "count": counts.get(one["name"], one.get("count", 1))} for one in spec["podSets"]
    ]
    return {**spec, "podSets": pod_sets}
