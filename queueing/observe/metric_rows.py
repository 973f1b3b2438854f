"""What a row of the table of metrics holds, and the buckets that rows share."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class MetricKind(StrEnum):
    """The three types of Prometheus that we use."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class ReplicaRole(StrEnum):
    """What a replica is, as the label `replica_role` on each of its series says."""

    LEADER = "leader"
    FOLLOWER = "follower"
    STANDALONE = "standalone"


LEADING = 'replica_role!="follower"'
"""Selects each value once, in PromQL: replicas that do not lead serve what they watch as well."""


class MetricGroup(StrEnum):
    """Metrics that the Configuration can turn on or off, by its setting."""

    RESOURCES = "metrics.enableClusterQueueResources"
    LOCAL_QUEUES = "metrics.localQueueMetrics"
    COHORTS = "featureGates.MetricsForCohorts"
    CREATION = "featureGates.MetricForWorkloadCreationLatency"
    UNADMITTED = "featureGates.UnadmittedWorkloadsObservability"


CLUSTER_QUEUE = ("cluster_queue",)
LOCAL_QUEUE = ("name", "namespace")
COHORT = ("cohort",)
NAMING: Mapping[tuple[str, ...], tuple[str, ...]] = MappingProxyType(
    {
        CLUSTER_QUEUE: CLUSTER_QUEUE,
        ("preempting_cluster_queue",): CLUSTER_QUEUE,
        LOCAL_QUEUE: LOCAL_QUEUE,
        COHORT: COHORT,
    }
)
"""Labels that name an object, by which a series goes when the object is gone; and the labels that
usually name such an object, which stand for its kind."""


def exponential_buckets(first: float, count: int) -> tuple[float, ...]:
    """Return `count` upper bounds, each twice the one before."""
    return tuple(first * 2.0**power for power in range(count))


WAIT_BUCKETS = (1.0, *exponential_buckets(2.5, 13))
"""Seconds, 1 to 10,240: Kueue's buckets for waiting."""
RUN_BUCKETS = (1.0, *exponential_buckets(2.5, 15))
"""Seconds, 1 to 40,960: Kueue's buckets for running."""
CREATION_BUCKETS = exponential_buckets(0.01, 11)
"""Seconds, 0.01 to 10.24."""
ATTEMPT_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds; the customary ones of Prometheus."""
SHORT_BUCKETS = exponential_buckets(0.0005, 14)
"""Seconds, 0.5 ms to 4 s: our own work."""


@dataclass(frozen=True, slots=True)
class MetricRow:
    """One metric; `name` lacks the prefix, and all `groups` are needed for it to be kept.

    `followed` metrics are also served by replicas that do not lead: they need to watch only.
    """

    name: str
    kind: MetricKind
    labels: tuple[str, ...]
    help: str
    buckets: tuple[float, ...] = ()
    groups: frozenset[MetricGroup] = frozenset()
    prefix: str = "kueue"
    followed: bool = False

    @property
    def full_name(self) -> str:
        """The name as a query writes it."""
        return f"{self.prefix}_{self.name}"

    @property
    def naming(self) -> tuple[tuple[str, ...], ...]:
        """The groups of its labels that name an object."""
        return tuple(group for group in NAMING if set(group) <= set(self.labels))


def counter(name: str, labels: str, text: str) -> MetricRow:
    """Return the row of a counter; its labels are separated by blanks."""
    return MetricRow(name, MetricKind.COUNTER, tuple(labels.split()), text)


def gauge(name: str, labels: str, text: str) -> MetricRow:
    """Return the row of a gauge."""
    return MetricRow(name, MetricKind.GAUGE, tuple(labels.split()), text)


def histogram(name: str, labels: str, buckets: tuple[float, ...], text: str) -> MetricRow:
    """Return the row of a histogram; buckets are upper bounds in seconds."""
    return MetricRow(name, MetricKind.HISTOGRAM, tuple(labels.split()), text, buckets)
