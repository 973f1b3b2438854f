"""`queueing usage` on kept rows: what was lent and wasted too, and after Workloads are gone."""

import asyncio
import csv
import io
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner, Result

from queueing.cli.local.cluster import ServerLocation, local_cluster
from queueing.cli.main import cli
from queueing.sim.documents import parse

HOUR = 3600
NOW = "2027-01-15T08:00:00Z"


def world(*records: str) -> str:
    queues = "".join(
        f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec: {{cohortName: all, namespaceSelector: {{}}}}
"""
        for name in ("vision", "speech")
    )
    doors = "".join(
        f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: q, namespace: {team}}}
spec: {{clusterQueue: {queue}, fairSharing: {{weight: {weight}}}}}
"""
        for team, queue, weight in (
            ("red", "vision", 1),
            ("blue", "speech", 1),
            ("green", "speech", 3),
        )
    )
    policy = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditPolicy
metadata: {name: default}
spec: {prices: [{resource: cpu, price: 500m}], unit: coreh, usageRecords: {}}
"""
    return queues + doors + policy + "".join(records)


def record(resolution: str, start: str, end: str, *rows: str, folded: str = "") -> str:
    digits = "".join(filter(str.isdigit, start))[: {"Hour": 10, "Day": 8}[resolution]]
    return f"""
---
apiVersion: queueing.dev/v1alpha1
kind: UsageRecord
metadata: {{name: all.{digits}}}
spec:
  root: {{kind: Cohort, name: all}}
  resolution: {resolution}
  start: "{start}"
  end: "{end}"
status:
  asOf: "{end}"
  unit: coreh
  folded: [{folded}]
  rows:{"".join(rows)}
"""


def row(queue: str, **fields: Any) -> str:
    told = {"clusterQueue": queue, "flavor": "fast", "resource": "cpu", **fields}
    return f"\n  - {json.dumps(told)}"


SIX = record(
    "Hour",
    "2027-01-15T06:00:00Z",
    "2027-01-15T07:00:00Z",
    row("vision", localQueue="red/q", user="ada", used=str(6000 * HOUR), borrowed=str(2000 * HOUR),
        wasted=str(1000 * HOUR), idle=str(500 * HOUR), costMicroCredits=str(3_000_000 * HOUR)),
    row("speech", localQueue="blue/q", user="", used=str(1000 * HOUR),
        costMicroCredits=str(500_000 * HOUR)),
    row("speech", quota=str(4000 * HOUR), lent=str(2000 * HOUR)),
    row("vision", quota=str(4000 * HOUR)),
    f'\n  - {{cohort: all, flavor: fast, resource: cpu, quota: "{4000 * HOUR}"}}',
)  # fmt: skip
SEVEN = SIX.replace("T07:", "T08:").replace("T06:", "T07:").replace("2027011506", "2027011507")
TABLE = """\
TEAM    FLAVOR   RESOURCE   USED    IN QUOTA   BORROWED   LENT    WASTED   IDLE    RATE   COST
blue    fast     cpu        1.00h   1.00h      0.00h      0.00h   0.00h    0.00h   0.5    0.50 coreh
green   fast     cpu        0.00h   0.00h      0.00h      2.00h   0.00h    0.00h   0.5    0.00 coreh
red     fast     cpu        6.00h   4.00h      2.00h      0.00h   1.00h    0.50h   0.5    3.00 coreh

2027-01-15T06:00:00Z to 2027-01-15T08:00:00Z; hours of one unit.
"""


def usage(tmp_path: Path, text: str, *arguments: str) -> Result:
    file = tmp_path / "objects.yaml"
    file.write_text(text)
    found = CliRunner().invoke(cli, ["usage", "-f", str(file), "--now", NOW, *arguments])
    assert found.exit_code == 0, found.output
    return found


def rows(tmp_path: Path, text: str, *arguments: str) -> dict[str, dict[str, Any]]:
    found = json.loads(usage(tmp_path, text, "-o", "json", *arguments).stdout)["rows"]
    return {one["payer"]: one for one in found}


def test_rows_say_who_used_lent_and_wasted_what_after_the_workloads_are_gone(
    tmp_path: Path,
) -> None:
    """Of four cores blue is entitled to one, which it uses, and green to three, which it lends."""
    assert usage(tmp_path, world(SIX), "--since", "2h").stdout == TABLE


@pytest.mark.parametrize(
    ("by", "lent"),
    [
        pytest.param("queue", {"speech": 2, "vision": 0}, id="queue"),
        pytest.param("user", {"ada": 0, "(no user)": 2}, id="user"),
        pytest.param("flavor", {"fast": 2}, id="flavor"),
    ],
)
def test_what_was_lent_is_told_by_whom_one_asks_for(
    tmp_path: Path, by: str, lent: dict[str, float]
) -> None:
    found = rows(tmp_path, world(SIX), "--by", by, "--since", "2h")
    assert {name: one["lent"] for name, one in found.items()} == lent


def test_only_the_hours_that_are_asked_for_count(tmp_path: Path) -> None:
    assert rows(tmp_path, world(SIX, SEVEN), "--since", "1h")["red"]["used"] == 6
    assert rows(tmp_path, world(SIX, SEVEN), "--since", "2h")["red"]["used"] == 12


def test_an_hour_that_its_day_holds_already_counts_once(tmp_path: Path) -> None:
    """A crash between adding it up and deleting it leaves both."""
    whole = row("vision", localQueue="red/q", user="ada", used=str(6000 * HOUR))
    stretch = ("2027-01-15T00:00:00Z", "2027-01-16T00:00:00Z")
    day = record("Day", *stretch, whole, folded='"2027-01-15T06:00:00Z"')
    assert rows(tmp_path, world(SIX, day))["red"]["used"] == 6


def test_a_local_queue_that_is_gone_has_its_part_of_what_was_lent(tmp_path: Path) -> None:
    gone = (
        world(SIX)
        .replace("namespace: green", "namespace: other")
        .replace("speech, fair", "x, fair")
    )
    assert rows(tmp_path, gone)["blue"]["lent"] == 2


def test_the_columns_of_focus_hold_rates_and_costs(tmp_path: Path) -> None:
    found = usage(tmp_path, world(SIX), "--since", "2h", "-o", "csv").stdout
    [first, *_] = [
        one for one in csv.DictReader(io.StringIO(found)) if one["SubAccountName"] == "red"
    ]
    assert (first["ListUnitPrice"], first["ListCost"], first["BilledCost"]) == ("0.5", "3.0", "3.0")
    assert (first["x_LentQuantity"], first["x_WastedQuantity"]) == ("0.0", "1.0")


def test_a_page_shows_what_was_lent_and_may_go_to_a_file(tmp_path: Path) -> None:
    file = tmp_path / "usage.html"
    usage(tmp_path, world(SIX), "--since", "2h", "-o", "html", "--output-file", str(file))
    assert file.read_text().count('<rect class="lent"') == 1


def test_bars_show_what_was_in_quota_borrowed_and_lent(tmp_path: Path) -> None:
    lines = usage(tmp_path, world(SIX), "--since", "2h", "--chart").stdout.splitlines()
    bars = {line.split()[0]: line.split()[-1] for line in lines[1:4]}
    assert (bars["red"].count("█"), bars["red"].count("▒")) == (27, 13), "4 h of 6, and 2"
    assert "░" not in bars["red"]
    assert set(bars["green"]) == {"░"}
    refused = CliRunner().invoke(cli, ["usage", "-f", str(tmp_path), "--chart", "-o", "csv"])
    assert refused.exit_code == 2


def test_a_database_gets_every_row_once_however_often_it_is_added_to(tmp_path: Path) -> None:
    file = tmp_path / "usage.db"
    for text in (world(SIX, SEVEN), world(SEVEN)):
        usage(tmp_path, text, "-o", "sqlite", "--output-file", str(file))
    with closing(sqlite3.connect(file)) as database:
        sums = database.execute("SELECT team, sum(used), sum(lent) FROM usage GROUP BY team")
        found = {team: (used / 1000 / HOUR, lent / 1000 / HOUR) for team, used, lent in sums}
    assert found == {"": (0, 4), "blue": (2, 0), "red": (12, 0)}


def test_a_database_needs_a_file(tmp_path: Path) -> None:
    found = CliRunner().invoke(cli, ["usage", "-f", str(tmp_path), "-o", "sqlite"])
    assert found.exit_code == 2
    assert "--output-file" in found.output


async def test_a_cluster_is_reported_in_every_format(tmp_path: Path) -> None:
    balance = {"balance": "1.00 coreh", "weightFactor": "2", "microCredits": 3_600_000_000}
    account = {
        "apiVersion": "queueing.dev/v1alpha1",
        "kind": "CreditAccount",
        "metadata": {"name": "all"},
        "spec": {"cohortName": "all"},
    }
    status = {"children": [{"kind": "ClusterQueue", "name": "vision"} | balance]}
    homes = "".join(
        f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
        for name in ("red", "blue", "green")
    )
    kubeconfig, told = tmp_path / "kubeconfig", dict[str, str]()
    objects = parse(homes + world(SIX), file="objects")
    async with asyncio.timeout(60), local_cluster(ServerLocation(), objects) as server:
        server.load([account])
        server.api.writes.update(account | {"status": status}, subresource="status")
        kubeconfig.write_text(server.kubeconfig())
        flags = ("--kubeconfig", str(kubeconfig))
        for output in ("table", "csv", "json", "html"):
            call = ["usage", *flags, "--now", NOW, "--since", "2h", "-o", output]
            found = await asyncio.to_thread(CliRunner().invoke, cli, call)
            assert found.exit_code == 0, found.output
            told[output] = found.stdout
        balances = await asyncio.to_thread(CliRunner().invoke, cli, ["credits", *flags])
    assert told["table"] == TABLE
    assert [one["SubAccountName"] for one in csv.DictReader(io.StringIO(told["csv"]))] == [
        one["payer"] for one in json.loads(told["json"])["rows"]
    ]
    chart = told["html"][told["html"].index("<svg") : told["html"].index("</svg>") + 6]
    bars = [one.attrib for one in ET.fromstring(chart).iter("rect")]
    longest = max(float(one["x"]) + float(one["width"]) for one in bars)
    assert {one["class"] for one in bars} == {"quota", "borrowed", "lent"}
    assert longest == float(ET.fromstring(chart).attrib["width"])
    assert "vision   1.00 coreh" in balances.output
