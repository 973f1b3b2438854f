"""The kinds that tests speak of: where they live in the API."""

from dataclasses import dataclass

KUEUE = "kueue.x-k8s.io/v1beta2"


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of the API: its group and version, plural name, and scope."""

    api_version: str
    plural: str
    namespaced: bool

    def path(self, namespace: str | None, name: str | None = None, subresource: str = "") -> str:
        """Return the URL path of a collection, an object, or a subresource of it."""
        parts = ["/apis" if "/" in self.api_version else "/api", self.api_version]
        if self.namespaced and namespace:
            parts += ["namespaces", namespace]
        parts += [part for part in (self.plural, name, subresource) if part]
        return "/".join(parts)


KINDS: dict[str, Resource] = {
    "Namespace": Resource("v1", "namespaces", namespaced=False),
    "Node": Resource("v1", "nodes", namespaced=False),
    "Pod": Resource("v1", "pods", namespaced=True),
    "ServiceAccount": Resource("v1", "serviceaccounts", namespaced=True),
    "ConfigMap": Resource("v1", "configmaps", namespaced=True),
    "Secret": Resource("v1", "secrets", namespaced=True),
    "Service": Resource("v1", "services", namespaced=True),
    "Event": Resource("v1", "events", namespaced=True),
    "ResourceQuota": Resource("v1", "resourcequotas", namespaced=True),
    "LimitRange": Resource("v1", "limitranges", namespaced=True),
    "Job": Resource("batch/v1", "jobs", namespaced=True),
    "JobSet": Resource("jobset.x-k8s.io/v1alpha2", "jobsets", namespaced=True),
    "Deployment": Resource("apps/v1", "deployments", namespaced=True),
    "StatefulSet": Resource("apps/v1", "statefulsets", namespaced=True),
    "Lease": Resource("coordination.k8s.io/v1", "leases", namespaced=True),
    "PriorityClass": Resource("scheduling.k8s.io/v1", "priorityclasses", namespaced=False),
    "RuntimeClass": Resource("node.k8s.io/v1", "runtimeclasses", namespaced=False),
    "ClusterRole": Resource("rbac.authorization.k8s.io/v1", "clusterroles", namespaced=False),
    "ClusterRoleBinding": Resource(
        "rbac.authorization.k8s.io/v1", "clusterrolebindings", namespaced=False
    ),
    "Role": Resource("rbac.authorization.k8s.io/v1", "roles", namespaced=True),
    "RoleBinding": Resource("rbac.authorization.k8s.io/v1", "rolebindings", namespaced=True),
    "CustomResourceDefinition": Resource(
        "apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False
    ),
    "MutatingAdmissionPolicy": Resource(
        "admissionregistration.k8s.io/v1", "mutatingadmissionpolicies", namespaced=False
    ),
    "MutatingAdmissionPolicyBinding": Resource(
        "admissionregistration.k8s.io/v1", "mutatingadmissionpolicybindings", namespaced=False
    ),
    "ComputeDomain": Resource("resource.nvidia.com/v1beta1", "computedomains", namespaced=True),
    "DeviceClass": Resource("resource.k8s.io/v1", "deviceclasses", namespaced=False),
    "ResourceSlice": Resource("resource.k8s.io/v1", "resourceslices", namespaced=False),
    "ResourceClaim": Resource("resource.k8s.io/v1", "resourceclaims", namespaced=True),
    "ResourceClaimTemplate": Resource(
        "resource.k8s.io/v1", "resourceclaimtemplates", namespaced=True
    ),
    "ClusterQueue": Resource(KUEUE, "clusterqueues", namespaced=False),
    "Cohort": Resource(KUEUE, "cohorts", namespaced=False),
    "LocalQueue": Resource(KUEUE, "localqueues", namespaced=True),
    "ResourceFlavor": Resource(KUEUE, "resourceflavors", namespaced=False),
    "Workload": Resource(KUEUE, "workloads", namespaced=True),
    "WorkloadPriorityClass": Resource(KUEUE, "workloadpriorityclasses", namespaced=False),
    "AdmissionCheck": Resource(KUEUE, "admissionchecks", namespaced=False),
    "Topology": Resource(KUEUE, "topologies", namespaced=False),
    "DeviceFlavor": Resource("queueing.dev/v1alpha1", "deviceflavors", namespaced=False),
    "Checkpoint": Resource("queueing.dev/v1alpha1", "checkpoints", namespaced=True),
    "CheckpointPolicy": Resource("queueing.dev/v1alpha1", "checkpointpolicies", namespaced=True),
    "CreditPolicy": Resource("queueing.dev/v1alpha1", "creditpolicies", namespaced=False),
    "CreditGrant": Resource("queueing.dev/v1alpha1", "creditgrants", namespaced=False),
    "CreditBudget": Resource("queueing.dev/v1alpha1", "creditbudgets", namespaced=False),
    "QueueableKind": Resource("queueing.dev/v1alpha1", "queueablekinds", namespaced=False),
    "UsageRecord": Resource("queueing.dev/v1alpha1", "usagerecords", namespaced=False),
    "CreditAccount": Resource("queueing.dev/v1alpha1", "creditaccounts", namespaced=False),
}
