"""Warnings about objects of a plan that contradict each other.

A reservation in a status is charged where it says, if that queue exists. These warnings say what
looks wrong with it, and why a queue that nobody stopped is inactive.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from queueing.core.admissibility import inactivity
from queueing.core.facts import (
    Admission,
    CheckFact,
    ClusterQueueFact,
    CohortFact,
    FlavorFact,
    StopPolicy,
    TopologyFact,
    WorkloadFact,
)
from queueing.core.names import CohortName, QueueName
from queueing.translate.contradictions import contradictions as contradicted
from queueing.translate.contradictions import offered_by

Queues = Mapping[QueueName, ClusterQueueFact]


def contradictions(facts: Iterable[object]) -> list[str]:
    """Return sentences about inactive queues, checks that cause it, and wrong reservations."""
    known = list(facts)
    queues = {one.name: one for one in known if isinstance(one, ClusterQueueFact)}
    return [*_inactive(known), *_unattended(known), *_wrongly_held(known, queues)]


def _inactive(known: Iterable[object]) -> Iterator[str]:
    """Say of each queue that is inactive for another reason than that it was stopped, why."""
    known = list(known)
    flavors = {one.name: one for one in known if isinstance(one, FlavorFact)}
    checks = {one.name: one for one in known if isinstance(one, CheckFact)}
    topologies = {one.name: one for one in known if isinstance(one, TopologyFact)}
    parents = {one.name: one.parent for one in known if isinstance(one, CohortFact)}
    for queue in known:
        if isinstance(queue, ClusterQueueFact):
            found = inactivity(
                replace(queue, stop_policy=StopPolicy.NONE),
                flavors=flavors,
                checks=checks,
                topologies=topologies,
                cyclic=_leads_in_a_circle(queue.cohort, parents),
            )
            if found is not None:
                yield f"ClusterQueue {queue.name} is inactive: {found[1]}"


def _unattended(known: Iterable[object]) -> Iterator[str]:
    """Say of each check that makes a queue inactive what would make it active."""
    known = list(known)
    asked = {rule.name for one in known if isinstance(one, ClusterQueueFact) for rule in one.checks}
    for check in known:
        if isinstance(check, CheckFact) and check.name in asked and not check.active:
            yield (
                f"AdmissionCheck {check.name} is not active: its controller, {check.controller},"
                " has not written the condition Active=True into its status; write it there to"
                " plan as if it had"
            )


def _leads_in_a_circle(
    cohort: CohortName | None, parents: Mapping[CohortName, CohortName | None]
) -> bool:
    seen: set[CohortName] = set()
    while cohort is not None and cohort not in seen:
        seen.add(cohort)
        cohort = parents.get(cohort)
    return cohort is not None


def _wrongly_held(known: Iterable[object], queues: Queues) -> list[str]:
    return [
        f"Workload {one.key}: {what}"
        for one in known
        if isinstance(one, WorkloadFact) and one.admission is not None and one.holds_quota
        for what in _of(one, one.admission, queues)
    ]


def _of(workload: WorkloadFact, admission: Admission, queues: Queues) -> Iterator[str]:
    if workload.misconfigured:
        yield workload.misconfigured
    queue = queues.get(admission.cluster_queue)
    if queue is None:
        yield (
            f"status.admission.clusterQueue: {admission.cluster_queue} is not given,"
            " so what the workload holds counts nowhere"
        )
        return
    yield from contradicted(workload, admission, offered_by(queue))
