"""Kueue's Configuration file → settings of the controller's parts, derived once at start."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from queueing.checkpoints.rules.terms import USUAL_DRIVERS, Driver
from queueing.controller.admission_policies.rendering import PolicyRules
from queueing.controller.decisions.cycles import BUDGET
from queueing.core.settings import Compatibility, Settings
from queueing.core.topology.health import KUEUE_HEALTH, HealthRules
from queueing.kinds.compiler import Kind
from queueing.kinds.external import external_kind
from queueing.kinds.managed import JobRules, job_rules
from queueing.kinds.registry import pods_on, queued_kinds
from queueing.kube.client import WRITE_TIMEOUT_S
from queueing.kube.lease import LeaseSettings
from queueing.lifecycle.rules import LifeRules, PodsReadyRules, RequeueBackoff
from queueing.observe.metric_rows import MetricGroup
from queueing.translate.configuration import (
    is_enabled,
    managed_namespaces,
    rules_of,
    settings_of,
)
from queueing.translate.jobs.composition import JobKind
from queueing.translate.jobs.pods.view import Pods
from queueing.translate.transformations import ResourceRules
from queueing.webhooks.suspension import kinds_of
from queueing_api.config.v1beta2 import Configuration

JOB_WORKERS = 24
"""How many Jobs are reconciled at the same time."""
WORKLOAD_WORKERS = 8
"""How many Workloads are reconciled at the same time."""
WRITE_SHARE = 0.2
"""The longest timeout of a write, as a fraction of the Lease's duration."""
TELL_READY_WITHIN_S = 5.0
"""Seconds for which the write of `PodsReady` may be put off while the API server is slow."""
TIGHT_S = 60.0
"""A waitForPodsReady timeout below this leaves no time to write the `PodsReady` condition late."""
GATES = "featureGates."


@dataclass(frozen=True, slots=True, kw_only=True)
class ControllerRules:
    """All that the operator configured, as the parts of the controller need it."""

    settings: Settings
    resources: ResourceRules
    life: LifeRules
    jobs: JobRules
    identity: str
    tell_ready_within_s: float = TELL_READY_WITHIN_S
    """As `TELL_READY_WITHIN_S`, or 0 where others depend on the condition."""
    kinds: Sequence[Kind] = ()
    """Described kinds whose objects are queued."""
    external: Sequence[JobKind] = ()
    """Kinds that other controllers queue."""
    pods: Pods = Pods.NONE
    configuration: Configuration | None = None
    """The file as read, for its `deviceClassMappings`."""
    node_health: HealthRules | None = KUEUE_HEALTH
    """When a node fails the pods that were placed on it; None to leave them where they are."""
    namespace: str = "kueue-system"
    """The namespace of this installation."""
    drivers: frozenset[Driver] = USUAL_DRIVERS
    """The ways in which pods may be asked to save a checkpoint."""
    page: str = ""
    """Where visitors find the page; empty where that is not known."""
    budget: int = BUDGET
    """How many heads a cycle judges before it lets the event loop run."""
    job_workers: int = JOB_WORKERS
    workload_workers: int = WORKLOAD_WORKERS


def metric_groups(configuration: Configuration) -> frozenset[MetricGroup]:
    """Return which of the optional groups of metrics are served."""
    metrics = configuration.metrics
    local = metrics.local_queue_metrics.enable and is_enabled(configuration, "LocalQueueMetrics")
    wanted = {
        MetricGroup.LOCAL_QUEUES: local,
        MetricGroup.RESOURCES: metrics.enable_cluster_queue_resources,
    }
    gates = (MetricGroup.COHORTS, MetricGroup.CREATION, MetricGroup.UNADMITTED)
    by_gate = {one: is_enabled(configuration, one.removeprefix(GATES)) for one in gates}
    return frozenset(group for group, on in (wanted | by_gate).items() if on)


def controller_rules(
    configuration: Configuration, compatibility: Compatibility, *, identity: str
) -> ControllerRules:
    """Derive the settings from a configuration that was validated."""
    return ControllerRules(
        settings=settings_of(configuration, compatibility=compatibility),
        resources=rules_of(configuration),
        life=life_rules(configuration),
        jobs=job_rules(configuration),
        tell_ready_within_s=_tell_ready_within_s(configuration),
        identity=identity,
        kinds=queued_kinds(configuration.integrations.frameworks, configuration.feature_gates),
        external=tuple(map(external_kind, configuration.integrations.external_frameworks)),
        pods=pods_on(configuration.integrations.frameworks),
        configuration=configuration,
        node_health=node_health(configuration),
        namespace=configuration.namespace,
    )


def node_health(configuration: Configuration) -> HealthRules | None:
    """Derive when a node fails its pods; None if their places are not replaced."""
    if not is_enabled(configuration, "TASFailedNodeReplacement"):
        return None
    return HealthRules(
        awaits_pods=is_enabled(configuration, "TASReplaceNodeOnPodTermination"),
        heeds_taints=is_enabled(configuration, "TASReplaceNodeOnNodeTaints"),
        gives_up=is_enabled(configuration, "TASReplaceNodeDueToNotReadyOverFixedTime"),
    )


def life_rules(configuration: Configuration) -> LifeRules:
    """Derive the waitForPodsReady timeouts, the requeuing backoff and the retention."""
    ready = configuration.wait_for_pods_ready
    strategy = ready.requeuing_strategy
    retention = configuration.object_retention_policies
    kept = retention.workloads if retention is not None else None
    return LifeRules(
        pods_ready=None
        if is_enabled(configuration, "DisableWaitForPodsReady")
        else PodsReadyRules(
            timeout_s=ready.timeout,
            recovery_timeout_s=ready.recovery_timeout,
            backoff=RequeueBackoff(
                base_s=strategy.backoff_base_seconds,
                max_s=strategy.backoff_max_seconds,
                limit=strategy.backoff_limit_count,
            ),
        ),
        keep_finished_s=kept.after_finished if kept is not None else None,
        keep_deactivated_s=kept.after_deactivated_by_kueue if kept is not None else None,
    )


def _tell_ready_within_s(configuration: Configuration) -> float:
    """Return for how many seconds the write of `PodsReady` may be put off.

    Zero where others depend on it: where admissions wait for pods (blockAdmission), or where the
    timeout is so short that the delay could evict a workload whose pods are ready.
    """
    ready = configuration.wait_for_pods_ready
    limits = (ready.timeout, ready.recovery_timeout)
    is_tight = any(one is not None and 0 < one < TIGHT_S for one in limits)
    return 0.0 if ready.block_admission or is_tight else TELL_READY_WITHIN_S


def policy_rules(configuration: Configuration, compatibility: Compatibility) -> PolicyRules:
    """Derive what the admission policies in the API server are to do."""
    return PolicyRules(
        namespaces=managed_namespaces(configuration),
        without_queue_name=configuration.manage_jobs_without_queue_name,
        namespace=configuration.namespace,
        kinds=kinds_of(configuration),
        pods=pods_on(configuration.integrations.frameworks),
        service=configuration.internal_cert_management.webhook_service_name,
        default_class=is_enabled(configuration, "WorkloadPriorityClassDefaulting"),
        reject_unknown_flavors=is_enabled(configuration, "RejectUpdatesToCQWithInvalidOnFlavors"),
        hands_trace=compatibility is not Compatibility.KUEUE,
    )


def visibility_address(configuration: Configuration, environment: Mapping[str, str]) -> str:
    """Return `host:port` at which other replicas reach this one's visibility API.

    The host is the pod's IP, else the configured bind address. Empty when the API is turned off, or
    neither is known.
    """
    found = configuration.visibility_server
    host = environment.get("POD_IP") or found.bind_address or ""
    if not host or not is_enabled(configuration, "VisibilityOnDemand"):
        return ""
    return f"[{host}]:{found.bind_port}" if ":" in host else f"{host}:{found.bind_port}"


def lease_settings(configuration: Configuration, identity: str) -> LeaseSettings:
    """Derive the times of leader election."""
    found = configuration.leader_election
    return LeaseSettings(
        identity=identity,
        duration_s=found.lease_duration,
        renew_deadline_s=found.renew_deadline,
        retry_s=found.retry_period,
        write_timeout_s=write_timeout_s(configuration),
    )


def write_timeout_s(configuration: Configuration) -> float:
    """Return the hard timeout of a write, in seconds.

    It is a fraction of the Lease's duration, because a new leader waits for the sum of both before
    it decides: with Kueue's default of 15 s, 18 s after the last renewal of the leader before.
    """
    election = configuration.leader_election
    if not election.leader_elect:
        return WRITE_TIMEOUT_S
    return min(WRITE_TIMEOUT_S, election.lease_duration * WRITE_SHARE)
