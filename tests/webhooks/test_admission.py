"""A review in, a review out."""

import base64
import json
from typing import Any

import jsonpatch
import pytest

from queueing.webhooks.admission import IN_USE, WebhookSettings, mutate, validate
from queueing.webhooks.jobs import QUEUE, DefaultingContext


def review(kind: str, new: Any, old: Any = None, operation: str = "CREATE") -> dict[str, Any]:
    request = {"uid": "u1", "kind": {"kind": kind}, "operation": operation, "object": new}
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {**request, "oldObject": old},
    }


def patched(body: dict[str, Any], answer: dict[str, Any]) -> Any:
    patch = json.loads(base64.b64decode(answer["response"]["patch"]))
    return jsonpatch.apply_patch(body["request"]["object"], patch)


BAD_QUEUE: dict[str, Any] = {
    "metadata": {"name": "team"},
    "spec": {
        "fairSharing": {"weight": "-1"},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}],
            }
        ],
    },
}


def test_a_refusal_names_every_mistake_at_once() -> None:
    answer = validate(review("ClusterQueue", BAD_QUEUE), DefaultingContext(), WebhookSettings())[
        "response"
    ]
    assert answer["allowed"] is False
    assert answer["uid"] == "u1"
    causes = answer["status"]["details"]["causes"]
    assert [one["field"] for one in causes] == [
        "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
        "spec.fairSharing.weight",
    ]
    # kubectl writes the field before the message.
    assert all(one["message"].startswith("Invalid value: ") for one in causes)


def negative(quota: str) -> dict[str, Any]:
    quotas = [{"name": "cpu", "nominalQuota": quota}]
    group = {"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": quotas}]}
    return {"metadata": {"name": "team"}, "spec": {"resourceGroups": [group]}}


def test_a_refusal_is_told_as_kueues_webhooks_tell_it() -> None:
    answer = validate(
        review("ClusterQueue", negative("-1")), DefaultingContext(), WebhookSettings()
    )
    status = answer["response"]["status"]
    path = "spec.resourceGroups[0].flavors[0].resources[0].nominalQuota"
    assert (status["code"], status["reason"]) == (403, "Forbidden")
    told = 'Invalid value: "-1": must be greater than or equal to 0'
    assert status["message"] == f"{path}: {told}"


def test_what_the_definition_refuses_as_well_is_invalid_as_it_says() -> None:
    answer = validate(review("ClusterQueue", BAD_QUEUE), DefaultingContext(), WebhookSettings())
    status = answer["response"]["status"]
    assert (status["code"], status["reason"]) == (422, "Invalid")
    assert status["message"].startswith('ClusterQueue "team" is invalid: [spec.')


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(review("ConfigMap", {}), id="a kind we do not judge"),
        pytest.param(review("ClusterQueue", {}, BAD_QUEUE, "DELETE"), id="a deletion"),
        pytest.param(
            review(
                "ClusterQueue",
                {**BAD_QUEUE, "metadata": {"name": "team", "deletionTimestamp": "2026-01-01"}},
            ),
            id="an object that is going away",
        ),
        pytest.param({}, id="an empty review"),
    ],
)
def test_what_is_not_ours_to_refuse_is_allowed(body: dict[str, Any]) -> None:
    assert validate(body, DefaultingContext(), WebhookSettings())["response"]["allowed"] is True


def test_a_queued_job_is_created_suspended() -> None:
    body = review("Job", {"metadata": {"labels": {QUEUE: "door"}}, "spec": {"parallelism": 1}})
    got = patched(body, mutate(body, DefaultingContext()))
    assert got["spec"] == {"parallelism": 1, "suspend": True}


def test_a_job_without_a_queue_is_not_patched() -> None:
    body = review("Job", {"metadata": {}, "spec": {}})
    assert "patch" not in mutate(body, DefaultingContext())["response"]


def test_an_update_is_never_defaulted() -> None:
    body = review("Job", {"metadata": {"labels": {QUEUE: "door"}}, "spec": {}}, {}, "UPDATE")
    assert "patch" not in mutate(body, DefaultingContext())["response"]


@pytest.mark.parametrize("kind", ["ClusterQueue", "ResourceFlavor"])
def test_a_queue_or_flavor_is_kept_while_in_use(kind: str) -> None:
    body = review(kind, {"metadata": {"name": "a", "finalizers": ["example.com/other"]}})
    got = patched(body, mutate(body, DefaultingContext()))
    assert got["metadata"]["finalizers"] == ["example.com/other", IN_USE]


def test_flavors_of_checks_are_judged_only_with_the_gate() -> None:
    queue = {
        "metadata": {"name": "team"},
        "spec": {
            "admissionChecksStrategy": {"admissionChecks": [{"name": "b", "onFlavors": ["gone"]}]}
        },
    }
    body = review("ClusterQueue", queue, queue, "UPDATE")
    strict = WebhookSettings(reject_unknown_flavors_of_checks=True)
    assert validate(body, DefaultingContext(), WebhookSettings())["response"]["allowed"] is True
    assert validate(body, DefaultingContext(), strict)["response"]["allowed"] is False
