"""The fact of a workload after a decision or an eviction, as its status would show it."""

from collections.abc import Mapping
from dataclasses import replace

from queueing.core.decisions import Admit, Place, Preempt, PreemptionReason, Strand
from queueing.core.facts import Admission, CheckPhase, CheckState, Condition, WorkloadFact
from queueing.lifecycle.steps import Evict, EvictionReason
from queueing.translate.outbound.workloads import migration_message, preemption_message

_REQUEUES_AT_ONCE = frozenset({"Preempted", "NodeFailures", "FlavorMigration"})
"""Reasons of evictions after which a workload is requeued without a wait."""


def _with(fact: WorkloadFact, *conditions: Condition) -> Mapping[str, Condition]:
    return dict(fact.conditions) | {one.type: one for one in conditions}


def admitted(fact: WorkloadFact, decision: Admit, *, now: float) -> WorkloadFact:
    """Return the workload with its reservation; admission checks begin as Pending."""
    changes = [
        Condition(type="QuotaReserved", status=True, reason="QuotaReserved", changed=now),
        *(
            Condition(type=one.type, status=False, reason="QuotaReserved", changed=now)
            for one in fact.conditions.values()
            if one.type in {"Evicted", "Preempted"} and one.status
        ),
    ]
    if not decision.checks:
        changes.append(_admitted(now))
    return replace(
        fact,
        admission=Admission(cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets),
        conditions=_with(fact, *changes),
        checks=tuple(
            CheckState(name=name, state=CheckPhase.PENDING, changed=now) for name in decision.checks
        ),
    )


def preempted(fact: WorkloadFact, decision: Preempt, *, now: float) -> WorkloadFact:
    """Return the victim as evicted, with the message that names its preemptor.

    It keeps its quota, because its pods may still run.
    """
    if fact.evicted:
        return fact
    if decision.reason is PreemptionReason.FLAVOR_MIGRATION:
        told = migration_message(decision)
        reasons: tuple[tuple[str, str], ...] = (("Evicted", decision.reason),)
    else:
        told = preemption_message(decision, "")
        reasons = (("Evicted", "Preempted"), ("Preempted", decision.reason))
    changed = (
        Condition(type=one, status=True, reason=reason, message=told, changed=now)
        for one, reason in reasons
    )
    return replace(fact, conditions=_with(fact, *changed))


def placed(fact: WorkloadFact, decision: Place, *, now: float) -> WorkloadFact:
    """Return the workload with the places of its second pass, and so admitted."""
    admission = Admission(cluster_queue=decision.cluster_queue, pod_sets=decision.pod_sets)
    changed = () if fact.admitted else (_admitted(now),)
    return replace(fact, admission=admission, unhealthy=(), conditions=_with(fact, *changed))


def stranded(fact: WorkloadFact, decision: Strand, *, now: float) -> WorkloadFact:
    """Return the workload as evicted if its second pass says so."""
    if not decision.evicts:
        return fact
    step = Evict(reason=EvictionReason.NODE_FAILURES, message=decision.message)
    return replace(evicted(fact, step, now=now), unhealthy=())


def checked(fact: WorkloadFact, *, now: float) -> WorkloadFact:
    """Return the workload with all its admission checks ready, and so admitted."""
    checks = (replace(one, state=CheckPhase.READY, changed=now) for one in fact.checks)
    return replace(fact, checks=tuple(checks), conditions=_with(fact, _admitted(now)))


def _admitted(now: float) -> Condition:
    return Condition(type="Admitted", status=True, reason="Admitted", changed=now)


def evicted(fact: WorkloadFact, step: Evict, *, now: float) -> WorkloadFact:
    """Return the workload as evicted; it keeps its quota, because its pods may still run."""
    told = Condition(
        type="Evicted", status=True, reason=step.wire_reason, message=step.message, changed=now
    )
    active = fact.active and step.reason is not EvictionReason.DEACTIVATED
    return replace(fact, active=active, conditions=_with(fact, told))


def drained(fact: WorkloadFact, *, now: float) -> WorkloadFact:
    """Return an evicted workload after its pods have ended: without quota, requeued if it may."""
    reason = fact.conditions["Evicted"].reason
    requeued = Condition(
        type="Requeued", status=reason in _REQUEUES_AT_ONCE, reason=reason, changed=now
    )
    released = (
        Condition(type=one, status=False, reason=why, changed=now)
        for one, why in (("QuotaReserved", "Pending"), ("Admitted", "NoReservation"))
    )
    stake = replace(fact.stake, started=None) if fact.stake is not None else None
    past_s = fact.past_execution_s
    if fact.admitted:
        past_s += max(0, int(now - fact.conditions["Admitted"].changed))
    return replace(
        fact,
        admission=None,
        checks=(),
        conditions=_with(fact, requeued, *released),
        past_execution_s=past_s,
        stake=stake,
    )
