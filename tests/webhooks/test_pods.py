"""What becomes of a pod whose devices come by claims."""

import copy

import pytest

from queueing.webhooks.admission import mutate
from queueing.webhooks.findings import Wire
from queueing.webhooks.jobs import DefaultingContext
from queueing.webhooks.pods import (
    CLAIM,
    GATE,
    INJECT,
    RESOURCES,
    SHARED,
    TEMPLATE,
)
from tests.webhooks.pod_cases import GPU, INIT_PODS, LEFT_ALONE, REWRITTEN, rewritten
from tests.webhooks.test_admission import patched, review


def pod(**spec: object) -> Wire:
    return {
        "metadata": {
            "labels": {INJECT: "true"},
            "annotations": {TEMPLATE: "kq-train", RESOURCES: GPU},
        },
        "spec": {
            "schedulingGates": [{"name": GATE}],
            "containers": [
                {"name": "sidecar", "resources": {"requests": {"cpu": "1"}}},
                {
                    "name": "train",
                    "resources": {
                        "requests": {"cpu": "1", GPU: "4"},
                        "limits": {GPU: "4"},
                    },
                },
            ],
            **spec,
        },
    }


def test_the_resource_becomes_a_request_of_the_claim() -> None:
    made = rewritten(pod())["spec"]
    assert made["resourceClaims"] == [{"name": CLAIM, "resourceClaimTemplateName": "kq-train"}]
    assert made["containers"][0]["resources"] == {"requests": {"cpu": "1"}}
    assert made["containers"][1]["resources"] == {
        "requests": {"cpu": "1"},
        "limits": {},
        "claims": [{"name": CLAIM, "request": "c1"}],
    }


def test_the_gate_goes_and_others_stay() -> None:
    assert "schedulingGates" not in rewritten(pod())["spec"]
    gates = [{"name": "example.com/other"}, {"name": GATE}]
    made = rewritten(pod(schedulingGates=gates))["spec"]
    assert made["schedulingGates"] == [{"name": "example.com/other"}]


def test_a_pod_is_rewritten_once() -> None:
    once = rewritten(pod())
    assert rewritten(once) == once


def test_a_pod_without_the_mark_or_the_template_is_left_alone() -> None:
    for part, name in (("labels", INJECT), ("annotations", TEMPLATE)):
        asked = pod()
        del asked["metadata"][part][name]
        assert rewritten(asked) == asked


def test_each_resource_gets_a_claim_of_its_own_and_some_are_shared() -> None:
    asked = pod()
    asked["metadata"]["annotations"] = {
        RESOURCES: f"{GPU},example.com/nic",
        TEMPLATE: "kq-train,",
        SHARED: ",kq-nic",
    }
    asked["spec"]["containers"][0]["resources"]["requests"]["example.com/nic"] = "1"
    made = rewritten(asked)["spec"]
    assert made["resourceClaims"] == [
        {"name": CLAIM, "resourceClaimTemplateName": "kq-train"},
        {"name": f"{CLAIM}-1", "resourceClaimName": "kq-nic"},
    ]
    assert made["containers"][0]["resources"]["claims"] == [{"name": f"{CLAIM}-1", "request": "c0"}]


@pytest.mark.parametrize("asked", REWRITTEN)
def test_the_webhook_gives_a_pod_its_claims_and_opens_its_gate(asked: Wire) -> None:
    body = review("Pod", copy.deepcopy(asked))
    got = patched(body, mutate(body, DefaultingContext()))
    assert {"name": GATE} not in got["spec"].get("schedulingGates", [])
    assert got["spec"]["resourceClaims"][-1]["name"].startswith(CLAIM)


@pytest.mark.parametrize("asked", LEFT_ALONE)
def test_the_webhook_leaves_alone_what_has_no_claim_to_get(asked: Wire) -> None:
    response = mutate(review("Pod", asked), DefaultingContext())["response"]
    assert response["allowed"] is True
    assert "patch" not in response


def used(asked: Wire) -> dict[str, list[str]]:
    """Return the requests that each container of the rewritten pod uses."""
    spec = rewritten(asked)["spec"]
    everywhere = (*spec.get("initContainers", ()), *spec["containers"])
    return {
        one["name"]: [claim["request"] for claim in one["resources"].get("claims", ())]
        for one in everywhere
    }


@pytest.mark.parametrize(
    ("case", "want"),
    [
        (
            "an-init-container-uses-devices-of-a-container",
            {"check": ["c1"], "a": ["c0"], "b": ["c1"]},
        ),
        ("init-containers-only", {"one": ["i0"], "two": ["i0"], "a": []}),
        ("a-sidecar-has-devices-of-its-own", {"no": [], "beside": ["i1"], "a": ["c0"]}),
        (
            "two-resources-of-init-containers",
            {"beside": ["i0"], "check": ["c0", "c0"], "a": ["c0", "c0"]},
        ),
    ],
)
def test_init_containers_use_what_is_not_in_use_yet(case: str, want: dict[str, list[str]]) -> None:
    assert used(INIT_PODS[case]) == want
