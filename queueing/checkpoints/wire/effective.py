"""Which terms are effective for a workload: its Jobs' policy, bounded by its ClusterQueue's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from queueing.checkpoints.rules.terms import (
    UNBOUNDED_BY_ADMIN,
    USUAL_DRIVERS,
    Driver,
    Terms,
    faults,
    within,
)
from queueing.checkpoints.wire import names
from queueing.checkpoints.wire.inbound import BadTermsError, terms
from queueing.checkpoints.wire.objects import CheckpointPolicy
from queueing.core.names import Key
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.queues import ClusterQueue


@dataclass(frozen=True, slots=True, kw_only=True)
class Effective:
    """The effective terms, and what is wrong with a policy that is named."""

    terms: Terms | None = None
    """None when no policy is named, or none of those can be used."""
    policy: str = ""
    """Key of the policy that the terms come from."""
    retain: int = 3
    """How many Checkpoints of a Workload are kept."""
    complaint: str = ""
    """Why a policy that is named cannot be used; empty otherwise."""


NONE = Effective()


class Annotated(Protocol):
    """An object that may name a policy."""

    @property
    def metadata(self) -> Meta: ...


@dataclass(frozen=True, slots=True)
class CheckpointPolicies:
    """All CheckpointPolicies, and the drivers that the operator allows."""

    found: Mapping[Key, CheckpointPolicy]
    drivers: frozenset[Driver] = USUAL_DRIVERS

    def effective(
        self, namespace: str, queue: ClusterQueue | None, jobs: Sequence[Annotated]
    ) -> Effective:
        """Return the effective terms of Jobs that are one workload, in a namespace and queue.

        The first Job that names a policy counts. Without one, or with one that cannot be used, the
        policy of the ClusterQueue holds.
        """
        bounds = self._of_queue(queue)
        name = next(
            (found for job in jobs if (found := job.metadata.annotations.get(names.POLICY))), ""
        )
        if not name:
            return bounds
        own = self._read(Key(f"{namespace}/{name}"))
        if own.terms is None:
            complaint = "; ".join(one for one in (own.complaint, bounds.complaint) if one)
            return Effective(
                terms=bounds.terms, policy=bounds.policy, retain=bounds.retain, complaint=complaint
            )
        held = within(own.terms, bounds.terms or UNBOUNDED_BY_ADMIN)
        wrong = next(faults(held), None)
        if wrong is not None:
            return Effective(complaint=f"CheckpointPolicy {own.policy} within its bounds: {wrong}")
        return Effective(
            terms=held, policy=own.policy, retain=own.retain, complaint=bounds.complaint
        )

    def _of_queue(self, queue: ClusterQueue | None) -> Effective:
        name = queue.metadata.annotations.get(names.POLICY, "") if queue is not None else ""
        if queue is None or not name:
            return NONE
        if name.count("/") != 1:
            return Effective(
                complaint=f"ClusterQueue {queue.metadata.name}: annotation"
                f" {names.POLICY}: {name!r} must be namespace/name of a CheckpointPolicy"
            )
        return self._read(Key(name))

    def _read(self, key: Key) -> Effective:
        found = self.found.get(key)
        if found is None:
            return Effective(complaint=f"CheckpointPolicy {key} is not there")
        try:
            read = terms(found.spec)
        except BadTermsError as error:
            return Effective(complaint=f"CheckpointPolicy {key} cannot be used: {error}")
        wrong = refused(self.drivers, read) or _rehearsed_in_vain(found)
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


def refused(drivers: frozenset[Driver], found: Terms) -> str:
    """Return why the operator does not allow the driver of terms; empty when it is allowed."""
    if found.driver in drivers:
        return ""
    return (
        f"spec.driver: {found.driver} is switched off here; an operator switches it on in"
        " checkpointDrivers of the QueueingConfiguration"
    )
