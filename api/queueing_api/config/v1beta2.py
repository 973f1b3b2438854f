"""`config.kueue.x-k8s.io/v1beta2`: the whole configuration file."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from queueing_api.config.model import Settings
from queueing_api.config.queueing import (
    AdmissionFairSharing,
    FairSharing,
    Integrations,
    MultiKueue,
    ObjectRetentionPolicies,
    WaitForPodsReady,
)
from queueing_api.config.resources import Resources
from queueing_api.config.selectors import Selector
from queueing_api.config.server import (
    ClientConnection,
    ControllerConcurrency,
    ControllerHealth,
    ControllerMetrics,
    ControllerWebhook,
    InternalCertManagement,
    LeaderElection,
    TlsOptions,
    VisibilityServer,
)
from queueing_api.config.zeros import EMPTY_IS_UNSET
from queueing_api.meta.v1 import LabelSelector, LabelSelectorRequirement

DEFAULT_NAMESPACE = "kueue-system"
NAMESPACE_NAME_LABEL = "kubernetes.io/metadata.name"


class Configuration(Settings):
    """What an administrator decides once for the controller; it is read at its start."""

    api_version: Literal["config.kueue.x-k8s.io/v1beta2"] = "config.kueue.x-k8s.io/v1beta2"
    kind: Literal["Configuration"] = "Configuration"
    namespace: Annotated[str, EMPTY_IS_UNSET] = DEFAULT_NAMESPACE
    """Namespace of the controller."""
    webhook: ControllerWebhook = ControllerWebhook()
    """Where webhooks are served."""
    health: ControllerHealth = ControllerHealth()
    """Where probes are answered."""
    metrics: ControllerMetrics = ControllerMetrics()
    """What is measured."""
    pprof_bind_address: str = ""
    """Address of profiles; empty switches them off."""
    leader_election: LeaderElection = LeaderElection()
    """How replicas agree on who decides."""
    controller: ControllerConcurrency = ControllerConcurrency()
    """How the controller works through changes."""
    tls: TlsOptions | None = None
    """What the servers accept."""
    client_connection: ClientConnection = ClientConnection()
    """How fast the API server may be asked."""
    manage_jobs_without_queue_name: bool = False
    """Whether jobs that name no queue are suspended until they do."""
    managed_jobs_namespace_selector: Selector | None = None
    """Namespaces whose jobs are managed; all but kube-system and the controller's own when
    unset."""
    internal_cert_management: InternalCertManagement = InternalCertManagement()
    """Certificates that the controller makes for itself."""
    wait_for_pods_ready: WaitForPodsReady = WaitForPodsReady()
    """What happens to workloads whose pods do not get ready."""
    integrations: Integrations = Integrations()
    """Which kinds of jobs are queued."""
    multi_kueue: MultiKueue = MultiKueue()
    """How workloads are sent to worker clusters."""
    fair_sharing: FairSharing | None = None
    """Sharing of idle resources by weights; off when unset."""
    admission_fair_sharing: AdmissionFairSharing | None = None
    """Order among LocalQueues by past usage; off when unset."""
    resources: Resources = Resources()
    """What counts as quota, and as what."""
    feature_gates: dict[str, bool] = Field(default_factory=dict)
    """Features that are switched on or off; not together with the flag --feature-gates."""
    object_retention_policies: ObjectRetentionPolicies | None = None
    """How long objects that are over are kept."""
    visibility_server: VisibilityServer = VisibilityServer()
    """Where pending workloads are listed."""

    @model_validator(mode="after")
    def _pods_leave_the_system_alone(self) -> Self:
        selector = self.managed_jobs_namespace_selector
        if selector is None or "pod" not in self.integrations.frameworks:
            return self
        if not selector.match_labels and not selector.match_expressions:
            raise ValueError(
                "managedJobsNamespaceSelector: cannot be empty when pod integration is enabled"
            )
        for system in ("kube-system", self.namespace):
            if _chooses(selector, system):
                raise ValueError(
                    "managedJobsNamespaceSelector: should not match the"
                    f' "{system}" namespace when pod integration is enabled'
                )
        return self

    def namespaces(self) -> LabelSelector:
        """Return the choice of namespaces whose jobs are managed, the default if none is given."""
        if self.managed_jobs_namespace_selector is not None:
            return self.managed_jobs_namespace_selector
        system = LabelSelectorRequirement(
            key=NAMESPACE_NAME_LABEL, operator="NotIn", values=["kube-system", self.namespace]
        )
        return LabelSelector(match_expressions=[system])


def _chooses(selector: LabelSelector, namespace: str) -> bool:
    """Say whether the selector takes a namespace that carries its own name and nothing else."""
    labels = {NAMESPACE_NAME_LABEL: namespace}
    if any(labels.get(key) != value for key, value in selector.match_labels.items()):
        return False
    return all(_holds(demand, labels) for demand in selector.match_expressions)


def _holds(demand: LabelSelectorRequirement, labels: dict[str, str]) -> bool:
    match demand.operator:
        case "In":
            return labels.get(demand.key) in demand.values
        case "NotIn":
            return labels.get(demand.key) not in demand.values
        case "Exists":
            return demand.key in labels
        case _:
            return demand.key not in labels
