"""`queueing explain`, `get` and their neighbours, asked as people ask: with a kubeconfig."""

import gzip
import json
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from e2e.api import holds
from e2e.identities import ADMIN, TEAM
from e2e.installed import API_SERVICE, EXPLANATIONS, Installation
from e2e.objects import Pods, job
from e2e.scraping import scraped
from e2e.serving import until
from e2e.tools.asking import PAGE_URL, asked
from e2e.wire import ApiError

PROGRAM = str(Path(sys.executable).with_name("queueing"))
API = "/apis/visibility.queueing.dev/v1alpha1"
LONG_S = 3600.0
TYPED_S = 60.0


def typed(place: Installation, *words: str, who: str = ADMIN) -> subprocess.CompletedProcess[str]:
    """Run a command of ours as somebody."""
    flags = ["--kubeconfig", str(place.cluster.kubeconfig(who))]
    return subprocess.run(
        [PROGRAM, *words, *flags], capture_output=True, text=True, timeout=TYPED_S, check=False
    )


def told(place: Installation, *words: str, who: str = ADMIN) -> str:
    done = typed(place, *words, who=who)
    assert done.returncode == 0, done.stderr
    return done.stdout


def explained(place: Installation, path: str) -> Any:
    return asked(place, "GET", f"{API}/{path}/explanation")


def owned(place: Installation, name: str, namespace: str) -> dict[str, Any]:
    """Return the Workload of a Job, once it is there and somebody has said how it stands."""
    found: list[dict[str, Any]] = []

    def there() -> bool:
        listed = place.api.items("Workload", namespace=namespace)
        mine = [
            one
            for one in listed
            if one["metadata"].get("ownerReferences", [{}])[0].get("name") == name
            and one.get("status", {}).get("conditions")
        ]
        found[:] = mine
        return bool(mine)

    until(there, f"the Workload of {name}")
    return found[0]


@pytest.fixture(scope="module")
def served(place: Installation) -> Installation:
    """Lend the installation with a second queue, made by our own command, and two namespaces."""
    place.api.wait_one(API_SERVICE, EXPLANATIONS, lambda one: holds(one, "Available"))
    for name in ("ours", "theirs"):
        place.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    told(place, "create", "clusterqueue", "shared", "--nominal-quota", "any:cpu=4")
    for name in ("ours", "theirs"):
        told(place, "create", "localqueue", "main", "-n", name, "-c", "shared")
    place.api.create(job("theirs", "big", queue="main", pods=Pods(cpu="3", run_s=LONG_S)))
    place.api.wait_one("Job", "big", lambda one: not one["spec"].get("suspend"), namespace="theirs")
    place.api.create(job("ours", "train", queue="main", pods=Pods(cpu="2", run_s=LONG_S)))
    owned(place, "train", "ours")
    return place


def test_the_command_says_what_the_api_says(served: Installation) -> None:
    name = owned(served, "train", "ours")["metadata"]["name"]
    done = typed(served, "explain", "job/train", "-n", "ours", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    said = json.loads(done.stdout)
    assert said == explained(served, f"namespaces/ours/workloads/{name}")
    assert said["state"] == "Waiting"
    blocker = said["blockers"][0]
    assert (blocker["kind"], blocker["missing"], blocker["limit"]) == (
        "Quota",
        "1",
        "nominalQuota of ClusterQueue shared",
    )
    assert said["holders"][0]["workload"].startswith("theirs/job-big-")
    assert {one["kind"] for one in said["remedies"]} == {"AskLess", "RaiseQuota"}


def test_events_and_the_command_lead_to_the_page(served: Installation) -> None:
    name = owned(served, "train", "ours")["metadata"]["name"]
    link = f"{PAGE_URL}/namespaces/ours/workloads/{name}"
    assert f"On the page: {link}" in told(served, "explain", "job/train", "-n", "ours")

    def described() -> bool:
        listed = asked(served, "GET", "/api/v1/namespaces/ours/events")["items"]
        about = {one["involvedObject"]["kind"] for one in listed if link in one["message"]}
        return about >= {"Job", "Workload"}

    until(described, "Events lead to the page")


def test_what_the_engine_sees_is_recorded_for_who_may_see_it(
    served: Installation, tmp_path: Path
) -> None:
    path, load = str(tmp_path / "now.jsonl.gz"), str(tmp_path / "load.jsonl")
    told(served, "record", "-o", path)
    lines = gzip.decompress(Path(path).read_bytes()).decode()
    assert all(one in lines for one in ("theirs/job-big-", "ours/job-train-", "shared"))
    assert "busybox" not in lines, "nothing of pod templates"
    repeated = subprocess.run([PROGRAM, "replay", path], capture_output=True, text=True, check=True)
    assert "no decision" in repeated.stdout
    refused = typed(served, "record", "-o", load, who=TEAM)
    assert (refused.returncode, "engines" in refused.stderr) == (1, True)
    port = int(served.settings["metrics"]["bindAddress"].rpartition(":")[2])
    token = served.cluster.accesses[ADMIN].token
    assert token is not None
    status, text = scraped(port, token, "/snapshot")
    assert (status, "ours/job-train-" in text) == (200, True)


def test_a_queue_and_a_running_job_are_explained(served: Installation) -> None:
    said = explained(served, "clusterqueues/shared")
    row = said["quotas"][0]
    assert (row["nominal"], row["used"], row["available"]) == ("4", "3", "1")
    assert [(one["reason"], one["count"]) for one in said["groups"]] == [("WaitingForQuota", 1)]
    assert "1 workload waits, 1 admitted." in told(served, "explain", "cq/shared")
    assert "It is admitted by ClusterQueue shared." in told(
        served, "explain", "job/big", "-n", "theirs"
    )


def test_a_team_may_ask_about_its_own_and_reads_no_names_of_others(served: Installation) -> None:
    with pytest.raises(ApiError) as refused:
        asked(served, "GET", f"{API}/clusterqueues/shared/explanation", identity=TEAM)
    assert refused.value.status == 403
    group = "rbac.authorization.k8s.io"
    served.api.apply(
        {
            "apiVersion": f"{group}/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "team", "namespace": "ours"},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "kueue-batch-user-role"},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "e2e-team"}],
        }
    )
    mine: Sequence[str] = ("explain", "job/train", "-n", "ours")
    until(partial(_succeeds, served, mine), "the role is known, and refusals are forgotten")
    text = told(served, *mine, who=TEAM)
    assert "(another namespace) (shared): 3 cpu of any" in text
    assert "theirs/" not in text
    others = typed(served, "explain", "job/big", "-n", "theirs", who=TEAM)
    assert others.returncode == 1
    assert "forbidden" in others.stderr.lower()


def _succeeds(place: Installation, words: Sequence[str]) -> bool:
    return typed(place, *words, who=TEAM).returncode == 0


def test_what_is_listed_is_what_is_there(served: Installation) -> None:
    listed = json.loads(told(served, "get", "workloads", "-n", "ours", "-o", "json"))["items"]
    there = served.api.items("Workload", namespace="ours")
    assert [one["metadata"]["uid"] for one in listed] == [one["metadata"]["uid"] for one in there]
    rows = told(served, "get", "workloads", "-n", "ours").splitlines()
    assert rows[1].split()[1:3] == ["job/train", "main"]
    assert rows[1].split()[-1] == "WaitingForQuota"
    assert "cpu of any: 3/4" in told(served, "get", "clusterqueues")
    lines = told(served, "top", "clusterqueue/shared").splitlines()
    assert lines[0].startswith("Pending 1")
    assert "job/train" in lines[-1]


def test_a_remedy_that_was_told_works(served: Installation) -> None:
    name = owned(served, "train", "ours")["metadata"]["name"]
    said = explained(served, f"namespaces/ours/workloads/{name}")
    remedy = next(one for one in said["remedies"] if one["kind"] == "RaiseQuota")
    edit = remedy["edits"][0]
    assert (edit["object"], edit["before"], edit["after"]) == ("ClusterQueue shared", "4", "5")
    path = "/spec/resourceGroups/0/flavors/0/resources/0/nominalQuota"
    served.api.patch(
        "ClusterQueue", "shared", [{"op": "replace", "path": path, "value": edit["after"]}]
    )
    served.api.wait_one(
        "Job", "train", lambda one: not one["spec"].get("suspend"), namespace="ours"
    )
    path = f"namespaces/ours/workloads/{name}"
    until(lambda: explained(served, path)["state"] == "Admitted", "answers are shared for a second")
    told(served, "stop", "job/train", "-n", "ours")
    served.api.wait_one("Job", "train", lambda one: one["spec"].get("suspend"), namespace="ours")
    assert "it is deactivated" in told(served, "explain", "job/train", "-n", "ours")
    told(served, "resume", "job/train", "-n", "ours")
    told(served, "delete", "job/big", "-n", "theirs", "--yes")


def test_until_when_is_answered_by_the_controller_of_what_it_knows(place: Installation) -> None:
    """Nothing has ended here, and nothing has a limit, so that it says that nobody knows."""
    estimates: list[dict[str, Any]] = []
    words = ("explain", "job/waits-0", "-n", "default", "--eta", "-o", "json")

    def estimated() -> bool:
        done = typed(place, *words)
        print(done.stderr)
        estimates[:] = [json.loads(done.stdout or "{}").get("estimate")]
        return bool(estimates[0])

    until(estimated, "an estimate")
    (estimate,) = estimates
    assert estimate["futures"] > 0
    assert not estimate["known"]
    assert "no maximum execution time" in estimate["basis"][0]
