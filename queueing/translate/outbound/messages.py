"""Sentences that conditions and events share."""

from collections.abc import Mapping

from queueing.core.decisions import Admit, Preempt, PreemptionReason

_WHY: Mapping[PreemptionReason, str] = {
    PreemptionReason.IN_CLUSTER_QUEUE: "prioritization in the ClusterQueue",
    PreemptionReason.IN_COHORT_RECLAMATION: "reclamation within the cohort",
    PreemptionReason.IN_COHORT_FAIR_SHARING: "Fair Sharing within the cohort",
    PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING: (
        "reclamation within the cohort while borrowing"
    ),
    PreemptionReason.MOVED: "a move to another place, which opens a domain of a topology",
}


def preempted(decision: Preempt, job_uid: str) -> str:
    """Return the message of a victim: its preemptor, with uid, and the paths of both queues."""
    return (
        f"Preempted to accommodate a workload (UID: {decision.preemptor_uid},"
        f" JobUID: {job_uid or 'UNKNOWN'}) due to {_WHY[decision.reason]};"
        f" preemptor path: {decision.preemptor_path}; preemptee path: {decision.victim_path}"
    )


def migrated(decision: Preempt) -> str:
    """Return the message of a variant that makes way for one in a more favorable flavor."""
    return (
        f"Evicted to accommodate a workload (UID: {decision.preemptor_uid})"
        " due to migration to more favorable resource flavor"
    )


def reserved(decision: Admit, waited_s: float) -> str:
    """Say where quota was reserved and how long that took."""
    note = f"; Flavors considered: {decision.note}" if decision.note else ""
    return (
        f"Quota reserved in ClusterQueue {decision.cluster_queue},"
        f" wait time since queued was {waited_s:.0f}s{note}"
    )


def admitted(queue: str, waited_s: float) -> str:
    """Say who admitted and how long that took since the reservation."""
    return f"Admitted by ClusterQueue {queue}, wait time since reservation was {waited_s:.0f}s"
