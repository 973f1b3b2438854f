"""Each alert fires while what it is made for goes on, and is silent otherwise, says promtool."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from e2e.controlplane.build import prometheus
from e2e.monitoring.scenarios import HEALTHY, WRONG
from queueing.observe.monitoring.alerts import ALERTS
from queueing.observe.monitoring.files import FILES, FOLDER

BOUND_S = 120.0
LATE = {"QueueingOverNominal": "1500m"}
"""When something has gone on for longer than its alert waits, if that is not soon."""
SOON = "100m"
FIRING = 'sum by (alertname) (ALERTS{alertstate="firing"})'


@pytest.fixture(scope="module")
def promtool() -> str:
    return str(prometheus() / "promtool")


def alert_of(scenario: str) -> str:
    return scenario.partition(":")[0]


def asked(promtool: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [promtool, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=BOUND_S, check=False)


def written(folder: Path) -> Path:
    rules = folder / "rules.yaml"
    rules.write_text(FILES[f"{FOLDER}/rules.yaml"]())
    return rules


def test_the_rules_can_be_read(promtool: str, tmp_path: Path) -> None:
    done = asked(promtool, "check", "rules", str(written(tmp_path)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"SUCCESS: {len(ALERTS)} rules found" in done.stdout


def test_every_alert_has_a_scenario() -> None:
    assert set(map(alert_of, WRONG)) == {one.name for one in ALERTS}
    assert all(set(series) <= set(HEALTHY) for series in WRONG.values())


def test_each_alert_fires_in_its_scenario_and_no_other_does(promtool: str, tmp_path: Path) -> None:
    told = asked(promtool, "test", "rules", str(_tests(tmp_path, written(tmp_path))))
    assert told.returncode == 0, told.stdout + told.stderr


def test_a_scenario_in_which_nothing_is_wrong_is_noticed(promtool: str, tmp_path: Path) -> None:
    """An alert that does not fire fails the test above."""
    healthy: dict[str, dict[str, str]] = {"QueueingLeaderLost": {}}
    told = asked(promtool, "test", "rules", str(_tests(tmp_path, written(tmp_path), healthy)))
    assert told.returncode != 0


def _tests(folder: Path, rules: Path, wrong: Mapping[str, Mapping[str, str]] = WRONG) -> Path:
    """Write the scenarios as promtool reads them, and one in which all is well."""
    scenarios: Mapping[str, Mapping[str, str]] = {"": {}, **wrong}
    document = {
        "rule_files": [str(rules)],
        "evaluation_interval": "1m",
        "tests": [
            {
                "name": name or "healthy",
                "interval": "1m",
                "input_series": [
                    {"series": series, "values": values}
                    for series, values in {**HEALTHY, **changed}.items()
                ],
                "promql_expr_test": [
                    {
                        "expr": FIRING,
                        "eval_time": LATE.get(name, SOON),
                        "exp_samples": [{"labels": f'{{alertname="{alert_of(name)}"}}', "value": 1}]
                        if name
                        else [],
                    }
                ],
            }
            for name, changed in scenarios.items()
        ],
    }
    path = folder / "tests.yaml"
    path.write_text(yaml.safe_dump(document))
    return path
