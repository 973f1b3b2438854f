"""What Prometheus sees, minute by minute, while something is wrong: a scenario for each alert."""

from collections.abc import Mapping
from types import MappingProxyType

HEALTHY: Mapping[str, str] = MappingProxyType(
    {
        'queueing_leader{replica_role="leader"}': "1x2000",
        'queueing_leader{replica_role="follower"}': "0x2000",
        'queueing_event_loop_lag_seconds{replica_role="leader"}': "0.01x2000",
        'queueing_event_loop_lag_seconds{replica_role="follower"}': "0.01x2000",
        'queueing_writes_total{purpose="admit",outcome="done"}': "0+60x2000",
        'queueing_writes_total{purpose="admit",outcome="unknown"}': "2x2000",
        'queueing_writes_waiting{purpose="admit"}': "3x2000",
        'queueing_device_claims_left{replica_role="leader"}': "0x2000",
        'kueue_cluster_queue_status{cluster_queue="a",status="active"}': "1x2000",
        'kueue_pending_workloads{cluster_queue="a",status="active"}': "4x2000",
        'kueue_pending_workloads{cluster_queue="a",status="inadmissible"}': "9x2000",
        'kueue_reserving_active_workloads{cluster_queue="a"}': "5x2000",
        'kueue_admitted_workloads_total{cluster_queue="a"}': "0+10x2000",
        'kueue_preempted_workloads_total{preempting_cluster_queue="a"}': "0+1x2000",
        'kueue_evicted_workloads_total{cluster_queue="a",reason="PodsReadyTimeout"}': "1x2000",
        'kueue_admission_wait_time_seconds_bucket{cluster_queue="a",le="2560"}': "0+10x2000",
        'kueue_admission_wait_time_seconds_bucket{cluster_queue="a",le="10240"}': "0+10x2000",
        'kueue_admission_wait_time_seconds_bucket{cluster_queue="a",le="+Inf"}': "0+10x2000",
        'queueing_checkpoint_outcomes_total{cluster_queue="a",outcome="Saved"}': "0+1x2000",
        'queueing_checkpoint_outcomes_total{cluster_queue="a",outcome="Failed"}': "3x2000",
        'kueue_cluster_queue_resource_usage{cluster_queue="a",flavor="f",resource="cpu"}': "4x2000",
        'kueue_cluster_queue_nominal_quota{cluster_queue="a",flavor="f",resource="cpu"}': "4x2000",
    }
)
"""Series of a cluster where all is well, as promtool writes them: a number for each minute."""

WRONG: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "QueueingLeaderLost": {'queueing_leader{replica_role="leader"}': "0x2000"},
        "QueueingAdmissionLate": {
            'kueue_admission_wait_time_seconds_bucket{cluster_queue="a",le="2560"}': "0+2x2000",
        },
        "QueueingQueueStuck": {'kueue_reserving_active_workloads{cluster_queue="a"}': "0x2000"},
        "QueueingQueueInactive": {
            'kueue_cluster_queue_status{cluster_queue="a",status="active"}': "0x2000",
        },
        "QueueingOverNominal": {
            'kueue_cluster_queue_resource_usage{cluster_queue="a",flavor="f",resource="cpu"}': (
                "6x2000"
            ),
        },
        "QueueingPreemptionStorm": {
            'kueue_preempted_workloads_total{preempting_cluster_queue="a"}': "0+9x2000",
        },
        "QueueingPreemptionStorm: nothing is admitted": {
            'kueue_preempted_workloads_total{preempting_cluster_queue="a"}': "0+9x2000",
            'kueue_admitted_workloads_total{cluster_queue="a"}': "_x2000",
        },
        "QueueingPodsNotReady: the first of all": {
            'kueue_evicted_workloads_total{cluster_queue="a",reason="PodsReadyTimeout"}': (
                "_x90 1x1900"
            ),
        },
        "QueueingPodsNotReady": {
            'kueue_evicted_workloads_total{cluster_queue="a",reason="PodsReadyTimeout"}': (
                "0+1x2000"
            ),
        },
        "QueueingCheckpointFailures": {
            'queueing_checkpoint_outcomes_total{cluster_queue="a",outcome="Failed"}': "0+1x2000",
        },
        "QueueingClaimsLeaked": {'queueing_device_claims_left{replica_role="leader"}': "2x2000"},
        "QueueingEventLoopLag": {
            'queueing_event_loop_lag_seconds{replica_role="follower"}': "4x2000",
        },
        "QueueingWritesUnanswered": {
            'queueing_writes_total{purpose="admit",outcome="unknown"}': "0+5x2000",
        },
        "QueueingWritesBehind": {'queueing_writes_waiting{purpose="admit"}': "400x2000"},
    }
)
"""By alert, the series that are different while it fires; every other alert stays silent.

What follows a colon tells two scenarios of an alert apart.
"""
