"""Rules of the kinds that share out quota: ClusterQueue, Cohort, LocalQueue."""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule, unchanged


def _without_parent(parent: str, word: str) -> tuple[Rule, ...]:
    """Refuse limits of borrowing and lending where nobody is there to share with."""
    return tuple(
        Rule(
            "spec",
            f"has(self.{parent}) || !has(self.resourceGroups) || self.resourceGroups.all(g,"
            f" g.flavors.all(f, f.resources.all(r, !has(r.{limit}))))",
            f"{limit} must be nil when {word} is empty",
            at=f".resourceGroups[].flavors[].resources[].{limit}",
        )
        for limit in ("borrowingLimit", "lendingLimit")
    )


def _total(field: str, word: str) -> Rule:
    return Rule(
        "spec.resourceGroups",
        f"self.map(g, size(g.{field})).sum() <= 256",
        f"total number of {word} across all resourceGroups must be ≤ 256",
    )


_GROUPS: Final = (
    _total("flavors", "flavors"),
    _total("coveredResources", "covered resources"),
    Rule(
        "spec.resourceGroups[]",
        "size(self.flavors) * size(self.coveredResources) <= 512",
        "number of flavor-resource combinations in a resourceGroup must be ≤ 512",
    ),
    Rule(
        "spec.resourceGroups[]",
        "self.flavors.all(f, size(f.resources) == size(self.coveredResources))",
        "flavors must have the same number of resources as the coveredResources",
        at=".flavors[].resources",
    ),
    Rule(
        "spec.resourceGroups[]",
        "self.flavors.all(f, f.resources.map(r, r.name) == self.coveredResources)",
        "the names of a flavor's resources must match the name in coveredResources, in its order",
        at=".flavors[].resources",
    ),
)
_WEIGHT: Final = (
    Rule(
        "spec.fairSharing",
        "!has(self.weight) || !quantity(string(self.weight)).isLessThan(quantity('0'))",
        "weight must be greater than or equal to 0",
        field=".weight",
    ),
    Rule(
        "spec.fairSharing",
        "!has(self.weight) || quantity(string(self.weight)).compareTo(quantity('0')) == 0"
        " || quantity(string(self.weight)).isGreaterThan(quantity('1n'))",
        "When not 0, weight must be > 10e-9",
        field=".weight",
    ),
)

_CONCURRENT: Final = "!has(self.concurrentAdmissionPolicy)"
_MIGRATION: Final = "self.concurrentAdmissionPolicy.migration"
_CONSTRAINTS: Final = f"{_MIGRATION}.constraints"
_WHEN_CONCURRENT: Final = "when ConcurrentAdmissionPolicy is defined"
_CLUSTER_QUEUE: Final = (
    *_GROUPS,
    *_WEIGHT,
    Rule(
        "spec.preemption",
        "(has(self.reclaimWithinCohort) && self.reclaimWithinCohort != 'Never')"
        " || !has(self.borrowWithinCohort) || !has(self.borrowWithinCohort.policy)"
        " || self.borrowWithinCohort.policy == 'Never'",
        "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
    ),
    Rule(
        "spec.flavorFungibility",
        "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor'"
        " && self.whenCanPreempt == 'TryNextFlavor')",
        "preference requires both whenCanBorrow and whenCanPreempt to be TryNextFlavor",
        "'preference \"' + self.preference + '\" requires both whenCanBorrow and whenCanPreempt"
        " to be TryNextFlavor'",
        field=".preference",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || (has(self.resourceGroups) && size(self.resourceGroups) == 1)",
        f"must have exactly one ResourceGroup {_WHEN_CONCURRENT}",
        at=".resourceGroups",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || !has(self.resourceGroups)"
        " || self.resourceGroups.all(g, size(g.flavors) <= 16)",
        f"cannot have more than 16 resource flavors {_WHEN_CONCURRENT}",
        at=".resourceGroups[].flavors",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || self.queueingStrategy != 'StrictFIFO'",
        f"StrictFIFO queueing strategy cannot be used {_WHEN_CONCURRENT}",
        at=".queueingStrategy",
    ),
    Rule(
        "spec",
        unchanged("concurrentAdmissionPolicy"),
        "concurrentAdmissionPolicy is immutable",
        field=".concurrentAdmissionPolicy",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || !has({_CONSTRAINTS}) || {_MIGRATION}.mode == 'TryPreferredFlavors'",
        'may only be set when migration.mode is "TryPreferredFlavors"',
        at=".concurrentAdmissionPolicy.migration.constraints",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || !has({_CONSTRAINTS}) || !has({_CONSTRAINTS}.lastAcceptableFlavorName)"
        " || !has(self.resourceGroups) || self.resourceGroups.exists(g, g.flavors.exists("
        f"f, f.name == {_CONSTRAINTS}.lastAcceptableFlavorName))",
        "lastAcceptableFlavorName must be one of the flavors defined in the ClusterQueue",
        at=".concurrentAdmissionPolicy.migration.constraints.lastAcceptableFlavorName",
    ),
)
CLUSTER_QUEUE: Final = (*_without_parent("cohortName", "cohort"), *_CLUSTER_QUEUE)
CLUSTER_QUEUE_V1BETA1: Final = (
    *_without_parent("cohort", "cohort"),
    *_CLUSTER_QUEUE,
    Rule(
        "spec",
        "!has(self.admissionChecks) || size(self.admissionChecks) == 0"
        " || !has(self.admissionChecksStrategy)",
        "either admissionChecks or admissionChecksStrategy can be set, but not both",
        field=".admissionChecks",
    ),
)
COHORT: Final = (*_without_parent("parentName", "parent"), *_GROUPS, *_WEIGHT)
LOCAL_QUEUE: Final = (Rule("spec.clusterQueue", "self == oldSelf", FIELD_IS_IMMUTABLE),)
"""Its weight is free, as in Kueue: what is not above 0 makes its usage infinite."""
