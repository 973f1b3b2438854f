from typing import Any

import pytest

from queueing.core.facts import CheckPhase, WorkloadFact
from queueing.core.names import ResourceName
from queueing.translate.inbound.manifests import read
from queueing.translate.inbound.workloads import asks_of, workload, workload_asking
from queueing.translate.requests import Surroundings, summarize
from queueing.translate.transformations import (
    ResourceRules,
    Transformation,
    TransformationStrategy,
)
from queueing.translate.wire.cluster import LimitRange
from queueing.translate.wire.workloads import Workload


def container(cpu: str | None = None, **more: Any) -> dict[str, Any]:
    requests = {"cpu": cpu} if cpu else {}
    return {"name": "c", "resources": {"requests": requests}, **more}


def sidecar(cpu: str) -> dict[str, Any]:
    return container(cpu, restartPolicy="Always")


def fact(pod_spec: dict[str, Any], around: Surroundings | None = None, **more: Any) -> WorkloadFact:
    document = {
        "metadata": {"name": "w", "namespace": "ns", **more.pop("metadata", {})},
        "spec": {
            "podSets": [{"name": "main", "count": 3, "template": {"spec": pod_spec}}],
            **more.pop("spec", {}),
        },
        **more,
    }
    return workload(read(Workload, document), around or Surroundings())


BOOSTED = Surroundings(rules=ResourceRules(boosts_priority=True))


@pytest.mark.parametrize(
    ("spec", "want"),
    [
        pytest.param({"containers": [container("1"), container("500m")]}, 1500, id="containers"),
        pytest.param(
            {"containers": [container("1")], "initContainers": [container("3")]},
            3000,
            id="a large init container",
        ),
        pytest.param(
            {"containers": [container("1")], "initContainers": [sidecar("1")]},
            2000,
            id="a sidecar runs beside the containers",
        ),
        pytest.param(
            {
                "containers": [container("1")],
                "initContainers": [sidecar("1"), container("2"), sidecar("500m")],
            },
            3000,
            id="an init container runs beside the sidecars before it",
        ),
        pytest.param(
            {"containers": [container("1")], "resources": {"requests": {"cpu": "4"}}},
            4000,
            id="a request of the pod replaces the sum",
        ),
        pytest.param(
            {"containers": [container("1")], "overhead": {"cpu": "250m"}}, 1250, id="overhead"
        ),
        pytest.param(
            {"containers": [{"name": "c", "resources": {"limits": {"cpu": "2"}}}]},
            2000,
            id="a limit stands in for a missing request",
        ),
    ],
)
def test_a_pod_asks_for_what_kubernetes_would_reserve(spec: dict[str, Any], want: int) -> None:
    got = fact(spec)
    assert got.pod_sets[0].requests == {"cpu": want}
    assert got.misconfigured == ""


def limited(**limits: Any) -> Surroundings:
    document = {
        "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Container", **limits}]},
    }
    return Surroundings(limits=summarize([read(LimitRange, document)]))


def test_a_limit_range_fills_in_and_bounds() -> None:
    around = limited(defaultRequest={"cpu": "100m"}, default={"memory": "1Gi"}, max={"cpu": "1"})
    got = fact({"containers": [container()]}, around)
    assert got.pod_sets[0].requests == {"cpu": 100, "memory": 1024**3}
    assert got.misconfigured == ""
    assert (
        "above the limitRange max" in fact({"containers": [container("2")]}, around).misconfigured
    )


def test_the_higher_of_request_and_limit_must_be_below_the_maximum() -> None:
    resources = {"requests": {"cpu": "1"}, "limits": {"cpu": "3"}}
    pod = {"containers": [{"name": "c", "resources": resources}]}
    assert "above the limitRange max" in fact(pod, limited(max={"cpu": "2"})).misconfigured
    assert fact(pod, limited(max={"cpu": "3"}, min={"cpu": "1"})).misconfigured == ""
    assert "below the limitRange min" in fact(pod, limited(min={"cpu": "2"})).misconfigured


def test_the_overhead_counts_against_the_limits_of_a_pod() -> None:
    document = {
        "metadata": {"name": "l"},
        "spec": {"limits": [{"type": "Pod", "max": {"cpu": "1"}}]},
    }
    limits = summarize([read(LimitRange, document)])
    spec = {"containers": [container("1")], "runtimeClassName": "kata"}
    assert fact(spec, Surroundings(limits=limits)).misconfigured == ""
    costly = Surroundings(limits=limits, overheads={"kata": {"cpu": 1}})
    assert "above the limitRange max" in fact(spec, costly).misconfigured


def test_a_runtime_class_costs_overhead() -> None:
    around = Surroundings(overheads={"kata": {"cpu": 250}})
    spec = {"containers": [container("1")], "runtimeClassName": "kata"}
    assert fact(spec, around).pod_sets[0].requests == {"cpu": 1250}


@pytest.mark.parametrize(
    ("resources", "want"),
    [
        pytest.param({"requests": {"pods": 1}}, "reserved for internal", id="pods"),
        pytest.param({"requests": {"cpu": "-1"}}, "greater than or equal to 0", id="negative"),
        pytest.param({"requests": {"cpu": "x"}}, "is not a quantity", id="no number"),
        pytest.param(
            {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}, "not exceed", id="above its limit"
        ),
    ],
)
def test_a_pod_that_can_never_run_is_misconfigured(resources: dict[str, Any], want: str) -> None:
    got = fact({"containers": [{"name": "c", "resources": resources}]})
    assert want in got.misconfigured


def test_resources_are_excluded_and_transformed() -> None:
    rules = ResourceRules(
        excluded_prefixes=("net.example/",),
        transformations={
            "mig-1g": Transformation(
                strategy=TransformationStrategy.REPLACE,
                outputs={"gpu-memory": "5Gi", "credits": "10"},
            ),
            "mig-2g": Transformation(
                strategy=TransformationStrategy.REPLACE, outputs={"gpu-memory": "10Gi"}
            ),
            "licence": Transformation(outputs={"seat-cpu": "1"}, multiply_by="cpu"),
        },
    )
    requests = {"cpu": "1500m", "mig-1g": 2, "mig-2g": 1, "net.example/ip": 1, "licence": 3}
    got = fact(
        {"containers": [{"name": "c", "resources": {"requests": requests}}]},
        Surroundings(rules=rules),
    )
    assert got.pod_sets[0].requests == {
        "cpu": 1500,
        "gpu-memory": 20 * 1024**3,
        "credits": 20,
        "licence": 3,
        "seat-cpu": 6,
    }


@pytest.mark.parametrize(
    ("outputs", "multiply_by", "want"),
    [
        pytest.param({"credits": "500m"}, "", 2, id="two halves are one, and one more of b"),
        pytest.param({"credits": "-3"}, "", 0, id="a negative sum counts as 0"),
        pytest.param({"credits": "1"}, "cpu", 5, id="times two whole cores, and one of b"),
        pytest.param({"credits": "1"}, "gone", 3, id="what is not asked for counts as one"),
    ],
)
def test_transformed_amounts_are_summed_before_they_are_rounded(
    outputs: dict[str, str], multiply_by: str, want: int
) -> None:
    rules = ResourceRules(
        transformations={
            "a": Transformation(outputs=dict(outputs), multiply_by=multiply_by),
            "b": Transformation(outputs={"credits": "500m"}),
            "d": Transformation(outputs={"credits": "500m"}),
        }
    )
    requests = {"cpu": "1500m", "a": 2, "b": 1, "d": 1}
    got = fact(
        {"containers": [{"name": "c", "resources": {"requests": requests}}]},
        Surroundings(rules=rules),
    )
    assert got.pod_sets[0].requests[ResourceName("credits")] == want


def test_status_becomes_what_was_decided() -> None:
    got = fact(
        {"containers": [container("1")]},
        metadata={
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {
                "kueue.x-k8s.io/priority-boost": "-5",
                "kueue.x-k8s.io/admission-gated-by": "a.example/x, b.example/y",
            },
        },
        spec={"priority": 10, "queueName": "lq", "preemptionGates": [{"name": "g"}]},
        status={
            "conditions": [
                {
                    "type": "QuotaReserved",
                    "status": "True",
                    "lastTransitionTime": "2026-01-01T00:01:00Z",
                }
            ],
            "admission": {
                "clusterQueue": "cq",
                "podSetAssignments": [
                    {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "3"}}
                ],
            },
            "requeueState": {"count": 2, "requeueAt": "2026-01-01T00:02:00Z"},
            "reclaimablePods": [{"name": "main", "count": 1}],
            "admissionChecks": [{"name": "ac", "state": "Retry", "requeueAfterSeconds": 30}],
        },
        around=BOOSTED,
    )
    assert got.holds_quota
    assert (got.priority, got.local_queue, got.created) == (5, "ns/lq", 1767225600.0)
    assert got.conditions["QuotaReserved"].changed == got.created + 60
    assert got.admission is not None
    assert got.admission.pod_sets[0].usage == {"cpu": 3000}
    assert got.admission.pod_sets[0].count == 3
    assert (got.requeue_count, got.requeue_at) == (2, got.created + 120)
    assert got.reclaimable == {"main": 1}
    assert got.checks[0].state is CheckPhase.RETRY
    assert got.admission_gates == ("a.example/x", "b.example/y")
    assert got.preemption_gated


def test_the_shape_ignores_order_and_sees_what_matters() -> None:
    base: dict[str, Any] = {"containers": [container("1")]}
    one = fact({**base, "nodeSelector": {"a": "1", "b": "2"}}).pod_sets[0].shape
    two = fact({**base, "nodeSelector": {"b": "2", "a": "1"}}).pod_sets[0].shape
    other = fact({**base, "nodeSelector": {"b": "3", "a": "1"}}).pod_sets[0].shape
    assert one == two
    assert one != other


def test_required_node_affinity_is_kept_and_preferences_are_not() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": term}],
        }
    }
    got = fact({"containers": [container("1")], "affinity": affinity}).pod_sets[0].node_affinity
    assert got is not None
    assert [[one.key for one in terms] for terms in got] == [["zone"]]


def test_a_bad_boost_is_misconfigured() -> None:
    metadata = {"annotations": {"kueue.x-k8s.io/priority-boost": ""}}
    got = fact({"containers": []}, BOOSTED, metadata=metadata)
    assert "must be a valid signed integer" in got.misconfigured


def test_what_is_switched_off_is_not_read() -> None:
    off = ResourceRules(boosts_priority=False, counts_reclaimable=False, heeds_gates=False)
    annotations = {
        "kueue.x-k8s.io/priority-boost": "7",
        "kueue.x-k8s.io/admission-gated-by": "a.example/x",
    }
    got = fact(
        {"containers": []},
        Surroundings(rules=off),
        metadata={"annotations": annotations},
        status={"reclaimablePods": [{"name": "main", "count": 1}]},
    )
    assert (got.priority, got.admission_gates, got.reclaimable) == (0, (), {})


def test_who_asks_for_the_same_and_got_the_same_shares_an_admission() -> None:
    pod_set = {"name": "main", "template": {"spec": {"containers": [container("1")]}}}

    def admitted(name: str, cpu: str, **more: Any) -> Workload:
        held = {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": cpu}, **more}
        status = {"admission": {"clusterQueue": "cq", "podSetAssignments": [held]}}
        return read(
            Workload,
            {"metadata": {"name": name}, "spec": {"podSets": [pod_set]}, "status": status},
        )

    asks = asks_of(admitted("any", "1"))
    places = {"levels": ["host"], "slices": []}
    one, alike, other, placed, placed_alike = (
        workload_asking(found, asks, found.metadata.key).admission
        for found in (
            admitted("one", "1"),
            admitted("alike", "1"),
            admitted("other", "2"),
            admitted("placed", "1", topologyAssignment=places),
            admitted("placed-alike", "1", topologyAssignment=places),
        )
    )
    assert one is alike
    assert other is not None
    assert other.pod_sets[0].usage == {"cpu": 2000}
    assert placed == placed_alike != one
    assert placed is not placed_alike
