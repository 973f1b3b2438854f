"""`kueue.x-k8s.io/v1beta1`, served beside the stored version for manifests that still name it.

Only what was said differently is defined here; everything else is the types of v1beta2.
"""

from queueing_api.kueue.v1beta1.cluster_queue import ClusterQueue
from queueing_api.kueue.v1beta1.local_queue import LocalQueue
from queueing_api.kueue.v1beta1.multikueue import MultiKueueCluster, MultiKueueConfig
from queueing_api.kueue.v1beta1.unchanged import (
    AdmissionCheck,
    Cohort,
    ProvisioningRequestConfig,
    ResourceFlavor,
    Topology,
    WorkloadPriorityClass,
)
from queueing_api.kueue.v1beta1.workload import Workload

__all__ = [
    "AdmissionCheck",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "MultiKueueCluster",
    "MultiKueueConfig",
    "ProvisioningRequestConfig",
    "ResourceFlavor",
    "Topology",
    "Workload",
    "WorkloadPriorityClass",
]
