"""The alerts: what is asked of Prometheus, for how long, what it means, and what to do about it."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.observe.metric_rows import LEADING


class Severity(StrEnum):
    """Who is to look, and when."""

    CRITICAL = "critical"
    """Nothing is admitted, or soon will not be: at once."""
    WARNING = "warning"
    """Users notice: today."""
    INFO = "info"
    """Worth a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One alert.

    `expression` is PromQL that yields a series for each subject that it fires for; `lasting` is how
    long it must hold, as Prometheus spells durations. `summary` may name labels as `{{ $labels.x
    }}`. `meaning` and `remedy` are Markdown of the runbook.
    """

    name: str
    severity: Severity
    expression: str
    lasting: str
    summary: str
    meaning: str
    remedy: str


_NEVER_READY = 'kueue_evicted_workloads_total{reason="PodsReadyTimeout"}'

ALERTS: tuple[Alert, ...] = (
    Alert(
        name="QueueingLeaderLost",
        severity=Severity.CRITICAL,
        expression="(sum(queueing_leader) or vector(0)) < 1",
        lasting="2m",
        summary="No replica of queueing leads: nothing is admitted.",
        meaning=(
            "No replica reports that it holds the Lease. Running workloads go on; new ones wait,"
            " and quota of finished ones is not given back. The alert also fires when Prometheus"
            " cannot scrape any replica."
        ),
        remedy=(
            "`kubectl get pods,lease -n kueue-system` shows whether replicas run and who holds the"
            " Lease. Read the log of each replica: `lease` lines say why it does not lead. If Kueue"
            " holds the Lease, both are installed: remove one."
        ),
    ),
    Alert(
        name="QueueingAdmissionLate",
        severity=Severity.WARNING,
        expression=(
            "histogram_quantile(0.9, sum by (cluster_queue, le) ("
            f"rate(kueue_admission_wait_time_seconds_bucket{{{LEADING}}}[15m]))) > 3600"
        ),
        lasting="15m",
        summary="A tenth of the workloads of {{ $labels.cluster_queue }} waited over an hour.",
        meaning=(
            "Of what was admitted in the last quarter of an hour, one in ten had waited for more"
            " than an hour. The queue has more work than quota, or something holds its quota."
        ),
        remedy=(
            "`queueing explain clusterqueue/NAME` says who holds the quota and what waits for"
            " which reason; `queueing trace job/NAME` where the time of one job went;"
            " `queueing plan --live -f change.yaml` what more quota would change. Change the"
            " threshold to what your teams expect."
        ),
    ),
    Alert(
        name="QueueingQueueStuck",
        severity=Severity.WARNING,
        expression=(
            f"sum by (cluster_queue) (kueue_pending_workloads{{{LEADING}}}) > 0"
            " unless on (cluster_queue) sum by (cluster_queue) ("
            f"kueue_reserving_active_workloads{{{LEADING}}}) > 0"
        ),
        lasting="15m",
        summary="Workloads wait in {{ $labels.cluster_queue }}, and none of it runs.",
        meaning=(
            "The queue has pending workloads, and none of its workloads holds quota. Each of them"
            " asks for more than it can have, others of the cohort hold all quota, or the queue is"
            " stopped."
        ),
        remedy=(
            "`queueing explain clusterqueue/NAME` groups those that wait by reason, and"
            " `queueing explain job/NAME` names the smallest remedies for one of them."
        ),
    ),
    Alert(
        name="QueueingQueueInactive",
        severity=Severity.WARNING,
        expression=(
            f'max by (cluster_queue) (kueue_cluster_queue_status{{status="active",{LEADING}}}) == 0'
        ),
        lasting="10m",
        summary="ClusterQueue {{ $labels.cluster_queue }} is not active: it admits nobody.",
        meaning=(
            "A flavor or an admission check that the queue names does not exist or is not active,"
            " or the queue is stopped or is being deleted."
        ),
        remedy=(
            "`kubectl describe clusterqueue NAME`: the condition `Active` names what is missing."
            " `queueing resume clusterqueue/NAME` opens a queue that was stopped."
        ),
    ),
    Alert(
        name="QueueingOverNominal",
        severity=Severity.INFO,
        expression=(
            "sum by (cluster_queue, flavor, resource) ("
            f"kueue_cluster_queue_resource_usage{{{LEADING}}}) >"
            " sum by (cluster_queue, flavor, resource) ("
            f"kueue_cluster_queue_nominal_quota{{{LEADING}}})"
        ),
        lasting="1d",
        summary=(
            "{{ $labels.cluster_queue }} has used more {{ $labels.resource }} of"
            " {{ $labels.flavor }} than its nominal quota for a day."
        ),
        meaning=(
            "The queue has lived on borrowed quota for a day. Its work may be preempted at any"
            " time, and the quotas do not say what the teams really use. Needs"
            " `metrics.enableClusterQueueResources`."
        ),
        remedy=(
            "`queueing credits` shows who lent how much to whom. Raise the nominal quota where it"
            " belongs, or limit borrowing; `queueing plan --live -f change.yaml` shows what would"
            " change."
        ),
    ),
    Alert(
        name="QueueingPreemptionStorm",
        severity=Severity.WARNING,
        expression=(
            "sum by (preempting_cluster_queue) (increase(kueue_preempted_workloads_total[10m]))"
            " > 50 and on () sum(increase(kueue_preempted_workloads_total[10m])) >"
            " 0.5 * (sum(increase(kueue_admitted_workloads_total[10m])) or vector(0))"
        ),
        lasting="10m",
        summary="{{ $labels.preempting_cluster_queue }} preempts workloads by the dozen.",
        meaning=(
            "Within ten minutes the queue had more than fifty workloads preempted, and in the whole"
            " cluster there was more than one preemption for two admissions: work is thrown away."
        ),
        remedy=(
            "`kubectl get events -A --field-selector reason=Preempted` names victims and"
            " preemptors. Usual causes: many small jobs of a high priority, two queues that"
            " reclaim from each other, weights of fair sharing that were just changed. A"
            " `minimumRuntime` in a CheckpointPolicy protects work that has just begun."
        ),
    ),
    Alert(
        name="QueueingPodsNotReady",
        severity=Severity.WARNING,
        expression=(
            # A series begins with its first eviction, at 1: no increase sees that.
            f"sum by (cluster_queue) (increase({_NEVER_READY}[30m])) > 0"
            f" or sum by (cluster_queue) ({_NEVER_READY} unless {_NEVER_READY} offset 30m) > 0"
        ),
        lasting="0m",
        summary="Workloads of {{ $labels.cluster_queue }} were admitted and never got ready.",
        meaning=(
            "Workloads were evicted because their pods did not become ready in time: nodes are"
            " missing or broken, or an image cannot be pulled."
        ),
        remedy=(
            "`kubectl get events -A --field-selector reason=EvictedDueToPodsReadyTimeout` names"
            " them. Look at the pods of the next one: `kubectl describe pod`."
        ),
    ),
    Alert(
        name="QueueingCheckpointFailures",
        severity=Severity.WARNING,
        expression=(
            "sum by (cluster_queue) (increase(queueing_checkpoint_outcomes_total"
            '{outcome=~"Failed|Unresponsive"}[1h])) > 0.2 *'
            " sum by (cluster_queue) (increase(queueing_checkpoint_outcomes_total[1h]))"
        ),
        lasting="5m",
        summary="Workloads of {{ $labels.cluster_queue }} fail to save before they are stopped.",
        meaning=(
            "More than a fifth of the requests to save of the last hour failed or got no answer:"
            " work is lost with each preemption."
        ),
        remedy=(
            "`kubectl get checkpoints -A` shows requests with their phase, and their message says"
            " why. `Unresponsive` means that pods do not listen: compare the driver of the"
            " CheckpointPolicy with what they run. `Failed` comes from the pods: read their log."
        ),
    ),
    Alert(
        name="QueueingClaimsLeaked",
        severity=Severity.WARNING,
        expression="max(queueing_device_claims_left) > 0",
        lasting="15m",
        summary="{{ $value }} claims hold devices for workloads that are not admitted any more.",
        meaning=(
            "ResourceClaims that were made for a workload are still allocated although it holds no"
            " quota. Their devices cannot be used, and quota of an evicted workload is not given"
            " back."
        ),
        remedy=(
            "`kubectl get resourceclaims -A -l queueing.dev/workload-uid` shows them, and"
            " `status.reservedFor` the pods that hold them: delete pods that are stuck in"
            " termination, or the claim's finalizer if its driver is gone. `queueing devices` shows"
            " who holds what."
        ),
    ),
    Alert(
        name="QueueingEventLoopLag",
        severity=Severity.WARNING,
        expression="max by (replica_role) (queueing_event_loop_lag_seconds) > 1",
        lasting="5m",
        summary="The event loop of the {{ $labels.replica_role }} is late by {{ $value }} s.",
        meaning=(
            "A replica gets too little CPU, or does something that takes long. Admissions are late"
            " by as much, and beyond some seconds a leader may lose its Lease."
        ),
        remedy=(
            "Compare the CPU of the pod with its limit, and raise that. If it has enough, its log"
            " names what took long."
        ),
    ),
    Alert(
        name="QueueingWritesUnanswered",
        severity=Severity.CRITICAL,
        expression='sum(rate(queueing_writes_total{outcome="unknown"}[5m])) > 0',
        lasting="15m",
        summary="Writes to the API server get no answer.",
        meaning=(
            "The API server is unreachable or overloaded. Quota of decisions without an answer"
            " stays reserved until they can be read again."
        ),
        remedy=(
            "Look at the health of the API server and of etcd, and at the log for"
            " `may have been written`."
        ),
    ),
    Alert(
        name="QueueingWritesBehind",
        severity=Severity.WARNING,
        expression="sum(queueing_writes_waiting) > 100",
        lasting="10m",
        summary="{{ $value }} writes wait: decisions are made faster than they can be stored.",
        meaning=(
            "The API server takes writes more slowly than decisions are made. Nothing is lost, but"
            " admissions are late."
        ),
        remedy=(
            "`queueing_write_duration_seconds` by `purpose` shows which writes are slow. Raise"
            " `clientConnection.qps` and `burst` if they are set, or look at the API server's own"
            " latency and priority levels."
        ),
    ),
)
"""All alerts, the most urgent ones of a subject first."""
