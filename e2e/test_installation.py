"""Installed by one command, run under exactly the installed roles, removed by one command."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from e2e.api import Api, holds
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.deletions import remove_while_busy
from e2e.identities import ADMIN, CONTROLLER_ACCOUNT, CONTROLLER_NAMESPACE, IDENTITIES, TEAM
from e2e.installed import DEFAULT, Installation, installation
from e2e.loopback import control_plane
from e2e.nodes import POOL, make_nodes
from e2e.objects import Pods, cluster_queue, flavor, job, local_queue
from e2e.process import Process
from e2e.product import COMMAND
from e2e.scraping import scraped
from e2e.serving import until
from e2e.wire import ApiError, Object

INSTALL_S = 60.0
UNINSTALL_S = 180.0
VISIBILITY = "/apis/visibility.kueue.x-k8s.io/v1beta2"
OF_CLUSTER_QUEUE = f"{VISIBILITY}/clusterqueues/team/pendingworkloads"
BINDING = "rbac.authorization.k8s.io/v1/ClusterRoleBinding"
JUDGING = ("kueue-visibility-server-auth-delegator", "kueue-metrics-auth-rolebinding")
"""The bindings with which the product asks who somebody is, and what they may."""
OF_LOCAL_QUEUE = f"{VISIBILITY}/namespaces/default/localqueues/door/pendingworkloads"


@pytest.fixture(scope="module")
def fresh(built: Binaries) -> Iterator[Installation]:
    """Lend a control plane of its own with the product on it, a queue, and a Job that waits."""
    with control_plane(built) as cluster:
        make_nodes(cluster.api(), 2, labels=POOL)
        with installation(cluster) as made:
            for item in (
                flavor("any"),
                cluster_queue("team", {"any": {"cpu": "4"}}),
                local_queue("default", "door", "team"),
                job("default", "too-big", queue="door", parallelism=9),
            ):
                made.api.create(item)
            made.api.wait("Workload", bool, namespace="default", what="a Workload that waits")
            yield made


def test_one_command_installs_everything_in_time(fresh: Installation) -> None:
    assert fresh.took_s < INSTALL_S
    shown = fresh.cluster.kubectl("get", "-k", str(DEFAULT), "-o", "name")
    assert shown.returncode == 0, shown.stderr
    assert len(shown.stdout.split()) == len(fresh.said.splitlines())
    assert "deployment.apps/kueue-controller-manager" in shown.stdout


def test_a_job_is_admitted_and_finishes_under_the_installed_roles(fresh: Installation) -> None:
    short = job("default", "short", queue="door", parallelism=2, pods=Pods(run_s=1))
    fresh.api.create({**short, "spec": {**short["spec"], "suspend": False}})
    fresh.api.wait_one("Job", "short", lambda one: holds(one, "Complete"), namespace="default")
    fresh.api.wait(
        "Workload",
        lambda found: any(holds(one, "Finished") for one in found),
        namespace="default",
        what="a finished Workload",
    )


def test_webhooks_are_called_through_the_service_and_believed(fresh: Installation) -> None:
    group = {
        "coveredResources": ["cpu"],
        "flavors": [{"name": "any", "resources": [{"name": "cpu", "nominalQuota": "-1"}]}],
    }
    bad = cluster_queue("bad", {"any": {"cpu": "1"}}, resourceGroups=[group])
    with pytest.raises(ApiError, match="must be greater than or equal to 0"):
        fresh.api.create(bad)
    # Policies refuse in the same words; what is filled in during a dry run, only a webhook can.
    path = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
    good = cluster_queue("good", {"any": {"cpu": "1"}})
    tried = fresh.api.wire.call("POST", path, query={"dryRun": "All"}, body=good)
    assert tried["metadata"]["finalizers"] == ["kueue.x-k8s.io/resource-in-use"]


def test_the_older_version_is_converted_through_the_service(fresh: Installation) -> None:
    shown = fresh.cluster.kubectl("get", "clusterqueues.v1beta1.kueue.x-k8s.io", "team", "-o=json")
    assert shown.returncode == 0, shown.stderr
    assert json.loads(shown.stdout)["apiVersion"] == "kueue.x-k8s.io/v1beta1"


@pytest.mark.parametrize("path", [OF_CLUSTER_QUEUE, OF_LOCAL_QUEUE])
def test_pending_workloads_are_seen_through_the_aggregator(fresh: Installation, path: str) -> None:
    served = fresh.api.wait_one(
        "apiregistration.k8s.io/v1/APIService",
        "v1beta2.visibility.kueue.x-k8s.io",
        lambda one: holds(one, "Available"),
    )
    assert served["spec"]["caBundle"]
    found = fresh.api.wire.call("GET", path)
    (item,) = found["items"]
    assert item["localQueueName"] == "door"
    assert item["metadata"]["ownerReferences"][0]["name"] == "too-big"


def test_the_aggregator_tells_who_asks_and_roles_decide(fresh: Installation) -> None:
    team = fresh.cluster.api(TEAM)
    with pytest.raises(ApiError) as refused:
        team.wire.call("GET", OF_LOCAL_QUEUE)
    assert refused.value.status == 403
    fresh.api.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "team", "namespace": "default"},
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "kueue-batch-user-role",
            },
            "subjects": [
                {
                    "apiGroup": "rbac.authorization.k8s.io",
                    "kind": "User",
                    "name": IDENTITIES[TEAM].user,
                }
            ],
        }
    )
    until(lambda: is_allowed(fresh, OF_LOCAL_QUEUE), "the team may look")
    with pytest.raises(ApiError) as refused:
        team.wire.call("GET", OF_CLUSTER_QUEUE)
    assert refused.value.status == 403


def is_allowed(fresh: Installation, path: str) -> bool:
    try:
        return bool(fresh.cluster.api(TEAM).wire.call("GET", path)["items"])
    except ApiError:
        return False


@pytest.mark.parametrize(
    ("identity", "want"),
    [pytest.param(ADMIN, 200, id="an administrator"), pytest.param(TEAM, 403, id="a team")],
)
def test_metrics_are_for_those_whom_the_server_lets(
    fresh: Installation, identity: str, want: int
) -> None:
    token = fresh.cluster.accesses[identity].token
    port = fresh.controller.metrics
    assert scraped(port, token)[0] == want
    assert scraped(port, "nobody's")[0] == 403
    if want == 200:
        assert "kueue_pending_workloads" in scraped(port, token)[1]


def test_who_cannot_be_judged_gets_no_answer_and_the_log_names_the_missing_binding(
    fresh: Installation,
) -> None:
    bindings = [fresh.api.get(BINDING, name) for name in JUDGING]
    for one in bindings:
        assert one["subjects"][0]["name"] == CONTROLLER_ACCOUNT
        fresh.api.delete(BINDING, one["metadata"]["name"])
    until(lambda: not is_judged(fresh), "nobody is judged")
    with pytest.raises(ApiError, match="is forbidden: User") as failed:
        fresh.api.wire.call("GET", OF_CLUSTER_QUEUE)
    assert failed.value.status == 500
    assert failed.value.reason == "InternalError"
    assert scraped(fresh.controller.metrics, "anybody's")[0] == 500
    log = fresh.controller.process.tail(200)
    assert [name for name in JUDGING if name not in log] == []
    for one in bindings:
        kept = {key: one["metadata"][key] for key in ("name", "labels") if key in one["metadata"]}
        fresh.api.create({**one, "metadata": kept})
    until(lambda: is_judged(fresh), "users are judged again")


def is_judged(fresh: Installation) -> bool:
    try:
        return bool(fresh.api.wire.call("GET", OF_CLUSTER_QUEUE)["items"])
    except ApiError:
        return False


def test_one_command_removes_everything_also_what_is_in_use(fresh: Installation) -> None:
    """Last of this file: nothing is left for another test.

    The server begins to delete objects only when all our permissions are gone.
    """
    assert fresh.api.items("Workload", "default")
    assert "queueing-suspend-jobs" in policies(fresh)
    assert "queueing-validate-workloads" in policies(fresh)
    remove_while_busy(fresh.cluster, UNINSTALL_S)
    assert fresh.api.find("Namespace", CONTROLLER_NAMESPACE) is None
    assert fresh.api.items("CustomResourceDefinition") == []
    names = {one["metadata"]["name"] for one in fresh.api.items("Job", "default")}
    assert "too-big" in names
    until(lambda: not policies(fresh), "the policies are collected")
    # Nobody suspends any more.
    queued = job("default", "free", queue="door", suspend=False)
    until(lambda: not suspended(fresh, queued), "Jobs run as they are made")


def test_what_no_replica_lets_go_of_any_more_is_let_go_of_by_one_command(built: Binaries) -> None:
    with control_plane(built) as cluster, installation(cluster) as made:
        api = made.api
        for item in (
            flavor("any"),
            cluster_queue("team", {"any": {"cpu": "4"}}),
            local_queue("default", "door", "team"),
            job("default", "waits", queue="door", parallelism=9),
        ):
            api.create(item)
        api.wait("Workload", bool, namespace="default", what="a Workload that waits")
        api.wait_one("ClusterQueue", "team", lambda one: bool(one["metadata"]["finalizers"]))
        running = uninstall(cluster)
        assert running.wait_for_exit(60) == 2
        assert "is enough while it runs" in running.tail()
        made.controller.kill()
        blocked = cluster.kubectl("delete", "-k", str(DEFAULT), "--timeout=5s")
        assert blocked.returncode != 0, "nothing was held"
        assert documented_lines_would_patch(cluster) == {"team", "any", "waits"}
        # Who was killed has released nothing: the Lease, which went with its namespace, is gone.
        done = uninstall(cluster)
        assert done.wait_for_exit(60) == 0, done.tail()
        assert "finalizers removed" in done.tail()
        gone = cluster.kubectl(
            "delete", "-k", str(DEFAULT), "--ignore-not-found", f"--timeout={UNINSTALL_S:.0f}s"
        )
        assert gone.returncode == 0, gone.stderr
        assert api.items("CustomResourceDefinition") == []
        assert api.find("Namespace", CONTROLLER_NAMESPACE) is None
        assert api.get("Job", "waits", "default")["spec"]["suspend"]


def documented_lines_would_patch(cluster: Cluster) -> set[str]:
    """Try the lines of the guide that need kubectl only; return the names that they free."""
    guide = (DEFAULT.parents[1] / "docs" / "tasks" / "install.md").read_text()
    (lines,) = [one for one in guide.split("```") if "while read" in one]
    kubectl = Path(cluster.binaries.command("kubectl"))
    done = subprocess.run(
        [
            "/bin/bash",
            "-eu",
            "-c",
            lines.replace("kubectl patch", "kubectl patch --dry-run=server"),
        ],
        env={
            "PATH": f"{kubectl.parent}:/usr/bin:/bin",
            "HOME": str(cluster.folder),
            "KUBECONFIG": str(cluster.kubeconfig()),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    # A kind of which nothing was held is gone already, and is named in vain.
    patched = [line.split()[0].partition("/")[2] for line in done.stdout.splitlines()]
    assert patched, done.stderr
    return {name.split("-")[1] if name.startswith("job-") else name for name in patched}


def uninstall(cluster: Cluster) -> Process:
    """Run the command as an administrator."""
    return cluster.run(
        "uninstall", [COMMAND[0], "uninstall", f"--kubeconfig={cluster.kubeconfig()}"]
    )


def policies(fresh: Installation) -> list[str]:
    """Return the policies that we applied."""
    return [
        one["metadata"]["name"]
        for kind in ("Mutating", "Validating")
        for one in policies_of(fresh.api, kind)
    ]


def policies_of(api: Api, kind: str) -> list[Object]:
    return api.items(f"admissionregistration.k8s.io/v1/{kind}AdmissionPolicy")


def tried(fresh: Installation, item: Object) -> Object:
    """Return a Job as the API server would make it."""
    path = "/apis/batch/v1/namespaces/default/jobs"
    made: Object = fresh.api.wire.call("POST", path, query={"dryRun": "All"}, body=item)
    return made


def suspended(fresh: Installation, item: Object) -> bool:
    """Try whether the API server would suspend a Job."""
    return bool(tried(fresh, item)["spec"]["suspend"])
