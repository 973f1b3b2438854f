"""Metrics of requests to save."""

from queueing.observe.metric_rows import WAIT_BUCKETS, counter, gauge, histogram

_WHERE = "cluster_queue driver"

CHECKPOINTS = (
    gauge("checkpoint_requests", "phase", "Requests to save that are not over, by phase."),
    counter(
        "checkpoint_requests_total",
        f"{_WHERE} reason",
        "Requests to save that were made, by why the workload is to be stopped.",
    ),
    counter(
        "checkpoint_outcomes_total",
        f"{_WHERE} outcome",
        "How requests ended: Saved, Unresponsive, Failed, NotAsked, or Withdrawn.",
    ),
    counter(
        "checkpoint_spared_total",
        _WHERE,
        "Workloads that stayed because they could not save (onFailure).",
    ),
    histogram(
        "checkpoint_ack_seconds",
        _WHERE,
        WAIT_BUCKETS,
        "Time from the notice until the pods began to save.",
    ),
    histogram(
        "checkpoint_save_seconds", _WHERE, WAIT_BUCKETS, "Time from the request until it was saved."
    ),
    histogram(
        "checkpoint_drain_seconds",
        _WHERE,
        WAIT_BUCKETS,
        "Time from when the pods were told to end until none was left.",
    ),
    counter(
        "checkpoint_saved_work_pod_seconds_total",
        _WHERE,
        "Running time since the last checkpoint or start that was saved, times pods.",
    ),
    counter(
        "checkpoint_lost_work_pod_seconds_total",
        _WHERE,
        "Running time since the last checkpoint or start that was lost with the stop, times pods.",
    ),
)
