"""`queueing kind`: what is built in, and what a description reads of an example."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from queueing.cli.main import cli
from queueing.kinds.registry import BUILT_IN

ROOT = Path(__file__).parents[3]
DESCRIPTION, EXAMPLE = (
    ROOT / "examples" / "kinds" / f"{name}.yaml" for name in ("description", "example")
)
SAMPLES = ROOT / "tests" / "kinds" / "samples"


def run(*arguments: object, text: str = "") -> Result:
    return CliRunner().invoke(cli, ["kind", *map(str, arguments)], input=text)


def checked(*files: object) -> Any:
    given = (part for file in files for part in ("-f", file))
    result = run("check", *given, "-o", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def refused(
    tmp_path: Path,
    *,
    description: dict[str, str] | None = None,
    example: dict[str, str] | None = None,
) -> str:
    """Return what is said of the files of the repository with some texts replaced."""
    files = []
    for name, changes in (("description", description), ("example", example)):
        text = (DESCRIPTION if name == "description" else EXAMPLE).read_text()
        for old, new in (changes or {}).items():
            assert old in text
            text = text.replace(old, new)
        file = tmp_path / f"{name}.yaml"
        file.write_text(text)
        files += ["-f", file]
    result = run("check", *files)
    assert result.exit_code == 2, result.output
    return result.output.replace(f"{tmp_path}/", "").removeprefix("Error: ").strip()


def test_the_example_of_the_repository_is_read_by_its_description() -> None:
    (found,) = checked(DESCRIPTION, EXAMPLE)["examples"]
    small, large = {"nvidia.com/gpu": "1", "cpu": "2"}, {"nvidia.com/gpu": "8"}
    assert [(one["name"], one["count"], one["requests"]) for one in found["podSets"]] == [
        ("coordinator", 1, {"cpu": "500m", "memory": "1Gi"}),
        ("small", 4, small),
        ("large", 1, large),
    ]
    states = found["states"]
    assert (states["suspended"], states["active"], states["ready"]) == (True, True, False)
    assert states["reclaimable"] == {"small": 4}
    assert states["finished"] is None


def test_a_table_for_people_shows_the_same() -> None:
    output = run("check", "-f", DESCRIPTION, "-f", EXAMPLE).output
    assert "lab.example.com/v1 Experiment: the description can be used." in output
    lines = [" ".join(line.split()) for line in output.splitlines()]
    assert "small 4 - cpu=2, nvidia.com/gpu=1 spec.trials[0].podTemplate" in lines
    assert "suspended yes" in lines
    assert "reclaimable small=4" in lines


def test_an_example_of_a_built_in_kind_needs_no_description() -> None:
    (found,) = checked(SAMPLES / "mpijob.yaml")["examples"]
    assert [(one["name"], one["count"]) for one in found["podSets"]] == [
        ("launcher", 1),
        ("worker", 4),
    ]
    assert found["describedBy"] == "built-in"


def test_an_object_that_another_one_needs_is_found_among_the_files() -> None:
    (found,) = checked(SAMPLES / "trainjob.yaml", SAMPLES / "trainjob-runtime.yaml")["examples"]
    assert found["podSets"][1]["requests"] == {"nvidia.com/gpu": "2"}


def test_an_object_that_another_one_needs_and_that_is_missing_is_named() -> None:
    result = run("check", "-f", SAMPLES / "trainjob.yaml")
    assert result.exit_code == 2
    assert "trainjob.yaml:12: spec.runtimeRef: runtime 'torch-distributed' not found" in (
        result.output
    )


def test_a_description_alone_is_checked() -> None:
    output = run("check", "-f", DESCRIPTION).output
    assert "the description can be used" in output
    assert "Give an example" in output


@pytest.mark.parametrize(
    ("field", "value"), [("suspend", {"gate": "a.b/c"}), ("groups", "object.spec.replicas")]
)
def test_a_description_that_the_controller_does_not_follow_is_told(
    tmp_path: Path, field: str, value: Any
) -> None:
    body = yaml.safe_load(DESCRIPTION.read_text())
    body["spec"][field] = value
    file = tmp_path / "description.yaml"
    file.write_text(yaml.safe_dump(body))
    assert f"not queued by the controller: spec.{field}: " in run("check", "-f", file).output
    (found,) = checked(file)["descriptions"]
    assert found["notSupported"].startswith(f"spec.{field}: ")


def test_an_example_that_nothing_describes_is_refused_with_the_way_out(tmp_path: Path) -> None:
    result = run("check", "-f", EXAMPLE)
    assert result.exit_code == 2
    assert "example.yaml:2: kind: lab.example.com/v1 Experiment is not built in" in result.output
    assert "give a QueueableKind for it" in result.output


def test_an_unknown_field_of_a_description_is_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, description={"nameFrom: item.name": "namesFrom: item.name"})
    assert (
        "description.yaml:18: spec.podSets[1]: exactly one of name and nameFrom must be set" in told
    )
    told = refused(tmp_path, description={"  fixed:\n": "  fixd:\n"})
    assert "description.yaml:34: spec.fixd: unknown field; did you mean fixed?" in told


def test_a_path_that_is_none_is_refused(tmp_path: Path) -> None:
    told = refused(tmp_path, description={"field: spec.paused": "field: spec.items[0].paused"})
    assert told == (
        "description.yaml:14: spec.suspend.field: 'spec.items[0].paused' must be names of fields"
        " with dots between them, such as spec.template"
    )


def test_an_expression_that_cannot_be_read_is_refused_with_its_line(tmp_path: Path) -> None:
    told = refused(tmp_path, description={"count: item.?workers": "count: item.?workers +"})
    assert told == (
        "description.yaml:20: spec.podSets[1].count:"
        " syntax error at position 16: unexpected the end"
    )


def test_a_path_that_leads_nowhere_names_both_files_and_what_may_be_meant(tmp_path: Path) -> None:
    told = refused(tmp_path, description={"template: podTemplate": "template: podTemplat"})
    assert told == (
        "description.yaml:21: spec.podSets[1].template: spec.trials[0].podTemplat leads nowhere in"
        " the object; the example has podTemplate: is that meant by spec.trials[*].podTemplat?"
        " (example.yaml:18: Experiment team-a/sweep: spec.trials[0].podTemplat)"
    )


def test_an_expression_that_fails_on_the_example_says_why(tmp_path: Path) -> None:
    told = refused(
        tmp_path,
        description={"object.?status.running.orValue(0) > 0": "object.status.runing > 0"},
    )
    assert "description.yaml:24: spec.active.expression: object.status.runing > 0 fails" in told
    assert "where runing may be absent, write .?runing and .orValue(…)" in told
    assert "the example has running: is that meant by status.runing?" in told


def test_a_count_that_is_none_names_both_files(tmp_path: Path) -> None:
    told = refused(tmp_path, example={"workers: 4": "workers: -4"})
    assert told == (
        "description.yaml:20: spec.podSets[1].count: -4 is no count: a whole number from 0 to"
        " 2147483647 (example.yaml:18: Experiment team-a/sweep: spec.trials[0])"
    )


def test_a_field_that_the_example_lacks_is_listed(tmp_path: Path) -> None:
    (found,) = checked(DESCRIPTION, EXAMPLE)["examples"]
    assert {"path": "status.conditions", "readBy": "spec.ready.condition"} in found["notInExample"]


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("kind: [")
    result = run("check", "-f", broken)
    assert result.exit_code == 2
    assert "broken.yaml:2" in result.output


def test_all_built_in_kinds_are_listed() -> None:
    lines = run("list").output.splitlines()[1:]
    assert [line.split()[0] for line in lines] == sorted(one.name for one in BUILT_IN)


def test_a_built_in_description_can_be_printed_and_used_again(tmp_path: Path) -> None:
    printed = run("list", "jobset.x-k8s.io/jobset", "-o", "yaml").output
    assert yaml.safe_load(printed)["spec"]["resource"]["kind"] == "JobSet"
    file = tmp_path / "jobset.yaml"
    file.write_text(printed)
    (found,) = checked(file, SAMPLES / "jobset.yaml")["examples"]
    assert found["describedBy"] == str(file)
    (built_in,) = checked(SAMPLES / "jobset.yaml")["examples"]
    assert found["podSets"] == built_in["podSets"]
    assert found["states"] == built_in["states"]


def test_a_kind_that_is_not_built_in_is_named_with_those_that_are() -> None:
    result = run("list", "cronjob")
    assert result.exit_code == 2
    assert "no built-in kind is named cronjob; there are batch/job, deployment" in result.output


@pytest.mark.parametrize("name", ["check", "list"])
def test_every_command_explains_itself(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"queueing kind {name}" in result.output


def test_the_role_that_a_description_needs_can_be_applied_as_it_is_printed() -> None:
    result = run("check", "--role", "-f", DESCRIPTION)
    assert result.exit_code == 0, result.output
    role = yaml.safe_load(result.output)
    assert role["kind"] == "ClusterRole"
    assert role["metadata"]["labels"] == {"rbac.queueing.dev/kinds": "true"}
    granted = {one: rule["verbs"] for rule in role["rules"] for one in rule["resources"]}
    assert {"get", "list", "patch", "watch"} <= set(granted["experiments"])
