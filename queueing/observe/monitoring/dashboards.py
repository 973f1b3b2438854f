"""The dashboards: for teams, for admins and for SREs."""

from dataclasses import dataclass
from enum import StrEnum

from queueing.observe.metric_rows import LEADING


class Unit(StrEnum):
    """How Grafana spells an axis."""

    COUNT = "short"
    SECONDS = "s"
    PER_SECOND = "ops"


@dataclass(frozen=True, slots=True)
class Query:
    """A query, and how its series are named in the legend."""

    expression: str
    legend: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A graph over time."""

    title: str
    about: str
    unit: Unit
    queries: tuple[Query, ...]


@dataclass(frozen=True, slots=True)
class Variable:
    """A choice at the top of a dashboard: the values of a label of a metric."""

    name: str
    metric: str
    label: str


@dataclass(frozen=True, slots=True)
class Dashboard:
    """A page of panels; `uid` is its address."""

    uid: str
    title: str
    about: str
    variables: tuple[Variable, ...]
    panels: tuple[Panel, ...]


_RATE = "$__rate_interval"


def _panel(title: str, unit: Unit, about: str, *queries: tuple[str, str]) -> Panel:
    return Panel(title, about, unit, tuple(Query(*one) for one in queries))


def _quantile(share: float, metric: str, by: str, chosen: str) -> str:
    buckets = f"rate({metric}_bucket{{{chosen}}}[{_RATE}])"
    return f"histogram_quantile({share}, sum by ({by}, le) ({buckets}))"


_TEAM = 'namespace=~"$namespace"'
_TEAM_ONE = f"{_TEAM},{LEADING}"
_QUEUE = 'cluster_queue=~"$cluster_queue"'
_QUEUE_ONE = f"{_QUEUE},{LEADING}"

TEAMS = Dashboard(
    uid="queueing-teams",
    title="queueing / teams",
    about="What waits and runs in the queues of a namespace, and for how long.",
    variables=(Variable("namespace", "kueue_local_queue_pending_workloads", "namespace"),),
    panels=(
        _panel(
            "Workloads that wait",
            Unit.COUNT,
            "By queue. `inadmissible` ones wait until something changes.",
            (
                f"sum by (name, status) (kueue_local_queue_pending_workloads{{{_TEAM_ONE}}})",
                "{{name}} {{status}}",
            ),
        ),
        _panel(
            "Workloads that run",
            Unit.COUNT,
            "By queue.",
            (
                f"sum by (name) (kueue_local_queue_admitted_active_workloads{{{_TEAM_ONE}}})",
                "{{name}}",
            ),
        ),
        _panel(
            "Time until admission",
            Unit.SECONDS,
            "Of what was admitted: half of it waited for less than p50, nine tenths less than p90.",
            (
                _quantile(0.5, "kueue_local_queue_admission_wait_time_seconds", "name", _TEAM),
                "{{name}} p50",
            ),
            (
                _quantile(0.9, "kueue_local_queue_admission_wait_time_seconds", "name", _TEAM),
                "{{name}} p90",
            ),
        ),
        _panel(
            "Time until pods are ready",
            Unit.SECONDS,
            "From the beginning of the wait, of what got ready.",
            (
                _quantile(0.9, "kueue_local_queue_ready_wait_time_seconds", "name", _TEAM),
                "{{name}} p90",
            ),
        ),
        _panel(
            "Evictions",
            Unit.COUNT,
            "Workloads that had to stop, by reason.",
            (
                (
                    "sum by (name, reason) (increase(kueue_local_queue_evicted_workloads_total"
                    f"{{{_TEAM}}}[{_RATE}]))"
                ),
                "{{name}} {{reason}}",
            ),
        ),
        _panel(
            "Quota in use",
            Unit.COUNT,
            "Needs `metrics.enableClusterQueueResources`.",
            (
                (
                    "sum by (name, flavor, resource) (kueue_local_queue_resource_usage"
                    f"{{{_TEAM_ONE}}})"
                ),
                "{{name}} {{resource}} of {{flavor}}",
            ),
        ),
    ),
)

ADMINS = Dashboard(
    uid="queueing-admins",
    title="queueing / admins",
    about="How full queues are, who waits, who borrows, and what preemption costs.",
    variables=(Variable("cluster_queue", "kueue_pending_workloads", "cluster_queue"),),
    panels=(
        _panel(
            "Quota in use, and nominal",
            Unit.COUNT,
            "Above nominal, a queue borrows. Needs `metrics.enableClusterQueueResources`.",
            (
                (
                    "sum by (cluster_queue, flavor, resource) (kueue_cluster_queue_resource_usage"
                    f"{{{_QUEUE_ONE}}})"
                ),
                "{{cluster_queue}} {{resource}} of {{flavor}}",
            ),
            (
                (
                    "sum by (cluster_queue, flavor, resource) (kueue_cluster_queue_nominal_quota"
                    f"{{{_QUEUE_ONE}}})"
                ),
                "{{cluster_queue}} {{resource}} of {{flavor}}, nominal",
            ),
        ),
        _panel(
            "Workloads that wait",
            Unit.COUNT,
            "`inadmissible` ones wait until something changes.",
            (
                f"sum by (cluster_queue, status) (kueue_pending_workloads{{{_QUEUE_ONE}}})",
                "{{cluster_queue}} {{status}}",
            ),
        ),
        _panel(
            "Workloads that run",
            Unit.COUNT,
            "Admitted, and not finished.",
            (
                f"sum by (cluster_queue) (kueue_admitted_active_workloads{{{_QUEUE_ONE}}})",
                "{{cluster_queue}}",
            ),
        ),
        _panel(
            "Time until admission",
            Unit.SECONDS,
            "Of what was admitted, nine tenths waited for less.",
            (
                _quantile(0.9, "kueue_admission_wait_time_seconds", "cluster_queue", _QUEUE),
                "{{cluster_queue}} p90",
            ),
        ),
        _panel(
            "Preemptions",
            Unit.COUNT,
            "Workloads that were preempted, by the queue that gained from it.",
            (
                (
                    "sum by (preempting_cluster_queue, reason) (increase("
                    "kueue_preempted_workloads_total"
                    f'{{preempting_cluster_queue=~"$cluster_queue"}}[{_RATE}]))'
                ),
                "{{preempting_cluster_queue}} {{reason}}",
            ),
        ),
        _panel(
            "Work saved and lost by stops",
            Unit.SECONDS,
            "Pod-seconds since the last checkpoint or start, of workloads that were asked to save.",
            (
                (
                    "sum by (cluster_queue) (increase("
                    f"queueing_checkpoint_saved_work_pod_seconds_total{{{_QUEUE}}}[{_RATE}]))"
                ),
                "{{cluster_queue}} saved",
            ),
            (
                (
                    "sum by (cluster_queue) (increase("
                    f"queueing_checkpoint_lost_work_pod_seconds_total{{{_QUEUE}}}[{_RATE}]))"
                ),
                "{{cluster_queue}} lost",
            ),
        ),
        _panel(
            "Shares",
            Unit.COUNT,
            "Share above the own quota, divided by the weight. Only with `fairSharing`.",
            (
                f"sum by (cluster_queue) (kueue_cluster_queue_weighted_share{{{_QUEUE}}})",
                "{{cluster_queue}}",
            ),
        ),
        _panel(
            "Credits",
            Unit.COUNT,
            "Balances in reference-GPU-seconds; negative for who owes. Only with a CreditPolicy.",
            (
                f"sum by (cluster_queue) (queueing_credit_balance{{{_QUEUE}}})",
                "{{cluster_queue}}",
            ),
        ),
    ),
)

SRES = Dashboard(
    uid="queueing-sres",
    title="queueing / SREs",
    about="Is it healthy, how late are admissions, and where does the time go.",
    variables=(),
    panels=(
        _panel(
            "Replicas that lead",
            Unit.COUNT,
            "Always 1, but for a moment after a failure.",
            ("sum(queueing_leader)", "leaders"),
        ),
        _panel(
            "Time until admission",
            Unit.SECONDS,
            "Of all queues together.",
            *(
                (
                    (
                        f"histogram_quantile({share}, sum by (le) ("
                        f"rate(kueue_admission_wait_time_seconds_bucket[{_RATE}])))"
                    ),
                    f"p{share * 100:.0f}",
                )
                for share in (0.5, 0.9, 0.99)
            ),
        ),
        _panel(
            "Decisions",
            Unit.PER_SECOND,
            "By kind.",
            (f"sum by (decision) (rate(queueing_decisions_total[{_RATE}]))", "{{decision}}"),
        ),
        _panel(
            "Length of a cycle",
            Unit.SECONDS,
            "How long deciding took.",
            (
                (
                    "histogram_quantile(0.99, sum by (le) ("
                    f"rate(queueing_cycle_duration_seconds_bucket[{_RATE}])))"
                ),
                "p99",
            ),
        ),
        _panel(
            "Writes",
            Unit.PER_SECOND,
            "By purpose and outcome. `unknown` ones got no answer.",
            (
                f"sum by (purpose, outcome) (rate(queueing_writes_total[{_RATE}]))",
                "{{purpose}} {{outcome}}",
            ),
        ),
        _panel(
            "Length of a write",
            Unit.SECONDS,
            "With its repetitions.",
            (
                _quantile(0.99, "queueing_write_duration_seconds", "purpose", ""),
                "{{purpose}} p99",
            ),
        ),
        _panel(
            "Writes that wait",
            Unit.COUNT,
            "For a slot; by purpose.",
            ("sum by (purpose) (queueing_writes_waiting)", "{{purpose}}"),
        ),
        _panel(
            "Lag of the event loop",
            Unit.SECONDS,
            "How late it woke up, at worst lately.",
            ("max by (replica_role) (queueing_event_loop_lag_seconds)", "{{replica_role}}"),
        ),
        _panel(
            "Requests to save",
            Unit.COUNT,
            "Those that are not over, by phase.",
            ("sum by (phase) (queueing_checkpoint_requests)", "{{phase}}"),
        ),
        _panel(
            "Time to free quota",
            Unit.SECONDS,
            "From the decision to evict until the quota was free.",
            (
                _quantile(0.9, "kueue_workload_eviction_latency_seconds", "cluster_queue", ""),
                "{{cluster_queue}} p90",
            ),
        ),
        _panel(
            "Events dropped",
            Unit.COUNT,
            "Events that were not written since the start.",
            ("sum(queueing_events_dropped)", "dropped"),
        ),
        _panel(
            "Claims left",
            Unit.COUNT,
            "Claims that hold devices for workloads that hold no quota.",
            ("sum(queueing_device_claims_left)", "left"),
        ),
    ),
)

DASHBOARDS = (TEAMS, ADMINS, SRES)
