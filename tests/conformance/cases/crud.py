"""Create, read, replace, delete, and what the server gives every object."""

from typing import Any

import pytest

from tests.conformance.harness import Server, config_map, failed, gadget


def test_a_created_gadget_has_what_the_server_gives(server: Server) -> None:
    made = server.gadget()
    meta = made["metadata"]
    assert meta["uid"]
    assert meta["generation"] == 1
    assert meta["namespace"] == server.namespace
    assert meta["creationTimestamp"].endswith("Z")
    assert int(meta["resourceVersion"]) > 0


def test_a_config_map_has_no_generation(server: Server) -> None:
    assert "generation" not in server.made(server.configmaps, config_map())["metadata"]


def test_what_was_created_is_read(server: Server) -> None:
    made = server.gadget()
    assert server.call("GET", f"{server.gadgets}/one").body == made.body


def test_generate_name_adds_five_letters(server: Server) -> None:
    body = gadget()
    body["metadata"] = {"generateName": "g-"}
    name = server.made(server.gadgets, body)["metadata"]["name"]
    assert name.startswith("g-")
    assert len(name) == 7


def test_a_given_name_wins_over_generate_name(server: Server) -> None:
    assert server.gadget("one", generateName="g-")["metadata"]["name"] == "one"


def test_kind_and_version_may_be_left_out_of_a_namespace_mismatch_message(server: Server) -> None:
    answer = server.call("POST", server.gadgets, gadget(namespace="elsewhere"))
    failed(answer, 400, "the namespace of the provided object does not match")


def test_a_second_creation_under_a_name_is_refused(server: Server) -> None:
    server.gadget()
    answer = server.call("POST", server.gadgets, gadget())
    failed(answer, 409, 'gadgets.conformance.example.com "one" already exists')
    assert answer.reason == "AlreadyExists"


def test_a_missing_custom_object_is_named(server: Server) -> None:
    answer = server.call("GET", f"{server.gadgets}/none")
    failed(answer, 404, 'gadgets.conformance.example.com "none" not found')
    assert answer["details"] == {
        "name": "none",
        "group": "conformance.example.com",
        "kind": "gadgets",
    }


def test_a_missing_built_in_object_is_named(server: Server) -> None:
    answer = server.call("GET", f"{server.configmaps}/none")
    failed(answer, 404, 'configmaps "none" not found')
    assert answer.reason == "NotFound"


def test_nothing_is_created_in_a_missing_namespace(server: Server) -> None:
    path = "/api/v1/namespaces/no-such-namespace/configmaps"
    failed(server.call("POST", path, config_map()), 404, 'namespaces "no-such-namespace" not found')


@pytest.mark.parametrize(
    ("body", "part"),
    [
        pytest.param({**gadget(), "apiVersion": "v1"}, "", id="another version"),
        pytest.param(b"{", "", id="no json"),
        pytest.param(b"", "", id="nothing"),
    ],
)
def test_a_body_that_is_no_gadget_is_a_bad_request(server: Server, body: Any, part: str) -> None:
    failed(server.call("POST", server.gadgets, body), 400, part)


def test_a_resource_version_at_creation_is_refused(server: Server) -> None:
    answer = server.call("POST", server.gadgets, gadget(resourceVersion="1"))
    assert answer.status in (400, 500)
    assert "resourceVersion" in answer.message


@pytest.mark.parametrize("path", ["/apis/nobody.example.com/v1/things", "/api/v1/nothings"])
def test_an_unknown_path_is_not_found(server: Server, path: str) -> None:
    assert server.call("GET", path).status == 404


def test_a_body_of_another_kind_is_refused(server: Server) -> None:
    answer = server.call("POST", server.gadgets, {**gadget(), "kind": "Widget"})
    failed(answer, 422, 'kind: Invalid value: "Widget": must be Gadget')
    answer = server.call("POST", server.configmaps, {**config_map(), "kind": "Widget"})
    failed(answer, 400, "Widget", "ConfigMap")


def test_a_collection_is_not_replaced(server: Server) -> None:
    failed(server.call("PUT", server.gadgets, gadget()), 400, "name must be provided")
    assert server.call("PUT", server.configmaps, config_map()).status == 405


def test_a_replacement_is_stored_under_a_new_version(server: Server) -> None:
    made = server.gadget()
    answer = server.call("PUT", f"{server.gadgets}/one", {**made.body, "spec": {"size": 4}})
    assert answer.status == 200
    assert int(answer.version) > int(made.version)
    assert answer["spec"]["size"] == 4


def test_a_replacement_of_an_old_version_conflicts(server: Server) -> None:
    made = server.gadget()
    server.merge(f"{server.gadgets}/one", {"spec": {"size": 1}})
    answer = server.call("PUT", f"{server.gadgets}/one", {**made.body, "spec": {"size": 4}})
    failed(
        answer,
        409,
        'Operation cannot be fulfilled on gadgets.conformance.example.com "one": the '
        "object has been modified; "
        "please apply your changes to the latest version and try again",
    )
    assert answer.reason == "Conflict"


def test_a_custom_object_is_not_replaced_without_a_version(server: Server) -> None:
    server.gadget()
    answer = server.call("PUT", f"{server.gadgets}/one", gadget())
    failed(
        answer, 422, "metadata.resourceVersion: Invalid value: 0", "must be specified for an update"
    )


def test_a_config_map_is_replaced_without_a_version(server: Server) -> None:
    server.made(server.configmaps, config_map())
    answer = server.call("PUT", f"{server.configmaps}/one", config_map(data={"a": "b"}))
    assert (answer.status, answer["data"]) == (200, {"a": "b"})


def test_a_replacement_needs_the_name_of_its_path(server: Server) -> None:
    made = server.gadget()
    answer = server.call("PUT", f"{server.gadgets}/two", made.body)
    failed(answer, 400, "does not match the name on the URL (two)")


def test_a_replacement_of_nothing_is_not_found(server: Server) -> None:
    body = gadget(resourceVersion="1")
    assert server.call("PUT", f"{server.gadgets}/one", body).status == 404


def test_a_replacement_of_another_uid_conflicts(server: Server) -> None:
    made = server.gadget()
    meta = {**made["metadata"], "uid": "00000000-0000-0000-0000-000000000000"}
    answer = server.call("PUT", f"{server.gadgets}/one", {**made.body, "metadata": meta})
    failed(answer, 409, "UID in precondition")


def test_a_replacement_that_changes_nothing_keeps_the_version(server: Server) -> None:
    made = server.gadget(spec={"size": 4})
    assert server.call("PUT", f"{server.gadgets}/one", made.body).version == made.version


@pytest.mark.parametrize(
    ("patch", "want"),
    [
        pytest.param({"spec": {"size": 9}}, 2, id="a new spec"),
        pytest.param({"metadata": {"labels": {"a": "b"}}}, 1, id="a label"),
        pytest.param({"status": {"phase": "x"}}, 1, id="a status by the main path"),
    ],
)
def test_generation_counts_wishes(server: Server, patch: Any, want: int) -> None:
    server.gadget()
    assert server.merge(f"{server.gadgets}/one", patch)["metadata"]["generation"] == want


@pytest.mark.parametrize("field", ["creationTimestamp", "generation", "selfLink"])
def test_what_the_server_sets_cannot_be_set(server: Server, field: str) -> None:
    made = server.gadget()
    value = 17 if field == "generation" else "2001-01-01T00:00:00Z"
    answer = server.merge(f"{server.gadgets}/one", {"metadata": {field: value}})
    assert answer["metadata"].get(field) == made["metadata"].get(field)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_a_rehearsal_changes_nothing(server: Server, method: str) -> None:
    made = server.gadget(spec={"size": 1})
    path, body = f"{server.gadgets}/one", {**made.body, "spec": {"size": 2}}
    if method == "POST":
        answer = server.call("POST", server.gadgets, gadget("two"), dryRun="All")
        assert answer.status == 201
        assert server.call("GET", f"{server.gadgets}/two").status == 404
        return
    if method == "PATCH":
        answer = server.merge(path, {"spec": {"size": 2}}, dryRun="All")
    else:
        answer = server.call(method, path, None if method == "DELETE" else body, dryRun="All")
    assert answer.status == 200
    assert server.call("GET", path).body == made.body


def test_a_rehearsal_of_something_else_is_refused(server: Server) -> None:
    answer = server.call("POST", server.gadgets, gadget(), dryRun="Some")
    assert answer.status in (400, 422)
    assert "dryRun" in answer.message


@pytest.mark.parametrize(
    ("meta", "parts"),
    [
        pytest.param(
            {"name": "Big"}, ["metadata.name: Invalid value", "RFC 1123 subdomain"], id="capitals"
        ),
        pytest.param({"name": "a_b"}, ["metadata.name: Invalid value"], id="underscore"),
        pytest.param({"name": "x" * 254}, ["metadata.name"], id="too long"),
        pytest.param({}, ["name or generateName is required"], id="no name"),
        pytest.param({"name": "a", "labels": {"a b": "c"}}, ["metadata.labels"], id="label key"),
        pytest.param(
            {"name": "a", "labels": {"a": "c d"}},
            ["metadata.labels", "a valid label"],
            id="label value",
        ),
        pytest.param(
            {"name": "a", "labels": {"a": "x" * 64}}, ["metadata.labels"], id="long label"
        ),
        pytest.param(
            {"name": "a", "annotations": {"a b": "c"}}, ["metadata.annotations"], id="annotation"
        ),
        pytest.param({"name": "a", "finalizers": ["a b"]}, ["metadata.finalizers"], id="finalizer"),
        pytest.param(
            {
                "name": "a",
                "ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "p", "uid": ""}],
            },
            ["metadata.ownerReferences"],
            id="owner without uid",
        ),
    ],
)
def test_broken_metadata_is_refused_naming_the_field(
    server: Server, meta: Any, parts: list[str]
) -> None:
    answer = server.call("POST", server.gadgets, {**gadget(), "metadata": meta})
    failed(answer, 422, *parts)
    assert answer.reason == "Invalid"
    assert answer["details"]["causes"]


def test_a_namespace_needs_a_plain_label_as_its_name(server: Server) -> None:
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a.b"}}
    failed(
        server.call("POST", "/api/v1/namespaces", body),
        422,
        "metadata.name",
        "must not contain dots",
    )


def test_a_namespace_is_labelled_with_its_name_and_active(server: Server) -> None:
    found = server.call("GET", f"/api/v1/namespaces/{server.namespace}")
    assert found["metadata"]["labels"]["kubernetes.io/metadata.name"] == server.namespace
    assert found["status"] == {"phase": "Active"}
    assert found["spec"] == {"finalizers": ["kubernetes"]}


def test_a_deletion_says_what_it_deleted(server: Server) -> None:
    made = server.gadget()
    answer = server.call("DELETE", f"{server.gadgets}/one")
    assert (answer.status, answer["kind"], answer["status"]) == (200, "Status", "Success")
    assert answer["details"]["uid"] == made["metadata"]["uid"]
    assert server.call("GET", f"{server.gadgets}/one").status == 404


def test_nothing_cannot_be_deleted(server: Server) -> None:
    assert server.call("DELETE", f"{server.gadgets}/one").status == 404


@pytest.mark.parametrize("field", ["uid", "resourceVersion"])
def test_a_deletion_holds_its_preconditions(server: Server, field: str) -> None:
    made = server.gadget()
    path = f"{server.gadgets}/one"
    answer = server.call("DELETE", path, {"preconditions": {field: "1"}})
    failed(answer, 409, "in the precondition (1) does not match")
    right = {"preconditions": {field: made["metadata"][field]}}
    assert server.call("DELETE", path, right).status == 200


def test_a_finalizer_holds_an_object_back(server: Server) -> None:
    server.gadget(finalizers=["example.com/hold"])
    answer = server.call("DELETE", f"{server.gadgets}/one")
    assert answer["metadata"]["deletionTimestamp"]
    assert answer["metadata"]["deletionGracePeriodSeconds"] == 0
    assert server.call("GET", f"{server.gadgets}/one").status == 200
    server.merge(f"{server.gadgets}/one", {"metadata": {"finalizers": None}})
    assert server.call("GET", f"{server.gadgets}/one").status == 404


def test_a_second_deletion_changes_nothing(server: Server) -> None:
    server.gadget(finalizers=["example.com/hold"])
    first = server.call("DELETE", f"{server.gadgets}/one")
    assert server.call("DELETE", f"{server.gadgets}/one").version == first.version
    server.merge(f"{server.gadgets}/one", {"metadata": {"finalizers": None}})


def test_an_object_that_goes_takes_no_new_finalizer(server: Server) -> None:
    server.gadget(finalizers=["example.com/hold"])
    server.call("DELETE", f"{server.gadgets}/one")
    patch = {"metadata": {"finalizers": ["example.com/hold", "example.com/more"]}}
    answer = server.merge(f"{server.gadgets}/one", patch)
    failed(answer, 422, "no new finalizers can be added if the object is being deleted")
    server.merge(f"{server.gadgets}/one", {"metadata": {"finalizers": None}})


def test_a_collection_is_deleted_by_label(server: Server) -> None:
    for name, label in (("a", "x"), ("b", "x"), ("c", "y")):
        server.made(server.configmaps, config_map(name, labels={"l": label}))
    answer = server.call("DELETE", server.configmaps, labelSelector="l=x")
    assert answer.status == 200
    left = server.call("GET", server.configmaps, labelSelector="l")
    assert [item["metadata"]["name"] for item in left["items"]] == ["c"]


@pytest.mark.parametrize("newer", [True, False], ids=["events.k8s.io", "core"])
def test_an_event_is_the_same_under_both_groups(server: Server, newer: bool) -> None:
    about = {"kind": "Gadget", "name": "one", "namespace": server.namespace}
    old_path = f"/api/v1/namespaces/{server.namespace}/events"
    new_path = f"/apis/events.k8s.io/v1/namespaces/{server.namespace}/events"
    common = {"metadata": {"name": "e"}, "reason": "R", "type": "Normal"}
    if newer:
        more = {"regarding": about, "note": "hello", "action": "A"}
        who = {"reportingController": "c", "reportingInstance": "i"}
        when = {"eventTime": "2026-01-01T00:00:00.000000Z"}
        body = {"apiVersion": "events.k8s.io/v1", "kind": "Event", **common, **more, **who, **when}
        server.made(new_path, body)
    else:
        more = {"involvedObject": about, "message": "hello", "source": {"component": "c"}}
        server.made(old_path, {"apiVersion": "v1", "kind": "Event", **common, **more})
    old = server.call("GET", f"{old_path}/e")
    assert (old["involvedObject"], old["message"]) == (about, "hello")
    assert (old["firstTimestamp"], old["lastTimestamp"]) == (None, None)
    new = server.call("GET", f"{new_path}/e")
    assert (new["regarding"], new["note"]) == (about, "hello")
    assert new["apiVersion"] == "events.k8s.io/v1"


def test_an_event_stands_beside_what_it_is_about(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/events"
    about = {"kind": "Gadget", "name": "one", "namespace": "other"}
    body = {"apiVersion": "v1", "kind": "Event", "metadata": {"name": "e"}, "involvedObject": about}
    text = 'involvedObject.namespace: Invalid value: "other": does not match event.namespace'
    failed(server.call("POST", path, body), 422, text)


def test_an_unknown_deletion_policy_is_refused(server: Server) -> None:
    server.gadget()
    answer = server.call("DELETE", f"{server.gadgets}/one", {"propagationPolicy": "Sideways"})
    failed(answer, 422, 'propagationPolicy: Unsupported value: "Sideways"')


def test_a_null_in_a_config_map_is_empty(server: Server) -> None:
    assert server.made(server.configmaps, config_map(data={"a": None}))["data"] == {"a": ""}


def test_secrets_fold_plain_text_into_data(server: Server) -> None:
    path = f"/api/v1/namespaces/{server.namespace}/secrets"
    body = {"metadata": {"name": "s"}, "stringData": {"a": "b"}}
    made = server.made(path, {"apiVersion": "v1", "kind": "Secret", **body})
    assert (made["data"], made["type"]) == ({"a": "Yg=="}, "Opaque")
    assert "stringData" not in made.body


def test_the_scale_of_a_gadget_is_its_replicas(server: Server) -> None:
    server.gadget(spec={"replicas": 2})
    path = f"{server.gadgets}/one/scale"
    assert server.call("GET", path)["spec"] == {"replicas": 2}
    assert server.merge(path, {"spec": {"replicas": 5}})["spec"] == {"replicas": 5}
    assert server.call("GET", f"{server.gadgets}/one")["spec"]["replicas"] == 5
