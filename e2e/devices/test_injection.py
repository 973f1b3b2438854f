"""The policy that gives pods their claims, tried on a real server against the pure function."""

import copy
import time
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.objects import IMAGE
from e2e.wire import Object
from e2e.world import World
from queueing.webhooks import pods
from queueing.webhooks.policies import claims

GPU, NIC = "nvidia.com/gpu", "example.com/nic"
IN_FORCE_S = 30.0


@pytest.fixture(scope="module")
def policy(cluster: Cluster) -> Iterator[Api]:
    """Put the policy in force, as the controller does on servers that have such policies."""
    api = cluster.api()
    for wire in claims.render():
        api.apply(wire)
    deadline = time.monotonic() + IN_FORCE_S
    while not rewritten(api, pod("default", [container("a", {GPU: "1"})])):
        assert time.monotonic() < deadline, "the policy is not in force"
    yield api
    for wire in claims.render():
        api.delete(wire["kind"], wire["metadata"]["name"])


def rewritten(api: Api, asked: Object) -> bool:
    return "resourceClaims" in dry_run(api, asked)["spec"]


def dry_run(api: Api, asked: Object) -> Object:
    namespace = asked["metadata"]["namespace"]
    path = f"/api/v1/namespaces/{namespace}/pods"
    made: Object = api.wire.call("POST", path, query={"dryRun": "All"}, body=asked)
    return made


def container(name: str, devices: Mapping[str, str], **more: Any) -> Object:
    amounts = {"cpu": "1", **devices}
    resources = {"requests": dict(amounts), "limits": dict(amounts), **more}
    return {"name": name, "image": IMAGE, "resources": resources}


def pod(namespace: str, containers: list[Object], resources: str = GPU, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": "probe",
            "namespace": namespace,
            "labels": {pods.INJECT: "true"},
            "annotations": {pods.TEMPLATE: "kq-a,kq-b", pods.RESOURCES: resources},
        },
        "spec": {
            "restartPolicy": "Never",
            "schedulingGates": [{"name": pods.GATE}],
            "containers": containers,
            **spec,
        },
    }


OWN = {"resourceClaims": [{"name": "own", "resourceClaimTemplateName": "mine"}]}
CASES = [
    pytest.param([container("a", {GPU: "4"})], GPU, {}, id="one-container"),
    pytest.param(
        [container("sidecar", {}), container("train", {GPU: "4"})], GPU, {}, id="a-sidecar-without"
    ),
    pytest.param([container("a", {GPU: "1"}), container("b", {GPU: "2"})], GPU, {}, id="both"),
    pytest.param([container("a", {GPU: "1", NIC: "2"})], f"{GPU},{NIC}", {}, id="two-resources"),
    pytest.param(
        [container("a", {GPU: "1"}), container("b", {NIC: "2"})], f"{GPU},{NIC}", {}, id="one-each"
    ),
    pytest.param(
        [container("a", {GPU: "1"}, claims=[{"name": "own"}])],
        GPU,
        OWN,
        id="beside-claims-of-its-own",
    ),
    pytest.param(
        [container("a", {GPU: "1"})],
        GPU,
        {"schedulingGates": [{"name": "example.com/other"}, {"name": pods.GATE}]},
        id="another-gate-stays",
    ),
    pytest.param([container("a", {})], GPU, {}, id="nothing-asked"),
]


@pytest.mark.parametrize(("containers", "resources", "spec"), CASES)
def test_the_policy_does_what_the_function_says(
    policy: Api, space: World, containers: list[Object], resources: str, spec: Mapping[str, Any]
) -> None:
    asked = pod(space.namespace, containers, resources, **spec)
    made, want = dry_run(policy, asked), pods.inject_claims(copy.deepcopy(asked))
    for part in ("resourceClaims", "schedulingGates"):
        assert made["spec"].get(part) == want["spec"].get(part)
    found = [one["resources"] for one in made["spec"]["containers"]]
    assert found == [one["resources"] for one in want["spec"]["containers"]]


@pytest.mark.parametrize("templates", [None, ",kq-b", "kq-a"])
def test_a_claim_that_pods_share_is_named_where_there_is_no_template(
    policy: Api, space: World, templates: str | None
) -> None:
    asked = pod(space.namespace, [container("a", {GPU: "1", NIC: "1"})], f"{GPU},{NIC}")
    notes = asked["metadata"]["annotations"]
    notes[pods.SHARED] = "shared-a,shared-b"
    notes.pop(pods.TEMPLATE) if templates is None else notes.update({pods.TEMPLATE: templates})
    want = pods.inject_claims(copy.deepcopy(asked))
    assert dry_run(policy, asked)["spec"]["resourceClaims"] == want["spec"]["resourceClaims"]


def test_a_pod_without_the_label_is_left_alone(policy: Api, space: World) -> None:
    asked = pod(space.namespace, [container("a", {GPU: "1"})])
    del asked["metadata"]["labels"]
    made = dry_run(policy, asked)
    assert "resourceClaims" not in made["spec"]
    assert made["spec"]["schedulingGates"] == [{"name": pods.GATE}]


def test_a_labelled_pod_that_names_no_template_keeps_its_gate(policy: Api, space: World) -> None:
    asked = pod(space.namespace, [container("a", {GPU: "1"})])
    del asked["metadata"]["annotations"]
    assert dry_run(policy, asked)["spec"]["schedulingGates"] == [{"name": pods.GATE}]


def test_a_pod_whose_claim_name_is_taken_keeps_its_gate(policy: Api, space: World) -> None:
    asked = pod(space.namespace, [container("a", {GPU: "1"})])
    asked["spec"]["resourceClaims"] = [{"name": pods.CLAIM, "resourceClaimTemplateName": "foreign"}]
    assert dry_run(policy, asked)["spec"]["schedulingGates"] == [{"name": pods.GATE}]
