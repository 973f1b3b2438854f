"""What an admission makes of a Job's devices is accepted by a real API server, as it is written.

Templates and claims are tried, the Job is started by the one patch and restored, and pods get
their claim from the injection policy: the same pods that are written.
"""

import copy
import time
from collections.abc import Iterator

import pytest

from e2e.api import Api
from e2e.cluster import Cluster
from e2e.kinds import KINDS
from e2e.product import install
from e2e.wire import ApiError, Object
from queueing.webhooks.policies import claims
from tests.devices.wire.golden import (
    Golden,
    admitted,
    goldens,
    job_of,
    realised,
    spelled,
    start_of,
    started,
)

TRIED = {"dryRun": "All"}
IN_FORCE_S = 60.0
EACH = [pytest.param(one, id=one.path.stem) for one in goldens()]


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[Api]:
    """Return a server with the policy in force."""
    install(cluster)
    api = cluster.api()
    made = claims.render()
    for one in made:
        api.apply(one)
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    (first,) = (one for one in goldens() if one.path.stem == "inject")
    deadline = time.monotonic() + IN_FORCE_S
    while "resourceClaims" not in tried_pod(api, first)["spec"]:
        assert time.monotonic() < deadline
        time.sleep(0.2)
    yield api
    for one in made:
        api.delete(one["kind"], one["metadata"]["name"])


def tried(api: Api, item: Object) -> Object:
    """Create an object for trial, and return it as it would be stored."""
    path = KINDS[item["kind"]].path(item["metadata"]["namespace"])
    made: Object = api.wire.call("POST", path, query=TRIED, body=item)
    return made


def tried_pod(api: Api, golden: Golden) -> Object:
    """Create for trial the pod that a started Job would get."""
    template = started(golden)["spec"]["template"]
    metadata = {**template["metadata"], "name": "one", "namespace": "team"}
    return tried(
        api, {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    )


@pytest.mark.parametrize("golden", EACH)
def test_templates_and_claims_are_accepted(api: Api, golden: Golden) -> None:
    for item in realised(golden).objects:
        assert tried(api, item)["spec"] is not None


@pytest.mark.parametrize("golden", EACH)
def test_one_patch_starts_the_job_and_another_restores_it(api: Api, golden: Golden) -> None:
    name = f"train-{golden.path.stem}"
    job = copy.deepcopy(golden.job)
    job["metadata"] = {"name": name, "namespace": "team"}
    created = api.create(job)
    try:
        api.patch("Job", name, spelled(start_of(golden)), namespace="team")
        api.patch("Job", name, {"spec": {"suspend": True}}, namespace="team")
        (stopped,) = api.wait("Job", is_stopped, namespace="team", name=name)
        workload = admitted(job_of(created), {})
        undone = job_of(stopped).undo(workload, b"")
        assert bool(undone) == bool(realised(golden).changes)
        restored = created
        if undone is not None:
            restored = api.patch("Job", name, spelled(undone), namespace="team")
        before, after = (one["spec"]["template"] for one in (created, restored))
        assert without_controllers_marks(after) == without_controllers_marks(before)
    finally:
        api.delete("Job", name, "team")


def is_stopped(jobs: list[Object]) -> bool:
    """Say whether the Job is suspended and none of its pods is left."""
    return bool(jobs) and all(
        not one["status"].get("active")
        and any(
            told["type"] == "Suspended" and told["status"] == "True"
            for told in one["status"].get("conditions", [])
        )
        for one in jobs
    )


def without_controllers_marks(template: Object) -> Object:
    """Return a template without the empty maps that the server fills in."""
    metadata = {key: one for key, one in template.get("metadata", {}).items() if one}
    return {**template, "metadata": metadata}


@pytest.mark.parametrize("golden", EACH)
def test_the_policy_makes_the_pod_that_is_written(api: Api, golden: Golden) -> None:
    made, written = tried_pod(api, golden)["spec"], golden.expected["pod"]["spec"]
    assert made.get("resourceClaims") == written.get("resourceClaims")
    assert made.get("schedulingGates", []) == written.get("schedulingGates", [])
    for found, want in zip(made["containers"], written["containers"], strict=True):
        assert found["resources"].get("claims") == want["resources"].get("claims")
        assert found["resources"].get("limits", {}) == want["resources"].get("limits", {})


def test_a_claim_that_no_server_takes_is_refused_in_the_trial(api: Api) -> None:
    (golden,) = (one for one in goldens() if one.path.stem == "inject")
    (item,) = realised(golden).objects
    broken = copy.deepcopy(item)
    request = broken["spec"]["spec"]["devices"]["requests"][0]["exactly"]
    request["selectors"] = [{"cel": {"expression": "device.driver =="}}]
    with pytest.raises(ApiError, match="compilation failed"):
        tried(api, broken)
