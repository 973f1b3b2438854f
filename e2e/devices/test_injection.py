"""The policy that gives pods their claims, tried on a real server against its evaluation here."""

import time
from collections.abc import Iterator

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.devices.injected import assert_as_the_policy_says, dry_run
from e2e.wire import Object
from e2e.world import World
from queueing.webhooks.policies import claims
from tests.webhooks.pod_cases import LEFT_ALONE, ONE, REWRITTEN, pod

IN_FORCE_S = 30.0


@pytest.fixture(scope="module")
def policy(cluster: Cluster) -> Iterator[Api]:
    """Put the policy in force, as the controller does on servers that have such policies."""
    api = cluster.api()
    for wire in claims.render():
        api.apply(wire)
    deadline = time.monotonic() + IN_FORCE_S
    while "resourceClaims" not in dry_run(api, "default", pod(ONE))["spec"]:
        assert time.monotonic() < deadline, "the policy is not in force"
    yield api
    for wire in claims.render():
        api.delete(wire["kind"], wire["metadata"]["name"])


@pytest.mark.parametrize("asked", [*REWRITTEN, *LEFT_ALONE])
def test_the_policy_does_what_its_evaluation_says(policy: Api, space: World, asked: Object) -> None:
    assert_as_the_policy_says(policy, space.namespace, asked)
