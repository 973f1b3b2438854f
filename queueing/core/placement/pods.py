"""What the pods of a workload that holds quota ask of topologies, and what they use at a place."""

from collections.abc import Mapping
from dataclasses import replace

from queueing.core.facts import PodSet, PodSetAssignment, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, PodSetName
from queueing.core.reasons import Obstacle, Unreadable
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.forest import Forest
from queueing.core.topology.requests import Placeable, PodSetRequest, in_order
from queueing.core.topology.usage import placed, without_places
from queueing.core.usage import held_places

NO_FLAVOR = "no TAS flavor assigned"
NO_POD_SET = "no such pod set in the Workload"
Wanted = Mapping[FlavorName, list[PodSetRequest]]
Troubles = list[tuple[PodSetName, list[Obstacle]]]


def wanted_places(workload: WorkloadFact, forest: Forest, *, anew: bool) -> tuple[Wanted, Troubles]:
    """Return the pod sets to be placed by flavor, and why others cannot be placed.

    `anew` asks for those that have places, otherwise for those that wait for their first. Some have
    no flavor with a topology, or an admission names pod sets that there are not.
    """
    wanted: dict[FlavorName, list[PodSetRequest]] = {}
    troubles: Troubles = []
    asked = {one.name: one for one in workload.pod_sets}
    for held in () if workload.admission is None else workload.admission.pod_sets:
        if held.placement is None if anew else not held.delayed:
            continue
        flavor = next((one for one in sorted(set(held.flavors.values())) if forest.has(one)), None)
        if held.name not in asked:
            troubles.append((held.name, [Unreadable(NO_POD_SET)]))
        elif flavor is None:
            troubles.append((held.name, [Unreadable(NO_FLAVOR)]))
        else:
            wanted.setdefault(flavor, []).append(_request(held, asked[held.name]))
    return wanted, troubles


def placed_at(
    workload: WorkloadFact, places: Mapping[PodSetName, Placement]
) -> tuple[PodSetAssignment, ...]:
    """Return what a workload was admitted with, at other places."""
    return tuple(
        replace(one, placement=places[one.name], delayed=False) if one.name in places else one
        for one in (() if workload.admission is None else workload.admission.pod_sets)
    )


def used_at(
    workload: WorkloadFact,
    usage: Mapping[FlavorResource, int],
    places: Mapping[PodSetName, Placement],
) -> Mapping[FlavorResource, int]:
    """Return the usage of a workload that holds quota as it would be at other places."""
    assert workload.admission is not None, f"{workload.key} holds no quota"  # noqa: S101
    moved = replace(workload.admission, pod_sets=placed_at(workload, places))
    return placed(without_places(usage), held_places(replace(workload, admission=moved)))


def _request(held: PodSetAssignment, pod_set: PodSet) -> PodSetRequest:
    return PodSetRequest(
        name=held.name,
        count=held.count,
        pod=pod_set.placeable or Placeable(requests=in_order(pod_set.requests)),
        topology=pod_set.topology,
        implied=not pod_set.wants_topology,
        current=held.placement,
    )
