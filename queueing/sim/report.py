"""A plan as plain JSON values: the stable contract of `queueing plan -o json`."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from queueing.core.decisions import Admit, Decision, Place, Preempt, Reason, Strand, Wait
from queueing.core.facts import PodSetAssignment
from queueing.core.names import FlavorResource
from queueing.core.topology.encoding import encode
from queueing.sim.lending import QuotaBalance
from queueing.sim.plan import Plan
from queueing_api.quantity import format_amount

_COARSE = MappingProxyType(
    dict.fromkeys((Reason.MISCONFIGURED, Reason.SUSPENDED, Reason.ON_HOLD), "Inadmissible")
    | {Reason.WAITING_FOR_PODS_READY: "Waiting"}
)
"""Reasons of old; all others were Pending."""


def as_json(plan: Plan) -> dict[str, Any]:
    """Return the whole plan; rounds count from 1, decisions stand in the order they were made."""
    report: dict[str, Any] = {
        "rounds": [
            {
                "round": number,
                "decisions": [
                    decision_as_json(one, explicit=plan.explicit_reasons) for one in decisions
                ],
            }
            for number, decisions in enumerate(plan.rounds, start=1)
        ],
        "usage": _balances(plan.ledger.queues),
        "cohorts": _balances(plan.ledger.cohorts),
        "weightedShare": {
            "clusterQueues": dict(plan.queue_shares),
            "cohorts": dict(plan.cohort_shares),
        },
    }
    if plan.stable is not None:
        report["stable"] = plan.stable
    return report


def reason_of(wait: Wait, *, explicit: bool) -> str:
    """Return the reason of the condition; without UnadmittedWorkloadsObservability a coarse one."""
    return wait.reason.value if explicit else _COARSE.get(wait.reason, "Pending")


def decision_as_json(decision: Decision, *, explicit: bool = True) -> dict[str, Any]:
    """Return one decision with the keys of its action."""
    match decision:
        case Admit():
            return {
                "workload": decision.workload,
                "action": "Admit",
                "clusterQueue": decision.cluster_queue,
                "borrowing": decision.borrowing,
                "reservedOnly": bool(decision.checks),
                "podSetAssignments": _assignments(decision.pod_sets),
                **({"warnings": list(decision.warnings)} if decision.warnings else {}),
            }
        case Preempt():
            return {
                "workload": decision.workload,
                "action": "Preempt",
                "clusterQueue": decision.cluster_queue,
                "preemptor": decision.preemptor,
                "reason": decision.reason.value,
                "alreadyEvicted": decision.already_evicted,
            }
        case Wait():
            return {
                "workload": decision.workload,
                "action": "Wait",
                "clusterQueue": decision.cluster_queue,
                "requeue": decision.requeue.value,
                "reason": reason_of(decision, explicit=explicit),
                "message": decision.message,
                "mode": decision.mode.value if decision.mode else None,
                "podSetAssignments": _assignments(decision.nominated),
                "targets": list(decision.targets),
            }
        case Place():
            return {
                "workload": decision.workload,
                "action": "Admit",
                "clusterQueue": decision.cluster_queue,
                "borrowing": False,
                "reservedOnly": False,
                "leaves": list(decision.left),
                "podSetAssignments": _assignments(decision.pod_sets),
            }
        case Strand():
            return _stranded(decision)


def _stranded(decision: Strand) -> dict[str, Any]:
    """Return what became of a workload that holds quota and has no place for its pods."""
    reason = "NodeFailures" if decision.evicts else "SecondPassFailed"
    return {
        "workload": decision.workload,
        "action": "Evict" if decision.evicts else "Wait",
        "clusterQueue": decision.cluster_queue,
        "requeue": "NotQueued",
        "reason": reason,
        "message": decision.message,
        "mode": None,
        "podSetAssignments": [],
        "targets": [],
    }


def _assignments(pod_sets: Iterable[PodSetAssignment]) -> list[dict[str, Any]]:
    return [
        {
            "name": one.name,
            "count": one.count,
            "flavors": {resource: one.flavors[resource] for resource in sorted(one.flavors)},
            "resourceUsage": {
                resource: format_amount(resource, one.usage[resource])
                for resource in sorted(one.usage)
            },
            "topologyAssignment": encode(one.placement) if one.placement is not None else None,
            **({"delayedTopologyRequest": "Pending"} if one.delayed else {}),
        }
        for one in pod_sets
    ]


def _balances(nodes: Mapping[str, Mapping[FlavorResource, QuotaBalance]]) -> dict[str, Any]:
    report: dict[str, Any] = {}
    for name in sorted(nodes):
        flavors: dict[str, Any] = report.setdefault(name, {})
        for (flavor, resource), balance in sorted(nodes[name].items()):
            flavors.setdefault(flavor, {})[resource] = {
                "nominal": format_amount(resource, balance.nominal),
                "used": format_amount(resource, balance.used),
                "borrowed": format_amount(resource, balance.borrowed),
                "lent": format_amount(resource, balance.lent),
            }
    return report
