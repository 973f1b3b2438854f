"""What is refused of Ray and Spark beside what is of all kinds."""

from copy import deepcopy
from typing import Any

import pytest

from queueing.kinds.paths import put
from queueing.webhooks.policies.suspended import GROUPS_MAX, policy_of_suspended
from queueing.webhooks.rules import OF_POLICIES, bound, program_of
from queueing.webhooks.suspension import SuspendedKind, kinds_on
from tests.kinds.rows import ROWS, Wire, sample

MARKED = {"kueue.x-k8s.io/elastic-job": "true"}
IN_SLICES = "a kueue managed job should only use autoscaling when workload slicing is enabled"
GROUPS = [{"groupName": f"g{number}"} for number in range(GROUPS_MAX + 1)]
JOB, SPARK = "ray.io/rayjob", "sparkoperator.k8s.io/sparkapplication"
CLUSTERS = [
    ("ray.io/raycluster", "spec", "can use autoscaling only as an elastic job"),
    (JOB, "spec.rayClusterSpec", IN_SLICES),
    ("ray.io/rayservice", "spec.rayClusterConfig", IN_SLICES),
]


def queued(framework: str, *changes: tuple[str, Any]) -> Wire:
    """Return the sample of a kind in a queue, not elastic, with other values at some paths."""
    found: Wire = deepcopy(sample(next(row for row in ROWS if row.framework == framework)))
    labels = {"kueue.x-k8s.io/queue-name": "team"}
    found["metadata"] |= {"annotations": {}, "labels": labels}
    for path, value in changes:
        put(found, tuple(path.split(".")), value)
    return found


def refusals(framework: str, thing: Wire, *, asked: bool = True) -> list[str]:
    """Return what the API server says of a new object; `asked` says whether it asks at all."""
    (kind,) = (
        one
        for one in kinds_on([framework], {"SparkApplicationIntegration": True})
        if isinstance(one, SuspendedKind) and one.kind == thing["kind"]
    )
    policy = policy_of_suspended(kind)
    around = bound(policy.variables, thing, None)
    conditions = (program_of(one, OF_POLICIES).holds(around) for one in policy.conditions)
    assert all(conditions) is asked
    return [
        f"{one.path}: {one.message}"
        for one in policy.demands
        if not program_of(one.expression, OF_POLICIES).holds(around)
    ]


@pytest.mark.parametrize(("framework", "at", "told"), CLUSTERS)
def test_a_cluster_scales_itself_only_as_an_elastic_job(framework: str, at: str, told: str) -> None:
    scaling = queued(framework, (f"{at}.enableInTreeAutoscaling", True))
    (said,) = refusals(framework, scaling)
    assert said.startswith(f"{at}.enableInTreeAutoscaling: ")
    assert told in said
    scaling["metadata"]["annotations"] = MARKED
    assert refusals(framework, scaling) == []


@pytest.mark.parametrize(("framework", "at", "_"), CLUSTERS)
def test_the_groups_of_a_cluster_are_few_and_have_names_of_their_own(
    framework: str, at: str, _: str
) -> None:
    (said,) = refusals(framework, queued(framework, (f"{at}.workerGroupSpecs", GROUPS)))
    assert said.startswith(f"{at}.workerGroupSpecs: must have at most {GROUPS_MAX} items")
    head = queued(framework, (f"{at}.workerGroupSpecs", [{"groupName": "head"}]))
    (said,) = refusals(framework, head)
    assert said.endswith('"head" is reserved for the head group')


@pytest.mark.parametrize(
    ("framework", "path", "value", "told"),
    [
        (JOB, "spec.clusterSelector", {"a": "b"}, "should not use an existing cluster"),
        (JOB, "spec.shutdownAfterJobFinishes", False, "should delete the cluster after finishing"),
        (SPARK, "spec.mode", "client", "only Cluster mode is supported"),
        (SPARK, "spec.dynamicAllocation.enabled", True, "can use dynamicAllocation only when"),
    ],
)
def test_what_cannot_be_queued_is_refused(framework: str, path: str, value: Any, told: str) -> None:
    (said,) = refusals(framework, queued(framework, (path, value)))
    assert said.startswith(f"{path}: ")
    assert told in said


def test_a_ray_job_needs_a_cluster_of_its_own_or_another_one() -> None:
    without = queued(JOB)
    del without["spec"]["rayClusterSpec"]
    (said,) = refusals(JOB, without)
    assert said.startswith("spec.rayClusterSpec: rayClusterSpec is required")
    without["spec"]["clusterSelector"] = {"a": "b"}
    assert refusals(JOB, without, asked=False) == []


@pytest.mark.parametrize("framework", [*(one for one, _, _ in CLUSTERS), SPARK])
def test_nobody_is_asked_about_a_plain_one(framework: str) -> None:
    assert refusals(framework, queued(framework), asked=False) == []
