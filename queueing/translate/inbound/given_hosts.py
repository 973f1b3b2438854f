"""Hosts that pods of a Workload were given, what they tolerate there, and who waits for hosts."""

from collections.abc import Collection, Mapping, Sequence

from queueing.core.selectors import Toleration
from queueing.core.topology.assignment import HOSTNAME
from queueing.translate.inbound.placement import placement, ready_updates
from queueing.translate.selectors import toleration
from queueing.translate.wire.queues import ResourceFlavor
from queueing.translate.wire.workloads import Workload


def is_placed(workload: Workload) -> bool:
    """Say whether a Workload is admitted, stays so, and topologies chose nodes for pods of it."""
    status = workload.status
    runs = status.is_true("Admitted") and not (
        status.is_true("Evicted") or status.is_true("Finished")
    )
    admission = status.admission if runs else None
    return admission is not None and any(
        one.topology_assignment is not None for one in admission.pod_set_assignments
    )


def hosts_of(workload: Workload) -> Mapping[str, Sequence[str]]:
    """Return the nodes that pods of an admission were given, by hostname, with their pod sets.

    Where the lowest level of a topology is wider than a node there are none.
    """
    found: dict[str, list[str]] = {}
    admission = workload.status.admission
    for one in () if admission is None else admission.pod_set_assignments:
        assignment = placement(one.topology_assignment)
        if assignment is not None and assignment.levels == (HOSTNAME,):
            for domain in assignment.domains:
                found.setdefault(domain.key, []).append(one.name)
    return found


def tolerations_on(
    workload: Workload, pod_sets: Collection[str], flavors: Mapping[str, ResourceFlavor]
) -> list[tuple[Toleration, ...]]:
    """Return what the pods of each of some pod sets tolerate: by themselves, flavors and checks."""
    found, admission = [], workload.status.admission
    asked = {one.name: one for one in workload.spec.pod_sets}
    for held in () if admission is None else admission.pod_set_assignments:
        if held.name in pod_sets and held.name in asked:
            own = [*asked[held.name].template.spec.tolerations]
            for name in dict.fromkeys(held.flavors.values()):
                own += flavors[name].spec.tolerations if name in flavors else ()
            for update in ready_updates(workload.status.admission_checks, held.name):
                own += update.tolerations
            found.append(tuple(map(toleration, own)))
    return found


def awaits_places(workload: Workload, left: Sequence[str]) -> bool:
    """Say whether a Workload holds quota still, and its second pass is for what it was.

    A node that failed may have recovered since, or the Workload may have been evicted.
    """
    status, admission = workload.status, workload.status.admission
    if admission is None or status.is_true("Evicted"):
        return False
    if left:
        return {one.name for one in status.unhealthy_nodes}.issuperset(left)
    assigned = admission.pod_set_assignments
    return any(one.delayed_topology_request == "Pending" for one in assigned)
