"""Which terms hold for a workload: its Jobs' policy, within the bounds of its ClusterQueue."""

from collections.abc import Sequence
from dataclasses import dataclass

from queueing.controller.objects import Objects
from queueing.controller.saves import Saves
from queueing.core.checkpoints.terms import UNBOUNDED_BY_ADMIN, Terms, problem, within
from queueing.core.names import Key
from queueing.translate.checkpoints import names
from queueing.translate.checkpoints.inbound import BadTermsError, terms
from queueing.translate.checkpoints.wire import CheckpointPolicy
from queueing.translate.wire.jobs import Job
from queueing.translate.wire.workloads import Workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """The terms as they hold, and what is wrong with a policy that is named."""

    terms: Terms | None = None
    policy: str = ""
    retain: int = 3
    complaint: str = ""


NONE = Effective()


def effective(objects: Objects, saves: Saves, workload: Workload, jobs: Sequence[Job]) -> Effective:
    """Return what holds; without a policy that can be used there are no terms."""
    bounds = _of_queue(objects, saves, workload)
    name = next(
        (found for job in jobs if (found := job.metadata.annotations.get(names.POLICY))), ""
    )
    if not name:
        return bounds
    own = _read(saves, Key(f"{workload.metadata.namespace}/{name}"))
    if own.terms is None:
        complaint = "; ".join(one for one in (own.complaint, bounds.complaint) if one)
        return Effective(
            terms=bounds.terms, policy=bounds.policy, retain=bounds.retain, complaint=complaint
        )
    held = within(own.terms, bounds.terms or UNBOUNDED_BY_ADMIN)
    wrong = problem(held)
    if wrong:
        return Effective(complaint=f"CheckpointPolicy {own.policy} within its bounds: {wrong}")
    return Effective(terms=held, policy=own.policy, retain=own.retain, complaint=bounds.complaint)


def _of_queue(objects: Objects, saves: Saves, workload: Workload) -> Effective:
    admission = workload.status.admission
    queue = objects.cluster_queues.get(admission.cluster_queue) if admission else None
    name = queue.metadata.annotations.get(names.POLICY, "") if queue is not None else ""
    if not name:
        return NONE
    if name.count("/") != 1:
        return Effective(
            complaint=f"ClusterQueue {admission.cluster_queue if admission else ''}: annotation"
            f" {names.POLICY}: {name!r} must be namespace/name of a CheckpointPolicy"
        )
    return _read(saves, Key(name))


def _read(saves: Saves, key: Key) -> Effective:
    found = saves.policies.get(key)
    if found is None:
        return Effective(complaint=f"CheckpointPolicy {key} is not there")
    try:
        read = terms(found.spec)
    except BadTermsError as error:
        return Effective(complaint=f"CheckpointPolicy {key} cannot be used: {error}")
    wrong = refused(saves, read) or _rehearsed_in_vain(found)
    if wrong:
        return Effective(complaint=f"CheckpointPolicy {key} cannot be used: {wrong}")
    return Effective(terms=read, policy=key, retain=found.spec.retain)


def _rehearsed_in_vain(found: CheckpointPolicy) -> str:
    return next(
        (
            one.message
            for one in found.status.conditions
            if one.reason == names.INVALID_TEMPLATE
            and one.observed_generation == found.metadata.generation
        ),
        "",
    )


def refused(saves: Saves, found: Terms) -> str:
    """Say why the operator does not let terms be used; empty when they may be."""
    if found.driver in saves.drivers:
        return ""
    return (
        f"spec.driver: {found.driver} is switched off here; an operator switches it on in"
        " checkpointDrivers of the QueueingConfiguration"
    )
