"""ClusterQueue and Cohort: what a schema cannot say of them."""

from collections.abc import Iterator

from queueing.webhooks.findings import (
    Finding,
    Wire,
    dig,
    entries,
    forbidden,
    invalid,
    not_supported,
    of_definition,
)
from queueing.webhooks.quotas import Place, check_groups, check_weight

VARIANT_FLAVORS_MAX = 16


def check_cluster_queue(queue: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with a ClusterQueue, new or changed from `old`."""
    spec = queue.get("spec") or {}
    place = Place(
        path="spec.resourceGroups",
        has_parent=bool(spec.get("cohortName")),
        orphan="cohort",
        lending_within_nominal=True,
    )
    return [
        *check_groups(list(entries(spec, "resourceGroups")), place),
        *of_definition(_of_one_queue(spec, old)),
    ]


def check_cohort(cohort: Wire) -> list[Finding]:
    """Return all that is wrong with a Cohort."""
    spec = cohort.get("spec") or {}
    place = Place(
        path="spec.resourceGroups",
        has_parent=bool(spec.get("parentName")),
        orphan="parent",
        lending_within_nominal=False,
    )
    return [
        *check_groups(list(entries(spec, "resourceGroups")), place),
        *of_definition(_weight(spec)),
    ]


def check_flavors_of_checks(queue: Wire) -> list[Finding]:
    """Return the flavors that admission checks name and the queue does not have.

    Only asked on updates, and only with the gate RejectUpdatesToCQWithInvalidOnFlavors.
    """
    spec = queue.get("spec") or {}
    known = flavor_names(spec)
    path = "spec.admissionChecksStrategy.admissionChecks"
    return [
        not_supported(f"{path}[{index}].onFlavors[{place}]", flavor, known)
        for index, rule in enumerate(entries(spec, "admissionChecksStrategy", "admissionChecks"))
        for place, flavor in enumerate(rule.get("onFlavors") or ())
        if flavor not in known
    ]


def flavor_names(spec: Wire) -> list[str]:
    """Return the flavors of a queue in order of preference."""
    groups = entries(spec, "resourceGroups")
    return [str(one.get("name", "")) for group in groups for one in entries(group, "flavors")]


def _of_one_queue(spec: Wire, old: Wire | None) -> Iterator[Finding]:
    yield from _preemption(spec)
    yield from _fungibility(spec)
    yield from _weight(spec)
    yield from _concurrent_admission(spec)
    yield from _concurrent_admission_change(spec, dig(old, "spec", "concurrentAdmissionPolicy"))


def _weight(spec: Wire) -> Iterator[Finding]:
    return check_weight(dig(spec, "fairSharing", "weight"), "spec.fairSharing.weight")


def _preemption(spec: Wire) -> Iterator[Finding]:
    reclaim = dig(spec, "preemption", "reclaimWithinCohort") or "Never"
    borrow = dig(spec, "preemption", "borrowWithinCohort", "policy") or "Never"
    if reclaim == "Never" and borrow != "Never":
        told = "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never"
        yield invalid("spec.preemption", borrow, told)


def _fungibility(spec: Wire) -> Iterator[Finding]:
    fungibility = spec.get("flavorFungibility")
    preference = dig(fungibility, "preference")
    policies = (
        dig(fungibility, "whenCanBorrow") or "MayStopSearch",
        dig(fungibility, "whenCanPreempt") or "TryNextFlavor",
    )
    if preference and policies != ("TryNextFlavor", "TryNextFlavor"):
        told = "requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor"
        path = "spec.flavorFungibility.preference"
        yield invalid(path, preference, f'preference "{preference}" {told}')


def _concurrent_admission(spec: Wire) -> Iterator[Finding]:
    policy = spec.get("concurrentAdmissionPolicy")
    if not isinstance(policy, dict):
        return
    path = "spec.concurrentAdmissionPolicy"
    groups = entries(spec, "resourceGroups")
    if len(groups) != 1:
        told = "must have exactly one ResourceGroup when ConcurrentAdmissionPolicy is defined"
        yield invalid("spec.resourceGroups", len(groups), told)
    if spec.get("queueingStrategy") == "StrictFIFO":
        told = "StrictFIFO queueing strategy cannot be used when ConcurrentAdmissionPolicy is"
        yield forbidden("spec.queueingStrategy", f"{told} defined")
    names = flavor_names(spec)
    if len(names) > VARIANT_FLAVORS_MAX:
        told = f"cannot have more than {VARIANT_FLAVORS_MAX} resource flavors when"
        yield invalid("spec.resourceGroups", len(names), f"{told} ConcurrentAdmissionPolicy is set")
    last = dig(policy, "migration", "constraints", "lastAcceptableFlavorName")
    if last and last not in names:
        told = f"must be one of the flavors defined in the ClusterQueue: [{' '.join(names)}]"
        where = f"{path}.migration.constraints.lastAcceptableFlavorName"
        yield invalid(where, last, told)


def _concurrent_admission_change(spec: Wire, before: object) -> Iterator[Finding]:
    if before is not None and spec.get("concurrentAdmissionPolicy") != before:
        path = "spec.concurrentAdmissionPolicy"
        told = "concurrentAdmissionPolicy is immutable"
        yield invalid(path, dig(spec, "concurrentAdmissionPolicy", "migration", "mode"), told)
