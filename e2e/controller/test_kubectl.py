"""kubectl against queues and workloads, as people use it."""

import json
from collections import Counter
from subprocess import CompletedProcess

import yaml

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.jobs import running, wait_job, wait_told, wait_workload, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import Controller
from e2e.wire import Object
from e2e.world import World

IN_USE = "kueue.x-k8s.io/resource-in-use"


def succeeded(said: CompletedProcess[str]) -> str:
    """Return what kubectl said, after checking that it was content."""
    assert said.returncode == 0, said.stderr
    return said.stdout


def make_queue(space: World, cpu: str = "2") -> str:
    name = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(name, {space.name("any"): {"cpu": cpu}}),
        local_queue(space.namespace, "team", name),
    )
    return name


def test_apply_wait_get_describe_and_delete_a_queued_job(
    space: World, cluster: Cluster, controller: Controller
) -> None:
    queue = make_queue(space)
    here = f"--namespace={space.namespace}"
    manifest = yaml.safe_dump(job(space.namespace, "train", queue="team", pods=Pods(run_s=None)))
    assert "created" in succeeded(cluster.kubectl("apply", "-f-", stdin=manifest))
    workload = workload_of(space, "train")["metadata"]["name"]
    waited = cluster.kubectl(
        "wait", f"workload/{workload}", here, "--for=condition=Admitted", "--timeout=60s"
    )
    assert "condition met" in succeeded(waited)
    wait_job(space, "train", running, "running")

    table = succeeded(cluster.kubectl("get", "workloads", here)).splitlines()
    assert table[0].split() == ["NAME", "QUEUE", "RESERVED", "IN", "ADMITTED", "FINISHED", "AGE"]
    assert table[1].split()[:4] == [workload, "team", queue, "True"]
    described = succeeded(cluster.kubectl("describe", "workload", workload, here))
    for expected in ("Admitted by ClusterQueue", "Quota reserved in ClusterQueue", "Events:"):
        assert expected in described
    assert "Started" in succeeded(cluster.kubectl("describe", "job", "train", here))
    space.api.wait_one(
        "ClusterQueue", queue, lambda one: one.get("status", {}).get("admittedWorkloads") == 1
    )
    wide = succeeded(cluster.kubectl("get", "cq", queue, "-owide")).splitlines()[1]
    assert wide.split() == [queue, "BestEffortFIFO", "0", "1"]
    by_queue = succeeded(
        cluster.kubectl(
            "get",
            "workloads",
            here,
            f"--field-selector=status.admission.clusterQueue={queue}",
            "-o=name",
        )
    )
    assert by_queue.split() == [f"workload.kueue.x-k8s.io/{workload}"]
    assert "deleted" in succeeded(cluster.kubectl("delete", "job", "train", here))
    space.api.wait_gone("Workload", workload, space.namespace)


def test_a_job_that_waits_and_its_workload_say_why_in_events(
    space: World, cluster: Cluster, controller: Controller
) -> None:
    queue = make_queue(space, cpu="1")
    here = f"--namespace={space.namespace}"
    space.make(job(space.namespace, "large", queue="team", parallelism=3))
    workload = workload_of(space, "large")["metadata"]["name"]
    told = wait_told(space, "Workload", workload, "ExceedsMaxQuota")
    said = condition(space.api.get("Workload", workload, space.namespace), "QuotaReserved")
    assert (said["reason"], said["message"]) == ("ExceedsMaxQuota", told)
    of_job = wait_told(space, "Job", "large", "ExceedsMaxQuota")
    assert of_job == f"Workload {workload} waits: {told}"
    for kind, name in (("job", "large"), ("workload", workload)):
        described = succeeded(cluster.kubectl("describe", kind, name, here))
        shown = described.partition("Events:")[2]
        assert "Warning  ExceedsMaxQuota" in shown, described
        assert told in shown

    space.api.patch("ClusterQueue", queue, _with_quota(space, "2"))
    again = wait_workload(
        space,
        "large",
        lambda one: condition(one, "QuotaReserved").get("message") != told,
        "told how much it lacks now",
    )
    news = condition(again, "QuotaReserved")["message"]
    events = space.api.wait(
        "Event",
        lambda found: any(one["message"] == news for one in found),
        namespace=space.namespace,
        what="an Event of the changed message",
    )
    warnings = Counter(
        (one["involvedObject"]["kind"], one["message"])
        for one in events
        if one["reason"] == "ExceedsMaxQuota"
    )
    assert warnings == {("Workload", told): 1, ("Workload", news): 1, ("Job", of_job): 1}


def test_a_job_has_the_events_of_kubernetes_that_the_embedded_server_imitates(
    space: World, controller: Controller
) -> None:
    make_queue(space)
    space.make(job(space.namespace, "train", queue="team"))
    told = {
        reason: wait_told(space, "Job", "train", reason)
        for reason in ("Suspended", "SuccessfulCreate", "Resumed", "Completed")
    }
    pod = told.pop("SuccessfulCreate")
    assert pod.startswith("Created pod: train-")
    assert told == {
        "Suspended": "Job suspended",
        "Resumed": "Job resumed",
        "Completed": "Job completed",
    }


def _with_quota(space: World, cpu: str) -> Object:
    spec = cluster_queue("any", {space.name("any"): {"cpu": cpu}})["spec"]
    return {"spec": {"resourceGroups": spec["resourceGroups"]}}


def test_edit_a_quota_with_an_editor(
    space: World, cluster: Cluster, controller: Controller
) -> None:
    queue = make_queue(space, cpu="1")
    space.make(job(space.namespace, "large", queue="team", parallelism=3))
    space.api.wait_one(
        "ClusterQueue", queue, lambda one: one.get("status", {}).get("pendingWorkloads") == 1
    )
    edited = cluster.kubectl(
        "edit", "clusterqueue", queue, KUBE_EDITOR='sed -i s/nominalQuota:.*/nominalQuota:\\ "3"/'
    )
    assert "edited" in succeeded(edited)
    wait_job(space, "large", lambda one: holds(one, "Complete"), "complete")


def test_apply_again_changes_nothing_that_the_controller_owns(
    space: World, cluster: Cluster, controller: Controller
) -> None:
    queue = make_queue(space)
    quotas = {space.name("any"): {"cpu": "2"}}
    manifest = json.dumps(cluster_queue(queue, quotas))
    space.api.wait_one(
        "ClusterQueue",
        queue,
        lambda one: holds(one, "Active") and one["metadata"].get("finalizers") == [IN_USE],
        what="active and protected",
    )
    succeeded(cluster.kubectl("apply", "--server-side", "--force-conflicts", "-f-", stdin=manifest))
    before = space.api.get("ClusterQueue", queue)
    succeeded(cluster.kubectl("apply", "--server-side", "-f-", stdin=manifest))
    after = space.api.get("ClusterQueue", queue)
    assert after["metadata"]["resourceVersion"] == before["metadata"]["resourceVersion"]
    assert after["metadata"]["finalizers"] == [IN_USE]


def test_a_queue_in_use_stays_until_its_workloads_are_done(
    space: World, cluster: Cluster, controller: Controller
) -> None:
    queue = make_queue(space)
    space.make(job(space.namespace, "train", queue="team", pods=Pods(run_s=None)))
    wait_job(space, "train", running, "running")
    succeeded(cluster.kubectl("delete", "clusterqueue", queue, "--wait=false"))
    space.api.wait_one(
        "ClusterQueue", queue, lambda one: not holds(one, "Active"), what="inactive, and there"
    )
    space.api.delete("Job", "train", space.namespace)
    space.api.wait_gone("ClusterQueue", queue)
    succeeded(cluster.kubectl("delete", "resourceflavor", space.name("any"), "--timeout=60s"))
