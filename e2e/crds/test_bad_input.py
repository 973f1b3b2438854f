"""Bad manifests: the API server refuses them and names the field."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from e2e.cluster import Cluster
from e2e.objects import cluster_queue, cohort, flavor, local_queue, within
from e2e.wire import ApiError, Object
from e2e.world import World

QUOTA = {"default": {"cpu": "4"}}


def queue(**spec: Any) -> Object:
    return cluster_queue("bad", QUOTA, **spec)


def queue_of(quotas: Mapping[str, Mapping[str, Any]], **spec: Any) -> Object:
    return cluster_queue("bad", quotas, **spec)


def short_of_resources() -> Object:
    bad = queue_of({"default": {"cpu": "4", "memory": "4Gi"}})
    bad["spec"]["resourceGroups"][0]["flavors"][0]["resources"].pop()
    return bad


@pytest.mark.parametrize(
    ("manifest", "field", "says"),
    [
        pytest.param(
            queue(queueingStrategy="Random"),
            "spec.queueingStrategy",
            'Unsupported value: "Random"',
            id="an unknown strategy",
        ),
        pytest.param(
            queue(stopPolicy="Pause"), "spec.stopPolicy", "Unsupported value", id="a stop policy"
        ),
        pytest.param(
            queue_of({"default": {"cpu": "a lot"}}),
            "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
            "Invalid value",
            id="a quota that is no quantity",
        ),
        pytest.param(
            queue_of({"default": {"cpu": within("4", borrow="2")}}),
            "spec",
            "borrowingLimit must be nil when cohort is empty",
            id="a borrowing limit without a cohort",
        ),
        pytest.param(
            queue_of({"default": {"cpu": within("4", lend="2")}}),
            "spec",
            "lendingLimit must be nil when cohort is empty",
            id="a lending limit without a cohort",
        ),
        pytest.param(
            short_of_resources(),
            "spec.resourceGroups[0]",
            "flavors must have the same number of resources as the coveredResources",
            id="a covered resource without a quota",
        ),
        pytest.param(
            queue(
                preemption={
                    "reclaimWithinCohort": "Never",
                    "borrowWithinCohort": {"policy": "LowerPriority"},
                }
            ),
            "spec.preemption",
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
            id="preemption while borrowing but not while reclaiming",
        ),
        pytest.param(
            queue(fairSharing={"weight": "1n"}),
            "spec.fairSharing.weight",
            "When not 0, weight must be > 10e-9",
            id="a weight too small to divide by",
        ),
        pytest.param(
            queue(cohortName="Not A Name"), "spec.cohortName", "Invalid value", id="a cohort's name"
        ),
        pytest.param(
            cohort(
                "bad",
                resourceGroups=cluster_queue("x", {"default": {"cpu": within("1", borrow="1")}})[
                    "spec"
                ]["resourceGroups"],
            ),
            "spec",
            "borrowingLimit must be nil when parent is empty",
            id="a root cohort that borrows",
        ),
        pytest.param(
            flavor("bad", nodeTaints=[{"key": "gpu", "effect": "Never"}]),
            "spec.nodeTaints[0]",
            "supported taint effect values",
            id="a taint without a known effect",
        ),
        pytest.param(
            flavor("bad", tolerations=[{"operator": "Equal", "value": "x"}]),
            "spec.tolerations[0]",
            "operator must be Exists when 'key' is empty",
            id="a toleration of everything that compares",
        ),
        pytest.param(
            flavor("bad", topologyName="racks"),
            "spec.nodeLabels",
            "at least one nodeLabel is required when topology is set",
            id="a topology without a node label",
        ),
    ],
)
def test_the_server_refuses_and_names_the_field(
    installed: Cluster, manifest: Object, field: str, says: str
) -> None:
    with pytest.raises(ApiError) as refused:
        installed.api().create(manifest)
    assert refused.value.status == 422
    assert f"{field}:" in refused.value.message
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("make", "change", "says"),
    [
        pytest.param(
            lambda space: local_queue(space.namespace, "team", "one"),
            {"spec": {"clusterQueue": "other"}},
            "spec.clusterQueue: Invalid value",
            id="the cluster queue of a local queue",
        ),
        pytest.param(
            lambda space: flavor(
                space.name("any"), topologyName="racks", nodeLabels={"pool": "any"}
            ),
            {"spec": {"topologyName": "halls"}},
            "topologyName is immutable when topologyName is set",
            id="the topology of a flavor",
        ),
    ],
)
def test_what_must_not_change_cannot_be_changed(
    space: World, installed: Cluster, make: Callable[[World], Object], change: Object, says: str
) -> None:
    item = make(space)
    space.make(item)
    place = item["metadata"]
    with pytest.raises(ApiError) as refused:
        space.api.patch(item["kind"], place["name"], change, namespace=place.get("namespace"))
    assert refused.value.status == 422
    assert says in refused.value.message
