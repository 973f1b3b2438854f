"""The rules of who is judged at all, since when he queues, and what his pods count for."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from queueing.core.facts import (
    CheckPhase,
    ClusterQueueFact,
    Condition,
    PodSet,
    StopPolicy,
    Strategy,
    WorkloadFact,
)
from queueing.core.selectors import Requirement
from queueing.core.settings import RequeuingTimestamp, Settings
from tests.core.rounds.random_cases import NOW, Case

OPEN = StopPolicy.NONE
FAILED = {CheckPhase.RETRY, CheckPhase.REJECTED}


def is_inactive(case: Case, queue: ClusterQueueFact) -> bool:
    """Say whether a queue is stopped, or names what is missing or inactive."""
    flavors = {one.name for one in case.flavors}
    named = {one.flavor for group in queue.groups for one in group.flavors}
    working = {one.name for one in case.checks if one.active}
    broken = any(rule.name not in working for rule in queue.checks)
    return queue.stop_policy is not OPEN or not named <= flavors or broken


def kept_out(case: Case, one: WorkloadFact) -> str:
    """Say where a workload stands that never becomes a head; empty for all others."""
    door = next((door for door in case.doors if door.key == one.local_queue), None)
    if door is None or door.stop_policy is not OPEN or not one.active or one.admission_gates:
        return "NotQueued"
    requeued = one.conditions.get("Requeued")
    queue = next(queue for queue in case.queues if queue.name == door.cluster_queue)
    waits = one.requeue_at is not None and one.requeue_at > NOW
    refused = requeued is not None and not requeued.status
    if waits or refused or is_inactive(case, queue):
        return "Inadmissible"
    return ""


def turned_away(queue: ClusterQueueFact, one: WorkloadFact) -> str:
    """Say how a head is requeued that is refused unjudged; empty for all others."""
    again = "Immediate" if queue.strategy is Strategy.STRICT_FIFO else "Inadmissible"
    if any(state.state in FAILED for state in one.checks):
        return again
    selector = queue.namespace_selector
    if selector is None or selector.requirements:
        return "Inadmissible"
    return again if one.misconfigured else ""


def queued_since(one: WorkloadFact, settings: Settings) -> float:
    evicted, preempted = one.conditions.get("Evicted"), one.conditions.get("Preempted")
    by_eviction = settings.requeuing_timestamp is RequeuingTimestamp.EVICTION
    if evicted is not None and evicted.status:
        if evicted.reason == "AdmissionCheck":
            return evicted.changed
        if evicted.reason == "PodsReadyTimeout" and by_eviction:
            return evicted.changed
    borrowed = preempted is not None and preempted.reason == "InCohortReclaimWhileBorrowing"
    if borrowed and preempted is not None and not settings.priority_sorting_within_cohort:
        return preempted.changed + 0.001
    return one.created


def taken_in(one: WorkloadFact) -> WorkloadFact:
    """Return a workload as it is once it is admitted: no earlier eviction counts any more."""
    return replace(one, conditions={})


def sent_away(one: WorkloadFact, why: str, now: float) -> WorkloadFact:
    """Return a victim as it is once it is evicted, unless it was on its way out already."""
    if one.is_true("Evicted"):
        return one
    told = [Condition(type="Evicted", status=True, reason="Preempted", changed=now)]
    told.append(Condition(type="Preempted", status=True, reason=why, changed=now))
    return replace(one, conditions={each.type: each for each in told})


def given_back(one: WorkloadFact, now: float) -> WorkloadFact:
    """Return an evicted workload without quota; it may queue at once only if it was preempted."""
    reason = one.conditions["Evicted"].reason
    again = Condition(type="Requeued", status=reason == "Preempted", reason=reason, changed=now)
    conditions = {**one.conditions, "Requeued": again}
    return replace(one, admission=None, checks=(), conditions=conditions)


def remaining(one: WorkloadFact) -> list[int]:
    """Return the pods of each pod set that are not over."""
    return [max(0, each.count - one.reclaimable.get(each.name, 0)) for each in one.pod_sets]


def only_reserves(queue: ClusterQueueFact, one: WorkloadFact, flavors: set[str]) -> bool:
    """Say whether a check applies to these flavors, or is told of at all, that is not Ready yet."""
    ready = {state.name for state in one.checks if state.state is CheckPhase.READY}
    return len(ready) < len(one.checks) or any(
        rule.name not in ready and (not rule.on_flavors or flavors & set(rule.on_flavors))
        for rule in queue.checks
    )


def is_elsewhere(one: PodSet, labels: Mapping[str, str]) -> bool:
    """Say whether a flavor's labels contradict what a pod asks of its nodes."""
    if any(labels.get(key, value) != value for key, value in one.node_selector.items()):
        return True
    terms = one.node_affinity
    return terms is not None and not any(_holds(term, labels) for term in terms)


def _holds(term: Sequence[Requirement], labels: Mapping[str, str]) -> bool:
    def holds(one: Requirement) -> bool:
        value = labels[one.key]
        return {
            "In": value in one.values,
            "NotIn": value not in one.values,
            "Exists": True,
            "DoesNotExist": False,
        }[one.operator]

    return all(holds(one) for one in term if one.key in labels)
