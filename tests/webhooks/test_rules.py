"""How rules are told that are broken: where, of which value, and what if there is no answer."""

from typing import Any

import pytest

from queueing.webhooks.admission import check
from queueing.webhooks.findings import CauseType
from queueing.webhooks.workloads import GATED_BY


def quota(**amounts: Any) -> dict[str, Any]:
    return {"name": "cpu", "nominalQuota": "1", **amounts}


def queue(*flavors: list[dict[str, Any]], **spec: Any) -> dict[str, Any]:
    names = [f"f{number}" for number in range(len(flavors))]
    named = [
        {"name": name, "resources": resources}
        for name, resources in zip(names, flavors, strict=True)
    ]
    groups = [{"coveredResources": ["cpu"], "flavors": named}]
    return {"metadata": {"name": "team"}, "spec": {"resourceGroups": groups, **spec}}


FLAVOR = "spec.resourceGroups[0].flavors"
NOT_NEGATIVE = "must be greater than or equal to 0"
NO_COHORT = "lendingLimit must be nil when cohort is empty"
NOT_AS_MANY = "flavors must have the same number of resources as the coveredResources"
NO_TRAITS = "strategies Native and Class can express neither traits nor config"
ONE_OF_THREE = "exactly one of selector, matchAttribute and distinctAttribute must be set"
NO_GATE = "must be a list of names of the form domain/name"


@pytest.mark.parametrize(
    ("kind", "thing", "told"),
    [
        pytest.param(
            "ClusterQueue",
            queue([quota()], [quota(nominalQuota="-2")], [quota(nominalQuota=-3)]),
            {
                f"{FLAVOR}[1].resources[0].nominalQuota": f'Invalid value: "-2": {NOT_NEGATIVE}',
                f"{FLAVOR}[2].resources[0].nominalQuota": f"Invalid value: -3: {NOT_NEGATIVE}",
            },
            id="each item that breaks it",
        ),
        pytest.param(
            "ClusterQueue",
            queue([quota()], [quota(lendingLimit="1")]),
            {f"{FLAVOR}[1].resources[0].lendingLimit": f'Invalid value: "1": {NO_COHORT}'},
            id="also where a definition can but name the whole",
        ),
        pytest.param(
            "ClusterQueue",
            queue([quota()], [quota(), quota()]),
            {f"{FLAVOR}[1].resources": f'Invalid value: "array": {NOT_AS_MANY}'},
            id="of several rules about a field the first",
        ),
        pytest.param(
            "DeviceFlavor",
            {"spec": {"resources": [{"strategy": "Native", "traits": {"near": {}}}]}},
            {
                "spec.resources[0].strategy": f'Invalid value: "Native": {NO_TRAITS}',
                "spec.resources[0].traits[near]": f'Invalid value: "object": {ONE_OF_THREE}',
            },
            id="values of a map by their keys",
        ),
        pytest.param(
            "Job",
            {"metadata": {"annotations": {GATED_BY: "budget"}}, "spec": {"template": {}}},
            {f"metadata.annotations[{GATED_BY}]": f'Invalid value: "budget": {NO_GATE}'},
            id="an annotation by its name",
        ),
        pytest.param(
            "AdmissionCheck", {"spec": {"controllerName": "a"}}, {}, id="nothing when all is well"
        ),
    ],
)
def test_a_rule_that_is_broken_is_told_to_the_point(
    kind: str, thing: dict[str, Any], told: dict[str, str]
) -> None:
    assert {one.path: one.detail for one in check(kind, thing)} == told


def test_a_rule_that_has_no_answer_is_a_refusal_with_the_reason() -> None:
    found = check("Job", {"metadata": {}, "spec": {}})
    assert found
    assert all("cannot be told: no such key: template" in str(one) for one in found)


def test_who_may_not_do_a_thing_is_told_so() -> None:
    thing = {
        "metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}},
        "spec": {"podSets": [{"name": "a", "count": 2, "minCount": 1, "template": {}}]},
    }
    (found,) = check("Workload", thing)
    told = "Forbidden: partial admission and elastic job cannot be used together"
    assert (found.fault, str(found)) == (CauseType.FORBIDDEN, f"spec.podSets[0].minCount: {told}")
    assert not found.of_definition
