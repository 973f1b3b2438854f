"""The table of built-in kinds."""

from dataclasses import dataclass
from types import MappingProxyType

from queueing.apiserver.resources.resource import Generation, Resource, ServedVersion


@dataclass(frozen=True, slots=True)
class _Row:
    """group/version, kind, plural, then what differs from a namespaced kind without status."""

    api: str
    kind: str
    plural: str
    short: str = ""
    cluster: bool = False
    status: bool = False
    generation: Generation = Generation.NEVER
    fields: str = ""
    categories: str = ""


_SPEC = Generation.SPEC
_ALL = Generation.ALL_BUT_STATUS
_EVENT_FIELDS = (
    "involvedObject.kind involvedObject.namespace involvedObject.name involvedObject.uid "
    "involvedObject.apiVersion involvedObject.resourceVersion involvedObject.fieldPath "
    "reason reportingComponent source type"
)
_POD_FIELDS = (
    "spec.nodeName spec.restartPolicy spec.schedulerName spec.serviceAccountName "
    "spec.hostNetwork status.phase status.podIP status.nominatedNodeName"
)

ROWS: tuple[_Row, ...] = (
    _Row("v1", "Namespace", "namespaces", "ns", cluster=True, status=True, fields="status.phase"),
    _Row(
        "v1",
        "Pod",
        "pods",
        "po",
        status=True,
        generation=_SPEC,
        fields=_POD_FIELDS,
        categories="all",
    ),
    _Row("v1", "Node", "nodes", "no", cluster=True, status=True, fields="spec.unschedulable"),
    _Row("v1", "Event", "events", "ev", fields=_EVENT_FIELDS),
    _Row("v1", "ConfigMap", "configmaps", "cm"),
    _Row("v1", "Secret", "secrets", fields="type"),
    _Row("v1", "ServiceAccount", "serviceaccounts", "sa"),
    _Row("v1", "Service", "services", "svc", status=True, categories="all"),
    _Row("v1", "Endpoints", "endpoints", "ep"),
    _Row("v1", "PodTemplate", "podtemplates"),
    _Row("v1", "LimitRange", "limitranges", "limits"),
    _Row("v1", "ResourceQuota", "resourcequotas", "quota", status=True),
    _Row("v1", "PersistentVolumeClaim", "persistentvolumeclaims", "pvc", status=True),
    _Row("coordination.k8s.io/v1", "Lease", "leases"),
    _Row(
        "batch/v1",
        "Job",
        "jobs",
        status=True,
        generation=_SPEC,
        fields="status.successful",
        categories="all",
    ),
    _Row("batch/v1", "CronJob", "cronjobs", "cj", status=True, generation=_SPEC, categories="all"),
    _Row(
        "apps/v1",
        "Deployment",
        "deployments",
        "deploy",
        status=True,
        generation=_SPEC,
        categories="all",
    ),
    _Row(
        "apps/v1",
        "ReplicaSet",
        "replicasets",
        "rs",
        status=True,
        generation=_SPEC,
        categories="all",
    ),
    _Row(
        "apps/v1",
        "StatefulSet",
        "statefulsets",
        "sts",
        status=True,
        generation=_SPEC,
        categories="all",
    ),
    _Row(
        "scheduling.k8s.io/v1",
        "PriorityClass",
        "priorityclasses",
        "pc",
        cluster=True,
        generation=_ALL,
    ),
    _Row("node.k8s.io/v1", "RuntimeClass", "runtimeclasses", cluster=True),
    _Row("resource.k8s.io/v1", "DeviceClass", "deviceclasses", cluster=True, generation=_SPEC),
    _Row(
        "resource.k8s.io/v1",
        "ResourceSlice",
        "resourceslices",
        cluster=True,
        generation=_SPEC,
        fields="spec.driver spec.nodeName",
    ),
    _Row("resource.k8s.io/v1", "ResourceClaim", "resourceclaims", status=True),
    _Row("resource.k8s.io/v1", "ResourceClaimTemplate", "resourceclaimtemplates"),
    _Row("rbac.authorization.k8s.io/v1", "ClusterRole", "clusterroles", cluster=True),
    _Row("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "clusterrolebindings", cluster=True),
    _Row("rbac.authorization.k8s.io/v1", "Role", "roles"),
    _Row("rbac.authorization.k8s.io/v1", "RoleBinding", "rolebindings"),
    _Row(
        "admissionregistration.k8s.io/v1",
        "MutatingWebhookConfiguration",
        "mutatingwebhookconfigurations",
        cluster=True,
        generation=_ALL,
        categories="api-extensions",
    ),
    _Row(
        "admissionregistration.k8s.io/v1",
        "ValidatingWebhookConfiguration",
        "validatingwebhookconfigurations",
        cluster=True,
        generation=_ALL,
        categories="api-extensions",
    ),
    _Row(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicy",
        "validatingadmissionpolicies",
        cluster=True,
        status=True,
        generation=_SPEC,
    ),
    _Row(
        "admissionregistration.k8s.io/v1",
        "ValidatingAdmissionPolicyBinding",
        "validatingadmissionpolicybindings",
        cluster=True,
        generation=_SPEC,
    ),
    _Row(
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicy",
        "mutatingadmissionpolicies",
        cluster=True,
        generation=_SPEC,
    ),
    _Row(
        "admissionregistration.k8s.io/v1",
        "MutatingAdmissionPolicyBinding",
        "mutatingadmissionpolicybindings",
        cluster=True,
        generation=_SPEC,
    ),
    _Row(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "customresourcedefinitions",
        "crd crds",
        cluster=True,
        status=True,
        generation=_SPEC,
        categories="api-extensions",
    ),
    _Row(
        "apiregistration.k8s.io/v1",
        "APIService",
        "apiservices",
        cluster=True,
        status=True,
        generation=_SPEC,
        categories="api-extensions",
    ),
    _Row(
        "flowcontrol.apiserver.k8s.io/v1",
        "FlowSchema",
        "flowschemas",
        cluster=True,
        status=True,
        generation=_SPEC,
    ),
    _Row(
        "flowcontrol.apiserver.k8s.io/v1",
        "PriorityLevelConfiguration",
        "prioritylevelconfigurations",
        cluster=True,
        status=True,
        generation=_SPEC,
    ),
)


def _resource(row: _Row) -> Resource:
    group, _, version = row.api.rpartition("/")
    names = row.fields.split()
    served = ServedVersion(
        name=version,
        has_status=row.status,
        defaults=True,
        selectable=MappingProxyType({name: name for name in names}),
    )
    return Resource(
        group=group,
        kind=row.kind,
        plural=row.plural,
        singular=row.kind.lower(),
        list_kind=f"{row.kind}List",
        versions=(served,),
        storage=version,
        namespaced=not row.cluster,
        short_names=tuple(row.short.split()),
        categories=tuple(row.categories.split()),
        generation=row.generation,
    )


BUILTIN: tuple[Resource, ...] = tuple(_resource(row) for row in ROWS)

# Events of events.k8s.io are the core group's Events under other field names.
EVENTS_ALIAS = ServedVersion(
    name="events.k8s.io/v1",
    defaults=True,
    selectable=MappingProxyType(
        {name: name for name in ("reason", "regarding.kind", "regarding.name")}
    ),
)
