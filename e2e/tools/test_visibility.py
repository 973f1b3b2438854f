"""What a client sees of the queue of pending workloads, and who may see it."""

from functools import partial

import pytest

from e2e.installed import Installation
from e2e.serving import until
from e2e.tools.asking import VERSIONS, VISIBILITY, pending
from e2e.wire import ApiError


class TestVisibility:
    """Who waits, as the plugin and the dashboard ask."""

    @pytest.mark.parametrize("version", VERSIONS)
    @pytest.mark.parametrize(
        ("query", "names"),
        [
            pytest.param("", [0, 1, 2, 3, 4], id="all"),
            pytest.param("?limit=2", [0, 1], id="the first"),
            pytest.param("?limit=2&offset=3", [3, 4], id="a part"),
            pytest.param("?limit=1000&offset=9", [], id="beyond the end"),
            pytest.param("?timeout=30s", [0, 1, 2, 3, 4], id="what every client adds"),
        ],
    )
    @pytest.mark.parametrize("path", ["clusterqueues/team", "namespaces/default/localqueues/door"])
    def test_a_part_of_the_queue(
        self, place: Installation, path: str, query: str, names: list[int], version: str
    ) -> None:
        everybody = pending(place, "clusterqueues/team")
        items = pending(place, path, version, query)
        assert items == [everybody[number] for number in names]
        assert [one["positionInClusterQueue"] for one in items] == names
        assert [one["positionInLocalQueue"] for one in items] == names
        assert all(one["localQueueName"] == "door" for one in items)
        owners = [one["metadata"]["ownerReferences"][0] for one in items]
        assert all(one["name"].startswith("waits-") for one in owners)
        assert all(one["kind"] == "Job" and one["apiVersion"] == "batch/v1" for one in owners)

    @pytest.mark.parametrize(
        ("path", "says"),
        [
            pytest.param("clusterqueues/none", '"none" not found', id="cluster queue"),
            pytest.param("namespaces/default/localqueues/none", '"none" not found', id="local"),
        ],
    )
    def test_a_queue_that_is_not_there(self, place: Installation, path: str, says: str) -> None:
        with pytest.raises(ApiError, match=says) as refused:
            pending(place, path)
        assert refused.value.status == 404

    @pytest.mark.parametrize(
        ("role", "seen", "unseen"),
        [
            pytest.param("kueue-batch-admin-role", ["clusterqueues/team"], [], id="an admin"),
            pytest.param(
                "kueue-batch-user-role",
                ["namespaces/default/localqueues/door"],
                ["clusterqueues/team"],
                id="a user",
            ),
        ],
    )
    def test_roles_decide(
        self, place: Installation, role: str, seen: list[str], unseen: list[str]
    ) -> None:
        subject = {"kind": "ServiceAccount", "name": role, "namespace": "default"}
        everywhere = role == "kueue-batch-admin-role"
        kind = "ClusterRoleBinding" if everywhere else "RoleBinding"
        metadata = {"name": role} if everywhere else {"name": role, "namespace": "default"}
        group = "rbac.authorization.k8s.io"
        binding = {
            "apiVersion": f"{group}/v1",
            "kind": kind,
            "metadata": metadata,
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
            "subjects": [subject],
        }
        place.api.apply(
            {
                "apiVersion": "v1",
                "kind": "ServiceAccount",
                "metadata": {"name": role, "namespace": "default"},
            }
        )
        place.api.apply(binding)
        who = f"--as=system:serviceaccount:default:{role}"
        paths = {one: f"{VISIBILITY}/v1beta2/{one}/pendingworkloads" for one in [*seen, *unseen]}
        for one in seen:
            until(partial(sees, place, who, paths[one]), f"{role} sees {one}")
        for one in unseen:
            code, said = see(place, who, paths[one])
            assert code != 0
            assert "forbidden" in said.lower()


def see(place: Installation, who: str, path: str) -> tuple[int, str]:
    done = place.cluster.kubectl("get", "--raw", path, who)
    return done.returncode, done.stderr


def sees(place: Installation, who: str, path: str) -> bool:
    return see(place, who, path)[0] == 0
