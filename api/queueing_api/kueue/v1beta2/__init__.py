"""`kueue.x-k8s.io/v1beta2`, the stored version: one module per kind.

Every field carries its meaning, default and limits; the CRDs are generated from here.
"""

from queueing_api.kueue.v1beta2.admission_check import AdmissionCheck
from queueing_api.kueue.v1beta2.cluster_queue import ClusterQueue
from queueing_api.kueue.v1beta2.cohort import Cohort
from queueing_api.kueue.v1beta2.local_queue import LocalQueue
from queueing_api.kueue.v1beta2.multikueue import MultiKueueCluster, MultiKueueConfig
from queueing_api.kueue.v1beta2.provisioning import ProvisioningRequestConfig
from queueing_api.kueue.v1beta2.resource_flavor import ResourceFlavor
from queueing_api.kueue.v1beta2.topology import Topology
from queueing_api.kueue.v1beta2.workload import Workload
from queueing_api.kueue.v1beta2.workload_priority_class import WorkloadPriorityClass

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
