"""What the annotations of a pod template ask of a topology, as a Workload's `topologyRequest`."""

from collections.abc import Mapping
from typing import Any

import msgspec

from queueing.translate import labels
from queueing.translate.wire.workloads import SliceConstraint

TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
FALSE = frozenset({"0", "f", "F", "FALSE", "false", "False"})
_constraints = msgspec.json.Decoder(list[SliceConstraint])
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
"""Label of the pods of an Indexed Job: their number."""


def topology_request(
    annotations: Mapping[str, str], indexes: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the field `topologyRequest` of a pod set; empty if there is nothing to say.

    Of several levels the required one counts, then the preferred one, then none. `indexes` are the
    fields that say how its pods are numbered: they are there also if nothing is asked for, because
    a queue may place the pods all the same. What cannot be read counts as not written: it is
    refused where jobs are validated.
    """
    asked = {**_level(annotations), **_slices(annotations)}
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
