"""What a pod set may ask of the topology: one kind of closeness, and slices that make sense."""

from collections.abc import Iterator
from typing import Final

from queueing.webhooks.findings import Finding, Wire, dig, entries, forbidden, invalid
from queueing.webhooks.numbers import WHOLE_NUMBER

PREFIX: Final = "kueue.x-k8s.io/podset-"
REQUIRED: Final = f"{PREFIX}required-topology"
PREFERRED: Final = f"{PREFIX}preferred-topology"
UNCONSTRAINED: Final = f"{PREFIX}unconstrained-topology"
SLICE_REQUIRED: Final = f"{PREFIX}slice-required-topology"
SLICE_SIZE: Final = f"{PREFIX}slice-size"
CLOSENESS: Final = (REQUIRED, PREFERRED, UNCONSTRAINED)
NOT_ELASTIC: Final = {REQUIRED: "required", PREFERRED: "preferred"}


def check_template(job: Wire, count: int, *, elastic: bool) -> Iterator[Finding]:
    """Yield what is wrong with the topology annotations of a Job's pods."""
    annotations = dig(job, "spec", "template", "metadata", "annotations") or {}
    path = "spec.template.metadata.annotations"
    asked = [name for name in CLOSENESS if name in annotations]
    if len(asked) > 1:
        told = "must not contain more than one topology annotation"
        yield invalid(path, ", ".join(asked), told)
    if annotations.get(UNCONSTRAINED, "true") not in {"true", "false"}:
        where = f"{path}[{UNCONSTRAINED}]"
        yield invalid(where, annotations[UNCONSTRAINED], "must be a boolean value")
    for name, word in NOT_ELASTIC.items():
        if elastic and name in annotations:
            told = f"{word} topology is not supported with elastic jobs"
            yield forbidden(f"{path}[{name}]", told)
    yield from _slice(annotations, f"{path}[{SLICE_SIZE}]", count)


def _slice(annotations: Wire, path: str, count: int) -> Iterator[Finding]:
    size = annotations.get(SLICE_SIZE)
    if size is None:
        if SLICE_REQUIRED in annotations:
            yield forbidden(path, f"must be set when {SLICE_REQUIRED} is specified")
        return
    if SLICE_REQUIRED not in annotations:
        yield forbidden(path, f"may not be set when {SLICE_REQUIRED} is not specified")
    if not WHOLE_NUMBER.fullmatch(str(size)):
        yield invalid(path, size, "must be a numeric value")
    elif int(size) <= 0:
        yield invalid(path, int(size), "must be greater than 0")
    elif int(size) > count:
        yield invalid(path, int(size), f"must not be greater than pod set count {count}")


def check_requests(workload: Wire) -> Iterator[Finding]:
    """Yield what is wrong with the slices that a Workload's pod sets ask for."""
    for index, pod_set in enumerate(entries(workload, "spec", "podSets")):
        request = pod_set.get("topologyRequest")
        topology = dig(request, "podSetSliceRequiredTopology")
        size = dig(request, "podSetSliceSize")
        path = f"spec.podSets[{index}].topologyRequest.podSetSliceSize"
        if topology and size is None:
            yield forbidden(path, "must be set when podSetSliceRequiredTopology is specified")
        elif size is not None and not topology:
            told = "may not be set when podSetSliceRequiredTopology is not specified"
            yield forbidden(path, told)
        elif isinstance(size, int) and size <= 0:
            yield invalid(path, size, "must be greater than 0")
