"""`queueing plan --live` beside a controller: what a change would make different."""

import json
import subprocess

import pytest

from e2e.installed import Installation
from e2e.product import COMMAND
from e2e.tools.asking import KUEUE, asked, pending
from e2e.wire import Object

DEADLINE_S = 120


def planned(place: Installation, change: Object, *flags: str) -> subprocess.CompletedProcess[str]:
    """Plan a change of the cluster, given on standard input."""
    kubeconfig = f"--kubeconfig={place.cluster.kubeconfig()}"
    return subprocess.run(
        [COMMAND[0], "plan", "--live", kubeconfig, "-f", "-", *flags],
        input=json.dumps(change),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )


def queue(place: Installation, quota: str) -> Object:
    """Return the ClusterQueue of the cluster with another quota."""
    found: Object = asked(place, "GET", f"{KUEUE}/v1beta2/clusterqueues/team")
    found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"] = quota
    return found


def rows(told: str, name: str) -> list[list[str]]:
    """Return the first words of the rows about a name."""
    return [line.split()[:3] for line in told.splitlines() if name in line]


def test_what_is_there_already_changes_nothing(place: Installation) -> None:
    found = asked(place, "GET", f"{KUEUE}/v1beta2/clusterqueues/team")
    result = planned(place, found)
    assert result.returncode == 0, result.stderr
    (told,) = result.stdout.splitlines()
    queues = asked(place, "GET", f"{KUEUE}/v1beta2/clusterqueues")["items"]
    waiting = sum(len(pending(place, f"clusterqueues/{one['metadata']['name']}")) for one in queues)
    assert told.startswith(f"The change makes no difference: {waiting} pending workloads and ")


def test_more_quota_admits_who_waits_and_nobody_else_is_told(place: Installation) -> None:
    result = planned(place, queue(place, "8"))
    assert result.returncode == 0, result.stderr
    admitted = [row for row in rows(result.stdout, "job-waits-") if row[:2] == ["+", "Admit"]]
    assert admitted
    assert "job-runs" not in result.stdout
    quotas = [line.split() for line in result.stdout.splitlines() if " cpu " in line]
    assert ["+", "team"] in [line[:2] for line in quotas if line[:1] == ["+"]]


def test_a_field_of_the_other_version_ends_a_strict_plan(place: Installation) -> None:
    change = queue(place, "8")
    change["spec"]["cohort"] = "all"
    lenient, strict = planned(place, change), planned(place, change, "--strict")
    want = "spec.cohort: a field of v1beta1 only, left out; did you mean cohortName?"
    assert want in lenient.stderr
    assert want in strict.stderr
    assert (lenient.returncode, strict.returncode) == (0, 2)


@pytest.mark.parametrize("version", ["v1beta1", "v1beta2"])
def test_what_the_server_returns_in_either_version_has_no_unknown_field(
    place: Installation, version: str
) -> None:
    found = asked(place, "GET", f"{KUEUE}/{version}/clusterqueues/team")
    result = planned(place, found, "--strict")
    assert result.returncode == 0, result.stderr
    assert "unknown field" not in result.stderr
