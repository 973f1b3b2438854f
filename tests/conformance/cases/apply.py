"""Server-side apply: ownership, conflicts, force, giving up."""

from typing import Any

import pytest

from tests.conformance.harness import Server, failed, gadget


def path(server: Server) -> str:
    return f"{server.gadgets}/one"


def owners(body: Any) -> dict[str, Any]:
    return {
        f"{entry['manager']}/{entry['operation']}": entry["fieldsV1"]
        for entry in body["metadata"].get("managedFields", [])
    }


def test_apply_creates_what_is_not_there(server: Server) -> None:
    answer = server.apply(path(server), gadget(spec={"size": 1}))
    assert answer.status == 201
    assert owners(answer.body) == {"me/Apply": {"f:spec": {"f:size": {}}}}


def test_apply_again_changes_nothing(server: Server) -> None:
    first = server.apply(path(server), gadget(spec={"size": 1}))
    again = server.apply(path(server), gadget(spec={"size": 1}))
    assert (again.status, again.version) == (200, first.version)


def test_apply_reads_yaml(server: Server) -> None:
    head = b"apiVersion: conformance.example.com/v1\nkind: Gadget\n"
    text = head + b"metadata: {name: one}\nspec: {size: 3}\n"
    assert server.apply(path(server), text)["spec"]["size"] == 3


def test_two_managers_own_their_own_fields(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    answer = server.apply(path(server), gadget(spec={"color": "red"}), "b")
    assert answer["spec"]["size"] == 1
    assert owners(answer.body) == {
        "a/Apply": {"f:spec": {"f:size": {}}},
        "b/Apply": {"f:spec": {"f:color": {}}},
    }


def test_another_managers_field_is_a_conflict(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    answer = server.apply(path(server), gadget(spec={"size": 2}), "b")
    failed(answer, 409, "Apply failed with 1 conflict", 'conflict with "a"', ".spec.size")
    cause = answer["details"]["causes"][0]
    assert (cause["reason"], cause["field"]) == ("FieldManagerConflict", ".spec.size")


def test_several_conflicts_are_all_named(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1, "color": "red"}), "a")
    answer = server.apply(path(server), gadget(spec={"size": 2, "color": "blue"}), "b")
    failed(answer, 409, "Apply failed with 2 conflicts", ".spec.size", ".spec.color")


def test_the_same_value_is_shared(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    answer = server.apply(path(server), gadget(spec={"size": 1}), "b")
    assert answer.status == 200
    assert set(owners(answer.body)) == {"a/Apply", "b/Apply"}


def test_force_takes_the_field(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    answer = server.apply(path(server), gadget(spec={"size": 2}), "b", force="true")
    assert answer["spec"]["size"] == 2
    assert set(owners(answer.body)) == {"b/Apply"}


def test_what_is_no_longer_applied_is_removed(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1, "color": "red"}))
    answer = server.apply(path(server), gadget(spec={"size": 1}))
    assert "color" not in answer["spec"]


def test_a_default_comes_back_when_its_owner_gives_it_up(server: Server) -> None:
    server.apply(path(server), gadget(spec={"mode": "Mine"}))
    assert server.apply(path(server), gadget(spec={"size": 1}))["spec"]["mode"] == "Plain"


def test_what_somebody_else_owns_too_stays(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    server.apply(path(server), gadget(spec={"size": 1}), "b")
    assert server.apply(path(server), gadget(spec={"color": "red"}), "a")["spec"]["size"] == 1


def test_an_update_takes_over_what_it_changes(server: Server) -> None:
    server.apply(path(server), gadget(spec={"size": 1}), "a")
    answer = server.merge(path(server), {"spec": {"size": 5}}, fieldManager="hand")
    assert owners(answer.body)["hand/Update"] == {"f:spec": {"f:size": {}}}
    assert "a/Apply" not in owners(answer.body)
    conflict = server.apply(path(server), gadget(spec={"size": 1}), "a")
    failed(conflict, 409, 'conflict with "hand" using conformance.example.com/v1')


def test_a_creation_belongs_to_its_program(server: Server) -> None:
    made = server.gadget(spec={"size": 1}, labels={"a": "b"})
    fields = owners(made.body)["conformance/Update"]
    assert fields["f:spec"]["f:size"] == {}
    assert fields["f:metadata"]["f:labels"]["f:a"] == {}


def test_elements_of_a_keyed_list_have_owners_of_their_own(server: Server) -> None:
    server.apply(path(server), gadget(spec={"parts": [{"name": "x", "note": "a"}]}), "a")
    answer = server.apply(path(server), gadget(spec={"parts": [{"name": "y"}]}), "b")
    assert [part["name"] for part in answer["spec"]["parts"]] == ["x", "y"]
    assert answer["spec"]["parts"][0]["note"] == "a"


def test_an_element_goes_with_its_owner(server: Server) -> None:
    server.apply(path(server), gadget(spec={"parts": [{"name": "x"}, {"name": "z"}]}), "a")
    server.apply(path(server), gadget(spec={"parts": [{"name": "y"}]}), "b")
    answer = server.apply(path(server), gadget(spec={"parts": [{"name": "z"}]}), "a")
    assert [part["name"] for part in answer["spec"]["parts"]] == ["z", "y"]


def test_words_of_a_set_have_owners_of_their_own(server: Server) -> None:
    server.apply(path(server), gadget(spec={"tags": ["a", "b"]}), "a")
    server.apply(path(server), gadget(spec={"tags": ["c"]}), "b")
    answer = server.apply(path(server), gadget(spec={"tags": ["b"]}), "a")
    assert sorted(answer["spec"]["tags"]) == ["b", "c"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param({"atoms": ["a"]}, {"atoms": ["b"]}, id="list"),
        pytest.param({"whole": {"a": "1"}}, {"whole": {"b": "2"}}, id="map"),
    ],
)
def test_what_is_atomic_has_one_owner(server: Server, first: Any, second: Any) -> None:
    server.apply(path(server), gadget(spec=first), "a")
    assert server.apply(path(server), gadget(spec=second), "b").status == 409
    assert server.apply(path(server), gadget(spec=second), "b", force="true")["spec"] | second


def test_apply_needs_a_manager(server: Server) -> None:
    kind = "application/apply-patch+yaml"
    answer = server.call("PATCH", path(server), gadget(), content=kind)
    assert answer.status in (400, 422)
    assert "fieldManager" in answer.message


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ({"nonsense": 1}, ".spec.nonsense: field not declared in schema"),
        ({"size": "x"}, ".spec.size: expected numeric (int or float), got string"),
        ({"nested": {"x": 1}}, ".spec.nested.x: field not declared in schema"),
    ],
)
def test_apply_takes_declared_fields_only(server: Server, spec: Any, part: str) -> None:
    answer = server.apply(path(server), gadget(spec=spec))
    failed(answer, 500, "failed to create typed patch object", part)


def test_apply_takes_no_managed_fields(server: Server) -> None:
    body = gadget(managedFields=[{"manager": "x"}])
    failed(server.apply(path(server), body), 400, "metadata.managedFields must be nil")


def test_apply_of_a_uid_creates_nothing(server: Server) -> None:
    body = gadget(uid="00000000-0000-0000-0000-000000000000")
    assert server.apply(path(server), body).status in (404, 409)
    assert server.call("GET", path(server)).status == 404


def test_apply_of_an_old_version_conflicts(server: Server) -> None:
    made = server.gadget()
    server.merge(path(server), {"spec": {"size": 1}})
    body = gadget(spec={"color": "red"}, resourceVersion=made.version)
    assert server.apply(path(server), body).status == 409


def test_apply_of_the_status_owns_only_the_status(server: Server) -> None:
    server.gadget(spec={"size": 1})
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    body = {**gadget(spec={"size": 9}), "status": ready}
    answer = server.apply(f"{path(server)}/status", body, "s")
    assert (answer["status"], answer["spec"]["size"]) == (ready, 1)
    entry = next(e for e in answer["metadata"]["managedFields"] if e["manager"] == "s")
    assert entry["subresource"] == "status"
    assert set(entry["fieldsV1"]) == {"f:status"}


def test_apply_to_the_status_of_nothing_is_not_found(server: Server) -> None:
    assert server.apply(f"{path(server)}/status", {**gadget(), "status": {}}).status == 404


def test_apply_is_checked_against_the_schema(server: Server) -> None:
    answer = server.apply(path(server), gadget(spec={"color": "pink"}))
    failed(answer, 422, "spec.color: Unsupported value")


def test_an_apply_can_be_rehearsed(server: Server) -> None:
    assert server.apply(path(server), gadget(), dryRun="All").status == 201
    assert server.call("GET", path(server)).status == 404


def test_apply_merges_containers_of_a_job_by_name(server: Server) -> None:
    def wanted(name: str, image: str) -> Any:
        pod = {"restartPolicy": "Never", "containers": [{"name": name, "image": image}]}
        spec = {"suspend": True, "template": {"spec": pod}}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "one"}, "spec": spec}

    where = f"{server.jobs}/one"
    assert server.apply(where, wanted("c", "i:1"), "a").status == 201
    again = server.apply(where, wanted("c", "i:1"), "b")
    assert again.status == 200, again
    assert len(again["spec"]["template"]["spec"]["containers"]) == 1


def test_labels_have_owners_of_their_own(server: Server) -> None:
    server.apply(path(server), gadget(labels={"a": "1"}), "a")
    server.apply(path(server), gadget(labels={"b": "2"}), "b")
    answer = server.apply(path(server), gadget(), "a")
    assert answer["metadata"]["labels"] == {"b": "2"}
