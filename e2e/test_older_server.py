"""A server without mutating policies: the leader adds webhooks, which do the same."""

from collections.abc import Iterator

import pytest

from e2e.api import Api, holds
from e2e.components import Options
from e2e.controlplane.build import Binaries
from e2e.deletions import remove
from e2e.devices.hardware import H100, rack
from e2e.devices.injected import assert_as_the_policy_says, dry_run
from e2e.devices.shapes import allocated, claims_of, furnish, training
from e2e.installed import Installation, installation
from e2e.jobs import running, wait_job
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import (
    PRIORITY_CLASS,
    Pods,
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from e2e.serving import until
from e2e.wire import ApiError, Object
from e2e.world import new_world
from tests.webhooks.pod_cases import LEFT_ALONE, ONE, REWRITTEN, pod

UNINSTALL_S = 180.0
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"


@pytest.fixture(scope="module")
def old(built: Binaries) -> Iterator[Installation]:
    """Lend an older control plane with the product on it, and a queue."""
    with control_plane(built, Options(emulated_version="1.34")) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        with installation(cluster) as made:
            for item in (
                flavor("any"),
                cluster_queue("team", {"any": {"cpu": "4"}}),
                local_queue("default", "door", "team"),
                workload_priority("default", 7),
            ):
                made.api.create(item)
            yield made


def test_webhooks_suspend_and_refuse_jobs_and_give_them_a_class(old: Installation) -> None:
    api = old.api
    eager = job("default", "eager", queue="door", pods=Pods(run_s=1), suspend=False)
    until(lambda: defaulted(api, eager), "a webhook suspends Jobs and gives them a class")
    api.create(eager)
    api.wait_one("Job", "eager", lambda one: holds(one, "Complete"), namespace="default")
    (found,) = api.items("Workload", "default")
    assert found["spec"]["priorityClassRef"]["name"] == "default"
    bad = job("default", "bad", queue="door", labels={MAX_TIME: "0"})
    with pytest.raises(ApiError, match="should be greater than 0"):
        api.create(bad)
    policies = api.items("admissionregistration.k8s.io/v1/ValidatingAdmissionPolicy")
    assert "queueing-validate-jobs" in {one["metadata"]["name"] for one in policies}


@pytest.mark.parametrize("asked", [*REWRITTEN, *LEFT_ALONE])
def test_the_webhook_gives_pods_their_claims_as_the_function_says(
    old: Installation, asked: Object
) -> None:
    until(lambda: "resourceClaims" in dry_run(old.api, "default", pod(ONE))["spec"], "asked")
    assert_as_the_policy_says(old.api, "default", asked)


def test_a_job_gets_its_devices_by_claims(old: Installation) -> None:
    space = new_world(old.cluster)
    with rack(space.api, space.prefix) as gpus:
        furnish(space, gpus, {"h100": (H100, 8)})
        space.make(training(space, "train", 4, pods=2))
        wait_job(space, "train", running, "running")
        log = old.controller.process.program.log.read_text()
        assert "a pod that was created for trial got its claim" in log
        given = [allocated(one) for one in claims_of(space, "train")]
        assert sorted(len(one) for one in given) == [4, 4]
        for one in space.api.items("Pod", space.namespace):
            assert "schedulingGates" not in one["spec"]
            assert "nvidia.com/gpu" not in one["spec"]["containers"][0]["resources"]["requests"]
        space.leave()


def test_one_command_removes_everything(old: Installation) -> None:
    """Last of this file: nothing is left for another test."""
    remove(old.cluster, UNINSTALL_S)


def defaulted(api: Api, item: Object) -> bool:
    """Try whether the API server would suspend a Job and give it the class named default."""
    path = "/apis/batch/v1/namespaces/default/jobs"
    made = api.wire.call("POST", path, query={"dryRun": "All"}, body=item)
    return bool(made["spec"]["suspend"]) and PRIORITY_CLASS in made["metadata"]["labels"]
