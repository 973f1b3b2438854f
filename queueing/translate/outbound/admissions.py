"""Patches of a Workload that give it quota, places and checks, and change what it was given.

Called just before a write: by `controller.decisions.effects` for decisions, and by the reconcilers
of Workloads and of failed nodes.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from queueing.core.decisions import Admit, Place, Reason
from queueing.core.devices import INADMISSIBLE
from queueing.core.facts import PodSetAssignment
from queueing.core.topology.encoding import encode
from queueing.translate.outbound import checks
from queueing.translate.outbound.conditions import (
    Conditions,
    conditions_of,
    forgive,
    status_patch,
    unadmit,
)
from queueing.translate.outbound.workloads import REOPENED, returned
from queueing.translate.wire.workloads import Workload
from queueing_api.quantity import format_amount


def reserve(workload: Workload, decision: Admit, now: float) -> bytes:
    """Write a reservation of quota; without admission checks also `Admitted`, in one write."""
    conditions = conditions_of(workload, now)
    _reserve(conditions, decision.cluster_queue)
    forgive(conditions)
    status: dict[str, Any] = {
        "admission": {
            "clusterQueue": decision.cluster_queue,
            "podSetAssignments": [_assignment(one) for one in decision.pod_sets],
        }
    }
    requeued = conditions.reason("Requeued")
    if requeued in REOPENED and not conditions.is_true("Requeued"):
        returned(conditions, REOPENED[requeued])
    elif requeued == INADMISSIBLE:
        conditions.drop("Requeued")
    known = workload.status.admission_checks
    passed = [checks.kept(one) for one in known if one.state == "Ready"]
    if decision.checks:
        retries = {one.name: one.retry_count for one in known}
        opened = [
            checks.pending(name, now, retries=retries.get(name, 0)) for name in decision.checks
        ]
        status["admissionChecks"] = passed + opened
        if conditions.is_true("Admitted"):
            unready = "The workload has admission checks that are not ready"
            unadmit(conditions, "UnsatisfiedAdmissionChecks", unready)
    else:
        _admit(conditions)
        if len(passed) != len(known):
            status["admissionChecks"] = passed or None
    return status_patch(workload, status, conditions)


def reservation_message(decision: Admit, waited_s: float) -> str:
    """Say where quota was reserved and how long that took."""
    note = f"; Flavors considered: {decision.note}" if decision.note else ""
    return (
        f"Quota reserved in ClusterQueue {decision.cluster_queue},"
        f" wait time since queued was {waited_s:.0f}s{note}"
    )


def admission_message(queue: str, waited_s: float) -> str:
    """Say who admitted and how long that took since the reservation."""
    return f"Admitted by ClusterQueue {queue}, wait time since reservation was {waited_s:.0f}s"


def place(workload: Workload, decision: Place, now: float) -> bytes:
    """Write the places of a second pass; the workload is Admitted once all its pods have one.

    All else of the admission stays as it is stored, to the letter.
    """
    conditions, admission = conditions_of(workload, now), workload.status.admission
    stored = [] if admission is None else msgspec.to_builtins(admission.pod_set_assignments)
    found = {one.name: one for one in decision.pod_sets}
    for one in stored:
        placed = found.get(one["name"])
        if placed is None or placed.placement is None:
            continue
        one["topologyAssignment"] = encode(placed.placement)
        if one.get("delayedTopologyRequest"):
            one["delayedTopologyRequest"] = "Pending" if placed.delayed else "Ready"
    if not any(one.delayed for one in decision.pod_sets):
        _admit(conditions)
    status: dict[str, Any] = {"admission": {"podSetAssignments": stored}}
    if workload.status.unhealthy_nodes:
        status["unhealthyNodes"] = None
    return status_patch(workload, status, conditions)


def note_failed_nodes(workload: Workload, names: Sequence[str], now: float) -> bytes:
    """Write which nodes of an admission failed."""
    failed = [{"name": one} for one in names] or None
    return status_patch(workload, {"unhealthyNodes": failed}, conditions_of(workload, now))


def object_to(workload: Workload, trouble: str, now: float) -> bytes | None:
    """Write what is wrong with a reservation, or that nothing is any more; None if it says so.

    Only the reason and message of `QuotaReserved` change. It stays True, since the same time.
    """
    admission = workload.status.admission
    said = workload.status.true_condition("QuotaReserved")
    if admission is None or said is None:
        return None
    if not trouble and said.reason != Reason.MISCONFIGURED:
        return None
    conditions = conditions_of(workload, now)
    _reserve(conditions, admission.cluster_queue, trouble)
    if trouble and said.message == conditions.message("QuotaReserved"):
        return None
    return status_patch(workload, {}, conditions)


def follow_checks(workload: Workload, names: Sequence[str], now: float) -> bytes:
    """Add and remove admission checks of a reservation, to those that its queue requires."""
    known = {one.name: one for one in workload.status.admission_checks}
    entries = [
        checks.kept(known[name]) if name in known else checks.pending(name, now) for name in names
    ]
    return status_patch(
        workload, {"admissionChecks": entries or None}, conditions_of(workload, now)
    )


def confirm(workload: Workload, now: float) -> bytes:
    """Set `Admitted` of a workload with a reservation whose admission checks are all ready."""
    conditions = conditions_of(workload, now)
    _admit(conditions)
    return status_patch(workload, {}, conditions)


def _reserve(conditions: Conditions, queue: str, trouble: str = "") -> None:
    conditions.set(
        "QuotaReserved",
        true=True,
        reason=Reason.MISCONFIGURED if trouble else "QuotaReserved",
        message="; ".join(filter(None, (f"Quota reserved in ClusterQueue {queue}", trouble))),
    )


def _admit(conditions: Conditions) -> None:
    conditions.set("Admitted", true=True, reason="Admitted", message="The workload is admitted")


def _assignment(found: PodSetAssignment) -> dict[str, Any]:
    document = {
        "name": found.name,
        "count": found.count,
        "flavors": dict(found.flavors),
        "resourceUsage": {name: format_amount(name, value) for name, value in found.usage.items()},
    }
    if found.placement is not None:
        document["topologyAssignment"] = encode(found.placement)
    if found.delayed:
        document["delayedTopologyRequest"] = "Pending"
    return document
