"""A parent with its variants, as they are when somebody looks. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queueing.core.facts import ClusterQueueFact
from queueing.core.names import FlavorName
from queueing.core.variants import Migration, is_below_last, place
from queueing.lifecycle.rules import ON_HOLD
from queueing.translate.jobs.variants import runs_by, variant_of
from queueing.translate.wire.workloads import Workload

_DEAD = "DeactivatedDueTo"


@dataclass(frozen=True, slots=True)
class Family:
    """A parent, its variants by flavor, and what their ClusterQueue says."""

    parent: Workload
    variants: Sequence[Workload]
    """In the order of `flavors`; then those of flavors that the queue does not have."""
    flavors: Sequence[FlavorName]
    """The flavors of the queue, in order of preference."""
    migration: Migration

    @property
    def is_wanted(self) -> bool:
        """Whether the parent is to run: it is active, and its object asks for pods."""
        return self.parent.spec.active and not self.parent.status.is_set_aside(ON_HOLD)

    @property
    def admitted(self) -> Workload | None:
        """The variant in the most favorable flavor of those that are admitted."""
        return next((one for one in self.variants if one.status.is_true("Admitted")), None)

    @property
    def source(self) -> Workload | None:
        """The variant by whose admission the parent runs; None if it does not run by any."""
        status = self.parent.status
        if status.is_true("Finished") or not status.is_true("QuotaReserved"):
            return None
        return next((one for one in self.variants if runs_by(self.parent, one)), None)

    def rank(self, variant: Workload) -> int:
        """Return how favorable a variant's flavor is, from 0 on."""
        return place(flavor_of(variant), self.flavors)

    def is_below_last(self, variant: Workload) -> bool:
        """Say whether a variant's flavor is not worth a migration."""
        return is_below_last(flavor_of(variant), self.flavors, self.migration)


def family_of(
    parent: Workload, variants: Sequence[Workload], queue: ClusterQueueFact | None
) -> Family:
    """Return a parent with its variants; without a ClusterQueue with what is known of them."""
    flavors = queue.preferred if queue is not None else ()
    known = queue.migration if queue is not None else None
    in_order = sorted(variants, key=lambda one: (place(flavor_of(one), flavors), flavor_of(one)))
    return Family(parent, in_order, flavors, known or Migration())


def flavor_of(variant: Workload) -> FlavorName:
    """Return the flavor of a variant; raises ValueError for another Workload."""
    found = variant_of(variant.metadata)
    if found is None:
        msg = f"{variant.metadata.key} is not a variant"
        raise ValueError(msg)
    return found.flavor


def is_running(variant: Workload | None) -> bool:
    """Say whether a parent may run by a variant."""
    if variant is None:
        return False
    status = variant.status
    leaves = status.is_true("Evicted") or status.is_true("Finished") or variant.metadata.deleting
    return status.is_true("Admitted") and status.is_true("QuotaReserved") and not leaves


def is_condemned(variant: Workload) -> bool:
    """Say whether a variant was deactivated for good: an admission check rejected it, say."""
    evicted = variant.status.true_condition("Evicted")
    return evicted is not None and evicted.reason.startswith(_DEAD)


Blocked = Mapping[str, bool]
"""Uid of a variant that waits → whether only its preemption gate keeps it from preempting others;
variants that were not judged yet are missing."""
