"""What types cannot say: one table of CEL rules per kind.

A rule stands at a path of the schema (`[]` steps into the items of a list) and is given there as
`self`. Rules that need more than the API server's cost limit for CRDs (comparing quantities of all
flavors, comparing pod templates) are not here: admission policies and webhooks check them.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

FIELD_IS_IMMUTABLE: Final = "field is immutable"


@dataclass(frozen=True, slots=True)
class Rule:
    """A demand on the object at `path`; `expression` is true when it is met.

    `message_expression` builds the message from the object; `message` is what is said without it.
    """

    path: str
    expression: str
    message: str
    message_expression: str = ""


def _holds(condition: str, of: str) -> str:
    """Say in CEL that `of` has a condition that is true."""
    return (
        f"has({of}.conditions) &&"
        f" {of}.conditions.exists(c, c.type == '{condition}' && c.status == 'True')"
    )


def _held(condition: str) -> str:
    """Say in CEL that the object, before the write, had a condition that was true."""
    return f"(has(oldSelf.status) && {_holds(condition, 'oldSelf.status')})"


def _unchanged(field: str, at: str = "") -> str:
    """Say in CEL that an optional field is as it was: absent still, or equal."""
    new, old = f"self{at}.{field}", f"oldSelf{at}.{field}"
    return f"has({new}) == has({old}) && (!has({new}) || {new} == {old})"


def _without_parent(parent: str, word: str) -> tuple[Rule, ...]:
    """Refuse limits of borrowing and lending where nobody is there to share with."""
    return tuple(
        Rule(
            "spec",
            f"has(self.{parent}) || !has(self.resourceGroups) || self.resourceGroups.all(g,"
            f" g.flavors.all(f, f.resources.all(r, !has(r.{limit}))))",
            f"{limit} must be nil when {word} is empty",
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
        "self.flavors.all(f, size(f.resources) == size(self.coveredResources))",
        "flavors must have the same number of resources as the coveredResources",
    ),
    Rule(
        "spec.resourceGroups[]",
        "size(self.flavors) * size(self.coveredResources) <= 512",
        "number of flavor-resource combinations in a resourceGroup must be ≤ 512",
    ),
    Rule(
        "spec.resourceGroups[]",
        "self.flavors.all(f, f.resources.map(r, r.name) == self.coveredResources)",
        "the names of a flavor's resources must match the name in coveredResources, in its order",
    ),
)
_WEIGHT: Final = Rule(
    "spec.fairSharing",
    "!has(self.weight) || quantity(string(self.weight)).compareTo(quantity('0')) == 0"
    " || quantity(string(self.weight)).isGreaterThan(quantity('1n'))",
    "When not 0, weight must be > 10e-9",
)

_CONCURRENT: Final = "!has(self.concurrentAdmissionPolicy)"
_CONSTRAINTS: Final = "self.concurrentAdmissionPolicy.migration.constraints"
_WHEN_CONCURRENT: Final = "when ConcurrentAdmissionPolicy is defined"
CLUSTER_QUEUE: Final = (
    *_without_parent("cohortName", "cohort"),
    *_GROUPS,
    _WEIGHT,
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
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || (has(self.resourceGroups) && size(self.resourceGroups) == 1)",
        f"must have exactly one ResourceGroup {_WHEN_CONCURRENT}",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || !has(self.resourceGroups)"
        " || self.resourceGroups.all(g, size(g.flavors) <= 16)",
        f"cannot have more than 16 resource flavors {_WHEN_CONCURRENT}",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || self.queueingStrategy != 'StrictFIFO'",
        f"StrictFIFO queueing strategy cannot be used {_WHEN_CONCURRENT}",
    ),
    Rule(
        "spec",
        f"!has(oldSelf.concurrentAdmissionPolicy) || ({_unchanged('concurrentAdmissionPolicy')})",
        "concurrentAdmissionPolicy is immutable",
    ),
    Rule(
        "spec",
        f"{_CONCURRENT} || !has({_CONSTRAINTS}) || !has({_CONSTRAINTS}.lastAcceptableFlavorName)"
        " || !has(self.resourceGroups) || self.resourceGroups.exists(g, g.flavors.exists("
        f"f, f.name == {_CONSTRAINTS}.lastAcceptableFlavorName))",
        "lastAcceptableFlavorName must be one of the flavors defined in the ClusterQueue",
    ),
)
COHORT: Final = (*_without_parent("parentName", "parent"), *_GROUPS, _WEIGHT)
LOCAL_QUEUE: Final = (Rule("spec.clusterQueue", "self == oldSelf", FIELD_IS_IMMUTABLE), _WEIGHT)
ADMISSION_CHECK: Final = (Rule("spec.controllerName", "self == oldSelf", FIELD_IS_IMMUTABLE),)

_EFFECTS: Final = "'NoSchedule', 'PreferNoSchedule', 'NoExecute'"
RESOURCE_FLAVOR: Final = (
    Rule(
        "spec",
        "!has(self.topologyName) || (has(self.nodeLabels) && size(self.nodeLabels) >= 1)",
        "at least one nodeLabel is required when topology is set",
    ),
    Rule(
        "spec",
        f"!has(oldSelf.topologyName) || ({_unchanged('topologyName')})",
        "topologyName is immutable when topologyName is set",
    ),
    Rule(
        "spec.nodeTaints[]",
        f"self.effect in [{_EFFECTS}]",
        f"supported taint effect values: {_EFFECTS}",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.operator) || self.operator in ['Equal', 'Exists']",
        "supported toleration values: 'Equal'(default), 'Exists'",
    ),
    Rule(
        "spec.tolerations[]",
        "has(self.key) || (has(self.operator) && self.operator == 'Exists')",
        "operator must be Exists when 'key' is empty, which means 'match all values and all keys'",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.operator) || self.operator != 'Exists' || !has(self.value) || self.value == ''",
        "a value must be empty when 'operator' is 'Exists'",
    ),
    Rule(
        "spec.tolerations[]",
        "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        "effect must be 'NoExecute' when 'tolerationSeconds' is set",
    ),
    Rule(
        "spec.tolerations[]",
        f"!has(self.effect) || self.effect in ['', {_EFFECTS}]",
        f"supported taint effect values: {_EFFECTS}",
    ),
)

_HOSTNAME: Final = "nodeLabel == 'kubernetes.io/hostname'"
TOPOLOGY: Final = (
    Rule(
        "spec.levels",
        "self.all(level, self.exists_one(other, other.nodeLabel == level.nodeLabel))",
        "levels must be unique: no two may have the same nodeLabel",
    ),
    Rule(
        "spec.levels",
        f"!self.exists(level, level.{_HOSTNAME}) || self[size(self) - 1].{_HOSTNAME}",
        "the kubernetes.io/hostname label can only be used at the lowest level of topology",
    ),
    Rule(
        "spec.levels",
        "self == oldSelf || (self[size(self) - 1]."
        f"{_HOSTNAME} && oldSelf[size(oldSelf) - 1].{_HOSTNAME})",
        "levels are immutable unless kubernetes.io/hostname is the lowest level",
    ),
)

# Rules on the whole Workload compare the spec first: a status update then costs almost nothing.
WORKLOAD: Final = (
    Rule(
        "",
        f"({_unchanged('queueName', '.spec')}) || !{_held('QuotaReserved')}",
        FIELD_IS_IMMUTABLE,
    ),
    Rule(
        "",
        f"({_unchanged('priorityClassRef', '.spec')}) || !{_held('QuotaReserved')}"
        " || (has(self.spec.priorityClassRef) && has(oldSelf.spec.priorityClassRef)"
        " && self.spec.priorityClassRef.kind == 'WorkloadPriorityClass'"
        " && oldSelf.spec.priorityClassRef.kind == 'WorkloadPriorityClass')",
        FIELD_IS_IMMUTABLE,
    ),
    Rule(
        "",
        f"({_unchanged('maximumExecutionTimeSeconds', '.spec')}) || !{_held('Admitted')}",
        "maximumExecutionTimeSeconds is immutable while admitted",
    ),
    Rule(
        "",
        "!has(self.status) || !has(self.status.admission)"
        " || size(self.status.admission.podSetAssignments) == size(self.spec.podSets)",
        "podSetAssignments must have the same number of podSets as the spec",
    ),
    Rule(
        "spec",
        "self.podSets.filter(p, has(p.minCount)).size() <= 1",
        "at most one podSet can use minCount",
    ),
    Rule(
        "spec",
        "!has(self.priorityClassRef) || has(self.priority)",
        "priority should not be nil when priorityClassRef is set",
    ),
    Rule(
        "spec.podSets[]",
        "!has(self.minCount) || self.minCount <= self.count",
        "minCount should be positive and less or equal to count",
    ),
    Rule(
        "spec.priorityClassRef",
        "(self.group == 'kueue.x-k8s.io') == (self.kind == 'WorkloadPriorityClass')",
        "a WorkloadPriorityClass is of group kueue.x-k8s.io, a PriorityClass of scheduling.k8s.io",
    ),
    Rule(
        "status",
        f"has(self.admission) || !({_holds('QuotaReserved', 'self')})",
        "admission must be set while the QuotaReserved condition is true",
    ),
    Rule(
        "status",
        "!has(self.clusterName) || !has(oldSelf.clusterName)"
        " || self.clusterName == oldSelf.clusterName",
        "clusterName is immutable once set",
    ),
    Rule(
        "status",
        "!has(self.clusterName) || !has(self.nominatedClusterNames)"
        " || size(self.nominatedClusterNames) == 0",
        "clusterName and nominatedClusterNames are mutually exclusive",
    ),
    Rule(
        "status",
        "!has(self.clusterName) || has(oldSelf.clusterName)"
        " || (has(oldSelf.nominatedClusterNames)"
        " && self.clusterName in oldSelf.nominatedClusterNames)",
        "when setting clusterName it must be one of the nominatedClusterNames",
    ),
)

RULES: Final = MappingProxyType(
    {
        "AdmissionCheck": ADMISSION_CHECK,
        "ClusterQueue": CLUSTER_QUEUE,
        "Cohort": COHORT,
        "LocalQueue": LOCAL_QUEUE,
        "ResourceFlavor": RESOURCE_FLAVOR,
        "Topology": TOPOLOGY,
        "Workload": WORKLOAD,
    }
)
