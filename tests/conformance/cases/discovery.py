"""What the server says that it serves."""

from typing import Any

import pytest

from tests.conformance.harness import GADGETS, Server, failed

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"


def test_versions_of_the_core_group(server: Server) -> None:
    answer = server.call("GET", "/api")
    assert (answer["kind"], answer["versions"]) == ("APIVersions", ["v1"])


def test_groups(server: Server) -> None:
    groups = {group["name"]: group for group in server.call("GET", "/apis")["groups"]}
    assert {"batch", "apiextensions.k8s.io", "coordination.k8s.io"} <= set(groups)
    ours = groups["conformance.example.com"]
    assert ours["preferredVersion"]["version"] == "v1"
    assert [version["version"] for version in ours["versions"]] == ["v1", "v1beta1"]


def test_one_group(server: Server) -> None:
    answer = server.call("GET", "/apis/conformance.example.com")
    assert (answer["kind"], answer["name"]) == ("APIGroup", "conformance.example.com")


def test_an_unknown_group_is_not_found(server: Server) -> None:
    assert server.call("GET", "/apis/nobody.example.com").status == 404


def test_resources_of_a_version(server: Server) -> None:
    answer = server.call("GET", GADGETS)
    assert (answer["kind"], answer["groupVersion"]) == (
        "APIResourceList",
        "conformance.example.com/v1",
    )
    found = {resource["name"]: resource for resource in answer["resources"]}
    assert {"gadgets", "gadgets/status", "gadgets/scale", "plains"} <= set(found)
    ours = found["gadgets"]
    assert (ours["kind"], ours["singularName"], ours["namespaced"]) == ("Gadget", "gadget", True)
    assert (ours["shortNames"], ours["categories"]) == (["gd"], ["conformance"])
    assert sorted(ours["verbs"]) == [
        "create",
        "delete",
        "deletecollection",
        "get",
        "list",
        "patch",
        "update",
        "watch",
    ]
    assert found["plains"]["namespaced"] is False


@pytest.mark.parametrize(
    ("path", "name", "short"),
    [
        ("/api/v1", "pods", ["po"]),
        ("/api/v1", "namespaces", ["ns"]),
        ("/api/v1", "configmaps", ["cm"]),
        ("/apis/batch/v1", "cronjobs", ["cj"]),
        ("/apis/scheduling.k8s.io/v1", "priorityclasses", ["pc"]),
        ("/apis/apiextensions.k8s.io/v1", "customresourcedefinitions", ["crd", "crds"]),
    ],
)
def test_short_names_of_built_in_kinds(
    server: Server, path: str, name: str, short: list[str]
) -> None:
    found = {resource["name"]: resource for resource in server.call("GET", path)["resources"]}
    assert found[name]["shortNames"] == short


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_aggregated_discovery(server: Server, path: str) -> None:
    answer = server.call("GET", path, accept=AGGREGATED)
    assert answer["kind"] == "APIGroupDiscoveryList"
    assert "as=APIGroupDiscoveryList" in answer.headers["Content-Type"]
    groups = {item["metadata"].get("name", ""): item for item in answer["items"]}
    assert ("" in groups) is (path == "/api")


def test_aggregated_discovery_names_our_kind(server: Server) -> None:
    answer = server.call("GET", "/apis", accept=AGGREGATED)
    group = next(i for i in answer["items"] if i["metadata"]["name"] == "conformance.example.com")
    version = next(v for v in group["versions"] if v["version"] == "v1")
    ours = next(r for r in version["resources"] if r["resource"] == "gadgets")
    assert ours["scope"] == "Namespaced"
    assert ours["responseKind"]["kind"] == "Gadget"
    assert {s["subresource"] for s in ours["subresources"]} == {"status", "scale"}


def test_the_version(server: Server) -> None:
    answer = server.call("GET", "/version")
    assert answer["major"] == "1"
    assert answer["gitVersion"].startswith("v1.")


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/livez"])
def test_the_server_is_well(server: Server, path: str) -> None:
    answer = server.call("GET", path)
    assert (answer.status, answer.body) == (200, "ok")


def test_openapi_describes_our_kind(server: Server) -> None:
    root = server.call("GET", "/openapi/v3")["paths"]
    where = root["apis/conformance.example.com/v1"]["serverRelativeURL"]

    def schema() -> Any:
        document = server.call("GET", where).body
        return next(
            (
                found
                for found in document["components"]["schemas"].values()
                if {"group": "conformance.example.com", "version": "v1", "kind": "Gadget"}
                in found.get("x-kubernetes-group-version-kind", [])
            ),
            None,
        )

    found = server.until(schema)
    spec = found["properties"]["spec"]
    assert spec["description"] == "What is wanted of the gadget."
    assert spec["properties"]["size"]["description"] == "How big the gadget is."


def test_openapi_offers_strict_validation(server: Server) -> None:
    where = server.call("GET", "/openapi/v3")["paths"]["apis/batch/v1"]["serverRelativeURL"]
    paths = server.call("GET", where)["paths"]
    patch = paths["/apis/batch/v1/namespaces/{namespace}/jobs/{name}"]["patch"]
    assert "fieldValidation" in {parameter.get("name") for parameter in patch["parameters"]}


def definition(server: Server) -> dict[str, Any]:
    plural = server.name("thing").replace("-", "") + "s"
    schema = {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"kind": plural.title(), "plural": plural}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.things.example.com"},
        "spec": {
            "group": "things.example.com",
            "scope": "Cluster",
            "names": names,
            "versions": [version],
        },
    }


def test_a_definition_comes_into_force_and_goes(server: Server) -> None:
    body = definition(server)
    path = f"{DEFINITIONS}/{body['metadata']['name']}"
    made = server.made(DEFINITIONS, body)
    assert made["spec"]["names"]["singular"] == body["spec"]["names"]["plural"]
    assert made["spec"]["conversion"] == {"strategy": "None"}

    def established() -> bool:
        conditions = server.call("GET", path).body.get("status", {}).get("conditions") or []
        return {"NamesAccepted", "Established"} <= {
            c["type"] for c in conditions if c["status"] == "True"
        }

    server.until(established)
    where = f"/apis/things.example.com/v1/{body['spec']['names']['plural']}"
    server.until(lambda: server.call("GET", where).status == 200)
    assert server.call("GET", path)["status"]["storedVersions"] == ["v1"]
    server.call("DELETE", path)
    server.until(lambda: server.call("GET", path).status == 404)
    server.until(lambda: server.call("GET", where).status == 404)


@pytest.mark.parametrize(
    ("path", "value", "part"),
    [
        pytest.param(
            ("metadata", "name"), "other", 'must be spec.names.plural+"."+spec.group', id="name"
        ),
        pytest.param(
            ("spec", "scope"), "Galaxy", 'spec.scope: Unsupported value: "Galaxy"', id="scope"
        ),
        pytest.param(("spec", "group"), "", "spec.group: Required value", id="group"),
    ],
)
def test_a_broken_definition_is_refused(
    server: Server, path: tuple[str, str], value: str, part: str
) -> None:
    body = definition(server)
    body[path[0]][path[1]] = value
    failed(server.call("POST", DEFINITIONS, body), 422, part)


def test_access_is_reviewed(server: Server) -> None:
    attributes = {"verb": "get", "resource": "pods"}
    body = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    }
    answer = server.call("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body)
    assert (answer.status, answer["status"]["allowed"]) == (201, True)
