"""Whether the nodes of a flavor without a topology could hold the pods of a pod set at all."""

from queueing.core.names import FlavorName
from queueing.core.topology.counts import CountsKey, Memory
from queueing.core.topology.domains import ROOT
from queueing.core.topology.refusals import excluded
from queueing.core.topology.requests import PodSetRequest, in_order


def shortfall(flavor: FlavorName, offer: Memory, wanted: PodSetRequest) -> str:
    """Say how many pods the nodes could not hold if they were empty; empty if they hold all.

    What runs on them comes and goes, so that only this is sure to last: those pods never start on
    the nodes that are there.
    """
    shape = CountsKey(
        pod=wanted.pod.kept_to(),
        requests=in_order(dict(wanted.pod.requests), pods=1),
        leader=None,
        size=1,
        slice_level=0,
        inner=(1,),
        empty=True,
        scored=False,
    )
    counts = offer.counts(shape)
    fitting = counts.room.pods[ROOT]
    if fitting >= wanted.count:
        return ""
    held = f"only {fitting} out of" if fitting else "none of"
    return (
        f"nodes of flavor {flavor} can hold {held} {wanted.count} pod(s) of pod set {wanted.name},"
        f" even if they were empty{excluded(counts)}"
    )
