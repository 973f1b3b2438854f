"""Parts of the configuration about queueing: readiness, fairness, integrations, retention."""

from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from queueing_api.config.duration import Duration
from queueing_api.config.model import Settings
from queueing_api.config.zeros import EMPTY_IS_UNSET, ZERO_IS_UNSET

FRAMEWORKS: Final = (
    "batch/job",
    "deployment",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/mpijob",
    "kubeflow.org/mxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "pod",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication",
    "statefulset",
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
)
FINAL_SHARE: Final = "LessThanOrEqualToFinalShare"
INITIAL_SHARE: Final = "LessThanInitialShare"
STRATEGY_LISTS: Final = ([FINAL_SHARE], [INITIAL_SHARE], [FINAL_SHARE, INITIAL_SHARE])
_GROUP_VERSION_KIND_PARTS: Final = 3

NotNegative = Annotated[int, Field(ge=0)]


def _supported(name: str) -> str:
    if name not in FRAMEWORKS:
        listed = ", ".join(f'"{known}"' for known in FRAMEWORKS)
        raise ValueError(f"is not supported; supported values: {listed}")
    return name


def _kind_version_group(name: str) -> str:
    parts = name.split(".", 2)
    if len(parts) < _GROUP_VERSION_KIND_PARTS or not all(parts):
        raise ValueError("must be format, 'Kind.version.group.com'")
    return name


Framework = Annotated[str, AfterValidator(_supported)]
ExternalFramework = Annotated[str, AfterValidator(_kind_version_group)]


class RequeuingStrategy(Settings):
    """When a workload whose pods did not get ready is tried again."""

    timestamp: Literal["Eviction", "Creation"] = "Eviction"
    """Time by which it queues again: that of its eviction, or of its creation."""
    backoff_limit_count: NotNegative | None = None
    """Tries before it is deactivated; unset means no limit."""
    backoff_base_seconds: NotNegative = 60
    """Seconds before the first new try; each further one waits twice as long."""
    backoff_max_seconds: NotNegative = 3600
    """Most seconds between two tries."""


class WaitForPodsReady(Settings):
    """What happens to workloads whose pods do not get ready."""

    timeout: Annotated[Duration, ZERO_IS_UNSET] = 1800.0
    """Time from admission until all pods must be ready."""
    block_admission: bool = False
    """Whether nothing else is admitted until they are."""
    recovery_timeout: Duration | None = None
    """Time for pods that failed later to be ready again; as timeout when unset."""
    requeuing_strategy: RequeuingStrategy = RequeuingStrategy()
    """When the workload is tried again."""


class Integrations(Settings):
    """Which kinds of jobs are queued."""

    frameworks: list[Framework] = Field(default_factory=lambda: ["batch/job"])
    """Kinds that are handled here; Jobs when empty."""
    external_frameworks: list[ExternalFramework] = Field(default_factory=list)
    """Kinds that another controller makes Workloads for, as Kind.version.group."""
    label_keys_to_copy: list[str] = Field(default_factory=list)
    """Labels of a job that its Workload gets too."""


class MultiKueueExternalFramework(Settings):
    """A kind that is sent to worker clusters as it is."""

    name: ExternalFramework
    """The kind, as Kind.version.group."""


class IncrementalDispatcherConfig(Settings):
    """How the incremental dispatcher goes on."""

    step_size: Annotated[int, Field(ge=1)] = 3
    """Worker clusters that are added at a time."""


class AccessProvider(Settings):
    """A program that gets access to a worker cluster."""

    name: str
    """Name of the provider in ClusterProfiles."""
    exec_config: dict[str, Any] = Field(default_factory=dict)
    """The program, as in a kubeconfig's exec section."""


class MultiKueueClusterProfile(Settings):
    """Access to worker clusters by ClusterProfiles."""

    access_providers: list[AccessProvider] = Field(default_factory=list)
    """Programs that get access."""
    credentials_providers: list[AccessProvider] = Field(default_factory=list)
    """Old name of accessProviders."""


class MultiKueue(Settings):
    """How workloads are sent to worker clusters."""

    gc_interval: Duration | None = 60.0
    """Time between two searches for what was left behind; zero switches them off."""
    origin: Annotated[str, Field(max_length=63), EMPTY_IS_UNSET] = "multikueue"
    """Label value of what this cluster made in its workers."""
    worker_lost_timeout: Duration | None = 900.0
    """Time that a worker may be unreachable before its workloads go elsewhere."""
    dispatcher_name: Annotated[str, EMPTY_IS_UNSET] = (
        "kueue.x-k8s.io/multikueue-dispatcher-all-at-once"
    )
    """Who offers workloads to workers, and in which order."""
    incremental_dispatcher_config: IncrementalDispatcherConfig | None = None
    """How the incremental dispatcher goes on."""
    external_frameworks: list[MultiKueueExternalFramework] = Field(default_factory=list)
    """Kinds that are sent as they are."""
    cluster_profile: MultiKueueClusterProfile | None = None
    """Access by ClusterProfiles."""


class FairSharing(Settings):
    """Sharing idle resources of a cohort by weights; its presence switches it on."""

    preemption_strategies: list[Literal["LessThanOrEqualToFinalShare", "LessThanInitialShare"]]
    """Tests, in order, that a preemption between shares must pass."""

    @model_validator(mode="after")
    def _is_a_known_list(self) -> Self:
        if self.preemption_strategies not in STRATEGY_LISTS:
            known = "; ".join(", ".join(names) for names in STRATEGY_LISTS)
            raise ValueError(f"preemptionStrategies must be specified as one of: {known}")
        return self


class AdmissionFairSharing(Settings):
    """Order among LocalQueues by what they used before; its presence switches it on."""

    usage_half_life_time: Duration
    """Time after which past usage counts half."""
    usage_sampling_interval: Annotated[Duration, ZERO_IS_UNSET] = 300.0
    """Time between two measurements."""
    resource_weights: dict[str, Annotated[float, Field(ge=0)]] = Field(default_factory=dict)
    """How much a unit of each resource counts; 1 when not named."""


class WorkloadRetentionPolicy(Settings):
    """How long workloads that are over are kept."""

    after_finished: Duration | None = None
    """Time from the end to deletion; unset keeps them."""
    after_deactivated_by_kueue: Duration | None = None
    """Time from deactivation by the controller to deletion; unset keeps them."""


class ObjectRetentionPolicies(Settings):
    """How long objects that are over are kept."""

    workloads: WorkloadRetentionPolicy | None = None
    """For Workloads."""
