"""What goes with its owner, and what goes with its namespace."""

from typing import Any

import pytest

from tests.conformance.harness import Answer, Server, config_map


def owned(server: Server, name: str, owner: Answer, **more: Any) -> Answer:
    reference = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        **more,
    }
    return server.made(server.configmaps, config_map(name, ownerReferences=[reference]))


def gone(server: Server, name: str) -> bool:
    return server.call("GET", f"{server.configmaps}/{name}").status == 404


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_dependent_goes_with_its_owner(server: Server, policy: str) -> None:
    owner = server.made(server.configmaps, config_map("owner"))
    owned(server, "dependent", owner, blockOwnerDeletion=True)
    server.call("DELETE", f"{server.configmaps}/owner", {"propagationPolicy": policy})
    server.until(lambda: gone(server, "dependent") and gone(server, "owner"))


def test_the_grandchild_goes_too(server: Server) -> None:
    owner = server.made(server.configmaps, config_map("owner"))
    child = owned(server, "child", owner)
    owned(server, "grandchild", child)
    server.call("DELETE", f"{server.configmaps}/owner")
    server.until(lambda: gone(server, "grandchild"))


def test_an_orphan_stays_without_its_owner(server: Server) -> None:
    owner = server.made(server.configmaps, config_map("owner"))
    owned(server, "orphan", owner)
    server.call("DELETE", f"{server.configmaps}/owner", {"propagationPolicy": "Orphan"})
    server.until(lambda: gone(server, "owner"))
    left = server.call("GET", f"{server.configmaps}/orphan")
    assert "ownerReferences" not in left["metadata"]


def test_a_foreground_deletion_shows_until_the_dependents_are_gone(server: Server) -> None:
    owner = server.made(server.configmaps, config_map("owner"))
    dependent = owned(server, "dependent", owner, blockOwnerDeletion=True)
    hold = {"metadata": {"finalizers": ["example.com/hold"]}}
    server.merge(f"{server.configmaps}/dependent", hold)
    path = f"{server.configmaps}/owner"
    answer = server.call("DELETE", path, {"propagationPolicy": "Foreground"})
    assert answer["metadata"]["finalizers"] == ["foregroundDeletion"]
    assert answer["metadata"]["deletionTimestamp"]
    where = f"{server.configmaps}/{dependent['metadata']['name']}"
    server.until(lambda: "deletionTimestamp" in server.call("GET", where)["metadata"])
    assert server.call("GET", path).status == 200
    server.merge(where, {"metadata": {"finalizers": None}})
    server.until(lambda: gone(server, "owner"))


def test_a_dependent_of_two_stays_with_the_other(server: Server) -> None:
    first = server.made(server.configmaps, config_map("first"))
    second = server.made(server.configmaps, config_map("second"))
    references = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": o["metadata"]["name"],
            "uid": o["metadata"]["uid"],
        }
        for o in (first, second)
    ]
    server.made(server.configmaps, config_map("both", ownerReferences=references))
    server.call("DELETE", f"{server.configmaps}/first")
    where = f"{server.configmaps}/both"
    server.until(lambda: len(server.call("GET", where)["metadata"]["ownerReferences"]) == 1)


def test_a_dependent_of_nobody_goes(server: Server) -> None:
    owner = server.made(server.configmaps, config_map("owner"))
    server.call("DELETE", f"{server.configmaps}/owner")
    owned(server, "late", owner)
    server.until(lambda: gone(server, "late"))


def namespace(server: Server) -> str:
    name = server.name("short")
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    server.made("/api/v1/namespaces", body)
    return f"/api/v1/namespaces/{name}"


def test_a_namespace_that_goes_takes_nothing_new(server: Server) -> None:
    path = namespace(server)
    server.made(f"{path}/configmaps", config_map("inside", finalizers=["example.com/hold"]))
    assert server.call("DELETE", path)["status"]["phase"] == "Terminating"
    where = f"{path}/configmaps/inside"
    server.until(lambda: "deletionTimestamp" in server.call("GET", where)["metadata"])
    late = server.call("POST", f"{path}/configmaps", config_map("late"))
    assert (late.status, late.reason) == (403, "Forbidden")
    assert "because it is being terminated" in late.message
    server.merge(where, {"metadata": {"finalizers": None}})


def test_a_namespace_goes_with_all_that_is_in_it(server: Server) -> None:
    path = namespace(server)
    server.made(f"{path}/configmaps", config_map("inside"))
    server.call("DELETE", path)
    server.until(lambda: server.call("GET", path).status == 404)


def test_a_job_is_deleted_with_its_pods_on_demand(server: Server) -> None:
    body = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "one"},
        "spec": {
            "suspend": True,
            "template": {
                "spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i:1"}]}
            },
        },
    }
    server.made(server.jobs, body)
    server.call("DELETE", f"{server.jobs}/one", {"propagationPolicy": "Foreground"})
    server.until(lambda: server.call("GET", f"{server.jobs}/one").status == 404)
