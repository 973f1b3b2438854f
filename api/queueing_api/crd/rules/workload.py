"""Rules of Workloads.

The API server runs them at every write, so they are few, and those on the whole object compare the
spec first: a status update then costs almost nothing.
"""

from typing import Final

from queueing_api.crd.rules.rule import FIELD_IS_IMMUTABLE, Rule, held, holds, unchanged

_COMMON: Final = (
    Rule(
        "",
        f"({unchanged('queueName', '.spec')}) || !{held('QuotaReserved')}",
        FIELD_IS_IMMUTABLE,
        field=".spec.queueName",
    ),
    Rule(
        "",
        f"({unchanged('maximumExecutionTimeSeconds', '.spec')}) || !{held('Admitted')}",
        "maximumExecutionTimeSeconds is immutable while admitted",
        field=".spec.maximumExecutionTimeSeconds",
    ),
    Rule(
        "",
        "!has(self.status) || !has(self.status.admission)"
        " || size(self.status.admission.podSetAssignments) == size(self.spec.podSets)",
        "podSetAssignments must have the same number of podSets as the spec",
        field=".status.admission.podSetAssignments",
    ),
    Rule(
        "spec",
        "self.podSets.filter(p, has(p.minCount)).size() <= 1",
        "at most one podSet can use minCount",
        field=".podSets",
    ),
    Rule(
        "spec.podSets[]",
        "!has(self.minCount) || self.minCount <= self.count",
        "minCount should be positive and less or equal to count",
        field=".minCount",
    ),
    Rule(
        "status",
        f"has(self.admission) || !({holds('QuotaReserved', 'self')})",
        "admission must be set while the QuotaReserved condition is true",
        field=".admission",
    ),
    Rule(
        "status",
        "!has(self.clusterName) || !has(oldSelf.clusterName)"
        " || self.clusterName == oldSelf.clusterName",
        "clusterName is immutable once set",
        field=".clusterName",
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
        field=".clusterName",
    ),
)

_PLACED: Final = "status.admission.podSetAssignments[].topologyAssignment"
_TOPOLOGY_ASSIGNMENT: Final = (
    Rule(
        _PLACED,
        "self.slices.all(s, size(s.valuesPerLevel) == size(self.levels))",
        "valuesPerLevel must have the same length as the number of levels"
        " in this TopologyAssignment",
        field=".slices",
    ),
    Rule(
        f"{_PLACED}.slices[]",
        "!has(self.podCounts.individual) || size(self.podCounts.individual) == self.domainCount",
        "podCounts.individual must have length equal to domainCount",
        field=".podCounts",
    ),
    Rule(
        f"{_PLACED}.slices[]",
        "self.valuesPerLevel.all(v, !has(v.individual)"
        " || size(v.individual.roots) == self.domainCount)",
        "valuesPerLevel.individual, if set, must have roots of length equal to domainCount"
        " of this TopologyAssignmentSlice",
        field=".valuesPerLevel",
    ),
)

WORKLOAD: Final = (
    *_COMMON,
    *_TOPOLOGY_ASSIGNMENT,
    Rule(
        "",
        f"({unchanged('priorityClassRef', '.spec')}) || !{held('QuotaReserved')}"
        " || (has(self.spec.priorityClassRef) && has(oldSelf.spec.priorityClassRef)"
        " && self.spec.priorityClassRef.kind == 'WorkloadPriorityClass'"
        " && oldSelf.spec.priorityClassRef.kind == 'WorkloadPriorityClass')",
        FIELD_IS_IMMUTABLE,
        field=".spec.priorityClassRef",
    ),
    Rule(
        "spec",
        "!has(self.priorityClassRef) || has(self.priority)",
        "priority should not be nil when priorityClassRef is set",
        field=".priority",
    ),
    Rule(
        "spec.priorityClassRef",
        "(self.group == 'kueue.x-k8s.io') == (self.kind == 'WorkloadPriorityClass')",
        "a WorkloadPriorityClass is of group kueue.x-k8s.io, a PriorityClass of scheduling.k8s.io",
    ),
)

_OF_CLASS: Final = "kueue.x-k8s.io/workloadpriorityclass"
WORKLOAD_V1BETA1: Final = (
    *_COMMON,
    Rule(
        "",
        f"({unchanged('priorityClassSource', '.spec')}) || !{held('QuotaReserved')}",
        FIELD_IS_IMMUTABLE,
        field=".spec.priorityClassSource",
    ),
    Rule(
        "",
        f"({unchanged('priorityClassName', '.spec')}) || !{held('QuotaReserved')}"
        " || (has(self.spec.priorityClassName) && has(oldSelf.spec.priorityClassName)"
        " && has(self.spec.priorityClassSource)"
        f" && self.spec.priorityClassSource == '{_OF_CLASS}')",
        FIELD_IS_IMMUTABLE,
        field=".spec.priorityClassName",
    ),
    Rule(
        "spec",
        "!has(self.priorityClassName) || has(self.priority)",
        "priority should not be nil when priorityClassName is set",
        field=".priority",
    ),
)
