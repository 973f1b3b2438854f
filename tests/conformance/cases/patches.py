"""Merge, JSON and strategic merge patches."""

from typing import Any

import pytest

from tests.conformance.harness import Server, config_map, failed, job

MERGE = "application/merge-patch+json"
JSON = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
START = {"words": {"a": "1"}, "atoms": ["x", "y"], "size": 1}


@pytest.mark.parametrize(
    ("patch", "want"),
    [
        pytest.param({"size": 2}, {"size": 2}, id="a value is replaced"),
        pytest.param({"size": None}, {"size": ...}, id="null removes"),
        pytest.param({"words": {"b": "2"}}, {"words": {"a": "1", "b": "2"}}, id="objects merge"),
        pytest.param({"words": {"a": None}}, {"words": {}}, id="null removes inside"),
        pytest.param({"atoms": ["z"]}, {"atoms": ["z"]}, id="lists are replaced"),
        pytest.param({"color": "red"}, {"color": "red", "size": 1}, id="a field is added"),
        pytest.param(
            {"free": {"x": {"y": None, "z": 1}}},
            {"free": {"x": {"z": 1}}},
            id="nulls are not stored",
        ),
        pytest.param({}, {"size": 1}, id="nothing changes nothing"),
    ],
)
def test_merge_patch(server: Server, patch: Any, want: Any) -> None:
    server.gadget(spec=START)
    spec = server.merge(f"{server.gadgets}/one", {"spec": patch})["spec"]
    assert {name: spec.get(name, ...) for name in want} == want


@pytest.mark.parametrize(
    ("operations", "want"),
    [
        pytest.param([("add", "/spec/color", "red")], {"color": "red"}, id="add a field"),
        pytest.param([("add", "/spec/atoms/0", "w")], {"atoms": ["w", "x", "y"]}, id="insert"),
        pytest.param([("add", "/spec/atoms/-", "z")], {"atoms": ["x", "y", "z"]}, id="append"),
        pytest.param([("add", "/spec/size", 7)], {"size": 7}, id="add over a field"),
        pytest.param([("replace", "/spec/size", 3)], {"size": 3}, id="replace"),
        pytest.param([("replace", "/spec/color", "red")], {"color": "red"}, id="replace nothing"),
        pytest.param(
            [("replace", "/spec/atoms/1", "q")], {"atoms": ["x", "q"]}, id="replace in a list"
        ),
        pytest.param([("remove", "/spec/words/a", ...)], {"words": {}}, id="remove"),
        pytest.param([("remove", "/spec/atoms/0", ...)], {"atoms": ["y"]}, id="remove from a list"),
        pytest.param(
            [("test", "/spec/size", 1), ("replace", "/spec/size", 2)], {"size": 2}, id="test"
        ),
        pytest.param(
            [("add", "/spec/free", {}), ("add", "/spec/free/a~1b", 1)],
            {"free": {"a/b": 1}},
            id="escapes",
        ),
    ],
)
def test_json_patch(server: Server, operations: list[tuple[str, str, Any]], want: Any) -> None:
    server.gadget(spec=START)
    patch = [
        {"op": op, "path": path, **({} if value is ... else {"value": value})}
        for op, path, value in operations
    ]
    answer = server.call("PATCH", f"{server.gadgets}/one", patch, content=JSON)
    assert answer.status == 200, answer
    assert {name: answer["spec"].get(name, ...) for name in want} == want


@pytest.mark.parametrize("word", ["move", "copy"])
def test_json_patch_moves_and_copies(server: Server, word: str) -> None:
    server.gadget(spec=START)
    patch = [{"op": word, "from": "/spec/words/a", "path": "/spec/words/b"}]
    words = server.call("PATCH", f"{server.gadgets}/one", patch, content=JSON)["spec"]["words"]
    assert words == ({"b": "1"} if word == "move" else {"a": "1", "b": "1"})


@pytest.mark.parametrize(
    "operation",
    [
        pytest.param({"op": "remove", "path": "/spec/nothing"}, id="remove nothing"),
        pytest.param({"op": "test", "path": "/spec/size", "value": 2}, id="a test that fails"),
        pytest.param({"op": "add", "path": "/spec/none/here", "value": 1}, id="no parent"),
        pytest.param({"op": "add", "path": "/spec/atoms/9", "value": "z"}, id="beyond the list"),
    ],
)
def test_a_json_patch_that_does_not_fit_is_refused_whole(server: Server, operation: Any) -> None:
    made = server.gadget(spec=START)
    patch = [{"op": "add", "path": "/spec/color", "value": "red"}, operation]
    answer = server.call("PATCH", f"{server.gadgets}/one", patch, content=JSON)
    assert (answer.status, answer.reason) == (422, "Invalid")
    assert server.call("GET", f"{server.gadgets}/one").version == made.version


def test_a_json_patch_that_is_no_list_is_a_bad_request(server: Server) -> None:
    server.gadget()
    assert server.call("PATCH", f"{server.gadgets}/one", {"a": 1}, content=JSON).status == 400


@pytest.mark.parametrize("content", ["application/json", "text/plain", STRATEGIC])
def test_a_patch_type_that_a_custom_kind_has_not_is_refused(server: Server, content: str) -> None:
    server.gadget()
    answer = server.call("PATCH", f"{server.gadgets}/one", {}, content=content)
    assert (answer.status, answer.reason) == (415, "UnsupportedMediaType")


@pytest.mark.parametrize("content", [MERGE, JSON, STRATEGIC])
def test_a_patch_of_nothing_is_not_found(server: Server, content: str) -> None:
    body: Any = [] if content == JSON else {}
    assert server.call("PATCH", f"{server.configmaps}/none", body, content=content).status == 404


@pytest.mark.parametrize("content", [MERGE, JSON, STRATEGIC])
def test_a_patch_that_changes_nothing_keeps_the_version(server: Server, content: str) -> None:
    made = server.made(server.configmaps, config_map(data={"a": "b"}))
    body: Any = (
        [{"op": "test", "path": "/data/a", "value": "b"}]
        if content == JSON
        else {"data": {"a": "b"}}
    )
    answer = server.call("PATCH", f"{server.configmaps}/one", body, content=content)
    assert (answer.status, answer.version) == (200, made.version)


@pytest.mark.parametrize("content", [MERGE, STRATEGIC])
def test_a_patch_may_ask_for_a_version(server: Server, content: str) -> None:
    made = server.made(server.configmaps, config_map())
    path = f"{server.configmaps}/one"
    patch = {"metadata": {"resourceVersion": made.version}, "data": {"a": "1"}}
    assert server.call("PATCH", path, patch, content=content).status == 200
    late = {"metadata": {"resourceVersion": made.version}, "data": {"a": "2"}}
    answer = server.call("PATCH", path, late, content=content)
    failed(answer, 409, "the object has been modified")


def test_a_json_patch_may_test_the_version(server: Server) -> None:
    made = server.made(server.configmaps, config_map())
    test = {"op": "test", "path": "/metadata/resourceVersion", "value": made.version}
    patch = [test, {"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]
    path = f"{server.configmaps}/one"
    assert server.call("PATCH", path, patch, content=JSON).status == 200
    assert server.call("PATCH", path, patch, content=JSON).status == 422


@pytest.mark.parametrize("field", ["name", "namespace"])
def test_a_patch_cannot_rename(server: Server, field: str) -> None:
    server.gadget()
    answer = server.merge(f"{server.gadgets}/one", {"metadata": {field: "other"}})
    assert answer.status in (400, 422)


def test_a_patch_is_checked_against_the_schema(server: Server) -> None:
    server.gadget()
    answer = server.merge(f"{server.gadgets}/one", {"spec": {"color": "pink"}})
    failed(answer, 422, 'spec.color: Unsupported value: "pink"')


POD: dict[str, Any] = {
    "containers": [
        {
            "name": "a",
            "image": "i:1",
            "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}],
        },
        {"name": "b", "image": "i:1", "args": ["one", "two"]},
    ],
    "tolerations": [{"key": "k", "operator": "Exists"}],
    "nodeSelector": {"a": "1"},
}


@pytest.mark.parametrize(
    ("patch", "check"),
    [
        pytest.param(
            {"metadata": {"labels": {"x": "y"}}},
            lambda found: found["metadata"]["labels"]["x"] == "y",
            id="a label",
        ),
        pytest.param(
            {"spec": {"template": {"spec": {"nodeSelector": {"b": "2"}}}}},
            lambda found: found["spec"]["template"]["spec"]["nodeSelector"] == {"a": "1", "b": "2"},
            id="maps merge",
        ),
        pytest.param(
            {"spec": {"template": {"spec": {"nodeSelector": {"a": None, "b": "2"}}}}},
            lambda found: found["spec"]["template"]["spec"]["nodeSelector"] == {"b": "2"},
            id="null removes",
        ),
        pytest.param(
            {"spec": {"template": {"spec": {"tolerations": [{"key": "z", "operator": "Exists"}]}}}},
            lambda found: (
                [t["key"] for t in found["spec"]["template"]["spec"]["tolerations"]] == ["z"]
            ),
            id="a list without a key is replaced",
        ),
        pytest.param(
            {"spec": {"template": {"metadata": {"annotations": {"n": "m"}}}}},
            lambda found: found["spec"]["template"]["metadata"]["annotations"] == {"n": "m"},
            id="an annotation of the template",
        ),
        pytest.param(
            {"spec": {"parallelism": 4}},
            lambda found: found["spec"]["parallelism"] == 4,
            id="a number",
        ),
        pytest.param(
            {
                "spec": {
                    "template": {
                        "spec": {
                            "containers": [{"name": "b", "resources": {"requests": {"cpu": "1"}}}]
                        }
                    }
                }
            },
            lambda found: (
                [
                    (c["name"], c["resources"])
                    for c in found["spec"]["template"]["spec"]["containers"]
                ]
                == [("a", {}), ("b", {"requests": {"cpu": "1"}})]
            ),
            id="containers merge by name",
        ),
        pytest.param(
            {"spec": {"template": {"spec": {"nodeSelector": {"$patch": "replace", "c": "3"}}}}},
            lambda found: found["spec"]["template"]["spec"]["nodeSelector"] == {"c": "3"},
            id="a map is replaced on demand",
        ),
    ],
)
def test_strategic_merge_patch_of_a_job(server: Server, patch: Any, check: Any) -> None:
    server.made(server.jobs, job(pod=POD))
    answer = server.call("PATCH", f"{server.jobs}/one", patch, content=STRATEGIC)
    assert answer.status == 200, answer
    assert check(answer.body)


def gated_pod() -> dict[str, Any]:
    spec = {"schedulingGates": [{"name": "a.example.com/wait"}, {"name": "b.example.com/wait"}]}
    containers = [{"name": "a", "image": "i:1"}]
    meta = {"name": "one", "finalizers": ["example.com/a"]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": meta,
        "spec": {**spec, "containers": containers},
    }


@pytest.mark.parametrize(
    ("patch", "check"),
    [
        pytest.param(
            {"spec": {"schedulingGates": [{"$patch": "delete", "name": "a.example.com/wait"}]}},
            lambda found: (
                [g["name"] for g in found["spec"]["schedulingGates"]] == ["b.example.com/wait"]
            ),
            id="an element is deleted by key",
        ),
        pytest.param(
            {"metadata": {"$deleteFromPrimitiveList/finalizers": ["example.com/a"]}},
            lambda found: "finalizers" not in found["metadata"],
            id="a word is deleted from a set",
        ),
        pytest.param(
            {"metadata": {"finalizers": ["example.com/b"]}},
            lambda found: (
                sorted(found["metadata"]["finalizers"]) == ["example.com/a", "example.com/b"]
            ),
            id="a set grows",
        ),
        pytest.param(
            {"spec": {"containers": [{"name": "a", "image": "i:2"}]}},
            lambda found: found["spec"]["containers"][0]["image"] == "i:2",
            id="an image changes",
        ),
    ],
)
def test_strategic_merge_patch_of_a_pod(server: Server, patch: Any, check: Any) -> None:
    service_account(server)
    server.made(server.pods, gated_pod())
    answer = server.call("PATCH", f"{server.pods}/one", patch, content=STRATEGIC)
    assert answer.status == 200, answer
    assert check(answer.body)
    server.merge(f"{server.pods}/one", {"metadata": {"finalizers": None}})


def service_account(server: Server) -> None:
    """A real cluster takes pods only once the namespace has its default account."""
    path = f"/api/v1/namespaces/{server.namespace}/serviceaccounts"
    body = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "default"}}
    assert server.call("POST", path, body).status in (201, 409)
