"""Addresses of objects and collections, and the table of all resources that we touch."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Resource:
    """One kind of object as the API server serves it; `group` is empty for the core group."""

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """The text of an object's `apiVersion` field."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def within(self, namespace: str = "") -> "Target":
        """Address the collection in one namespace, or in all of them when none is named."""
        return Target(self, namespace)

    def at(self, name: str, namespace: str = "", subresource: str = "") -> "Target":
        """Address one object, or one of its subresources such as `status`."""
        if self.namespaced != bool(namespace):
            need = "needs a namespace" if self.namespaced else "has no namespace"
            raise ValueError(f"{self.kind} {name!r} {need}, got {namespace!r}")
        return Target(self, namespace, name, subresource)


@dataclass(frozen=True, slots=True)
class Target:
    """The address of a collection (no name) or of an object."""

    resource: Resource
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def path(self) -> str:
        """The URL path, percent-encoded; RBAC names may hold colons, which stay."""
        resource = self.resource
        root = f"/apis/{resource.group}" if resource.group else "/api"
        parts = [root, resource.version]
        if self.namespace:
            parts += ["namespaces", quote(self.namespace, safe="")]
        parts.append(resource.plural)
        if self.name:
            parts.append(quote(self.name, safe=":"))
        if self.subresource:
            parts.append(self.subresource)
        return "/".join(parts)

    @property
    def label(self) -> str:
        """Kind and name, for messages."""
        where = "/".join(part for part in (self.namespace, self.name, self.subresource) if part)
        return f"{self.resource.kind} {where}" if where else f"all {self.resource.plural}"


KUEUE_GROUP = "kueue.x-k8s.io"
QUEUEING_GROUP = "queueing.dev"
_RBAC = "rbac.authorization.k8s.io"
_DRA = "resource.k8s.io"
_POLICY = "admissionregistration.k8s.io"

PODS = Resource("", "v1", "pods", "Pod")
NODES = Resource("", "v1", "nodes", "Node", namespaced=False)
NAMESPACES = Resource("", "v1", "namespaces", "Namespace", namespaced=False)
CONFIG_MAPS = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS = Resource("", "v1", "secrets", "Secret")
SERVICES = Resource("", "v1", "services", "Service")
SERVICE_ACCOUNTS = Resource("", "v1", "serviceaccounts", "ServiceAccount")
LIMIT_RANGES = Resource("", "v1", "limitranges", "LimitRange")
JOBS = Resource("batch", "v1", "jobs", "Job")
LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")
EVENTS = Resource("events.k8s.io", "v1", "events", "Event")
PRIORITY_CLASSES = Resource(
    "scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False
)
RUNTIME_CLASSES = Resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False)
DEPLOYMENTS = Resource("apps", "v1", "deployments", "Deployment")
STATEFUL_SETS = Resource("apps", "v1", "statefulsets", "StatefulSet")

WORKLOADS = Resource(KUEUE_GROUP, "v1beta2", "workloads", "Workload")
LOCAL_QUEUES = Resource(KUEUE_GROUP, "v1beta2", "localqueues", "LocalQueue")
CLUSTER_QUEUES = Resource(KUEUE_GROUP, "v1beta2", "clusterqueues", "ClusterQueue", namespaced=False)
COHORTS = Resource(KUEUE_GROUP, "v1beta2", "cohorts", "Cohort", namespaced=False)
RESOURCE_FLAVORS = Resource(
    KUEUE_GROUP, "v1beta2", "resourceflavors", "ResourceFlavor", namespaced=False
)
WORKLOAD_PRIORITY_CLASSES = Resource(
    KUEUE_GROUP, "v1beta2", "workloadpriorityclasses", "WorkloadPriorityClass", namespaced=False
)
ADMISSION_CHECKS = Resource(
    KUEUE_GROUP, "v1beta2", "admissionchecks", "AdmissionCheck", namespaced=False
)
TOPOLOGIES = Resource(KUEUE_GROUP, "v1beta2", "topologies", "Topology", namespaced=False)

CREDIT_POLICIES = Resource(
    QUEUEING_GROUP, "v1alpha1", "creditpolicies", "CreditPolicy", namespaced=False
)
CREDIT_ACCOUNTS = Resource(
    QUEUEING_GROUP, "v1alpha1", "creditaccounts", "CreditAccount", namespaced=False
)
CREDIT_GRANTS = Resource(
    QUEUEING_GROUP, "v1alpha1", "creditgrants", "CreditGrant", namespaced=False
)
CREDIT_BUDGETS = Resource(
    QUEUEING_GROUP, "v1alpha1", "creditbudgets", "CreditBudget", namespaced=False
)
USAGE_RECORDS = Resource(
    QUEUEING_GROUP, "v1alpha1", "usagerecords", "UsageRecord", namespaced=False
)
CHECKPOINT_POLICIES = Resource(QUEUEING_GROUP, "v1alpha1", "checkpointpolicies", "CheckpointPolicy")
CHECKPOINTS = Resource(QUEUEING_GROUP, "v1alpha1", "checkpoints", "Checkpoint")
DEVICE_FLAVORS = Resource(
    QUEUEING_GROUP, "v1alpha1", "deviceflavors", "DeviceFlavor", namespaced=False
)
QUEUEABLE_KINDS = Resource(
    QUEUEING_GROUP, "v1alpha1", "queueablekinds", "QueueableKind", namespaced=False
)

DEVICE_CLASSES = Resource(_DRA, "v1", "deviceclasses", "DeviceClass", namespaced=False)
RESOURCE_SLICES = Resource(_DRA, "v1", "resourceslices", "ResourceSlice", namespaced=False)
RESOURCE_CLAIMS = Resource(_DRA, "v1", "resourceclaims", "ResourceClaim")
RESOURCE_CLAIM_TEMPLATES = Resource(_DRA, "v1", "resourceclaimtemplates", "ResourceClaimTemplate")
COMPUTE_DOMAINS = Resource("resource.nvidia.com", "v1beta1", "computedomains", "ComputeDomain")

CUSTOM_RESOURCE_DEFINITIONS = Resource(
    "apiextensions.k8s.io",
    "v1",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    namespaced=False,
)
API_SERVICES = Resource(
    "apiregistration.k8s.io", "v1", "apiservices", "APIService", namespaced=False
)
MUTATING_WEBHOOKS = Resource(
    _POLICY,
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)
VALIDATING_WEBHOOKS = Resource(
    _POLICY,
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
MUTATING_POLICIES = Resource(
    _POLICY, "v1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", namespaced=False
)
MUTATING_POLICY_BINDINGS = Resource(
    _POLICY,
    "v1",
    "mutatingadmissionpolicybindings",
    "MutatingAdmissionPolicyBinding",
    namespaced=False,
)
VALIDATING_POLICIES = Resource(
    _POLICY, "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False
)
VALIDATING_POLICY_BINDINGS = Resource(
    _POLICY,
    "v1",
    "validatingadmissionpolicybindings",
    "ValidatingAdmissionPolicyBinding",
    namespaced=False,
)
CLUSTER_ROLES = Resource(_RBAC, "v1", "clusterroles", "ClusterRole", namespaced=False)
CLUSTER_ROLE_BINDINGS = Resource(
    _RBAC, "v1", "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
ROLES = Resource(_RBAC, "v1", "roles", "Role")
ROLE_BINDINGS = Resource(_RBAC, "v1", "rolebindings", "RoleBinding")
FLOW_SCHEMAS = Resource(
    "flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", namespaced=False
)
PRIORITY_LEVELS = Resource(
    "flowcontrol.apiserver.k8s.io",
    "v1",
    "prioritylevelconfigurations",
    "PriorityLevelConfiguration",
    namespaced=False,
)
TOKEN_REVIEWS = Resource(
    "authentication.k8s.io", "v1", "tokenreviews", "TokenReview", namespaced=False
)
SUBJECT_ACCESS_REVIEWS = Resource(
    "authorization.k8s.io", "v1", "subjectaccessreviews", "SubjectAccessReview", namespaced=False
)
SELF_SUBJECT_ACCESS_REVIEWS = Resource(
    "authorization.k8s.io",
    "v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    namespaced=False,
)

RESOURCES: Mapping[str, Resource] = MappingProxyType(
    {value.kind: value for value in tuple(globals().values()) if isinstance(value, Resource)}
)
"""Every resource above by its kind; no two of them share one."""
