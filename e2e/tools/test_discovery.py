"""Which groups and resources a client finds."""

import pytest

from e2e.installed import Installation
from e2e.tools.asking import KUEUE, VERSIONS, VISIBILITY, asked

DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class TestDiscovery:
    """How clients find out what is there."""

    def test_both_groups_are_found_at_once(self, place: Installation) -> None:
        found = asked(place, "GET", "/apis", accept=DISCOVERY)
        assert found["kind"] == "APIGroupDiscoveryList"
        groups = {one["metadata"]["name"]: one for one in found["items"]}
        for name in ("kueue.x-k8s.io", "visibility.kueue.x-k8s.io"):
            served = {one["version"] for one in groups[name]["versions"]}
            assert served == set(VERSIONS)

    @pytest.mark.parametrize("version", VERSIONS)
    def test_the_resources_of_a_version_are_listed(self, place: Installation, version: str) -> None:
        found = asked(place, "GET", f"{VISIBILITY}/{version}")
        names = {one["name"] for one in found["resources"]}
        assert {"clusterqueues/pendingworkloads", "localqueues/pendingworkloads"} <= names
        kinds = asked(place, "GET", f"{KUEUE}/{version}")["resources"]
        short = {one["name"]: one.get("shortNames") for one in kinds if "/" not in one["name"]}
        assert short["clusterqueues"] == ["cq"]
        assert short["localqueues"] == ["queue", "queues", "lq"]
        assert short["workloads"] == ["kwl", "kueueworkload", "kueueworkloads"]
        assert short["resourceflavors"] == ["flavor", "flavors", "rf"]
