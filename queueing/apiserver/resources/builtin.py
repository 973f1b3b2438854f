"""The table of built-in kinds."""

from dataclasses import dataclass
from types import MappingProxyType

from queueing.apiserver.resources.resource import Generation, Resource, ServedVersion


@dataclass(frozen=True, slots=True)
class _Row:
    """group/version and kind, then what differs from a namespaced kind without status."""

    api: str
    kind: str
    short: str = ""
    cluster: bool = False
    status: bool = False
    generation: Generation = Generation.NEVER
    fields: str = ""
    categories: str = ""

    @property
    def plural(self) -> str:
        """The kind's name in paths."""
        name = self.kind.lower()
        if name.endswith("y"):
            return f"{name[:-1]}ies"
        return f"{name}es" if name.endswith("ss") else f"{name.removesuffix('s')}s"


_ADMISSION = "admissionregistration.k8s.io/v1"
_DEVICES = "resource.k8s.io/v1"
_FLOW = "flowcontrol.apiserver.k8s.io/v1"
_RBAC = "rbac.authorization.k8s.io/v1"
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
    _Row("v1", "Namespace", "ns", cluster=True, status=True, fields="status.phase"),
    _Row("v1", "Pod", "po", status=True, generation=_SPEC, fields=_POD_FIELDS, categories="all"),
    _Row("v1", "Node", "no", cluster=True, status=True, fields="spec.unschedulable"),
    _Row("v1", "Event", "ev", fields=_EVENT_FIELDS),
    _Row("v1", "ConfigMap", "cm"),
    _Row("v1", "Secret", fields="type"),
    _Row("v1", "ServiceAccount", "sa"),
    _Row("v1", "Service", "svc", status=True, categories="all"),
    _Row("v1", "Endpoints", "ep"),
    _Row("v1", "PodTemplate"),
    _Row("v1", "LimitRange", "limits"),
    _Row("v1", "ResourceQuota", "quota", status=True),
    _Row("v1", "PersistentVolumeClaim", "pvc", status=True),
    _Row("coordination.k8s.io/v1", "Lease"),
    _Row(
        "batch/v1",
        "Job",
        status=True,
        generation=_SPEC,
        fields="status.successful",
        categories="all",
    ),
    _Row("batch/v1", "CronJob", "cj", status=True, generation=_SPEC, categories="all"),
    _Row("apps/v1", "Deployment", "deploy", status=True, generation=_SPEC, categories="all"),
    _Row("apps/v1", "ReplicaSet", "rs", status=True, generation=_SPEC, categories="all"),
    _Row("apps/v1", "StatefulSet", "sts", status=True, generation=_SPEC, categories="all"),
    _Row("scheduling.k8s.io/v1", "PriorityClass", "pc", cluster=True, generation=_ALL),
    _Row("node.k8s.io/v1", "RuntimeClass", cluster=True),
    _Row(_DEVICES, "DeviceClass", cluster=True, generation=_SPEC),
    _Row(
        _DEVICES,
        "ResourceSlice",
        cluster=True,
        generation=_SPEC,
        fields="spec.driver spec.nodeName",
    ),
    _Row(_DEVICES, "ResourceClaim", status=True),
    _Row(_DEVICES, "ResourceClaimTemplate"),
    _Row(_RBAC, "ClusterRole", cluster=True),
    _Row(_RBAC, "ClusterRoleBinding", cluster=True),
    _Row(_RBAC, "Role"),
    _Row(_RBAC, "RoleBinding"),
    _Row(
        _ADMISSION,
        "MutatingWebhookConfiguration",
        cluster=True,
        generation=_ALL,
        categories="api-extensions",
    ),
    _Row(
        _ADMISSION,
        "ValidatingWebhookConfiguration",
        cluster=True,
        generation=_ALL,
        categories="api-extensions",
    ),
    _Row(_ADMISSION, "ValidatingAdmissionPolicy", cluster=True, status=True, generation=_SPEC),
    _Row(_ADMISSION, "ValidatingAdmissionPolicyBinding", cluster=True, generation=_SPEC),
    _Row(_ADMISSION, "MutatingAdmissionPolicy", cluster=True, generation=_SPEC),
    _Row(_ADMISSION, "MutatingAdmissionPolicyBinding", cluster=True, generation=_SPEC),
    _Row(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        "crd crds",
        cluster=True,
        status=True,
        generation=_SPEC,
        categories="api-extensions",
    ),
    _Row(
        "apiregistration.k8s.io/v1",
        "APIService",
        cluster=True,
        status=True,
        generation=_SPEC,
        categories="api-extensions",
    ),
    _Row(_FLOW, "FlowSchema", cluster=True, status=True, generation=_SPEC),
    _Row(_FLOW, "PriorityLevelConfiguration", cluster=True, status=True, generation=_SPEC),
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
