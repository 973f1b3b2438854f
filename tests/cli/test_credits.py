"""`queueing credits` and `queueing usage` on files."""

import csv
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from queueing.cli.main import cli
from queueing_api.queueing.v1alpha1.credit_account import CreditAccountStatus

ACCOUNT = """
apiVersion: queueing.dev/v1alpha1
kind: CreditAccount
metadata: {name: all}
spec: {cohortName: all}
status:
  asOf: "2027-01-15T08:00:00Z"
  policy: default
  unit: GPUh
  children:
  - kind: ClusterQueue
    name: vision
    balance: -2.00 GPUh
    weightFactor: "0.5"
    microCredits: -7200000000
    borrowedFrom: [{name: ClusterQueue/speech, amount: 2.00 GPUh, microCredits: 7200000000}]
  - {kind: ClusterQueue, name: speech, balance: 2.00 GPUh, weightFactor: "2", microCredits: 1}
"""
WORKLOAD = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: {name}, namespace: {team}, labels: {{queueing.dev/user: {user}}}}}
spec:
  queueName: q
  podSets:
  - name: main
    count: 1
    template:
      spec:
        restartPolicy: Never
        containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}}}}}}}]
status:
  admission:
    clusterQueue: vision
    podSetAssignments:
    - {{name: main, count: 1, flavors: {{cpu: fast}}, resourceUsage: {{cpu: {cpu}}}}}
  conditions:
  - {{type: QuotaReserved, status: "True", reason: QuotaReserved, message: "",
      lastTransitionTime: "{since}"}}
  - {{type: Finished, status: "{over}", reason: Succeeded, message: "",
      lastTransitionTime: "2027-01-15T07:00:00Z"}}
"""
WORLD = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohortName: all
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors: [{name: fast, resources: [{name: cpu, nominalQuota: 4}]}]
---
apiVersion: queueing.dev/v1alpha1
kind: CreditPolicy
metadata: {name: default}
spec: {prices: [{resource: cpu, price: 500m}], unit: coreh}
""" + "".join(
    WORKLOAD.format(name=name, team=team, user=user, cpu=cpu, since=since, over=over)
    for name, team, user, cpu, since, over in (
        ("one", "red", "ada", 4, "2027-01-15T06:00:00Z", "False"),
        ("two", "blue", "bob", 4, "2027-01-15T06:00:00Z", "True"),
        ("old", "blue", "bob", 1, "2027-01-13T06:00:00Z", "True"),
    )
)
NOW = "2027-01-15T08:00:00Z"


def invoke(tmp_path: Path, text: str, *arguments: str) -> Result:
    file = tmp_path / "objects.yaml"
    file.write_text(text)
    command, *rest = arguments
    return CliRunner().invoke(cli, [command, "-f", str(file), *rest])


def usage(tmp_path: Path, *arguments: str) -> Any:
    flags = ("usage", "--since", "4h", "--now", NOW, "-o", "json", *arguments)
    found = invoke(tmp_path, WORLD, *flags)
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)["rows"]


def test_balances_are_shown_with_what_they_do(tmp_path: Path) -> None:
    shown = invoke(tmp_path, ACCOUNT, "credits").output.splitlines()
    assert shown[0].split()[:5] == ["COHORT", "CHILD", "BALANCE", "HELD", "WEIGHT"]
    assert "vision" in shown[1]
    assert "-2.00 GPUh" in shown[1]
    assert "x0.5" in shown[1]
    assert "speech 2.00 GPUh" in shown[1]


def test_balances_of_namespaces_are_shown_with_their_queue(tmp_path: Path) -> None:
    within = (
        ACCOUNT.replace("{name: all}", "{name: clusterqueue.speech}")
        .replace("cohortName: all", "clusterQueueName: speech")
        .replace("ClusterQueue", "Namespace")
    )
    both = f"{ACCOUNT}---{within}"
    shown = invoke(tmp_path, both, "credits", "--queue", "speech").output.splitlines()
    assert len(shown) == 3
    assert shown[1].startswith("speech (queue)")
    assert "vision (namespace)" in shown[1]
    assert len(invoke(tmp_path, both, "credits", "--cohort", "all").output.splitlines()) == 3
    missing = invoke(tmp_path, both, "credits", "--queue", "x").output
    assert "No CreditAccount of ClusterQueue x" in missing


AROUND = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec: {cohortName: all, fairSharing: {weight: 3}}
---
apiVersion: queueing.dev/v1alpha1
kind: CreditBudget
metadata: {name: monthly}
spec: {holder: {kind: ClusterQueue, name: vision}, grant: 10}
status: {left: 7.50 GPUh, held: 1.00 GPUh, periodEnd: "2027-02-01T00:00:00Z"}
"""
WITHIN = """
apiVersion: queueing.dev/v1alpha1
kind: CreditAccount
metadata: {name: clusterqueue.vision}
spec: {clusterQueueName: vision}
status:
  asOf: "2027-01-15T08:00:00Z"
  unit: GPUh
  grants: [{uid: u1, name: easter}]
  children: [{kind: Namespace, name: red, balance: 1.00 GPUh, weightFactor: "2", microCredits: 1}]
""" + "".join(
    f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: red}}
spec: {{clusterQueue: {queue}, fairSharing: {{weight: {weight}}}}}
"""
    for name, queue, weight in (("day", "vision", 2), ("night", "vision", "500m"), ("x", "y", 9))
)
DOOR_BUDGET = AROUND[AROUND.rindex("---") :].replace(
    "kind: ClusterQueue, name: vision", "kind: LocalQueue, namespace: red, name: night"
)


def test_what_is_held_the_weight_and_a_budget_stand_beside_a_balance(tmp_path: Path) -> None:
    account = ACCOUNT.replace("microCredits: -7200000000", "microCredits: -7200000000, held: 0")
    held = ACCOUNT.replace("    microCredits: -72", "    held: 3600000000\n    microCredits: -72")
    assert "1.00 GPUh" not in invoke(tmp_path, account, "credits").output
    shown = [
        line.split("   ") for line in invoke(tmp_path, held + AROUND, "credits").output.splitlines()
    ]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in shown]
    told = dict(zip(cells[0], cells[1], strict=True))
    assert told["HELD"] == "1.00 GPUh"
    assert told["WEIGHT"] == "x0.5 = 1.5"
    assert told["BUDGET LEFT"] == "monthly 7.50 GPUh"
    assert dict(zip(cells[0], cells[2], strict=True))["HELD"] == "-"


def test_of_a_namespace_its_local_queues_their_weight_and_budgets_are_told(tmp_path: Path) -> None:
    found = json.loads(invoke(tmp_path, WITHIN + DOOR_BUDGET, "credits", "-o", "json").stdout)
    [account] = found["accounts"]
    [red] = account["children"]
    assert (red["weight"], red["weightFactor"], red["bentWeight"]) == ("2", "2", "4")
    assert red["localQueues"] == ["day", "night"]
    assert [one["name"] for one in red["budgets"]] == ["monthly"]
    assert account["grants"] == [{"uid": "u1", "name": "easter"}]


def test_a_program_is_told_every_field_of_an_account(tmp_path: Path) -> None:
    [account] = json.loads(invoke(tmp_path, ACCOUNT, "credits", "-o", "json").stdout)["accounts"]
    stored = set(CreditAccountStatus.model_fields) - {"as_of", "largest", "smallest"}
    assert stored <= set(account)
    assert "asOf" in account


def test_balances_of_another_cohort_are_left_out(tmp_path: Path) -> None:
    assert "No CreditAccount" in invoke(tmp_path, ACCOUNT, "credits", "--cohort", "x").output
    assert "leave out -f to ask the cluster" in invoke(tmp_path, WORLD, "credits").output
    found = json.loads(invoke(tmp_path, ACCOUNT, "credits", "-o", "json").stdout)
    assert [one["cohort"] for one in found["accounts"]] == ["all"]


def test_what_two_workloads_borrow_together_is_shared_between_them(tmp_path: Path) -> None:
    """The queue has 4 cores; 9 were used from 6 to 7, 4 from 7 to 8, and 1 from 4 to 6."""
    rows = {row["payer"]: row for row in usage(tmp_path)}
    assert rows["red"]["used"] == pytest.approx(8)
    assert rows["red"]["borrowed"] == pytest.approx(4 * 5 / 9)
    assert rows["blue"]["used"] == pytest.approx(4 + 3)
    assert rows["blue"]["borrowed"] == pytest.approx(5 * 5 / 9)
    assert rows["red"]["cost"] == pytest.approx(4)


@pytest.mark.parametrize(
    ("condition", "idle"),
    [
        pytest.param('{type: PodsReady, status: "True"', 4 * 0.5, id="ready after half an hour"),
        pytest.param('{type: PodsReady, status: "False"', 4 * 2, id="never ready"),
    ],
)
def test_what_is_held_while_no_pod_runs_is_told_apart(
    tmp_path: Path, condition: str, idle: float
) -> None:
    more = f"""  conditions:
  - {condition}, reason: x, message: "", lastTransitionTime: "2027-01-15T06:30:00Z"}}"""
    head, tail = WORLD.split("name: one,", 1)
    world = f"{head}name: one,{tail.replace('  conditions:', more, 1)}"
    flags = ("usage", "--since", "4h", "--now", NOW, "-o", "json")
    rows = {row["payer"]: row for row in json.loads(invoke(tmp_path, world, *flags).stdout)["rows"]}
    assert rows["red"]["idleHeld"] == pytest.approx(idle)


@pytest.mark.parametrize(
    ("by", "payers"),
    [
        pytest.param("user", ["ada", "bob"], id="user"),
        pytest.param("queue", ["vision"], id="queue"),
        pytest.param("flavor", ["fast"], id="flavor"),
    ],
)
def test_rows_are_by_whom_one_asks_for(tmp_path: Path, by: str, payers: list[str]) -> None:
    rows = usage(tmp_path, "--by", by)
    assert [row["payer"] for row in rows] == payers
    assert sum(row["used"] for row in rows) == pytest.approx(15)


def test_a_table_a_csv_and_a_page_say_the_same(tmp_path: Path) -> None:
    flags = ("usage", "--since", "2027-01-15T04:00:00Z", "--now", NOW, "-o")
    assert "8.00h" in invoke(tmp_path, WORLD, *flags, "table").output
    [header, *rows] = csv.reader(io.StringIO(invoke(tmp_path, WORLD, *flags, "csv").stdout))
    first = dict(zip(header, rows[1], strict=True))
    assert (first["SubAccountName"], first["BillingCurrency"]) == ("red", "coreh")
    assert float(first["BilledCost"]) == pytest.approx(4)
    page = invoke(tmp_path, WORLD, *flags, "html").stdout
    assert page.startswith("<!doctype html>")
    assert page.count("<rect") == 4


def test_a_period_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    found = invoke(tmp_path, WORLD, "usage", "--since", "yesterday")
    assert found.exit_code == 2
    assert "'yesterday' is neither a length of time, such as 24h" in found.output
    assert "2026-01-31T12:00:00Z" in found.output


@pytest.fixture
def far_from_greenwich(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Etc/GMT-9")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
def test_a_time_without_a_zone_is_utc_wherever_it_is_asked(tmp_path: Path) -> None:
    begin = "2027-01-15T04:00:00"
    zoned = ("usage", "--since", f"{begin}Z", "--now", NOW, "-o", "json")
    plain = ("usage", "--since", begin, "--now", NOW.removesuffix("Z"), "-o", "json")
    found = invoke(tmp_path, WORLD, *plain)
    assert found.exit_code == 0, found.output
    assert found.stdout == invoke(tmp_path, WORLD, *zoned).stdout


def test_an_end_that_is_no_time_is_refused(tmp_path: Path) -> None:
    found = invoke(tmp_path, WORLD, "usage", "--now", "noon")
    assert found.exit_code == 2
    assert "'noon' is not a time" in found.output


def test_memory_is_told_in_gibibytes(tmp_path: Path) -> None:
    world = WORLD.replace("cpu", "memory")
    flags = ("usage", "--since", "4h", "--now", NOW, "-o")
    rows = json.loads(invoke(tmp_path, world, *flags, "json").stdout)["rows"]
    assert {(row["resource"], row["unit"]) for row in rows} == {("memory", "GiBh")}
    assert "GiBh" in invoke(tmp_path, world, *flags, "table").output
    assert "GiB Hours" in invoke(tmp_path, world, *flags, "csv").output
