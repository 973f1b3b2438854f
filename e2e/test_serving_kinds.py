"""What serves from a queue, beside what `test_every_kind` shows, and what others make of Jobs, pods
and Deployments, on a real control plane.
"""

from collections.abc import Iterator

import pytest

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.conftest import launching
from e2e.described import definition, wait_established
from e2e.jobs import running, wait_job
from e2e.objects import QUEUE_NAME, Pods, job
from e2e.product import Residents
from e2e.quota import wait_nothing_held
from e2e.serving_kinds import (
    example,
    groups_played,
    made_by,
    make_queue,
    make_urgent,
    pods_of,
    queue_of,
    runs,
    until,
    wait_pods,
    wait_workloads,
    workloads_of,
)
from e2e.wire import Object
from e2e.world import World
from queueing.kinds.registry import kind_of
from queueing.kinds.roles import AGGREGATED
from queueing_api.queueing.v1alpha1.queueable_kind import KindResource

FRAMEWORKS = (
    *("batch/job", "pod", "deployment", "statefulset"),
    "leaderworkerset.x-k8s.io/leaderworkerset",
)
SETS = "leaderworkerset.x-k8s.io/v1/LeaderWorkerSet"
OTHERS = (
    KindResource(group="argoproj.io", version="v1alpha1", kind="Workflow", plural="workflows"),
    KindResource(
        group="serving.kserve.io",
        version="v1beta1",
        kind="InferenceService",
        plural="inferenceservices",
    ),
    KindResource(
        group="flyte.lyft.com", version="v1alpha1", kind="FlyteWorkflow", plural="flyteworkflows"
    ),
    KindResource(group="lab.example.com", version="v1", kind="Trial", plural="trials"),
)
READ_TRIALS: Object = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRole",
    "metadata": {"name": "read-trials", "labels": {AGGREGATED: "true"}},
    "rules": [{"apiGroups": ["lab.example.com"], "resources": ["trials"], "verbs": ["get"]}],
}


@pytest.fixture(scope="module")
def serving(installed: Cluster, residents: Residents) -> Iterator[Cluster]:
    """Lend the cluster with a replica that queues all that has pods, and definitions of others."""
    residents.leave(installed)
    api = installed.api()
    sets = kind_of(FRAMEWORKS[-1]).spec.resource
    made = [api.apply(definition(one))["metadata"]["name"] for one in (sets, *OTHERS)]
    for name in made:
        wait_established(api, name)
    api.apply(READ_TRIALS)
    settings = {
        "integrations": {
            "frameworks": list(FRAMEWORKS),
            "externalFrameworks": ["Trial.v1.lab.example.com"],
        }
    }
    with launching(installed) as launch:
        launch("serving", settings)
        yield installed
    api.delete("ClusterRole", READ_TRIALS["metadata"]["name"])
    for name in made:
        api.delete("CustomResourceDefinition", name)


def wait_nothing_left(space: World) -> None:
    space.api.wait(
        "Workload", lambda left: not left, namespace=space.namespace, what="no Workload left"
    )
    wait_nothing_held(space.api, space.namespace, [space.name("cq")])


def test_an_update_replaces_the_pods_of_a_stateful_set_within_its_quota(
    serving: Cluster, space: World
) -> None:
    make_queue(space, 3)
    space.api.create(example("serving/stateful-set", space))
    wait_pods(space, "cache-", running=3)
    (before,) = wait_workloads(space, "statefulset-cache-", admitted=1)
    update = {"spec": {"template": {"metadata": {"annotations": {"version": "2"}}}}}
    space.api.patch("StatefulSet", "cache", update, namespace=space.namespace)
    until(
        lambda: (
            [one["metadata"]["annotations"].get("version") for one in pods_of(space, "cache-")]
            == ["2"] * 3
            and all(map(runs, pods_of(space, "cache-")))
        ),
        lambda: "all pods are those of the update",
    )
    (after,) = wait_workloads(space, "statefulset-cache-", admitted=1)
    assert after["metadata"]["uid"] == before["metadata"]["uid"]


def test_each_group_of_a_leader_worker_set_is_admitted_as_a_whole(
    serving: Cluster, space: World
) -> None:
    make_queue(space, 8)
    with groups_played(space.api, space.namespace):
        space.api.create(example("serving/leader-worker-set", space, replicas=3))
        wait_pods(space, "llm-", running=8, gated=4)
        found = wait_workloads(space, "leaderworkerset-llm-", admitted=2, waiting=1)
        for one in found:
            counts = {part["name"]: part["count"] for part in one["spec"]["podSets"]}
            assert counts == {"leader": 1, "worker": 3}
        names = {one["metadata"]["name"] for one in found}

        make_urgent(space, 4)
        wait_job(space, "urgent", running, "running in the place of a group")
        wait_pods(space, "llm-", running=4, gated=8)
        space.api.delete("Job", "urgent", space.namespace)
        wait_pods(space, "llm-", running=8, gated=4)
        kept = wait_workloads(space, "leaderworkerset-llm-", admitted=2, waiting=1)
        assert {one["metadata"]["name"] for one in kept} == names

        space.api.delete(SETS, "llm", space.namespace)
        wait_nothing_left(space)


def test_jobs_of_a_cron_job_are_queued_one_by_one(serving: Cluster, space: World) -> None:
    make_queue(space, 1)
    cron = space.api.create(example("others/cron-job", space))
    # As its controller does each minute.
    template = cron["spec"]["jobTemplate"]
    labels = {"labels": template["metadata"]["labels"]}
    made = {"apiVersion": "batch/v1", "kind": "Job", "spec": template["spec"]}
    for name in ("report-1", "report-2"):
        space.api.create({**made, "metadata": made_by(cron, name=name, **labels)})
    wait_workloads(space, "job-report-", admitted=1, waiting=1)
    space.api.delete("batch/v1/CronJob", "report", space.namespace)
    wait_nothing_left(space)


def test_pods_of_an_argo_workflow_are_queued_one_by_one(serving: Cluster, space: World) -> None:
    make_queue(space, 1)
    workflow = space.api.create(example("others/argo-workflow", space))
    (template,) = workflow["spec"]["templates"]
    labels = {
        **workflow["spec"]["podMetadata"]["labels"],
        "workflows.argoproj.io/workflow": workflow["metadata"]["name"],
        "workflows.argoproj.io/completed": "false",
    }
    spec = {"restartPolicy": "Never", "containers": [{"name": "main", **template["container"]}]}
    for name in ("prepare-1", "prepare-2"):
        meta = made_by(workflow, name=name, labels=labels, annotations=ENDS)
        space.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    wait_workloads(space, "pod-prepare-", admitted=1, waiting=1)
    wait_ended(space, "pod-prepare-", 2)


def test_pods_of_flyte_tasks_are_queued_one_by_one(serving: Cluster, space: World) -> None:
    make_queue(space, 1)
    template = space.api.create(example("others/flyte-pod-template", space))["template"]
    kind = {"apiVersion": "flyte.lyft.com/v1alpha1", "kind": "FlyteWorkflow", "spec": {}}
    metadata = {"name": "f1", "namespace": space.namespace}
    workflow = space.api.create({**kind, "metadata": metadata})
    labels = {**template["metadata"]["labels"], "execution-id": "f1"}
    requests = {"name": "f1-n0-0", "resources": {"requests": {"cpu": "1"}}}
    spec = {
        **template["spec"],
        "restartPolicy": "Never",
        "containers": [{**template["spec"]["containers"][0], **requests}],
    }
    meta = made_by(workflow, name="f1-n0-0", labels=labels, annotations=ENDS)
    space.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec})
    wait_ended(space, "pod-f1-n0-0-", 1)


def test_replicas_of_a_kserve_model_wait_like_those_of_any_deployment(
    serving: Cluster, space: World
) -> None:
    make_queue(space, 1)
    model = space.api.create(example("others/kserve-model", space))
    spec = model["spec"]["predictor"]
    app = {"app": "isvc.sentiment-predictor"}
    labels = {**app, **queue_of(model)}
    container = {"name": "kserve-container", "image": "sklearn", **spec["model"]}
    container = {key: container[key] for key in ("name", "image", "resources")}
    deployment = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": made_by(model, name="sentiment-predictor", labels=labels),
        "spec": {
            "replicas": spec["minReplicas"],
            "selector": {"matchLabels": app},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        },
    }
    space.api.create(deployment)
    wait_pods(space, "sentiment-predictor-", running=1, gated=1)
    wait_workloads(space, "", admitted=1, waiting=1)


def test_what_another_controller_queues_is_not_queued_twice(serving: Cluster, space: World) -> None:
    make_queue(space, 1)
    trial = space.api.create(
        {
            "apiVersion": "lab.example.com/v1",
            "kind": "Trial",
            "metadata": {
                "name": "t",
                "namespace": space.namespace,
                "labels": {QUEUE_NAME: "main"},
            },
            "spec": {},
        }
    )
    child = job(space.namespace, "child", queue="main", pods=Pods(run_s=None), suspend=False)
    child["metadata"] |= made_by(trial)
    space.api.create(child)
    # Its owner has no Workload that is admitted.
    wait_job(space, "child", lambda one: one["spec"]["suspend"], "stopped")
    space.api.create(job(space.namespace, "other", queue="main"))
    wait_workloads(space, "job-other-", admitted=1)
    assert not workloads_of(space, "job-child-")


ENDS = {"queueing.test/run-seconds": "1"}


def wait_ended(space: World, start: str, count: int) -> None:
    def ended() -> bool:
        found = workloads_of(space, start)
        return len(found) == count and all(holds(one, "Finished") for one in found)

    until(ended, lambda: f"{count} Workloads have finished: {workloads_of(space, start)}")
