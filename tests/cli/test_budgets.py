"""`queueing budgets` on files."""

import json
from pathlib import Path

from click.testing import CliRunner

from queueing.cli.main import cli

BUDGET = """
---
apiVersion: queueing.dev/v1alpha1
kind: CreditBudget
metadata: {{name: {name}}}
spec: {{holder: {{{holder}}}, grant: 100, period: Weekly, onExhausted: {beyond}}}
"""
COUNTED = """
status:
  asOf: "2027-01-15T08:00:00Z"
  periodEnd: "2027-01-18T00:00:00Z"
  spent: 12.50 GPUh
  held: 40.00 GPUh
  left: 47.50 GPUh
  opportunistic: [u1, u2]
  conditions:
  - {type: Effective, status: "True", reason: Effective, message: "",
     lastTransitionTime: "2027-01-15T08:00:00Z"}
"""
WORLD = "".join(
    BUDGET.format(name=name, holder=holder, beyond=beyond).rstrip() + status
    for name, holder, beyond, status in (
        ("door", "kind: LocalQueue, namespace: team, name: main", "Block", "\n"),
        ("tree", "kind: Cohort, name: all", "DemoteToOpportunistic", COUNTED),
        ("queue", "kind: ClusterQueue, name: vision", "Block", COUNTED),
    )
)
TABLE = """\
BUDGET   HOLDER                 PERIOD   GRANT   SPENT        HELD         LEFT         UNTIL                  BEYOND IT                       BINDS
queue    ClusterQueue/vision    Weekly   100     12.50 GPUh   40.00 GPUh   47.50 GPUh   2027-01-18T00:00:00Z   Block (2 run)                   yes
tree     Cohort/all             Weekly   100     12.50 GPUh   40.00 GPUh   47.50 GPUh   2027-01-18T00:00:00Z   DemoteToOpportunistic (2 run)   yes
door     LocalQueue/team/main   Weekly   100     -            -            -            -                      Block                           no: Nobody has counted it yet
"""  # noqa: E501 - a golden table


def shown(tmp_path: Path, text: str, *arguments: str) -> str:
    file = tmp_path / "objects.yaml"
    file.write_text(text)
    found = CliRunner().invoke(cli, ["budgets", "-f", str(file), *arguments])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_budgets_of_every_kind_of_holder_are_shown_with_what_is_left(tmp_path: Path) -> None:
    assert shown(tmp_path, WORLD) == TABLE


def test_budgets_of_others_are_left_out(tmp_path: Path) -> None:
    found = json.loads(shown(tmp_path, WORLD, "--holder", "LocalQueue/team/main", "-o", "json"))
    assert [one["name"] for one in found["budgets"]] == ["door"]
    assert "No CreditBudget of Cohort/x" in shown(tmp_path, WORLD, "--holder", "Cohort/x")
