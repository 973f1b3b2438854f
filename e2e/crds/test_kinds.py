"""The kinds on a real API server: served, explained, defaulted, shown in columns."""

from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster
from e2e.objects import cluster_queue, flavor, local_queue
from e2e.product import manifests
from e2e.wire import Object
from e2e.world import World

KINDS = [item["spec"]["names"]["plural"] for item in manifests("crd")]


@pytest.mark.parametrize("plural", KINDS)
def test_the_definition_is_accepted_without_reservation(installed: Cluster, plural: str) -> None:
    found = [
        item
        for item in installed.api().items("CustomResourceDefinition")
        if item["spec"]["names"]["plural"] == plural
    ]
    conditions = {
        one["type"]: (one["status"], one.get("message", ""))
        for one in found[0]["status"]["conditions"]
    }
    assert conditions["NamesAccepted"][0] == conditions["Established"][0] == "True"
    assert "NonStructuralSchema" not in conditions, conditions["NonStructuralSchema"]


@pytest.mark.parametrize("manifest", manifests("crd"), ids=KINDS)
def test_every_field_is_described_by_a_sentence(manifest: Object) -> None:
    silent = [
        path
        for version in manifest["spec"]["versions"]
        for path in undescribed(version["schema"]["openAPIV3Schema"], version["name"])
    ]
    assert silent == []


@pytest.mark.parametrize("plural", KINDS)
def test_kubectl_explains_the_kind_and_its_fields(installed: Cluster, plural: str) -> None:
    said = installed.kubectl("explain", plural, "--recursive")
    assert said.returncode == 0, said.stderr
    assert "<no description>" not in said.stdout
    assert "FIELDS:" in said.stdout


def test_kubectl_explains_one_field_with_its_sentence(installed: Cluster) -> None:
    said = installed.kubectl("explain", "clusterqueue.spec.queueingStrategy")
    assert "BestEffortFIFO" in said.stdout, said.stderr


def test_defaults_are_filled_in(space: World, installed: Cluster) -> None:
    name = space.name("cq")
    space.make(cluster_queue(name, {space.name("any"): {"cpu": "4"}}))
    spec = space.api.get("ClusterQueue", name)["spec"]
    assert spec["queueingStrategy"] == "BestEffortFIFO"
    assert spec["stopPolicy"] == "None"
    assert spec["preemption"] == {
        "reclaimWithinCohort": "Never",
        "borrowWithinCohort": {"policy": "Never"},
        "withinClusterQueue": "Never",
    }
    assert spec["flavorFungibility"]["whenCanBorrow"] == "MayStopSearch"


@pytest.mark.parametrize("weight", ["1n", "-1"])
def test_a_local_queue_may_have_any_weight(space: World, weight: str) -> None:
    space.make(local_queue(space.namespace, "team", "one", fairSharing={"weight": weight}))
    found = space.api.get("LocalQueue", "team", space.namespace)
    assert found["spec"]["fairSharing"]["weight"] == weight


def test_kubectl_shows_the_columns_that_people_look_for(space: World, installed: Cluster) -> None:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": "4"}}, cohort=space.name("all")),
        local_queue(space.namespace, "team", name),
    )
    wide = installed.kubectl("get", "cq", name, "-o=wide").stdout.splitlines()
    assert "COHORT" in wide[0]
    assert "PENDING WORKLOADS" in wide[0]
    assert "STRATEGY" in wide[0]
    assert space.name("all") in wide[1]
    queues = installed.kubectl("get", "queue", "-n", space.namespace).stdout
    assert "CLUSTERQUEUE" in queues
    assert name in queues


def test_a_short_name_and_the_category_find_the_kinds(space: World, installed: Cluster) -> None:
    name = space.name("any")
    space.make(flavor(name))
    for asked in ("rf", "flavor", "kueue"):
        said = installed.kubectl("get", asked, "-o=name")
        assert f"resourceflavor.kueue.x-k8s.io/{name}" in said.stdout.split(), said.stderr


def undescribed(schema: Object, path: str) -> Iterator[str]:
    """Name the fields that say nothing of themselves."""
    for name, field in schema.get("properties", {}).items():
        below = f"{path}.{name}"
        if below.endswith(".podSets.template"):
            # A pod template is Kubernetes' own, described in its own pages.
            continue
        # The API server itself describes metadata.
        if not field.get("description") and below.count(".") > 1:
            yield below
        yield from undescribed(field, below)
    for nested in ("items", "additionalProperties"):
        if isinstance(schema.get(nested), dict):
            yield from undescribed(schema[nested], path)
