"""Tables and metadata-only answers: what `kubectl get` asks for."""

from typing import Any

import pytest

from tests.conformance.harness import Server, config_map, job

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PARTIAL = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json"
PARTIAL_LIST = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"


def columns(answer: Any) -> list[str]:
    return [column["name"] for column in answer["columnDefinitions"]]


def test_a_custom_table_has_the_definitions_columns(server: Server) -> None:
    answer = server.call("GET", server.gadgets, accept=TABLE)
    assert (answer["kind"], answer["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    assert columns(answer) == ["Name", "Size", "Color", "Ready", "Mode", "Age", "When"]
    assert [column["priority"] for column in answer["columnDefinitions"]] == [0, 0, 0, 0, 1, 0, 0]
    assert answer["columnDefinitions"][1]["type"] == "integer"
    assert answer["columnDefinitions"][1]["description"] == "How big it is."


def test_cells_of_a_custom_table(server: Server) -> None:
    server.gadget(spec={"size": 4, "color": "red"})
    ready = {"conditions": [{"type": "Other", "status": "x"}, {"type": "Ready", "status": "True"}]}
    server.merge(f"{server.gadgets}/one/status", {"status": ready})
    row = server.call("GET", server.gadgets, accept=TABLE)["rows"][0]
    assert row["cells"][:5] == ["one", 4, "red", "True", "Plain"]
    assert row["cells"][5].endswith("s")


def test_an_absent_cell_is_empty(server: Server) -> None:
    server.gadget()
    row = server.call("GET", server.gadgets, accept=TABLE)["rows"][0]
    assert row["cells"][1:4] == [None, None, None]
    assert row["cells"][6] is None


def test_one_object_is_a_table_of_one_row(server: Server) -> None:
    server.gadget()
    answer = server.call("GET", f"{server.gadgets}/one", accept=TABLE)
    assert [row["cells"][0] for row in answer["rows"]] == ["one"]


@pytest.mark.parametrize(
    ("include", "kind"), [("", "PartialObjectMetadata"), ("Object", "Gadget"), ("None", None)]
)
def test_rows_carry_what_was_asked_for(server: Server, include: str, kind: str | None) -> None:
    server.gadget()
    query = {"includeObject": include} if include else {}
    row = server.call("GET", server.gadgets, accept=TABLE, **query)["rows"][0]
    found = row.get("object") or {}
    assert found.get("kind") == kind


@pytest.mark.parametrize(
    ("path", "want"),
    [
        ("/api/v1/namespaces", ["Name", "Status", "Age"]),
        ("/api/v1/configmaps", ["Name", "Data", "Age"]),
        ("/api/v1/secrets", ["Name", "Type", "Data", "Age"]),
        ("/apis/coordination.k8s.io/v1/leases", ["Name", "Holder", "Age"]),
        (
            "/apis/batch/v1/jobs",
            [
                "Name",
                "Status",
                "Completions",
                "Duration",
                "Age",
                "Containers",
                "Images",
                "Selector",
            ],
        ),
        (
            "/api/v1/pods",
            [
                "Name",
                "Ready",
                "Status",
                "Restarts",
                "Age",
                "IP",
                "Node",
                "Nominated Node",
                "Readiness Gates",
            ],
        ),
        (
            "/api/v1/nodes",
            [
                "Name",
                "Status",
                "Roles",
                "Age",
                "Version",
                "Internal-IP",
                "External-IP",
                "OS-Image",
                "Kernel-Version",
                "Container-Runtime",
            ],
        ),
        (
            "/api/v1/events",
            [
                "Last Seen",
                "Type",
                "Reason",
                "Object",
                "Subobject",
                "Source",
                "Message",
                "First Seen",
                "Count",
                "Name",
            ],
        ),
        (
            "/apis/scheduling.k8s.io/v1/priorityclasses",
            ["Name", "Value", "Global-Default", "Age", "PreemptionPolicy"],
        ),
        ("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", ["Name", "Created At"]),
    ],
)
def test_columns_of_built_in_tables(server: Server, path: str, want: list[str]) -> None:
    assert columns(server.call("GET", path, accept=TABLE)) == want


def test_cells_of_a_config_map(server: Server) -> None:
    server.made(server.configmaps, config_map(data={"a": "1", "b": "2"}))
    row = server.call("GET", f"{server.configmaps}/one", accept=TABLE)["rows"][0]
    assert row["cells"][:2] == ["one", 2]


def test_cells_of_a_namespace(server: Server) -> None:
    row = server.call("GET", f"/api/v1/namespaces/{server.namespace}", accept=TABLE)["rows"][0]
    assert row["cells"][:2] == [server.namespace, "Active"]


def test_cells_of_a_job(server: Server) -> None:
    server.made(server.jobs, job(completions=3))
    row = server.call("GET", f"{server.jobs}/one", accept=TABLE)["rows"][0]
    assert row["cells"][0] == "one"
    assert row["cells"][2] == "0/3"
    assert row["cells"][5:7] == ["c", "registry.example.com/work:1"]


def test_metadata_alone(server: Server) -> None:
    server.gadget(labels={"a": "b"})
    answer = server.call("GET", f"{server.gadgets}/one", accept=PARTIAL)
    assert (answer["kind"], answer["apiVersion"]) == ("PartialObjectMetadata", "meta.k8s.io/v1")
    assert answer["metadata"]["labels"] == {"a": "b"}
    assert "spec" not in answer.body


def test_a_list_of_metadata(server: Server) -> None:
    server.gadget()
    answer = server.call("GET", server.gadgets, accept=PARTIAL_LIST)
    assert answer["kind"] == "PartialObjectMetadataList"
    assert [item["metadata"]["name"] for item in answer["items"]] == ["one"]
    assert "spec" not in answer["items"][0]
