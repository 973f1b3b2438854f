import gc
import json
import time
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.cli.main import cli
from tests.cli.manifests import queues

QUEUES = queues("a", 4, "a")
WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: NAME, namespace: team}
spec:
  queueName: a
  podSets:
  - name: main
    count: 1
    template: {spec: {containers: [{name: c, resources: {requests: {cpu: 3}}}]}}
"""


def plan(*arguments: str, text: str = "") -> Result:
    return CliRunner().invoke(cli, ["plan", *arguments], input=text)


def workload(name: str) -> str:
    return "---\n" + WORKLOAD.replace("NAME", name)


def test_the_json_has_the_promised_shape() -> None:
    result = plan("-f", "-", "--rounds", "1", "-o", "json", text=QUEUES + workload("w"))
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "rounds": [
            {
                "round": 1,
                "decisions": [
                    {
                        "workload": "team/w",
                        "action": "Admit",
                        "clusterQueue": "a",
                        "borrowing": False,
                        "reservedOnly": False,
                        "podSetAssignments": [
                            {
                                "name": "main",
                                "count": 1,
                                "flavors": {"cpu": "default"},
                                "resourceUsage": {"cpu": "3"},
                                "topologyAssignment": None,
                            }
                        ],
                    }
                ],
            }
        ],
        "usage": {
            "a": {"default": {"cpu": {"nominal": "4", "used": "3", "borrowed": "0", "lent": "0"}}}
        },
        "cohorts": {},
        "weightedShare": {"clusterQueues": {"a": 0}, "cohorts": {}},
    }


def test_the_order_of_the_documents_changes_nothing(tmp_path: Path) -> None:
    documents = (QUEUES + workload("x") + workload("y")).split("---\n")
    outputs = set()
    for name, order in (("one", documents), ("two", documents[::-1])):
        (tmp_path / name).write_text("---\n".join(order))
        outputs.add(plan("-f", str(tmp_path / name), "--now", "2026-01-01T00:00:00Z").stdout)
    assert len(outputs) == 1


def test_yaml_says_the_same_as_json() -> None:
    text = QUEUES + workload("w")
    as_json = plan("-f", "-", "-o", "json", text=text).stdout
    as_yaml = plan("-f", "-", "-o", "yaml", text=text).stdout
    assert yaml.safe_load(as_yaml) == json.loads(as_json)


def test_the_table_is_plain_columns() -> None:
    output = plan("-f", "-", text=QUEUES + workload("x") + workload("y")).stdout
    lines = output.splitlines()
    assert lines[0].split() == ["ROUND", "ACTION", "WORKLOAD", "CLUSTERQUEUE", "DETAIL"]
    assert lines[1].split()[:4] == ["1", "Admit", "team/x", "a"]
    assert "\x1b" not in output
    assert "Stable after" in lines[-1]


def test_without_workloads_nothing_waits() -> None:
    assert plan("-f", "-", text=QUEUES).stdout.startswith("Nothing waits: no pending Workload")


@pytest.mark.parametrize(
    ("arguments", "text", "want"),
    [
        pytest.param((), "", "give manifests with -f", id="no input"),
        pytest.param(("-f", "nowhere.yaml"), "", "nowhere.yaml: No such file", id="no file"),
        pytest.param(("-f", "-"), "a: ]", "-:1: ", id="no YAML"),
        pytest.param(("-f", "-", "--now", "noon"), QUEUES, "'noon' is not a time", id="no time"),
        pytest.param(
            ("-f", "-", "--rounds", "1", "--until-stable"), QUEUES, "exclude", id="both modes"
        ),
        pytest.param(("-f", "-", "--rounds", "0"), QUEUES, "x>=1", id="no rounds"),
        pytest.param(
            ("-f", "-", "--config", "nowhere"), QUEUES, "nowhere: No such file", id="no config"
        ),
    ],
)
def test_bad_input_ends_with_code_2_and_says_why(
    arguments: tuple[str, ...], text: str, want: str
) -> None:
    result = plan(*arguments, text=text)
    assert result.exit_code == 2
    assert want in result.stderr
    assert result.stdout == ""


def test_a_configuration_of_its_own_wins(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "resources: {excludeResourcePrefixes: [cpu]}\n"
    )
    text = QUEUES + workload("w")
    report = json.loads(plan("-f", "-", "--config", str(config), "-o", "json", text=text).stdout)
    assert report["usage"]["a"]["default"]["cpu"]["used"] == "0"


CONFIG_MAP = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    resources: {excludeResourcePrefixes: [cpu]}
"""


def test_the_config_map_of_an_installation_is_a_configuration(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(CONFIG_MAP)
    text = QUEUES + workload("w").replace("cpu: 3", "cpu: 99")
    report = json.loads(plan("-f", "-", "--config", str(config), "-o", "json", text=text).stdout)
    assert report["rounds"][0]["decisions"][0]["action"] == "Admit"
    told = plan("-f", "-", "-f", str(config), text=text).stderr
    assert "the Configuration in it is read from --config" in told
    config.write_text(CONFIG_MAP.replace("excludeResourcePrefixes", "excluded"))
    told = plan("-f", "-", "--config", str(config), text=text).stderr
    assert "config.yaml (controller_manager_config.yaml):3: resources.excluded: unknown" in told


def test_a_config_file_with_anything_else_in_it_is_refused(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(QUEUES)
    result = plan("-f", "-", "--config", str(config), text=QUEUES)
    assert result.exit_code == 2
    assert "must hold one Configuration" in result.stderr


def test_warnings_go_to_standard_error() -> None:
    text = QUEUES + "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\n"
    result = plan("-f", "-", "-o", "json", text=text)
    assert result.exit_code == 0
    assert "ConfigMap (v1) is not known" in result.stderr
    assert json.loads(result.stdout)["rounds"]


def test_two_hundred_objects_are_planned_at_once() -> None:
    text = QUEUES + "".join(workload(f"w{number}") for number in range(197))
    started = time.process_time()
    result = plan("-f", "-", "--rounds", "1", "-o", "json", text=text)
    assert time.process_time() - started < 10.0, "it takes a tenth of a second of CPU"
    assert len(json.loads(result.stdout)["rounds"][0]["decisions"]) == 197


def test_a_plan_that_reaches_the_limit_of_rounds_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("queueing.sim.plan", "queueing.cli.plan"):
        monkeypatch.setattr(f"{module}.STABLE_ROUNDS_MAX", 2)
    text = QUEUES.replace("nominalQuota: 4", "nominalQuota: 40")
    text += "".join(workload(name) for name in "abcd")
    result = plan("-f", "-", "--until-stable", "--compatibility", "Kueue", "-o", "json", text=text)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert result.stderr == "Warning: not stable after 2 rounds\n"
    assert (report["stable"], len(report["rounds"])) == (False, 2)


@pytest.mark.parametrize("written", ["yesterday", "2026-01-01", "2026-13-01T00:00:00Z"])
def test_a_time_that_is_none_is_told_with_the_line_of_its_field(written: str) -> None:
    text = workload("w") + f'status:\n  requeueState:\n    requeueAt: "{written}"\n'
    result = plan("-f", "-", text=text)
    line = text.splitlines().index(f'    requeueAt: "{written}"') + 1
    field = f"-:{line}: status.requeueState.requeueAt: '{written}' is not a time"
    assert result.exit_code == 2
    assert result.stderr.startswith(f"Error: {field}; write it like ")


@pytest.mark.parametrize("text", [QUEUES, "a: ]"])
def test_garbage_is_collected_again_once_the_documents_are_read(text: str) -> None:
    plan("-f", "-", text=text)
    assert gc.isenabled()


@pytest.mark.parametrize(
    ("written", "misspelt", "want"),
    [
        pytest.param(
            "nominalQuota: 4",
            "nominalQuota: 4, borrowLimit: 1",
            "unknown field, left out; did you mean borrowingLimit?",
            id="a typo",
        ),
        pytest.param(
            "  namespaceSelector: {}",
            "  namespaceSelector: {}\n  cohort: team",
            "spec.cohort: a field of v1beta1 only, left out; did you mean cohortName?",
            id="the other version",
        ),
    ],
)
def test_a_field_that_does_not_exist_warns_and_ends_a_strict_plan_with_code_2(
    written: str, misspelt: str, want: str
) -> None:
    text = QUEUES.replace(written, misspelt) + workload("w")
    lenient, strict = plan("-f", "-", text=text), plan("-f", "-", "--strict", text=text)
    assert (lenient.exit_code, strict.exit_code) == (0, 2)
    assert want in lenient.stderr
    assert want in strict.stderr
    assert "Admit" in lenient.stdout
    assert strict.stdout == ""


def test_a_strict_plan_takes_what_else_is_warned_about() -> None:
    text = QUEUES + workload("w") + "---\napiVersion: v1\nkind: Service\nmetadata: {name: s}\n"
    result = plan("-f", "-", "--strict", text=text)
    assert result.exit_code == 0
    assert "Service (v1) is not known" in result.stderr
