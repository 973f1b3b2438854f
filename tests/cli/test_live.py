import asyncio
import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from queueing.apiserver.server import Fault, serve
from queueing.apiserver.wire.call import HttpRequest
from queueing.cli.local.cluster import ServerLocation, local_cluster
from queueing.cli.main import cli
from queueing.sim.documents import parse
from tests.cli.manifests import BREAK, NAMESPACE, cluster_queue, queues

WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w, namespace: team}
spec:
  queueName: a
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 3}}}]}}
"""
OBJECTS = BREAK.join((NAMESPACE, queues("a", 2, "a"), WORKLOAD))


def plan(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["plan", "--live", "-o", "json", *arguments])


def decision(result: Result) -> Any:
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["rounds"][0]["decisions"][0]


async def test_a_file_replaces_what_the_cluster_has(tmp_path: Path) -> None:
    kubeconfig, change = tmp_path / "kubeconfig", tmp_path / "change.yaml"
    documents = parse(OBJECTS, file="objects")
    change.write_text(cluster_queue("a", 4))
    async with asyncio.timeout(60), local_cluster(ServerLocation(), documents) as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ("--kubeconfig", str(kubeconfig))
        now = await asyncio.to_thread(plan, *flags)
        then = await asyncio.to_thread(plan, *flags, "-f", str(change))
    assert decision(now)["reason"] == "ExceedsMaxQuota"
    assert decision(then)["action"] == "Admit"


def planned(*arguments: str) -> Result:
    result = CliRunner().invoke(cli, ["plan", "--live", *arguments])
    assert result.exit_code == 0, result.output
    return result


async def test_a_change_of_the_cluster_is_shown_as_a_difference(tmp_path: Path) -> None:
    kubeconfig, change, same = (tmp_path / name for name in ("kubeconfig", "change", "same"))
    documents = parse(OBJECTS, file="objects")
    same.write_text(cluster_queue("a", 2))
    change.write_text(cluster_queue("a", 4))
    async with asyncio.timeout(60), local_cluster(ServerLocation(), documents) as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ("--kubeconfig", str(kubeconfig), "-f")
        nothing = await asyncio.to_thread(planned, *flags, str(same))
        less = await asyncio.to_thread(planned, *flags, str(change))
        everything = await asyncio.to_thread(planned, *flags, str(change), "--all")
    assert nothing.stdout.count("\n") == 1
    assert nothing.stdout.startswith("The change makes no difference: 1 pending workload and")
    assert [line.split()[:3] for line in less.stdout.splitlines() if "team/w" in line] == [
        ["-", "Wait", "team/w"],
        ["+", "Admit", "team/w"],
    ]
    assert everything.stdout.startswith(less.stdout)
    rest = everything.stdout.removeprefix(less.stdout)
    assert rest.split()[:2] == ["ROUND", "ACTION"]
    assert rest.rstrip().endswith("Stable after 1 round.")


async def test_of_a_change_only_its_own_warnings_are_told(tmp_path: Path) -> None:
    kubeconfig, change = tmp_path / "kubeconfig", tmp_path / "change.yaml"
    lost = OBJECTS.replace("{name: default, resources", "{name: nowhere, resources")
    change.write_text("apiVersion: v1\nkind: Service\nmetadata: {name: s}\n")
    async with (
        asyncio.timeout(60),
        local_cluster(ServerLocation(), parse(lost, file="objects")) as server,
    ):
        kubeconfig.write_text(server.kubeconfig())
        flags = ("--kubeconfig", str(kubeconfig))
        alone = await asyncio.to_thread(planned, *flags)
        less = await asyncio.to_thread(planned, *flags, "-f", str(change))
        everything = await asyncio.to_thread(planned, *flags, "-f", str(change), "--all")
    assert "nowhere" in alone.stderr
    assert "nowhere" not in less.stderr
    assert "Service (v1) is not known" in less.stderr
    assert set(alone.stderr.splitlines()) < set(everything.stderr.splitlines())


JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: early, namespace: team, labels: {kueue.x-k8s.io/queue-name: a}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]
"""
STRAY = JOB.replace("early", "stray").replace(", labels: {kueue.x-k8s.io/queue-name: a}", "")
EVERY_JOB = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
manageJobsWithoutQueueName: true
"""


async def test_jobs_that_have_no_workload_yet_are_planned(tmp_path: Path) -> None:
    kubeconfig, settings = tmp_path / "kubeconfig", tmp_path / "config.yaml"
    settings.write_text(EVERY_JOB)
    documents = parse(f"{OBJECTS}---\n{JOB}---\n{STRAY}", file="objects")
    async with asyncio.timeout(60), local_cluster(ServerLocation(), documents) as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ("--kubeconfig", str(kubeconfig))
        labelled = await asyncio.to_thread(plan, *flags)
        with_config = await asyncio.to_thread(plan, *flags, "--config", str(settings))
        with_file = await asyncio.to_thread(plan, *flags, "-f", str(settings))
    assert jobs(labelled) == {"early": "Admit"}
    assert jobs(with_config) == jobs(with_file) == {"early": "Admit", "stray": "Wait"}


def jobs(result: Result) -> dict[str, str]:
    """Return what becomes of the Workloads that Jobs get."""
    assert result.exit_code == 0, result.output
    decisions = json.loads(result.stdout)["rounds"][-1]["decisions"]
    made = [one for one in decisions if one["workload"].startswith("team/job-")]
    return {one["workload"].split("-")[1]: one["action"] for one in made}


def test_a_cluster_that_cannot_be_reached_is_no_traceback(tmp_path: Path) -> None:
    result = plan("--kubeconfig", str(tmp_path / "nowhere"))
    assert result.exit_code == 2
    assert "the cluster cannot be read: " in result.stderr


async def test_kinds_that_only_stand_beside_others_may_be_forbidden(tmp_path: Path) -> None:
    async def deny(call: HttpRequest) -> Fault | None:
        forbidden = call.path.endswith("/clusterqueues")
        return Fault(status=403, reason="Forbidden", message="not yours") if forbidden else None

    kubeconfig = tmp_path / "kubeconfig"
    async with asyncio.timeout(60), serve(intercept=deny) as server:
        kubeconfig.write_text(server.kubeconfig())
        flags = ["--kubeconfig", str(kubeconfig)]
        balances = await asyncio.to_thread(CliRunner().invoke, cli, ["credits", *flags])
        used = await asyncio.to_thread(CliRunner().invoke, cli, ["usage", *flags])
    assert balances.exit_code == 0, balances.output
    assert "No CreditAccount" in balances.output
    assert used.exit_code == 2
    assert "not yours" in used.stderr
