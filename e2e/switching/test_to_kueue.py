"""We leave a cluster to Kueue: what we wrote is as its own, it can clear it, and nothing blocks."""

import copy
import os
import subprocess
from collections.abc import Callable
from contextlib import suppress

from e2e.api import condition, holds
from e2e.cluster import Cluster
from e2e.identities import ADMIN
from e2e.jobs import running, wait_job, wait_workload, workload_of
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.product import COMMAND, Controller, leader
from e2e.serving import until
from e2e.switching import kueue
from e2e.wire import Object
from e2e.world import World

Launch = Callable[..., Controller]
POLICIES = (
    "MutatingAdmissionPolicyBinding",
    "MutatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
)
HAND_OVER_S = 120


def hand_over(cluster: Cluster) -> subprocess.CompletedProcess[str]:
    """Run the command as an administrator."""
    return subprocess.run(
        [COMMAND[0], "hand-over"],
        capture_output=True,
        text=True,
        timeout=HAND_OVER_S,
        check=False,
        env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig(ADMIN))},
    )


def policies(cluster: Cluster) -> list[str]:
    found: list[str] = []
    for kind in POLICIES:
        # An older server has no mutating ones.
        with suppress(LookupError):
            items = cluster.api().items(f"admissionregistration.k8s.io/v1/{kind}")
            found += [one["metadata"]["name"] for one in items]
    return [name for name in found if name.startswith("queueing-")]


def evict_as_kueue(space: World, workload: Object) -> Object:
    """Take the admission away as Kueue does: by an apply that no longer names it."""
    quota = "QuotaReserved", False, "Pending", "The workload is deactivated"
    admitted = "Admitted", False, "NoReservation", "The workload has no reservation"
    evicted = "Evicted", True, "Deactivated", "The workload is deactivated"
    status = {"conditions": kueue.conditions(quota, admitted, evicted)}
    return kueue.apply_status(space.api, workload, status, kueue.ADMISSION)


def test_a_cluster_of_ours_is_left_to_kueue(
    space: World, installed: Cluster, controllers: Launch
) -> None:
    ours = controllers("leaving")
    queue = space.name("cq")
    space.make(
        flavor(space.name("any")),
        cluster_queue(queue, {space.name("any"): {"cpu": "1"}}),
        local_queue(space.namespace, "team", queue),
        job(space.namespace, "first", queue="team", pods=Pods(run_s=None)),
    )
    before = wait_job(space, "first", running, "running")
    wait_workload(space, "first", lambda one: holds(one, "PodsReady"), "its pods ready")
    space.make(job(space.namespace, "second", queue="team", pods=Pods(run_s=None)))
    wait_workload(
        space, "second", lambda one: condition(one, "QuotaReserved") != {}, "told why it waits"
    )
    refused = hand_over(installed)
    assert refused.returncode == 2, "we still lead"
    assert "stop the controller" in refused.stderr
    assert ours.stop() == 0
    assert leader(installed) == ""

    done = hand_over(installed)
    assert done.returncode == 0, done.stderr
    assert policies(installed) == []
    after = space.api.get("Job", "first", space.namespace)
    assert after["spec"] == before["spec"], "no Job is touched"
    read_as_kueues(space)

    eager = job(space.namespace, "eager", queue="team", suspend=False)
    path = f"/apis/batch/v1/namespaces/{space.namespace}/jobs"

    def is_let_in_as_it_is() -> bool:
        query = {"dryRun": "All"}
        answer = space.api.wire.call("POST", path, query=query, body=copy.deepcopy(eager))
        return answer["spec"].get("suspend") is not True

    until(is_let_in_as_it_is, "nobody of ours suspends Jobs any more")

    gone = evict_as_kueue(space, workload_of(space, "first"))
    assert not gone["status"].get("admission"), "Kueue could clear what we wrote"
    assert not holds(gone, "Admitted")
    assert holds(gone, "PodsReady"), "and only that"
    assert "0 Workloads" in hand_over(installed).stdout, "once is enough"
    assert finalizers(space) <= {kueue.IN_USE}, "Kueue takes all of them off itself"


def read_as_kueues(space: World) -> None:
    """Look at a Workload of ours as Kueue would."""
    for name in ("first", "second"):
        found = workload_of(space, name)
        owner = space.api.get("Job", name, space.namespace)
        wanted = kueue.compose(owner, "team")
        assert found["metadata"]["name"] == wanted["metadata"]["name"]
        assert found["metadata"]["labels"] == wanted["metadata"]["labels"]
        assert found["metadata"]["annotations"] == wanted["metadata"]["annotations"]
        assert found["metadata"]["ownerReferences"] == wanted["metadata"]["ownerReferences"]
        assert found["spec"]["queueName"] == "team"
    first = workload_of(space, "first")
    admission = kueue.reservation(first, space.name("cq"), space.name("any"), "1")
    assert first["status"]["admission"] == admission
    for kind in ("QuotaReserved", "Admitted"):
        said = condition(first, kind)
        assert (said["status"], said["reason"]) == ("True", kind)
    marked = space.api.get("Job", "first", space.namespace)["spec"]["template"]["metadata"]
    assert marked["annotations"]["kueue.x-k8s.io/workload"] == first["metadata"]["name"]
    assert marked["labels"]["kueue.x-k8s.io/podset"] == "main"


def finalizers(space: World) -> set[str]:
    """Collect the finalizers that a controller put on what the test made, Kubernetes' own aside."""
    found = space.api.items("Workload", space.namespace)
    found += [
        space.api.get("ClusterQueue", space.name("cq")),
        space.api.get("ResourceFlavor", space.name("any")),
        *space.api.items("LocalQueue", space.namespace),
    ]
    return {one for item in found for one in item["metadata"].get("finalizers") or []}
