from typing import Any

import pytest

from queueing_api.kueue.convert import convert_review
from queueing_api.kueue.convert.versions import V1BETA1, V1BETA2


def review(*objects: Any, version: str = V1BETA2) -> dict[str, Any]:
    request = {"uid": "u1", "desiredAPIVersion": version, "objects": list(objects)}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "ConversionReview",
        "request": request,
    }


def queue(name: str, version: str = V1BETA1, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": version,
        "kind": "ClusterQueue",
        "metadata": {"name": name},
        "spec": spec,
    }


def test_all_objects_come_back_in_their_order_also_those_of_the_wanted_version() -> None:
    asked = review(queue("c", cohort="x"), queue("a", V1BETA2), queue("b"))
    answer = convert_review(asked)
    assert (answer["apiVersion"], answer["kind"]) == (asked["apiVersion"], asked["kind"])
    assert answer["response"]["uid"] == "u1"
    assert answer["response"]["result"] == {"status": "Success"}
    converted = answer["response"]["convertedObjects"]
    assert [item["metadata"]["name"] for item in converted] == ["c", "a", "b"]
    assert {item["apiVersion"] for item in converted} == {V1BETA2}
    assert converted[0]["spec"] == {"cohortName": "x"}


def test_no_objects_are_no_failure() -> None:
    response = convert_review(review())["response"]
    assert response == {"uid": "u1", "result": {"status": "Success"}, "convertedObjects": []}


def test_one_object_that_cannot_be_converted_fails_them_all_by_name() -> None:
    broken = {**queue("broken"), "spec": "text"}
    response = convert_review(review(queue("a"), broken))["response"]
    assert response["result"]["status"] == "Failed"
    assert "ClusterQueue 'broken'" in response["result"]["message"]
    assert "convertedObjects" not in response


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {},
        {"request": None},
        {"request": {}},
        {"request": {"uid": "u", "desiredAPIVersion": V1BETA2}},
        {"request": {"uid": "u", "desiredAPIVersion": V1BETA2, "objects": 3}},
        {"request": {"uid": "u", "desiredAPIVersion": V1BETA2, "objects": ["text"]}},
        {"request": {"uid": "u", "desiredAPIVersion": V1BETA2, "objects": [{}]}},
        {"request": {"uid": "u", "desiredAPIVersion": "v9", "objects": [queue("a")]}},
        {
            "request": {
                "uid": "u",
                "desiredAPIVersion": V1BETA2,
                "objects": [{**queue("a"), "metadata": "text"}],
            }
        },
    ],
)
def test_what_is_no_review_is_answered_all_the_same(body: Any) -> None:
    result = convert_review(body)["response"]["result"]
    assert result["status"] == "Failed"
    assert result["message"]
