"""The effect of each feature gate of Kueue: for warnings at start, and for the page of gates."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from queueing.translate.configuration import GATES


class Fate(StrEnum):
    """What a gate does here."""

    HONOURED = "honoured"
    FIXED_ON = "fixed on"
    REFUSED = "refused"


HONOURED: Mapping[str, str] = MappingProxyType(
    {
        "AdmissionFairSharing": "LocalQueues of a ClusterQueue take turns by their past usage",
        "AdmissionGatedBy": "the annotation `admission-gated-by` keeps a workload out of its queue",
        "ConcurrentAdmission": "ClusterQueues with a `concurrentAdmissionPolicy` admit workloads"
        " through variants, one for each flavor; off, the policy is ignored",
        "DisableWaitForPodsReady": "nobody is evicted because pods do not get ready",
        "ElasticJobsViaWorkloadSlices": "jobs with the annotation `elastic-job`"
        " grow and shrink while they run; off, the annotation is ignored",
        "ElasticJobsViaWorkloadSlicesWithTAS": "pods of an elastic job that changes its size keep"
        " their places; always on, but in Kueue mode",
        "FairSharingPreemptWithinNominal": "within its quota a queue preempts regardless of shares",
        "FairSharingPrioritizeNonBorrowing": "workloads that do not borrow go first",
        "FlavorFungibility": "`flavorFungibility` decides when the next flavor is tried",
        "FlavorFungibilityPreserveScanProgress": "a pending Workload that changes continues with"
        " the next flavor if its requests are the same; off, it starts with the first. In Kueue"
        " mode so do heads that lost their quota to others, and the next try after any change",
        "KueueDRAIntegration": "claims of users are counted by `deviceClassMappings`;"
        " DeviceFlavors do not depend on it",
        "KueueDRAIntegrationConsumableCapacity": "mappings may count by capacity; off, claims of"
        " such classes wait",
        "KueueDRAIntegrationExtendedResource": "the extended resource of a device class counts"
        " as devices of the class; off, by its own name",
        "KueueDRAIntegrationPartitionableDevices": "mappings may count by counter; off, claims of"
        " such classes wait",
        "KueueDRARejectWorkloadsWhenDRADisabled": "without `KueueDRAIntegration` workloads with"
        " claims of users stay pending; off, they are admitted and their claims use no quota",
        "LocalQueueMetrics": "metrics per LocalQueue",
        "MetricForWorkloadCreationLatency": "`kueue_workload_creation_latency_seconds`",
        "MetricsForCohorts": "metrics per cohort",
        "PartialAdmission": "a Job may start with fewer pods",
        "PrioritizePreemptorWorkloads": "preemptors whose victims are being evicted go first",
        "PriorityBoost": "the annotation `priority-boost` is added to the priority",
        "PrioritySortingWithinCohort": "heads of a cohort are ordered by priority before age",
        "QuotaCheckStrategy": "`resources.quotaCheckStrategy`",
        "ReclaimablePods": "quota of finished pods is released before the Job ends",
        "RecomputeAssignmentUponPreemptionTargetsOverlap": "a preemptor whose victims are"
        " taken by another searches again; off, it waits",
        "RejectUpdatesToCQWithInvalidOnFlavors": "an update of a ClusterQueue whose checks"
        " name flavors that it does not have is refused",
        "SchedulingEquivalenceHashing": "equivalent pending workloads are evaluated once",
        "SparkApplicationIntegration": "SparkApplications are queued if their framework is listed",
        "SkipReassignmentForPodOwnedWorkloads": "a Workload of a single pod keeps its node, also"
        " when that fails",
        "TASBalancedPlacement": "pods with a preferred level are spread evenly over its domains",
        "TASFailedNodeReplacement": "pods of a failed node get another one",
        "TASFailedNodeReplacementFailFast": "a Workload is evicted if there is no other node for"
        " its pods; off, it waits for one",
        "TASHandleOverlappingFlavors": "what is placed through one flavor counts in others that"
        " select the same nodes",
        "TASProfileMixed": "unconstrained pods fill the fullest domains first; off, as all others",
        "TASRecomputeAssignmentWithinSchedulingCycle": "a workload whose place others of its round"
        " took is placed again at once; off, in the next round",
        "TASReplaceNodeDueToNotReadyOverFixedTime": "a node that is not ready for 30 s has failed,"
        " even if pods run there",
        "TASReplaceNodeOnNodeTaints": "a node with a taint that pods do not tolerate has failed"
        " them when they have ended",
        "TASReplaceNodeOnPodTermination": "a node that is not ready has failed when its pods have"
        " ended; off, after 30 s",
        "TASRespectNodeAffinityPreferred": "preferred node affinity comes before capacity",
        "TopologyAwareScheduling": "pods are placed by topology; off, topologies are ignored",
        "UnadmittedWorkloadsObservability": "specific reasons in `QuotaReserved`, and their metric",
        "VisibilityOnDemand": "the visibility API",
        "WorkloadPriorityClassDefaulting": "Jobs get the class named `default`",
    }
)
"""Gates that have an effect, and what they turn on."""
FIXED_ON: Mapping[str, str] = MappingProxyType(
    {
        "AssignQueueLabelsForPods": "pods get labels with the names of their queues",
        "FinishOrphanedWorkloads": "a Workload whose Job is gone is finished",
        "ManagedJobsNamespaceSelectorAlwaysRespected": "locked in Kueue as well",
        "RemoveFinalizersWithStrictPatch": "every patch has the resourceVersion that it changes",
        "SkipAncestorCheckForDeletedWorkloads": "a deleted Workload's ancestors are not read",
        "TASAssignmentsEncodingByHostnamePrefix": "hosts are stored by prefix if that is shorter",
        "TASCacheNodeMatchResults": "an internal memory without a choice",
        "TASCacheTopologyTree": "an internal memory without a choice",
        "TASCachingRemainingResources": "an internal memory without a choice",
        "TASMultiLayerTopology": "slices of pods may have up to three layers",
        "TLSOptions": "locked in Kueue as well",
        "VectorizedResourceRequests": "an internal representation without a choice",
        "WorkloadIdentifierAnnotations": "a Workload names its Job",
        "WorkloadRequestUseMergePatch": "every write is a merge patch with a resourceVersion",
        "WorkloadValidateResourcesAreNonNegative": "negative requests are refused",
        "WorkloadValidationForPodSetMetadata": "labels of pod sets are validated",
    }
)
"""Gates whose feature is always on, and what it is."""
LOCKED = frozenset({"ManagedJobsNamespaceSelectorAlwaysRespected", "TLSOptions"})
"""Gates that must not be turned off: Kueue does not start then, either."""

_ABSENT: Mapping[str, str] = MappingProxyType(
    {
        "MultiKueue": "there is only one cluster",
        "CleanupProvisioningRequests": "ProvisioningRequests are not made",
        "DeferRayService": "the quota of a RayService is free when it is gone",
        "ValidateRayAndSpark": "fields of Ray and Spark are not validated",
        "CustomMetricLabels": "metrics have only Kueue's own labels",
        "FailureRecoveryPolicy": "pods that are stuck in termination are not failed by force",
        "SchedulerLibrary": "pods are not placed on nodes",
        "ShortWorkloadNames": "names of Workloads have up to 253 characters",
    }
    | dict.fromkeys(
        (
            "FastQuotaReleaseInPodIntegration",
            "LWS",
            "PodIntegration",
        ),
        "pods, and what is queued through its pods, are not queued",
    )
)
"""Prefixes of gates whose feature does not exist here, and why."""


def fate(gate: str) -> tuple[Fate, str]:
    """Return the effect of a gate, and what it is about."""
    if gate in HONOURED:
        return Fate.HONOURED, HONOURED[gate]
    if gate in FIXED_ON:
        return Fate.FIXED_ON, FIXED_ON[gate]
    absent = (why for start, why in _ABSENT.items() if gate.startswith(start))
    return Fate.REFUSED, next(absent, "the feature does not exist here")


def locked_off(gates: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the gates that are turned off although they must not be."""
    return tuple(sorted(name for name in LOCKED if not gates.get(name, True)))


def without_effect(gates: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the gates that differ from their default and have no effect."""
    return tuple(
        name
        for name in sorted(gates)
        if name in GATES and gates[name] is not GATES[name] and fate(name)[0] is not Fate.HONOURED
    )


def page() -> str:
    """Return the page of all gates, without its header."""
    lines = []
    for name in sorted(GATES):
        what, about = fate(name)
        default = "on" if GATES[name] else "off"
        lines.append(f"| `{name}` | {default} | {what} | {about} |")
    rows = "\n".join(lines)
    return f"""
# Feature gates

All gates of Kueue 0.20 are accepted, so that a Configuration written for Kueue works unchanged.
With a name that Kueue does not have, the controller does not start. Set gates as `featureGates` in
the Configuration or with `--feature-gates`, not both.

- *honoured*: on and off have the same effect as in Kueue.
- *fixed on*: it cannot be turned off. If Kueue locks the gate as well, the controller does not
  start with the gate off; otherwise a warning at the start names it.
- *refused*: changing the default has no effect, and a warning at the start names the gate.

| Gate | Default | In queueing | What it does |
|---|---|---|---|
{rows}
"""
