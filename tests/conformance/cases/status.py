"""The status subresource of custom and built-in kinds."""

import pytest

from tests.conformance.harness import GADGETS, Server, failed, gadget, job


def test_a_status_at_creation_is_dropped(server: Server) -> None:
    made = server.made(server.gadgets, {**gadget(), "status": {"phase": "x"}})
    assert "status" not in made.body


def test_the_status_path_changes_the_status_only(server: Server) -> None:
    server.gadget(spec={"size": 1})
    patch = {"spec": {"size": 2}, "status": {"phase": "x"}}
    answer = server.merge(f"{server.gadgets}/one/status", patch)
    assert (answer["spec"]["size"], answer["status"]) == (1, {"phase": "x"})


def test_the_main_path_leaves_the_status(server: Server) -> None:
    server.gadget()
    server.merge(f"{server.gadgets}/one/status", {"status": {"phase": "x"}})
    answer = server.merge(f"{server.gadgets}/one", {"status": {"phase": "y"}, "spec": {"size": 2}})
    assert (answer["spec"]["size"], answer["status"]) == (2, {"phase": "x"})


@pytest.mark.parametrize("field", ["labels", "annotations"])
def test_the_status_path_of_a_custom_kind_leaves_the_metadata(server: Server, field: str) -> None:
    server.gadget()
    patch = {"metadata": {field: {"a": "b"}}, "status": {"phase": "x"}}
    answer = server.merge(f"{server.gadgets}/one/status", patch)
    assert field not in answer["metadata"]
    assert answer["status"]["phase"] == "x"


def test_a_status_write_does_not_raise_the_generation(server: Server) -> None:
    server.gadget()
    answer = server.merge(f"{server.gadgets}/one/status", {"status": {"phase": "x"}})
    assert answer["metadata"]["generation"] == 1


def test_a_status_is_replaced_whole(server: Server) -> None:
    server.gadget()
    first = server.merge(f"{server.gadgets}/one/status", {"status": {"phase": "x", "replicas": 1}})
    body = {**first.body, "status": {"phase": "y"}}
    answer = server.call("PUT", f"{server.gadgets}/one/status", body)
    assert answer["status"] == {"phase": "y"}


def test_a_status_write_of_an_old_version_conflicts(server: Server) -> None:
    made = server.gadget()
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 1}})
    body = {**made.body, "status": {"phase": "y"}}
    failed(server.call("PUT", f"{server.gadgets}/one/status", body), 409, "has been modified")


def test_a_status_merge_patch_may_ask_for_a_version(server: Server) -> None:
    made = server.gadget()
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 1}})
    patch = {"metadata": {"resourceVersion": made.version}, "status": {"phase": "x"}}
    assert server.merge(f"{server.gadgets}/one/status", patch).status == 409


def test_a_status_is_checked_against_the_schema(server: Server) -> None:
    server.gadget()
    answer = server.merge(f"{server.gadgets}/one/status", {"status": {"phase": 7}})
    failed(answer, 422, "status.phase: Invalid value", "must be of type string")


def test_a_status_is_pruned(server: Server) -> None:
    server.gadget()
    answer = server.merge(f"{server.gadgets}/one/status", {"status": {"nonsense": 7}})
    assert "nonsense" not in answer.body.get("status", {})


def test_a_status_is_read_by_its_path(server: Server) -> None:
    made = server.gadget()
    assert server.call("GET", f"{server.gadgets}/one/status").body == made.body


def test_a_kind_without_a_status_path_has_none(server: Server) -> None:
    name = server.name("plain")
    path = f"{GADGETS}/plains"
    body = {"apiVersion": "conformance.example.com/v1", "kind": "Plain", "metadata": {"name": name}}
    made = server.made(path, {**body, "status": {"kept": True}})
    server.later(f"{path}/{name}")
    assert made["status"] == {"kept": True}
    assert server.call("GET", f"{path}/{name}/status").status == 404
    changed = server.merge(f"{path}/{name}", {"status": {"kept": False}})
    assert changed["metadata"]["generation"] == 2


def test_a_jobs_status_at_creation_is_dropped(server: Server) -> None:
    made = server.made(server.jobs, {**job(), "status": {"succeeded": 3}})
    assert "succeeded" not in made.body.get("status", {})


def test_a_namespaces_status_has_a_path(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/status"
    assert server.call("GET", path)["status"]["phase"] == "Active"
