"""Why a ClusterQueue is inactive, and which of its admission checks apply."""

from collections.abc import Iterable, Mapping

from queueing.core.facts import (
    CheckFact,
    ClusterQueueFact,
    FlavorFact,
    PodSetAssignment,
    StopPolicy,
    TopologyFact,
)
from queueing.core.names import CheckName, FlavorName


def inactivity(
    queue: ClusterQueueFact,
    *,
    flavors: Mapping[FlavorName, FlavorFact],
    checks: Mapping[CheckName, CheckFact],
    topologies: Mapping[str, TopologyFact],
    cyclic: bool,
) -> tuple[str, str] | None:
    """Return reason and message of the queue's condition `Active=False`; None if it is active.

    The reason is the first that was found; the message lists all.
    """
    if queue.deleting:
        return "Terminating", "Can't admit new workloads; clusterQueue is terminating"
    found: list[tuple[str, str]] = []
    if queue.stop_policy is not StopPolicy.NONE:
        found.append(("Stopped", "is stopped"))
    if queue.misconfigured:
        found.append(("Unknown", queue.misconfigured))
    if cyclic:
        found.append(("Unknown", "its Cohort is part of a cycle of Cohorts"))
    named = [flavor.flavor for group in queue.groups for flavor in group.flavors]
    missing = sorted({name for name in named if name not in flavors})
    if missing:
        text = f"references missing ResourceFlavor(s): {','.join(missing)}"
        found.append(("FlavorNotFound", text))
    asked = [rule.name for rule in queue.checks]
    unknown = sorted(name for name in asked if name not in checks)
    if unknown:
        text = f"references missing AdmissionCheck(s): {','.join(unknown)}"
        found.append(("AdmissionCheckNotFound", text))
    inactive = sorted(name for name in asked if name in checks and not checks[name].active)
    if inactive:
        text = f"references inactive AdmissionCheck(s): {','.join(inactive)}"
        found.append(("AdmissionCheckInactive", text))
    for flavor in (flavors[name] for name in named if name in flavors):
        if flavor.topology and flavor.topology not in topologies:
            text = f'there is no Topology "{flavor.topology}" for TAS flavor "{flavor.name}"'
            found.append(("TopologyNotFound", text))
    if not found:
        return None
    messages = ", ".join(message for _, message in found)
    return found[0][0], f"Can't admit new workloads: {messages}."


def applying_checks(
    queue: ClusterQueueFact, pod_sets: Iterable[PodSetAssignment]
) -> tuple[CheckName, ...]:
    """Return the queue's checks that apply to the assigned flavors, in the queue's order."""
    if not queue.checks:
        return ()
    assigned = {flavor for one in pod_sets for flavor in one.flavors.values()}
    return tuple(
        rule.name
        for rule in queue.checks
        if not rule.on_flavors or not assigned.isdisjoint(rule.on_flavors)
    )
