"""The Configuration file → what decisions depend on: settings of the core, and resource rules."""

from collections.abc import Mapping
from types import MappingProxyType

from queueing.core.names import ResourceName
from queueing.core.selectors import Requirement, Selector
from queueing.core.settings import (
    GRAINS,
    AdmissionFairSharing,
    Compatibility,
    FairSharing,
    QuotaCheck,
    RequeuingTimestamp,
    Settings,
)
from queueing.core.topology.requests import Profile
from queueing.translate.transformations import (
    ResourceRules,
    Transformation,
    TransformationStrategy,
)
from queueing_api.config.v1beta2 import Configuration
from queueing_api.meta.v1 import LabelSelector

_ON = """
ManagedJobsNamespaceSelectorAlwaysRespected TLSOptions PartialAdmission FlavorFungibility
VisibilityOnDemand PrioritySortingWithinCohort FairSharingPreemptWithinNominal
FairSharingPrioritizeNonBorrowing MultiKueue TopologyAwareScheduling LocalQueueMetrics
TASProfileMixed AdmissionFairSharing TASFailedNodeReplacement ElasticJobsViaWorkloadSlices
TASFailedNodeReplacementFailFast TASReplaceNodeOnPodTermination
SkipReassignmentForPodOwnedWorkloads TASAssignmentsEncodingByHostnamePrefix KueueDRAIntegration
KueueDRAIntegrationExtendedResource KueueDRARejectWorkloadsWhenDRADisabled
KueueDRAIntegrationPartitionableDevices MultiKueueAdaptersForCustomJobs
MultiKueueKubeConfigPathValidation ReclaimablePods RemoveFinalizersWithStrictPatch
TASReplaceNodeOnNodeTaints AssignQueueLabelsForPods TASMultiLayerTopology
SchedulingEquivalenceHashing AdmissionGatedBy FinishOrphanedWorkloads
MultiKueueIncrementalDispatcherConfig MultiKueueIncrementalDispatcherRespectConfigOrder
QuotaCheckStrategy MetricForWorkloadCreationLatency WorkloadIdentifierAnnotations
WorkloadPriorityClassDefaulting MetricsForCohorts CleanupProvisioningRequestsOnEviction
TASHandleOverlappingFlavors UnadmittedWorkloadsObservability
TASRecomputeAssignmentWithinSchedulingCycle DeferRayServiceFinalizationForRedisCleanup
TASCacheNodeMatchResults TASCachingRemainingResources TASCacheTopologyTree
VectorizedResourceRequests WorkloadValidateResourcesAreNonNegative TASValidateWorkloadSliceSize
WorkloadValidationForPodSetMetadata LWSImmutableGroupSize FlavorFungibilityPreserveScanProgress
SkipAncestorCheckForDeletedWorkloads MultiKueueRemoteSpecSync
RecomputeAssignmentUponPreemptionTargetsOverlap PodIntegrationValidateGroupOwner
ValidateRayAndSparkJobUpdates
"""
_OFF = """
DisableWaitForPodsReady ElasticJobsViaWorkloadSlicesWithTAS TASBalancedPlacement
KueueDRAIntegrationConsumableCapacity WorkloadRequestUseMergePatch MultiKueueClusterProfile
FailureRecoveryPolicy CustomMetricLabels SparkApplicationIntegration
MultiKueueOrchestratedPreemption PriorityBoost ShortWorkloadNames
FastQuotaReleaseInPodIntegration RejectUpdatesToCQWithInvalidOnFlavors ConcurrentAdmission
TASRespectNodeAffinityPreferred MultiKueueManagerQuotaAutomation SchedulerLibraryIntegration
PrioritizePreemptorWorkloads UnadmittedWorkloadsExplicitStatus
TASReplaceNodeDueToNotReadyOverFixedTime
"""

GATES: Mapping[str, bool] = MappingProxyType(
    dict.fromkeys(_ON.split(), True) | dict.fromkeys(_OFF.split(), False)
)
"""Every feature gate of Kueue 0.20 and its default."""

ELASTIC_JOBS = "ElasticJobsViaWorkloadSlices"
"""The gate of jobs that grow and shrink while they run."""
CONCURRENT_ADMISSION = "ConcurrentAdmission"
"""The gate of workloads that wait in all flavors of a queue at once."""


def unknown_gates(configuration: Configuration) -> tuple[str, ...]:
    """Return the gates of the configuration that Kueue does not have, sorted."""
    return tuple(sorted(set(configuration.feature_gates) - GATES.keys()))


def is_enabled(configuration: Configuration, gate: str) -> bool:
    """Say whether a gate is on; raises KeyError for one that does not exist."""
    return configuration.feature_gates.get(gate, GATES[gate])


def settings_of(configuration: Configuration, *, compatibility: Compatibility) -> Settings:
    """Return what decisions depend on."""
    ready = configuration.wait_for_pods_ready
    return Settings(
        compatibility=compatibility,
        fair_sharing=_fair_sharing(configuration),
        admission_fair_sharing=_admission_fair_sharing(configuration, compatibility),
        quota_check=_quota_check(configuration),
        requeuing_timestamp=RequeuingTimestamp(ready.requeuing_strategy.timestamp),
        partial_admission=is_enabled(configuration, "PartialAdmission"),
        priority_sorting_within_cohort=is_enabled(configuration, "PrioritySortingWithinCohort"),
        flavor_fungibility=is_enabled(configuration, "FlavorFungibility"),
        equivalence_hashing=is_enabled(configuration, "SchedulingEquivalenceHashing"),
        recompute_overlapping=is_enabled(
            configuration, "RecomputeAssignmentUponPreemptionTargetsOverlap"
        ),
        preserve_scan_progress=is_enabled(configuration, "FlavorFungibilityPreserveScanProgress"),
        prioritize_preemptors=is_enabled(configuration, "PrioritizePreemptorWorkloads"),
        explicit_reasons=is_enabled(configuration, "UnadmittedWorkloadsObservability"),
        block_admission_until_pods_ready=ready.block_admission
        and not is_enabled(configuration, "DisableWaitForPodsReady"),
        concurrent_admission=is_enabled(configuration, CONCURRENT_ADMISSION),
        placement=Profile(
            mixed=is_enabled(configuration, "TASProfileMixed"),
            balanced=is_enabled(configuration, "TASBalancedPlacement"),
            respects_preferences=is_enabled(configuration, "TASRespectNodeAffinityPreferred"),
            heeds_annotations=compatibility is Compatibility.QUEUEING,
        ),
        overlapping_flavors=is_enabled(configuration, "TASHandleOverlappingFlavors"),
        grows_in_place=compatibility is Compatibility.QUEUEING
        or is_enabled(configuration, "ElasticJobsViaWorkloadSlicesWithTAS"),
        recompute_placement=is_enabled(
            configuration, "TASRecomputeAssignmentWithinSchedulingCycle"
        ),
        evicts_unplaceable=is_enabled(configuration, "TASFailedNodeReplacementFailFast"),
        keeps_places_of_pods=is_enabled(configuration, "SkipReassignmentForPodOwnedWorkloads"),
    )


def _quota_check(configuration: Configuration) -> QuotaCheck:
    if not is_enabled(configuration, "QuotaCheckStrategy"):
        return QuotaCheck.BLOCK_UNDECLARED
    return QuotaCheck(configuration.resources.quota_check_strategy)


def _fair_sharing(configuration: Configuration) -> FairSharing | None:
    if configuration.fair_sharing is None:
        return None
    return FairSharing(
        strategies=tuple(configuration.fair_sharing.preemption_strategies),
        prioritize_non_borrowing=is_enabled(configuration, "FairSharingPrioritizeNonBorrowing"),
        preempt_within_nominal=is_enabled(configuration, "FairSharingPreemptWithinNominal"),
    )


KUEUES_GRAINS = 1_000
"""Kueue cuts each penalty down to thousandths of a unit."""


def _admission_fair_sharing(
    configuration: Configuration, compatibility: Compatibility
) -> AdmissionFairSharing | None:
    found = configuration.admission_fair_sharing
    if found is None or not is_enabled(configuration, "AdmissionFairSharing"):
        return None
    kueue = compatibility is Compatibility.KUEUE
    return AdmissionFairSharing(
        half_life_s=found.usage_half_life_time,
        sampling_interval_s=found.usage_sampling_interval,
        weights={
            ResourceName(name): weight for name, weight in sorted(found.resource_weights.items())
        },
        grains=KUEUES_GRAINS if kueue else GRAINS,
    )


def rules_of(configuration: Configuration) -> ResourceRules:
    """Return which resources count, and as what."""
    found = configuration.resources
    return ResourceRules(
        excluded_prefixes=tuple(found.exclude_resource_prefixes),
        transformations={
            one.input: Transformation(
                outputs=dict(one.outputs),
                strategy=TransformationStrategy(one.strategy),
                multiply_by=one.multiply_by or "",
            )
            for one in found.transformations
        },
        boosts_priority=is_enabled(configuration, "PriorityBoost"),
        counts_reclaimable=is_enabled(configuration, "ReclaimablePods"),
        heeds_gates=is_enabled(configuration, "AdmissionGatedBy"),
        places_pods=is_enabled(configuration, "TopologyAwareScheduling"),
        confines_flavors=is_enabled(configuration, CONCURRENT_ADMISSION),
        slices_jobs=is_enabled(configuration, ELASTIC_JOBS),
    )


def managed_namespaces(configuration: Configuration) -> Selector:
    """Return whose Jobs are managed: by default all namespaces but the system's and our own."""
    return _selector(configuration.namespaces())


def measured_local_queues(configuration: Configuration) -> Selector | None:
    """Return which LocalQueues have metrics; None means all."""
    found = configuration.metrics.local_queue_metrics.local_queue_selector
    return _selector(found) if found is not None else None


def _selector(found: LabelSelector) -> Selector:
    equal = [
        Requirement(key=key, operator="In", values=(value,))
        for key, value in sorted(found.match_labels.items())
    ]
    terms = [
        Requirement(key=one.key, operator=str(one.operator), values=tuple(one.values))
        for one in found.match_expressions
    ]
    return Selector((*equal, *terms))
