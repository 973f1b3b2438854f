from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from queueing_api.crd.__main__ import main, stale
from queueing_api.crd.generate import WebhookConversion, crds
from queueing_api.crd.resources import OWN_RESOURCES, RESOURCES
from queueing_api.crd.rules import RULES

FOLDER = Path(__file__).parents[3] / "config" / "crd"
VERSIONS = [
    *((one.kind, version) for one in RESOURCES for version in ("v1beta1", "v1beta2")),
    *((one.kind, "v1alpha1") for one in OWN_RESOURCES),
]
ALLOWED = {
    "additionalProperties",
    "anyOf",
    "default",
    "description",
    "enum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "pattern",
    "properties",
    "required",
    "type",
    "x-kubernetes-int-or-string",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-map-type",
    "x-kubernetes-preserve-unknown-fields",
    "x-kubernetes-validations",
}


@cache
def plain() -> dict[str, Any]:
    """Return the definitions that serve the stored version alone, by kind."""
    return {crd["spec"]["names"]["kind"]: crd for crd in crds()}


@cache
def both() -> dict[str, Any]:
    """Return the definitions that serve both versions, by kind."""
    return {crd["spec"]["names"]["kind"]: crd for crd in crds(WebhookConversion())}


@pytest.fixture(params=VERSIONS, ids=" ".join)
def schema(request: pytest.FixtureRequest) -> Any:
    """Return the schema of a version of a kind."""
    kind, name = request.param
    (found,) = [one for one in both()[kind]["spec"]["versions"] if one["name"] == name]
    return found["schema"]["openAPIV3Schema"]


def test_every_version_of_every_kind_is_looked_at() -> None:
    served = {
        (kind, one["name"]) for kind, crd in both().items() for one in crd["spec"]["versions"]
    }
    assert served == set(VERSIONS)


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    yield path, schema
    for name, item in schema.get("properties", {}).items():
        yield from nodes(item, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


def at(kind: str, path: str) -> dict[str, Any]:
    (version,) = plain()[kind]["spec"]["versions"]
    found = dict(nodes(version["schema"]["openAPIV3Schema"]))
    return found[path]


def test_the_files_in_the_repository_are_up_to_date() -> None:
    assert stale(FOLDER) == []


def test_schemas_are_structural(schema: dict[str, Any]) -> None:
    for path, node in nodes(schema):
        assert node.keys() <= ALLOWED, path
        if node.get("x-kubernetes-int-or-string"):
            assert node["anyOf"] == [{"type": "integer"}, {"type": "string"}], path
            assert "type" not in node, path
        else:
            assert node["type"] in {"object", "array", "string", "integer", "number", "boolean"}, (
                path
            )
            assert "anyOf" not in node, path
        assert not ("properties" in node and "additionalProperties" in node), path


def test_items_are_told_apart_by_fields_that_they_have(schema: dict[str, Any]) -> None:
    for path, node in nodes(schema):
        for key in node.get("x-kubernetes-list-map-keys", ()):
            item = node["items"]
            assert key in item.get("required", ()) or "default" in item["properties"][key], path


def test_every_field_has_a_sentence_of_its_own(schema: dict[str, Any]) -> None:
    for path, node in nodes(schema):
        if ".template." in path or not node.get("properties") or ".tolerations[]" in path:
            continue
        for name, field in node["properties"].items():
            if (path, name) != ("", "metadata"):
                assert field.get("description", "").endswith("."), f"{path}.{name}"


def test_pods_and_containers_are_described_where_people_look() -> None:
    pod = at("Workload", ".spec.podSets[].template.spec")
    for field in (pod, pod["properties"]["containers"]["items"]):
        assert all(item.get("description") for item in field["properties"].values())


@pytest.mark.parametrize(
    ("kind", "path", "want"),
    [
        ("ClusterQueue", ".spec.queueingStrategy", "BestEffortFIFO"),
        ("ClusterQueue", ".spec.stopPolicy", "None"),
        ("ClusterQueue", ".spec.preemption", {}),
        ("ClusterQueue", ".spec.preemption.borrowWithinCohort", {}),
        ("ClusterQueue", ".spec.preemption.borrowWithinCohort.policy", "Never"),
        ("ClusterQueue", ".spec.flavorFungibility", {}),
        ("ClusterQueue", ".spec.flavorFungibility.whenCanBorrow", "MayStopSearch"),
        ("ClusterQueue", ".spec.flavorFungibility.whenCanPreempt", "TryNextFlavor"),
        ("ClusterQueue", ".spec.fairSharing.weight", "1"),
        ("LocalQueue", ".spec.stopPolicy", "None"),
        ("Workload", ".spec.active", True),
        ("Workload", ".spec.podSets[].name", "main"),
        ("Workload", ".spec.podSets[].count", 1),
        (
            "Workload",
            ".spec.podSets[].template.spec.containers[].ports[].protocol",
            "TCP",
        ),
        ("MultiKueueCluster", ".spec.clusterSource.kubeConfig.locationType", "Secret"),
        ("ProvisioningRequestConfig", ".spec.retryStrategy", {}),
        ("ProvisioningRequestConfig", ".spec.retryStrategy.backoffBaseSeconds", 60),
    ],
)
def test_the_server_fills_in_defaults(kind: str, path: str, want: Any) -> None:
    assert at(kind, path)["default"] == want


@pytest.mark.parametrize(
    ("kind", "path", "limit", "want"),
    [
        ("ClusterQueue", ".spec.resourceGroups", "maxItems", 16),
        ("ClusterQueue", ".spec.resourceGroups[].flavors", "maxItems", 64),
        ("ClusterQueue", ".spec.resourceGroups[].coveredResources", "minItems", 1),
        ("ClusterQueue", ".spec.cohortName", "maxLength", 253),
        ("ResourceFlavor", ".spec.nodeLabels", "maxProperties", 8),
        ("ResourceFlavor", ".spec.nodeTaints", "maxItems", 8),
        ("Workload", ".spec.podSets", "maxItems", 18),
        ("Workload", ".spec.podSets[].minCount", "minimum", 1),
        ("Workload", ".spec.preemptionGates", "maxItems", 8),
        ("Workload", ".status.conditions", "maxItems", 16),
        ("Workload", ".status.admissionChecks", "maxItems", 8),
        ("Workload", ".status.nominatedClusterNames", "maxItems", 20),
        ("WorkloadPriorityClass", ".description", "maxLength", 2048),
        ("AdmissionCheck", ".spec.controllerName", "maxLength", 253),
        ("Topology", ".spec.levels", "maxItems", 16),
        ("MultiKueueConfig", ".spec.clusters", "maxItems", 20),
        ("MultiKueueCluster", ".spec.clusterSource", "maxProperties", 1),
        ("ProvisioningRequestConfig", ".spec.parameters", "maxProperties", 100),
        ("ProvisioningRequestConfig", ".spec.managedResources", "maxItems", 100),
    ],
)
def test_the_server_holds_limits(kind: str, path: str, limit: str, want: int) -> None:
    assert at(kind, path)[limit] == want


@pytest.mark.parametrize(
    ("kind", "scope", "short_names"),
    [
        ("AdmissionCheck", "Cluster", ["ac"]),
        ("ClusterQueue", "Cluster", ["cq"]),
        ("Cohort", "Cluster", ["co"]),
        ("LocalQueue", "Namespaced", ["queue", "queues", "lq"]),
        ("MultiKueueCluster", "Cluster", ["mkc"]),
        ("MultiKueueConfig", "Cluster", ["mkconf"]),
        ("ProvisioningRequestConfig", "Cluster", ["prc"]),
        ("ResourceFlavor", "Cluster", ["flavor", "flavors", "rf"]),
        ("Topology", "Cluster", ["topo"]),
        ("Workload", "Namespaced", ["kwl", "kueueworkload", "kueueworkloads"]),
        ("WorkloadPriorityClass", "Cluster", ["wpc"]),
    ],
)
def test_kinds_are_named_as_kueue_names_them(kind: str, scope: str, short_names: list[str]) -> None:
    spec = plain()[kind]["spec"]
    assert spec["scope"] == scope
    assert spec["names"]["shortNames"] == short_names


def columns(crd: dict[str, Any], version: int) -> list[tuple[str, str, int]]:
    found = crd["spec"]["versions"][version]["additionalPrinterColumns"]
    return [(item["name"], item["jsonPath"], item.get("priority", 0)) for item in found]


def test_kubectl_prints_kueues_columns() -> None:
    assert columns(plain()["ClusterQueue"], 0) == [
        ("Cohort", ".spec.cohortName", 0),
        ("Strategy", ".spec.queueingStrategy", 1),
        ("Pending Workloads", ".status.pendingWorkloads", 0),
        ("Admitted Workloads", ".status.admittedWorkloads", 1),
    ]
    names = [name for name, _, _ in columns(plain()["Workload"], 0)]
    assert names == ["Queue", "Reserved in", "Admitted", "Finished", "Age"]


def test_the_older_version_prints_its_own_fields() -> None:
    assert columns(both()["ClusterQueue"], 0)[0] == ("Cohort", ".spec.cohort", 0)
    assert columns(both()["ClusterQueue"], 1)[0] == ("Cohort", ".spec.cohortName", 0)


def test_workloads_can_be_selected_by_their_cluster_queue() -> None:
    (version,) = plain()["Workload"]["spec"]["versions"]
    assert version["selectableFields"] == [{"jsonPath": ".status.admission.clusterQueue"}]
    assert version["subresources"] == {"status": {}}


def test_without_a_conversion_only_the_stored_version_is_served() -> None:
    for crd in plain().values():
        assert "conversion" not in crd["spec"]
        stored = "v1alpha1" if crd["spec"]["group"] == "queueing.dev" else "v1beta2"
        assert [version["name"] for version in crd["spec"]["versions"]] == [stored]


def test_with_a_conversion_both_are_served_and_the_newer_is_stored() -> None:
    for crd in both().values():
        if crd["spec"]["group"] == "queueing.dev":
            assert "conversion" not in crd["spec"]
            continue
        served = [
            (item["name"], item["served"], item["storage"]) for item in crd["spec"]["versions"]
        ]
        assert served == [("v1beta1", True, False), ("v1beta2", True, True)]
        assert crd["spec"]["conversion"]["webhook"]["clientConfig"] == {
            "service": {
                "name": "kueue-webhook-service",
                "namespace": "kueue-system",
                "path": "/convert",
            }
        }


def test_the_conversion_can_be_an_address_of_its_own() -> None:
    conversion = WebhookConversion(url="https://127.0.0.1:9443/convert", ca_bundle="Q0E=")
    (crd, *_) = crds(conversion)
    assert crd["spec"]["group"] == "kueue.x-k8s.io"
    assert crd["spec"]["conversion"] == {
        "strategy": "Webhook",
        "webhook": {
            "clientConfig": {"url": "https://127.0.0.1:9443/convert", "caBundle": "Q0E="},
            "conversionReviewVersions": ["v1"],
        },
    }


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_every_rule_says_what_is_wanted(version: str) -> None:
    rules = [rule for rules in RULES[version].values() for rule in rules]
    assert len(rules) > 20
    assert all(rule.message and "\n" not in rule.message for rule in rules)
    assert not [rule for rule in rules if ".?" in rule.expression], (
        "optionals exceed the cost limit"
    )


def test_files_are_written_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--write", str(tmp_path)]) == 0
    assert main(["--check", str(tmp_path)]) == 0
    (tmp_path / "kueue.x-k8s.io_cohorts.yaml").write_text("old")
    (tmp_path / "webhook" / "kueue.x-k8s.io_gone.yaml").write_text("left over")
    assert main(["--check", str(tmp_path)]) == 1
    told = capsys.readouterr().err
    assert "kueue.x-k8s.io_cohorts.yaml: stale" in told
    assert "kueue.x-k8s.io_gone.yaml: stale" in told


@pytest.mark.parametrize(
    "path",
    [
        ".spec.podSets[].template.spec.containers[].env",
        ".spec.podSets[].template.spec.containers[].ports",
        ".spec.podSets[].template.spec.imagePullSecrets",
        ".spec.podSets[].template.spec.hostAliases",
    ],
)
def test_what_a_pod_may_repeat_a_workload_may_repeat_too(path: str) -> None:
    assert at("Workload", path)["x-kubernetes-list-type"] == "atomic"
