"""Decides the next write for a parent and its variants. Pure.

The order keeps what must hold: the parent runs only by a variant that holds its quota, and that
variant keeps the quota until the parent has stopped.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from queueing.controller.variants.family import (
    Blocked,
    Family,
    flavor_of,
    is_condemned,
    is_running,
)
from queueing.core.names import FlavorName
from queueing.lifecycle.steps import EvictionReason
from queueing.translate import labels
from queueing.translate.jobs.variants import follows_parent, has_variants
from queueing.translate.wire.workloads import Workload

UNGATED_FOR_S = 300.0
"""Seconds after which the next variant may preempt, if the one before it got nothing by that."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Label a Workload as a parent."""

    parent: Workload


@dataclass(frozen=True, slots=True)
class Make:
    """Create the variants in these flavors."""

    parent: Workload
    flavors: tuple[FlavorName, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    """Delete the variant of a flavor that the ClusterQueue does not have any more."""

    variant: Workload
    flavor: FlavorName


@dataclass(frozen=True, slots=True)
class FollowParent:
    """Write what the parent asks for now into a variant."""

    variant: Workload
    parent: Workload


@dataclass(frozen=True, slots=True)
class LetGo:
    """Remove our finalizer from a variant that has finished, or is being deleted."""

    variant: Workload


@dataclass(frozen=True, slots=True)
class Release:
    """Release the quota of an evicted variant, by which nothing runs."""

    variant: Workload


@dataclass(frozen=True, slots=True)
class Turn:
    """Activate or deactivate a variant."""

    variant: Workload
    active: bool
    why: str


@dataclass(frozen=True, slots=True)
class EvictParent:
    """Stop a parent whose variant does not hold its quota for it any longer."""

    parent: Workload
    reason: EvictionReason
    message: str


@dataclass(frozen=True, slots=True)
class EvictWithParent:
    """Evict the variant by which an evicted parent runs, for the same reason."""

    variant: Workload
    parent: Workload


@dataclass(frozen=True, slots=True)
class EvictOutdated:
    """Evict a variant that reserves for other pods than its parent asks for by now."""

    variant: Workload


@dataclass(frozen=True, slots=True)
class AdmitParent:
    """Give a parent the admission of a variant."""

    parent: Workload
    variant: Workload


@dataclass(frozen=True, slots=True)
class Move:
    """Give a parent the places that the variant by which it runs has now."""

    parent: Workload
    variant: Workload


@dataclass(frozen=True, slots=True)
class FinishVariant:
    """Finish a variant as its parent has."""

    variant: Workload
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Mirror:
    """Copy the reclaimable pods, or `PodsReady`, of a parent to the variant by which it runs."""

    variant: Workload
    parent: Workload


@dataclass(frozen=True, slots=True)
class Ungate:
    """Open the preemption gate of a variant."""

    variant: Workload


@dataclass(frozen=True, slots=True)
class Later:
    """Look again at a time, in seconds since the epoch."""

    at: float


ParentStep = Mark | Make | EvictParent | EvictWithParent | AdmitParent | Move
VariantStep = (
    Drop | FollowParent | LetGo | Release | Turn | EvictOutdated | FinishVariant | Mirror | Ungate
)
Step = ParentStep | VariantStep | Later


def next_step(family: Family, blocked: Blocked, now: float) -> Step | None:
    """Return the next step; None when there is none, or something must happen first."""
    return next(_steps(family, blocked, now), None)


def _steps(family: Family, blocked: Blocked, now: float) -> Iterator[Step]:
    parent, finished = family.parent, family.parent.status.true_condition("Finished")
    yield from _farewells(family)
    if finished is not None:
        for one in family.variants:
            if not (one.finished or one.metadata.deleting):
                yield FinishVariant(one, finished.reason, finished.message)
        return
    if parent.metadata.deleting:
        return
    if not has_variants(parent.metadata):
        if not parent.status.is_true("QuotaReserved"):
            yield Mark(parent)
        return  # one that holds quota itself ends as it began
    yield from _evictions(family)
    yield from _turns(family)
    yield from _admission(family)
    yield from _completed(family)  # later, as what the server refuses is next until it is allowed
    yield from _gate(family, blocked, now)


def _farewells(family: Family) -> Iterator[Step]:
    """Let variants go that have finished, or are deleted and by which nothing runs."""
    for one in family.variants:
        over = one.finished
        leaves = one.metadata.deleting and family.source is not one
        if (over or leaves) and labels.RESOURCE_IN_USE in one.metadata.finalizers:
            yield LetGo(one)


def _completed(family: Family) -> Iterator[Step]:
    """Make the variants those of the flavors that there are, and what their parent asks for."""
    known = {flavor_of(one) for one in family.variants}
    missing = tuple(one for one in family.flavors if one not in known)
    if missing:
        yield Make(family.parent, missing)
    for one in family.variants:
        if one.metadata.deleting:
            continue
        flavor = flavor_of(one)
        if family.flavors and flavor not in family.flavors:
            yield Drop(one, flavor)
        elif not follows_parent(one, family.parent):
            yield FollowParent(one, family.parent)


def _evictions(family: Family) -> Iterator[Step]:
    """Stop a parent whose variant leaves, and let the variant's quota go when it has stopped."""
    parent, source = family.parent, family.source
    runs = parent.status.is_true("QuotaReserved")
    stops = runs and parent.status.is_true("Evicted")
    for one in family.variants:
        if not one.status.is_true("QuotaReserved"):
            continue
        if one is not source:
            if one.status.is_true("Evicted"):
                yield Release(one)
            elif _is_outdated(one, parent):
                yield EvictOutdated(one)
        elif one.status.is_true("Evicted") and not stops:
            message = "Admitted variant was evicted"
            yield EvictParent(parent, EvictionReason.VARIANT_EVICTED, message)
    if runs and not stops and not is_running(source):
        yield EvictParent(parent, EvictionReason.CONCURRENT_ADMISSION, "No variant is running")
    if stops and source is not None and is_running(source) and parent.spec.active:
        yield EvictWithParent(source, parent)


def _is_outdated(variant: Workload, parent: Workload) -> bool:
    """Say whether a variant that holds quota would let its parent run other pods than these."""
    return not variant.finished and variant.spec.pod_sets != parent.spec.pod_sets


def _turns(family: Family) -> Iterator[Step]:
    """Activate the variants that may still win, and deactivate all others."""
    for one in family.variants:
        wanted, why = _wanted(family, one)
        stays = wanted is one.spec.active or (wanted and is_condemned(one))
        if not (stays or one.metadata.deleting):
            yield Turn(one, wanted, why)


def _wanted(family: Family, variant: Workload) -> tuple[bool, str]:
    """Say whether a variant is to be active, and why."""
    parent, best = family.parent.metadata.key, family.admitted
    if not family.is_wanted:
        return False, f'Parent Workload "{parent}" not active'
    if best is None:
        return True, "no other Variant being admitted"
    if variant is best:
        return variant.spec.active, ""
    named = f'"{best.metadata.key}"'
    if family.migration.retains_first:
        return False, f"RetainFirstAdmission: another Variant {named} is admitted"
    last = family.migration.last_acceptable
    if family.rank(variant) > family.rank(best):
        return False, f"being lower priority than admitted Variant {named}"
    if family.is_below_last(variant):
        told = f'being below lastAcceptableFlavor: "{last}" and another Variant admitted {named}'
        return False, told
    higher = f"higher priority than admitted Variant {named}"
    if last is not None:
        return True, f'being at least lastAcceptableFlavor: "{last}" and {higher}'
    return True, f"being {higher}"


def _admission(family: Family) -> Iterator[Step]:
    """Let a parent run by the most favorable variant, and tell this one how it runs."""
    parent, source = family.parent, family.source
    if not parent.status.is_true("QuotaReserved"):
        best = next(filter(is_running, family.variants), None)
        if best is not None and family.is_wanted:
            yield AdmitParent(parent, best)
    elif source is not None and is_running(source):
        stays = not parent.status.is_true("Evicted")
        if stays and source.status.admission != parent.status.admission:
            yield Move(parent, source)
        if not _mirrors(source, parent):
            yield Mirror(source, parent)


def _mirrors(variant: Workload, parent: Workload) -> bool:
    mine, theirs = variant.status, parent.status
    ready = "PodsReady"
    told = theirs.condition(ready)
    same = told is None or mine.is_true(ready) is theirs.is_true(ready)
    return same and mine.reclaimable_pods == theirs.reclaimable_pods


def _gate(family: Family, blocked: Blocked, now: float) -> Iterator[Step]:
    """Let the most favorable variant preempt that is kept from it by its gate alone.

    One before it that was not judged yet may fit, so it is waited for.
    """
    opened = [at for one in family.variants for at in _opened(one)]
    for one in family.variants:
        status = one.status
        if status.is_true("QuotaReserved") or not one.spec.active or one.metadata.deleting:
            continue
        is_blocked = blocked.get(one.metadata.uid)
        if is_blocked is None:
            return
        if is_blocked:
            due = max(opened, default=now - UNGATED_FOR_S) + UNGATED_FOR_S
            yield Later(due) if due > now else Ungate(one)
            return


def _opened(variant: Workload) -> Iterator[float]:
    for gate in variant.status.preemption_gates:
        if gate.name == labels.VARIANT_GATE and gate.position == "Open":
            yield gate.changed
