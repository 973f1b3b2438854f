"""Every metric in one table, of which the code and the reference are made."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from queueing.observe.checkpoint_rows import CHECKPOINTS
from queueing.observe.metric_rows import (
    ATTEMPT_BUCKETS,
    CREATION_BUCKETS,
    RUN_BUCKETS,
    SHORT_BUCKETS,
    WAIT_BUCKETS,
    MetricGroup,
    MetricRow,
)
from queueing.observe.metric_rows import counter as _counter
from queueing.observe.metric_rows import gauge as _gauge
from queueing.observe.metric_rows import histogram as _histogram


def _of_local_queue(row: MetricRow) -> MetricRow:
    """Return the same metric counted per LocalQueue."""
    labels = tuple(label for label in row.labels if label != "cluster_queue")
    return replace(
        row,
        name=f"local_queue_{row.name}",
        labels=("name", "namespace", *labels),
        help=f"Per LocalQueue: {row.help[0].lower()}{row.help[1:]}",
        groups=row.groups | {MetricGroup.LOCAL_QUEUES},
    )


def _optional(row: MetricRow, *groups: MetricGroup) -> MetricRow:
    return replace(row, groups=frozenset(groups))


_QUEUE_AND_CLASS = "cluster_queue priority_class"

_BOTH = (
    _gauge(
        "pending_workloads",
        "cluster_queue status",
        "Workloads that wait: `active` in the queue, `inadmissible` until something changes.",
    ),
    _counter(
        "quota_reserved_workloads_total",
        _QUEUE_AND_CLASS,
        "Workloads that got a quota reservation.",
    ),
    _counter("admitted_workloads_total", _QUEUE_AND_CLASS, "Workloads that were admitted."),
    _counter("finished_workloads_total", _QUEUE_AND_CLASS, "Workloads that finished."),
    _gauge("finished_workloads", "cluster_queue", "Finished workloads that still exist."),
    _histogram(
        "quota_reserved_wait_time_seconds",
        _QUEUE_AND_CLASS,
        WAIT_BUCKETS,
        "Time from creation, or from the last requeueing, to the quota reservation.",
    ),
    _histogram(
        "admission_wait_time_seconds",
        _QUEUE_AND_CLASS,
        WAIT_BUCKETS,
        "Time from creation, or from the last requeueing, to admission.",
    ),
    _histogram(
        "admission_checks_wait_time_seconds",
        _QUEUE_AND_CLASS,
        WAIT_BUCKETS,
        "Time from the quota reservation to admission.",
    ),
    _histogram(
        "ready_wait_time_seconds",
        _QUEUE_AND_CLASS,
        WAIT_BUCKETS,
        "Time from creation, or from the last requeueing, until all pods were ready; once per"
        " admission.",
    ),
    _histogram(
        "admitted_until_ready_wait_time_seconds",
        _QUEUE_AND_CLASS,
        WAIT_BUCKETS,
        "Time from admission until all pods were ready for the first time.",
    ),
    _histogram(
        "execution_time_seconds",
        _QUEUE_AND_CLASS,
        RUN_BUCKETS,
        "Time from admission to the end of the workload.",
    ),
    _counter(
        "evicted_workloads_total",
        "cluster_queue reason underlying_cause priority_class",
        "Evictions of workloads.",
    ),
    _gauge("reserving_active_workloads", "cluster_queue", "Workloads that hold quota."),
    _gauge("admitted_active_workloads", "cluster_queue", "Workloads that are admitted and live."),
    _optional(
        _gauge(
            "unadmitted_workloads",
            "cluster_queue reason underlying_cause",
            "Workloads that are not admitted: the reason of `Admitted`, and of `QuotaReserved`.",
        ),
        MetricGroup.UNADMITTED,
    ),
)
"""Metrics that exist for each ClusterQueue and for each LocalQueue."""

_FLAVOR = "cohort cluster_queue flavor resource"

_RESOURCES = (
    _gauge("cluster_queue_resource_reservation", _FLAVOR, "Quota that is reserved."),
    _gauge("cluster_queue_resource_usage", _FLAVOR, "Quota that admitted workloads use."),
    _gauge("cluster_queue_nominal_quota", _FLAVOR, "The queue's own quota."),
    _gauge(
        "cluster_queue_borrowing_limit",
        _FLAVOR,
        "The most that the queue may borrow; `+Inf` where there is no limit.",
    ),
    _gauge(
        "cluster_queue_lending_limit",
        _FLAVOR,
        "The most that the queue lends; `+Inf` where there is no limit.",
    ),
    _gauge(
        "cluster_queue_resource_pending",
        "cluster_queue resource",
        "What the waiting workloads of the queue ask for together.",
    ),
)

_LOCAL_RESOURCES = (
    _gauge(
        "local_queue_resource_reservation",
        "name namespace flavor resource",
        "Quota that the workloads of a LocalQueue have reserved.",
    ),
    _gauge(
        "local_queue_resource_usage",
        "name namespace flavor resource",
        "Quota that the admitted workloads of a LocalQueue use.",
    ),
)

_CLUSTER_QUEUES = (
    _counter(
        "replaced_workload_slices_total",
        "cluster_queue",
        "Slices of elastic jobs that another slice replaced, because the job grew.",
    ),
    _counter(
        "admission_attempts_total",
        "result",
        "Admission cycles that admitted something (`success`) or nothing (`inadmissible`).",
    ),
    _histogram(
        "admission_attempt_duration_seconds",
        "result",
        ATTEMPT_BUCKETS,
        "How long an admission cycle took.",
    ),
    _gauge(
        "admission_cycle_preemption_skips",
        "cluster_queue",
        "Workloads of the last cycle that could preempt, but not beside another one's preemption.",
    ),
    _counter(
        "preemption_target_recomputations_total",
        "cluster_queue result",
        "Searches for victims that were repeated because an earlier head had chosen the same ones.",
    ),
    _gauge(
        "pending_scheduling_hashes",
        "cluster_queue status",
        "Different shapes among the workloads that wait.",
    ),
    _histogram(
        "pods_ready_to_evicted_time_seconds",
        "cluster_queue reason underlying_cause",
        RUN_BUCKETS,
        "Time from all pods being ready to the eviction.",
    ),
    _optional(
        _histogram(
            "workload_creation_latency_seconds",
            "job_kind",
            CREATION_BUCKETS,
            "Time from the creation of a job, in whole seconds, to that of its Workload.",
        ),
        MetricGroup.CREATION,
    ),
    _counter(
        "evicted_workloads_once_total",
        "cluster_queue reason underlying_cause priority_class",
        "Workloads that were evicted for the first time.",
    ),
    _counter(
        "preempted_workloads_total",
        "preempting_cluster_queue reason",
        "Workloads that were preempted, by the queue that gained from it.",
    ),
    _histogram(
        "workload_eviction_latency_seconds",
        "cluster_queue reason",
        WAIT_BUCKETS,
        "Time from the decision to evict until the quota was free.",
    ),
    _histogram(
        "pod_scheduling_gate_removal_seconds",
        "name cluster_queue is_group",
        WAIT_BUCKETS,
        "Time from admission until a pod lost its scheduling gate, by that and by whether it is of"
        " a group.",
    ),
    _gauge(
        "cluster_queue_status",
        "cluster_queue status",
        "1 for the state that the queue is in: `pending`, `active` or `terminating`; else 0.",
    ),
    _optional(
        _gauge(
            "local_queue_status",
            "name namespace active",
            "1 for whether the LocalQueue is active: `True`, `False` or `Unknown`; else 0.",
        ),
        MetricGroup.LOCAL_QUEUES,
    ),
    _optional(
        _gauge(
            "local_queue_admission_fair_sharing_usage",
            "name namespace cluster_queue",
            "The decayed usage by which the LocalQueues of a ClusterQueue take turns.",
        ),
        MetricGroup.LOCAL_QUEUES,
    ),
    _gauge(
        "cluster_queue_weighted_share",
        "cluster_queue cohort",
        "The queue's share above its own quota, divided by its weight. Only with `fairSharing`.",
    ),
    _gauge(
        "cluster_queue_info",
        "cluster_queue parent_cohort root_cohort",
        "Always 1; the labels say where the queue is in the tree.",
    ),
)

_COHORTS = (
    _gauge(
        "cohort_weighted_share",
        "cohort",
        "The cohort's share above its own quota, divided by its weight. Only with `fairSharing`.",
    ),
    _gauge(
        "cohort_subtree_quota",
        "cohort flavor resource",
        "Quota of all below the cohort, less what members keep to themselves (lending limits).",
    ),
    _gauge(
        "cohort_subtree_resource_reservations",
        "cohort flavor resource",
        "Quota reserved by all below the cohort, less what is within what members keep.",
    ),
    _counter(
        "cohort_subtree_admitted_workloads_total",
        "cohort priority_class",
        "Workloads admitted below the cohort.",
    ),
    _gauge(
        "cohort_subtree_admitted_active_workloads",
        "cohort",
        "Workloads below the cohort that are admitted and live.",
    ),
    _gauge(
        "cohort_info",
        "cohort parent_cohort root_cohort",
        "Always 1; the labels say where the cohort is in the tree.",
    ),
)

_BUILD = (
    _gauge(
        "build_info",
        "git_version git_commit build_date go_version compiler platform",
        "Always 1; the labels say which program runs. `go_version` is empty.",
    ),
)

_OWN = (
    _histogram("cycle_duration_seconds", "", SHORT_BUCKETS, "How long a cycle of decisions took."),
    _counter("decisions_total", "decision", "Decisions by kind: Admit, Preempt, Wait."),
    _counter(
        "writes_total",
        "purpose outcome",
        "Writes to the API server by purpose and outcome (done, refused, unknown).",
    ),
    _histogram(
        "write_duration_seconds",
        "purpose",
        SHORT_BUCKETS,
        "How long a write took, with its repetitions.",
    ),
    _gauge("writes_waiting", "purpose", "Writes that wait for a slot."),
    _gauge("events_dropped", "", "Events that were not written, since the start."),
    _gauge("event_loop_lag_seconds", "", "How late the event loop woke up, at worst lately."),
    _gauge("leader", "", "1 while this replica leads, else 0."),
    _gauge(
        "device_claims_left",
        "",
        "Claims that hold devices for a workload that holds no quota, or is being evicted.",
    ),
    _gauge(
        "credit_balance",
        "cluster_queue",
        "Credits of the queue, in reference-GPU-seconds; negative when it owes.",
    ),
    _gauge(
        "cohort_credit_balance",
        "cohort",
        "Credits of a cohort among its siblings, in reference-GPU-seconds.",
    ),
    _gauge(
        "namespace_credit_balance",
        "cluster_queue namespace",
        "Credits of a namespace within the queue, in reference-GPU-seconds.",
    ),
)

_FOLLOWED = frozenset(
    {
        "pending_workloads",
        "finished_workloads",
        "reserving_active_workloads",
        "admitted_active_workloads",
        "unadmitted_workloads",
        "pending_scheduling_hashes",
        "cluster_queue_status",
        "cluster_queue_info",
        "cohort_subtree_admitted_active_workloads",
        *(row.name for row in (*_RESOURCES, *_LOCAL_RESOURCES)),
        "build_info",
        "event_loop_lag_seconds",
        "leader",
    }
)
"""What a replica that does not lead serves, too: Kueue's followers fill these as they watch."""

_ALL = (
    *_BOTH,
    *(_of_local_queue(row) for row in _BOTH),
    *_CLUSTER_QUEUES,
    *(_optional(row, MetricGroup.RESOURCES) for row in _RESOURCES),
    *(_optional(row, MetricGroup.RESOURCES, MetricGroup.LOCAL_QUEUES) for row in _LOCAL_RESOURCES),
    *(_optional(row, MetricGroup.COHORTS) for row in _COHORTS),
    *_BUILD,
    *(replace(row, prefix="queueing") for row in (*_OWN, *CHECKPOINTS)),
)

TABLE: tuple[MetricRow, ...] = tuple(
    replace(
        row, followed=row.name.removeprefix("local_queue_") in _FOLLOWED or row.name in _FOLLOWED
    )
    for row in _ALL
)
"""All metrics, Kueue's first. Every one carries the label `replica_role` besides its own."""

ROWS: Mapping[str, MetricRow] = MappingProxyType({row.name: row for row in TABLE})
"""The table by name without prefix; no name occurs twice."""

UNMEASURED: Mapping[str, str] = MappingProxyType({})
"""Names that are kept for what they will mean, and why nothing feeds them. The page says so."""

ABSENT: Mapping[str, str] = MappingProxyType(
    {
        "multikueue_workloads_dispatched_total": "There is one cluster.",
        "multikueue_workloads_admitted_total": "There is one cluster.",
    }
)
"""Metrics of Kueue that belong to what this product does not have, and why."""
