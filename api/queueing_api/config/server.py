"""Parts of the configuration about the process: addresses, certificates, leadership, clients."""

from ipaddress import ip_address
from types import MappingProxyType
from typing import Annotated, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from queueing_api.config.ciphers import CipherSuite
from queueing_api.config.duration import Duration
from queueing_api.config.model import Settings
from queueing_api.config.selectors import Selector
from queueing_api.config.zeros import EMPTY_IS_UNSET, ZERO_IS_UNSET
from queueing_api.wire import DnsSubdomain

LEADER_ELECTION_ID: Final = "c1f6bfd2.kueue.x-k8s.io"
LABELS_PER_KIND: Final = MappingProxyType(
    {"ClusterQueue": 6, "LocalQueue": 6, "Cohort": 6, "Workload": 2}
)
WORKLOAD_VALUES_MAX: Final = 12
RENEWAL_JITTER: Final = 1.2  # a retry may come so much later than retryPeriod says

_SERVICE_PATTERN: Final = r"^[a-z]([-a-z0-9]*[a-z0-9])?$"
_SERVICE_LENGTH: Final = 63

Port = Annotated[int, Field(ge=0, le=65535), ZERO_IS_UNSET]
Text = Annotated[str, EMPTY_IS_UNSET]
Endpoint = Annotated[str, Field(pattern=r"^/?[-\w.~/]+$"), EMPTY_IS_UNSET]
Time = Annotated[Duration, ZERO_IS_UNSET]


def _address(value: str) -> str:
    try:
        ip_address(value)
    except ValueError:
        raise ValueError("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)") from None
    return value


IpAddress = Annotated[str, AfterValidator(_address), EMPTY_IS_UNSET]


class ControllerWebhook(Settings):
    """Where admission and conversion webhooks are served."""

    port: Port = 9443
    """Port of the webhook server."""
    host: str = ""
    """Address that it binds to; empty means all."""
    cert_dir: Text = "/tmp/k8s-webhook-server/serving-certs"  # noqa: S108 - Kueue's default
    """Folder with tls.crt and tls.key."""


class ControllerHealth(Settings):
    """Where probes are answered."""

    health_probe_bind_address: Text = ":8081"
    """Address of /healthz and /readyz; 0 switches them off."""
    readiness_endpoint_name: Endpoint = "readyz"
    """Path of the readiness probe, beside /readyz."""
    liveness_endpoint_name: Endpoint = "healthz"
    """Path of the liveness probe, beside /healthz."""


class LocalQueueMetrics(Settings):
    """Metrics per LocalQueue."""

    enable: bool = True
    """Whether they are reported."""
    local_queue_selector: Selector | None = None
    """LocalQueues they are reported for; unset means all."""


class ControllerMetricsCustomLabel(Settings):
    """A metric label taken from a label or annotation of objects."""

    name: Annotated[str, Field(min_length=1, max_length=63, pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]
    """Name of the metric label, without its prefix."""
    source_kind: Annotated[
        Literal["ClusterQueue", "LocalQueue", "Cohort", "Workload"], EMPTY_IS_UNSET
    ] = "ClusterQueue"
    """Kind of the objects that it is taken from."""
    source_label_key: str | None = None
    """Label whose value it gets; the name itself when neither source is given."""
    source_annotation_key: str | None = None
    """Annotation whose value it gets."""
    tracked_values: Annotated[list[str], Field(min_length=1, max_length=16)] | None = None
    """Values that are kept apart; all others become one. Labels of Workloads need 1 to 12."""

    @model_validator(mode="after")
    def _values_of_workloads_stay_few(self) -> Self:
        if self.source_kind != "Workload":
            return self
        if not 1 <= len(self.tracked_values or ()) <= WORKLOAD_VALUES_MAX:
            raise ValueError(
                f"trackedValues: labels of Workloads must have 1 to {WORKLOAD_VALUES_MAX} values"
            )
        return self


class ControllerMetrics(Settings):
    """What is measured, and where it is read."""

    bind_address: Text = ":8443"
    """Address of /metrics; 0 switches it off."""
    enable_cluster_queue_resources: bool = False
    """Whether quota and usage are reported per flavor and resource."""
    local_queue_metrics: LocalQueueMetrics = LocalQueueMetrics()
    """Metrics per LocalQueue."""
    custom_labels: Annotated[list[ControllerMetricsCustomLabel], Field(max_length=20)] = Field(
        default_factory=list
    )
    """Additional labels of metrics."""

    @model_validator(mode="after")
    def _labels_stay_few(self) -> Self:
        names = [label.name for label in self.custom_labels]
        for name in sorted(names):
            if names.count(name) > 1:
                raise ValueError(f'customLabels: Duplicate value: name "{name}"')
        for kind, most in LABELS_PER_KIND.items():
            found = sum(label.source_kind == kind for label in self.custom_labels)
            if found > most:
                raise ValueError(
                    f"customLabels: {found} labels of {kind}: must have at most {most}"
                )
        return self


class LeaderElection(Settings):
    """How replicas agree on who decides."""

    leader_elect: bool = True
    """Whether a replica waits until it leads."""
    lease_duration: Time = 15.0
    """How long a lease holds without being renewed."""
    renew_deadline: Time = 10.0
    """How long a leader tries to renew before it gives up."""
    retry_period: Time = 2.0
    """Time between two tries."""
    resource_lock: Annotated[Literal["leases"], EMPTY_IS_UNSET] = "leases"
    """Kind of the lock object."""
    resource_name: Text = LEADER_ELECTION_ID
    """Name of the lock object."""
    resource_namespace: str = ""
    """Namespace of the lock object; the controller's own when empty."""

    @model_validator(mode="after")
    def _renews_in_time(self) -> Self:
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= self.retry_period * RENEWAL_JITTER:
            raise ValueError(f"renewDeadline must be greater than retryPeriod * {RENEWAL_JITTER}")
        return self


class ControllerConcurrency(Settings):
    """How the controller works through changes."""

    group_kind_concurrency: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    """Objects handled at once, by Kind.group; 0 is unset."""
    cache_sync_timeout: Time = 120.0
    """How long the first read of all objects may take."""


class TlsOptions(Settings):
    """What the servers accept."""

    min_version: Annotated[Literal["VersionTLS12", "VersionTLS13"] | None, EMPTY_IS_UNSET] = None
    """Lowest version of TLS."""
    cipher_suites: list[CipherSuite] = Field(default_factory=list)
    """Cipher suites for TLS 1.2, by their IANA names."""
    curve_preferences: list[int] = Field(default_factory=list)
    """Key exchanges in order of preference, by their numbers."""


class ClientConnection(Settings):
    """How fast the API server may be asked."""

    qps: Annotated[float, Field(ge=0)] = 300.0
    """Requests per second in the long run."""
    burst: Annotated[int, Field(ge=0)] = 500
    """Requests at once."""


class InternalCertManagement(Settings):
    """Certificates that the controller makes for itself."""

    enable: bool = True
    """Whether it does; otherwise certDir must be filled by somebody else."""
    webhook_service_name: Annotated[
        str, Field(max_length=_SERVICE_LENGTH, pattern=_SERVICE_PATTERN)
    ] = "kueue-webhook-service"
    """Service of the webhook server."""
    webhook_secret_name: DnsSubdomain = "kueue-webhook-server-cert"  # noqa: S105 - an object's name
    """Secret that the certificate is kept in."""


class VisibilityServer(Settings):
    """Where pending workloads are listed."""

    bind_address: IpAddress = "0.0.0.0"
    """Address of the aggregated API."""
    bind_port: Port = 8082
    """Port of the aggregated API."""
