import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from queueing_api.kueue import v1beta1, v1beta2
from queueing_api.kueue.convert import ConversionError, convert
from queueing_api.kueue.convert.versions import KEPT_ANNOTATION, V1BETA1, V1BETA2
from queueing_api.meta.v1 import KubeObject

PROPERTY = settings(
    max_examples=25,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
KINDS = sorted(v1beta2.__all__)
Objects = Callable[[type[KubeObject]], st.SearchStrategy[dict[str, Any]]]
EVERY_KIND = pytest.mark.parametrize("kind", KINDS)


def obj(kind: str, version: str, **body: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **body}


@EVERY_KIND
def test_v1beta1_comes_back_as_it_was(kind: str, objects: Objects) -> None:
    @given(objects(getattr(v1beta1, kind)))
    @PROPERTY
    def check(document: dict[str, Any]) -> None:
        before = deepcopy(document)
        stored = convert(document, V1BETA2)
        assert stored["apiVersion"] == V1BETA2
        assert convert(stored, V1BETA1) == document == before

    check()


@EVERY_KIND
def test_v1beta2_comes_back_as_it_was(kind: str, objects: Objects) -> None:
    @given(objects(getattr(v1beta2, kind)))
    @PROPERTY
    def check(document: dict[str, Any]) -> None:
        before = deepcopy(document)
        older = convert(document, V1BETA1)
        assert older["apiVersion"] == V1BETA1
        assert convert(older, V1BETA2) == document == before

    check()


@EVERY_KIND
def test_what_is_converted_is_valid_in_its_version(kind: str, objects: Objects) -> None:
    old, new = getattr(v1beta1, kind), getattr(v1beta2, kind)

    @given(objects(old), objects(new))
    @settings(PROPERTY, max_examples=10)
    def check(older: dict[str, Any], newer: dict[str, Any]) -> None:
        assert new.from_wire(convert(older, V1BETA2)).kind == kind
        if "clusterProfileRef" not in newer.get("spec", {}).get(
            "clusterSource", {}
        ):  # not in v1beta1
            assert old.from_wire(convert(newer, V1BETA1)).kind == kind

    check()


@EVERY_KIND
def test_nothing_of_the_metadata_changes_but_our_annotation(kind: str, objects: Objects) -> None:
    @given(objects(getattr(v1beta1, kind)))
    @settings(PROPERTY, max_examples=10)
    def check(document: dict[str, Any]) -> None:
        metadata = deepcopy(convert(document, V1BETA2)["metadata"])
        metadata.get("annotations", {}).pop(KEPT_ANNOTATION[V1BETA1], None)
        metadata = {key: value for key, value in metadata.items() if value}
        assert metadata == document["metadata"]

    check()


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        pytest.param(
            "ClusterQueue", {"cohort": "team"}, {"cohortName": "team"}, id="the cohort's name"
        ),
        pytest.param(
            "ClusterQueue",
            {"flavorFungibility": {"whenCanBorrow": "Borrow", "whenCanPreempt": "Preempt"}},
            {
                "flavorFungibility": {
                    "whenCanBorrow": "MayStopSearch",
                    "whenCanPreempt": "MayStopSearch",
                }
            },
            id="when the search for a flavor stops",
        ),
        pytest.param(
            "ClusterQueue",
            {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}},
            {"flavorFungibility": {"whenCanBorrow": "TryNextFlavor"}},
            id="when it goes on",
        ),
        pytest.param(
            "Workload",
            {
                "priorityClassName": "high",
                "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass",
            },
            {
                "priorityClassRef": {
                    "group": "kueue.x-k8s.io",
                    "kind": "WorkloadPriorityClass",
                    "name": "high",
                }
            },
            id="a workload priority class",
        ),
        pytest.param(
            "Workload",
            {"priorityClassName": "high", "priorityClassSource": "scheduling.k8s.io/priorityclass"},
            {
                "priorityClassRef": {
                    "group": "scheduling.k8s.io",
                    "kind": "PriorityClass",
                    "name": "high",
                }
            },
            id="a pod priority class",
        ),
        pytest.param(
            "MultiKueueCluster",
            {"kubeConfig": {"location": "secret", "locationType": "Secret"}},
            {"clusterSource": {"kubeConfig": {"location": "secret", "locationType": "Secret"}}},
            id="the access to a worker",
        ),
        pytest.param(
            "LocalQueue",
            {"clusterQueue": "main"},
            {"clusterQueue": "main"},
            id="what did not change",
        ),
    ],
)
def test_each_difference_is_converted_both_ways(
    kind: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert convert(obj(kind, V1BETA1, spec=old), V1BETA2) == obj(kind, V1BETA2, spec=new)
    assert convert(obj(kind, V1BETA2, spec=new), V1BETA1) == obj(kind, V1BETA1, spec=old)


@pytest.mark.parametrize(
    ("kind", "old", "new"),
    [
        pytest.param(
            "LocalQueue",
            {"flavorUsage": [{"name": "a"}]},
            {"flavorsUsage": [{"name": "a"}]},
            id="usage",
        ),
        pytest.param(
            "Workload",
            {"accumulatedPastExexcutionTimeSeconds": 7},
            {"accumulatedPastExecutionTimeSeconds": 7},
            id="the misspelt field",
        ),
    ],
)
def test_each_difference_of_a_status_is_converted_both_ways(
    kind: str, old: dict[str, Any], new: dict[str, Any]
) -> None:
    assert convert(obj(kind, V1BETA1, status=old), V1BETA2) == obj(kind, V1BETA2, status=new)
    assert convert(obj(kind, V1BETA2, status=new), V1BETA1) == obj(kind, V1BETA1, status=old)


def placement(version: str, **assignment: Any) -> dict[str, Any]:
    entry = {"name": "main", "topologyAssignment": {"levels": ["rack", "host"], **assignment}}
    return obj("Workload", version, status={"admission": {"podSetAssignments": [entry]}})


def test_domains_become_one_slice_that_shares_what_they_have_in_common() -> None:
    domains = [
        {"values": ["r1", "node-1.local"], "count": 2},
        {"values": ["r1", "node-2.local"], "count": 3},
    ]
    want = {
        "domainCount": 2,
        "valuesPerLevel": [
            {"universal": "r1"},
            {"individual": {"prefix": "node-", "suffix": ".local", "roots": ["1", "2"]}},
        ],
        "podCounts": {"individual": [2, 3]},
    }
    stored = convert(placement(V1BETA1, domains=domains), V1BETA2)
    assert stored == placement(V1BETA2, slices=[want])
    assert convert(stored, V1BETA1) == placement(V1BETA1, domains=domains)


def test_a_domain_without_a_value_for_each_level_cannot_be_converted() -> None:
    broken = placement(V1BETA1, domains=[{"values": ["r1"], "count": 2}])
    with pytest.raises(ConversionError, match=r"Workload 'x' to .*: .*one value"):
        convert(broken, V1BETA2)


def test_plain_admission_checks_come_back_plain() -> None:
    older = obj("ClusterQueue", V1BETA1, spec={"admissionChecks": ["a", "b"]})
    stored = convert(older, V1BETA2)
    assert stored["spec"] == {
        "admissionChecksStrategy": {"admissionChecks": [{"name": "a"}, {"name": "b"}]}
    }
    assert convert(stored, V1BETA1) == older


def test_a_value_edited_in_the_meantime_wins_over_what_was_kept() -> None:
    older = obj(
        "ClusterQueue",
        V1BETA1,
        spec={
            "admissionChecks": ["a", "b"],
            "flavorFungibility": {"whenCanBorrow": "MayStopSearch"},
        },
    )
    stored = deepcopy(convert(older, V1BETA2))
    stored["spec"]["admissionChecksStrategy"]["admissionChecks"][1]["name"] = "c"
    again = convert(stored, V1BETA1)
    assert again["spec"] == {
        "admissionChecksStrategy": {"admissionChecks": [{"name": "a"}, {"name": "c"}]},
        "flavorFungibility": {"whenCanBorrow": "MayStopSearch"},
    }
    plain = deepcopy(convert(again, V1BETA2))
    assert plain["spec"] == stored["spec"]


def test_a_newer_field_stays_with_its_pod_set_when_an_older_client_reorders_them() -> None:
    constraints = [{"topology": "rack", "size": 2}]
    newer = obj(
        "Workload",
        V1BETA2,
        spec={
            "podSets": [
                {"name": "a", "topologyRequest": {"required": "block"}},
                {
                    "name": "b",
                    "topologyRequest": {"podsetSliceRequiredTopologyConstraints": constraints},
                },
            ]
        },
    )
    older = deepcopy(convert(newer, V1BETA1))
    assert (
        "podsetSliceRequiredTopologyConstraints"
        not in older["spec"]["podSets"][1]["topologyRequest"]
    )
    older["spec"]["podSets"].reverse()
    first, second = convert(older, V1BETA2)["spec"]["podSets"]
    assert first["topologyRequest"] == {"podsetSliceRequiredTopologyConstraints": constraints}
    assert second["topologyRequest"] == {"required": "block"}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "7", '[{"is":1}]', '[{"at":[]}]', '[{"at":["spec"]}]']
)
def test_an_annotation_that_somebody_wrote_by_hand_does_no_harm(text: str) -> None:
    stored = obj("ClusterQueue", V1BETA2, spec={"cohortName": "a"})
    stored["metadata"]["annotations"] = {KEPT_ANNOTATION[V1BETA1]: text}
    assert convert(stored, V1BETA1)["spec"] == {"cohort": "a"}


@given(st.text(max_size=40))
@PROPERTY
def test_no_annotation_stops_a_conversion(text: str) -> None:
    stored = obj("ClusterQueue", V1BETA2, spec={"cohortName": "a"})
    stored["metadata"]["annotations"] = {KEPT_ANNOTATION[V1BETA1]: text}
    assert convert(stored, V1BETA1)["spec"] == {"cohort": "a"}


def test_what_is_kept_is_plain_json() -> None:
    older = obj("ClusterQueue", V1BETA1, spec={"admissionChecks": ["a"]})
    kept = json.loads(convert(older, V1BETA2)["metadata"]["annotations"][KEPT_ANNOTATION[V1BETA1]])
    assert kept == [
        {"at": ["spec", "admissionChecks"], "is": ["a"]},
        {"at": ["spec", "admissionChecksStrategy"]},
    ]


def test_the_same_version_is_returned_as_it_is() -> None:
    document = obj("Workload", V1BETA2)
    assert convert(document, V1BETA2) is document


@pytest.mark.parametrize("version", ["kueue.x-k8s.io/v1alpha1", "v1", ""])
def test_a_version_that_is_not_served_is_refused(version: str) -> None:
    with pytest.raises(ConversionError, match="the versions are"):
        convert(obj("Workload", V1BETA2), version)
    with pytest.raises(ConversionError, match="the versions are"):
        convert(obj("Workload", version), V1BETA2)


@pytest.mark.parametrize("body", [{"spec": {"podSets": 3}}, {"status": []}, {}])
def test_a_misshapen_object_is_carried_along(body: dict[str, Any]) -> None:
    document = obj("Workload", V1BETA1, **body)
    assert {**convert(document, V1BETA2), "apiVersion": V1BETA1} == document


def test_a_spec_that_is_no_object_is_refused_by_name() -> None:
    with pytest.raises(ConversionError, match="ClusterQueue 'x'"):
        convert(obj("ClusterQueue", V1BETA1, spec="text"), V1BETA2)
