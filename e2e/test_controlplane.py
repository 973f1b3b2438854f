"""The test bed itself: it comes up, runs Jobs, obeys kubectl, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from e2e.api import holds
from e2e.cluster import Cluster
from e2e.controlplane.build import Binaries
from e2e.identities import ADMIN, IDENTITIES
from e2e.loopback import control_plane
from e2e.nodes import make_nodes
from e2e.objects import Pods, job
from e2e.world import World
from e2e.writes import audit_log

# Programs of one control plane.
COMPONENTS = 5

INTERRUPTED = """
import sys
from e2e.controlplane.build import binaries
from e2e.identities import ADMIN, IDENTITIES
from e2e.loopback import control_plane
with control_plane(binaries()) as cluster:
    print(cluster.folder, *(one.pid for one in cluster.components.values()), flush=True)
    sys.stdin.read()
"""


def test_a_job_runs_to_completion_on_simulated_nodes(space: World) -> None:
    space.make(job(space.namespace, "short", suspend=False, parallelism=3))
    done = space.api.wait_one(
        "Job", "short", lambda item: holds(item, "Complete"), namespace=space.namespace
    )
    assert done["status"]["succeeded"] == 3


def test_a_pod_without_an_end_runs_until_its_job_is_deleted(space: World) -> None:
    endless = job(space.namespace, "endless", suspend=False, pods=Pods(run_s=None))
    space.make(endless)
    space.api.wait_one(
        "Job", "endless", lambda item: item["status"].get("ready") == 1, namespace=space.namespace
    )
    space.api.delete("Job", "endless", space.namespace)
    space.api.wait("Pod", lambda pods: not pods, namespace=space.namespace, what="no pod left")


def test_a_pod_that_is_to_fail_fails_its_job(space: World) -> None:
    space.make(job(space.namespace, "broken", suspend=False, pods=Pods(run_s=None, fail_s=0)))
    space.api.wait_one(
        "Job", "broken", lambda item: holds(item, "Failed"), namespace=space.namespace
    )


def test_kubectl_reads_and_writes(cluster: Cluster, space: World) -> None:
    applied = cluster.kubectl(
        "apply",
        "--server-side",
        f"--namespace={space.namespace}",
        "-f-",
        stdin='{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"k":"v"}}',
    )
    assert applied.returncode == 0, applied.stderr
    read = cluster.kubectl("get", "configmap", "c", "-n", space.namespace, "-o=jsonpath={.data.k}")
    assert read.stdout == "v", read.stderr


def test_writes_are_counted_by_user(audited_space: World) -> None:
    space, log = audited_space, audit_log(audited_space.cluster)
    space.make(job(space.namespace, "counted"))
    mine = log.wait(1, user=IDENTITIES[ADMIN].user, namespace=space.namespace)
    assert [(write.kind, write.code) for write in mine] == [("create jobs", 201)]


def test_two_clusters_do_not_collide_and_nothing_is_left_of_them(
    cluster: Cluster, built: Binaries
) -> None:
    started = time.monotonic()
    with control_plane(built) as other:
        took_s = time.monotonic() - started
        make_nodes(other.api(), 1, group="other")
        assert not [node for node in cluster.api().items("Node") if "other" in str(node)]
        pids = [process.pid for process in other.components.values()]
        folder = other.folder
        assert len(pids) == COMPONENTS
    assert took_s < 120
    assert not [pid for pid in pids if exists(pid)]
    assert not folder.exists()
    assert cluster.api().ready()


def test_nothing_is_left_when_the_run_itself_is_killed(built: Binaries) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent.parent,
    )
    with program:
        assert program.stdout is not None
        folder, *pids = program.stdout.readline().split()
        assert len(pids) == COMPONENTS
        os.kill(program.pid, signal.SIGKILL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (Path(folder).exists() or any(map(exists, pids))):
        time.sleep(0.2)
    assert not [pid for pid in pids if exists(pid)]
    assert not Path(folder).exists()


def exists(pid: int | str) -> bool:
    """Tell whether a process runs; one that ended and waits to be reaped does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
