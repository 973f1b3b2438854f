"""The verbs of Kueue's plugin: list, create, stop, resume."""

import pytest

from e2e.api import holds
from e2e.installed import Installation
from e2e.serving import until
from e2e.tools.asking import (
    KUEUE,
    TABLE,
    VERSIONS,
    WAITING,
    asked,
    merged,
    pending,
    typed_cluster_queue,
)


class TestPlugin:
    """The verbs of the plugin: list, create, stop, resume."""

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize(
        ("plural", "columns"),
        [
            pytest.param("clusterqueues", ["Name", "Cohort", "Pending Workloads"], id="cq"),
            pytest.param(
                "namespaces/default/localqueues",
                ["Name", "ClusterQueue", "Pending Workloads", "Admitted Workloads"],
            ),
            pytest.param(
                "namespaces/default/workloads",
                ["Name", "Queue", "Reserved in", "Admitted", "Finished", "Age"],
            ),
            pytest.param("resourceflavors", ["Name", "Age"]),
        ],
    )
    def test_a_table(
        self, place: Installation, version: str, plural: str, columns: list[str]
    ) -> None:
        path = f"{KUEUE}/{version}/{plural}?limit=500"
        table = asked(place, "GET", path, accept=TABLE)
        assert table["kind"] == "Table"
        shown = [one["name"] for one in table["columnDefinitions"] if not one["priority"]]
        assert shown == columns
        assert table["rows"]

    def test_create_as_a_typed_client_spells_it(self, place: Installation) -> None:
        path = f"{KUEUE}/v1beta1/clusterqueues?dryRun=All&fieldManager=kueuectl-create"
        made = asked(place, "POST", path, typed_cluster_queue("dry"))
        assert made["spec"]["cohort"] == "all"
        assert made["spec"]["flavorFungibility"] == {
            "whenCanBorrow": "Borrow",
            "whenCanPreempt": "TryNextFlavor",
        }
        body = {
            "kind": "LocalQueue",
            "apiVersion": "kueue.x-k8s.io/v1beta1",
            "metadata": {"name": "dry", "namespace": "default", "creationTimestamp": None},
            "spec": {"clusterQueue": "team"},
            "status": {"pendingWorkloads": 0, "reservingWorkloads": 0, "admittedWorkloads": 0},
        }
        path = f"{KUEUE}/v1beta1/namespaces/default/localqueues?dryRun=All"
        assert asked(place, "POST", path, body)["spec"]["stopPolicy"] == "None"

    @pytest.mark.parametrize("version", VERSIONS)
    def test_stop_and_resume_a_workload(self, place: Installation, version: str) -> None:
        (name,) = [
            one["metadata"]["name"]
            for one in place.api.items("Workload", "default")
            if one["metadata"]["ownerReferences"][0]["name"] == "waits-4"
        ]
        path = f"{KUEUE}/{version}/namespaces/default/workloads/{name}"
        merged(place, path, {"spec": {"active": False}})
        until(lambda: len(pending(place, "clusterqueues/team")) == WAITING - 1, "it is out")
        merged(place, path, {"spec": {"active": True}})
        until(lambda: len(pending(place, "clusterqueues/team")) == WAITING, "it is back")

    @pytest.mark.parametrize(
        ("path", "kind", "name"),
        [
            pytest.param("clusterqueues/team", "ClusterQueue", "team", id="cluster queue"),
            pytest.param(
                "namespaces/default/localqueues/door", "LocalQueue", "door", id="local queue"
            ),
        ],
    )
    def test_stop_and_resume_a_queue(
        self, place: Installation, path: str, kind: str, name: str
    ) -> None:
        namespace = None if kind == "ClusterQueue" else "default"
        url = f"{KUEUE}/v1beta1/{path}"
        assert merged(place, url, {"spec": {"stopPolicy": "Hold"}})["spec"]["stopPolicy"] == "Hold"
        place.api.wait_one(kind, name, lambda one: not holds(one, "Active"), namespace=namespace)
        merged(place, url, {"spec": {"stopPolicy": "None"}})
        place.api.wait_one(kind, name, lambda one: holds(one, "Active"), namespace=namespace)
        until(lambda: len(pending(place, "clusterqueues/team")) == WAITING, "all wait again")
