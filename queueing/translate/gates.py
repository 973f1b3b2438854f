"""What becomes of each feature gate of Kueue: what a start says of it, and the page of gates."""

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
        "AdmissionFairSharing": "LocalQueues take turns by what they used",
        "AdmissionGatedBy": "the annotation `admission-gated-by` keeps a workload out of its queue",
        "DisableWaitForPodsReady": "nobody is evicted because pods do not get ready",
        "ElasticJobsViaWorkloadSlices": "an elastic Job is refused; off, its annotation is ignored",
        "FairSharingPreemptWithinNominal": "within its own quota a queue preempts whatever shares",
        "FairSharingPrioritizeNonBorrowing": "who does not borrow goes before who does",
        "FlavorFungibility": "`flavorFungibility` decides when the next flavor is tried",
        "FlavorFungibilityPreserveScanProgress": "a waiting Workload that changes goes on with the"
        " next flavor, if it still asks the same; off, it starts with the first",
        "KueueDRAIntegration": "claims of one's own are counted by `deviceClassMappings`;"
        " DeviceFlavors do not depend on it",
        "KueueDRAIntegrationConsumableCapacity": "mappings may count by capacity; off, claims of"
        " such classes wait",
        "KueueDRAIntegrationExtendedResource": "the resource that stands for a class counts as"
        " devices of the class; off, by its own name",
        "KueueDRAIntegrationPartitionableDevices": "mappings may count by counter; off, claims of"
        " such classes wait",
        "KueueDRARejectWorkloadsWhenDRADisabled": "without `KueueDRAIntegration` work with claims"
        " of its own waits; off, it is admitted and its claims are charged to nobody",
        "LocalQueueMetrics": "metrics per LocalQueue",
        "MetricForWorkloadCreationLatency": "`kueue_workload_creation_latency_seconds`",
        "MetricsForCohorts": "metrics per cohort",
        "PartialAdmission": "a Job may start with fewer pods",
        "PrioritizePreemptorWorkloads": "heads whose victims are on their way out go first",
        "PriorityBoost": "the annotation `priority-boost` is added to the priority",
        "PrioritySortingWithinCohort": "heads of a cohort go by priority before they go by age",
        "QuotaCheckStrategy": "`resources.quotaCheckStrategy`",
        "ReclaimablePods": "quota of pods that are done is given back early",
        "RecomputeAssignmentUponPreemptionTargetsOverlap": "a head whose victims are taken"
        " searches anew; off, it waits",
        "RejectUpdatesToCQWithInvalidOnFlavors": "an update of a ClusterQueue is refused whose"
        " checks name flavors that it does not have",
        "SchedulingEquivalenceHashing": "workloads judged alike are judged once",
        "TopologyAwareScheduling": "topology annotations are refused; off, topologies mean nothing",
        "UnadmittedWorkloadsObservability": "granular reasons of `QuotaReserved`, and their metric",
        "VisibilityOnDemand": "the visibility API",
        "WorkloadPriorityClassDefaulting": "Jobs get the class named `default`",
    }
)
"""Gates that are read, and what they switch."""
FIXED_ON: Mapping[str, str] = MappingProxyType(
    {
        "AssignQueueLabelsForPods": "pods carry the names of their queues",
        "FinishOrphanedWorkloads": "a Workload whose Job is gone is finished",
        "ManagedJobsNamespaceSelectorAlwaysRespected": "locked in Kueue as well",
        "RemoveFinalizersWithStrictPatch": "every patch names the version that it changes",
        "SkipAncestorCheckForDeletedWorkloads": "a Workload that goes asks for no ancestor",
        "TLSOptions": "locked in Kueue as well",
        "VectorizedResourceRequests": "how amounts are kept is nobody's to choose",
        "WorkloadIdentifierAnnotations": "a Workload says which Job it is of",
        "WorkloadRequestUseMergePatch": "every write is a merge patch with a resourceVersion",
        "WorkloadValidateResourcesAreNonNegative": "negative requests are refused",
        "WorkloadValidationForPodSetMetadata": "labels of pod sets are validated",
    }
)
"""Gates that cannot be switched off."""
LOCKED = frozenset({"ManagedJobsNamespaceSelectorAlwaysRespected", "TLSOptions"})
"""Those with which Kueue, too, does not start when they are off."""

_ABSENT: Mapping[str, str] = MappingProxyType(
    {
        "MultiKueue": "there is one cluster",
        "TAS": "pods are not placed by topology",
        "ElasticJobs": "elastic Jobs are refused",
    }
)
"""Beginnings of names of what is not there."""


def fate(gate: str) -> tuple[Fate, str]:
    """Say what becomes of a gate, and what it is about."""
    if gate in HONOURED:
        return Fate.HONOURED, HONOURED[gate]
    if gate in FIXED_ON:
        return Fate.FIXED_ON, FIXED_ON[gate]
    absent = (why for start, why in _ABSENT.items() if gate.startswith(start))
    return Fate.REFUSED, next(absent, "what it switches is not there")


def locked_off(gates: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the gates that are switched off although Kueue, too, would refuse to start then."""
    return tuple(sorted(name for name in LOCKED if not gates.get(name, True)))


def without_effect(gates: Mapping[str, bool]) -> tuple[str, ...]:
    """Return the gates that are switched against their default to no effect."""
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

All gates of Kueue 0.20 are known by name, so that a Configuration written for it is accepted as it
is; a name that Kueue does not have ends the start. They are given as `featureGates` in the
Configuration or with `--feature-gates`, not both.

- *honoured*: on and off do what they do in Kueue.
- *fixed on*: it cannot be switched off. Where Kueue locks a gate, switching it off ends the start.
- *refused*: switching it against its default has no effect, and a warning at the start names it.

| Gate | Default | Here | What it is about |
|---|---|---|---|
{rows}
"""
