"""Demands on kinds that a field suspends, beside those on all kinds: of Ray and of Spark."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.patches import optional
from queueing.webhooks.policies.demand import Demand, Policy
from queueing.webhooks.policies.queued import policy_of
from queueing.webhooks.suspension import SuspendedKind
from queueing.webhooks.workloads import ELASTIC

GROUPS_MAX: Final = 17
"""How many groups of workers a cluster may have: a Workload has 18 pod sets, one is the head's."""
_ELASTIC: Final = f"object.metadata.?annotations[?'{ELASTIC}'].orValue('') == 'true'"
_IN_SLICES: Final = (
    "a kueue managed job should only use autoscaling when workload slicing is enabled"
)
_AS_ELASTIC: Final = (
    "a kueue-managed RayCluster can use autoscaling only as an elastic job: enable the"
    " ElasticJobsViaWorkloadSlices feature gate and set the"
    f' "{ELASTIC}": "true" annotation'
)
_CLUSTER: Final = "spec.rayClusterSpec"
_HAS_CLUSTER: Final = f"{optional('object', _CLUSTER)}.hasValue()"
_BORROWS: Final = f"size({optional('object', 'spec.clusterSelector')}.orValue({{}})) > 0"

_SPARK_SCALES: Final = f"{optional('object', 'spec.dynamicAllocation.enabled')}.orValue(false)"


def _of_cluster(at: str, told: str, unless: str = "false") -> Iterator[Demand]:
    """Yield the demands on the cluster that is described at a path."""
    scales = f"{optional('object', f'{at}.enableInTreeAutoscaling')}.orValue(false)"
    groups = f"{optional('object', f'{at}.workerGroupSpecs')}.orValue([])"
    yield Demand(
        path=f"{at}.enableInTreeAutoscaling",
        expression=f"{unless} || !{scales} || {_ELASTIC}",
        message=told,
    )
    yield Demand(
        path=f"{at}.workerGroupSpecs",
        expression=f"{unless} || size({groups}) <= {GROUPS_MAX}",
        message=f"must have at most {GROUPS_MAX} items, with the head group 18",
    )
    yield Demand(
        path=f"{at}.workerGroupSpecs[].groupName",
        expression=f"{unless} || {groups}.all(g, g.?groupName.orValue('') != 'head')",
        message='"head" is reserved for the head group',
        fault=CauseType.FORBIDDEN,
    )


_DEMANDS: Final[Mapping[str, Sequence[Demand]]] = MappingProxyType(
    {
        "RayCluster": tuple(_of_cluster("spec", _AS_ELASTIC)),
        "RayService": tuple(_of_cluster("spec.rayClusterConfig", _IN_SLICES)),
        "RayJob": (
            Demand(
                path="spec.clusterSelector",
                expression=f"!({_BORROWS}) || !{_HAS_CLUSTER}",
                message="a kueue managed job should not use an existing cluster",
            ),
            Demand(
                path=_CLUSTER,
                expression=f"{_BORROWS} || {_HAS_CLUSTER}",
                message="rayClusterSpec is required for Kueue-managed jobs that don't use"
                " clusterSelector",
                fault=CauseType.REQUIRED,
            ),
            Demand(
                path="spec.shutdownAfterJobFinishes",
                expression=f"{_BORROWS}"
                f" || {optional('object', 'spec.shutdownAfterJobFinishes')}.orValue(false)",
                message="a kueue managed job should delete the cluster after finishing",
            ),
            *_of_cluster(_CLUSTER, _IN_SLICES, unless=_BORROWS),
        ),
        "SparkApplication": (
            Demand(
                path="spec.mode",
                expression=f"{optional('object', 'spec.mode')}.orValue('cluster') == 'cluster'",
                message="only Cluster mode is supported for a kueue managed job",
            ),
            Demand(
                path="spec.dynamicAllocation.enabled",
                expression=f"!{_SPARK_SCALES}",
                message="a kueue managed job can use dynamicAllocation only when the"
                " ElasticJobsViaWorkloadSlices feature gate is on and the job is an elastic job",
            ),
        ),
    }
)


def policy_of_suspended(kind: SuspendedKind) -> Policy:
    """Return the policy of a kind that a field suspends."""
    found = _DEMANDS.get(kind.kind, ())
    return policy_of(kind, demands=found, marks=[f"!({one.expression})" for one in found])
