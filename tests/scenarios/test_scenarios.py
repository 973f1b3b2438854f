"""Manifests in, decisions and reasons out: one YAML file per rule, through the seam of `plan`."""

from pathlib import Path

import pytest

from tests.scenarios.scenario import CASES, load_scenario, rewrite, run_scenario


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_the_scenario_ends_as_its_file_wants(path: Path, request: pytest.FixtureRequest) -> None:
    scenario = load_scenario(path)
    outcome = run_scenario(scenario)
    if request.config.getoption("--update", default=False):
        rewrite(scenario, outcome)
        return
    assert outcome == scenario.want


def test_every_scenario_says_in_a_comment_why_it_wants_what_it_wants() -> None:
    silent = [path.name for path in CASES if not path.read_text().startswith("# ")]
    assert silent == []


def test_updating_a_scenario_changes_only_what_it_wants(tmp_path: Path) -> None:
    original = CASES[0].read_text()
    copy = tmp_path / CASES[0].name
    copy.write_text(original.split("\nwant:")[0] + "\nwant: {error: something else}\n")
    scenario = load_scenario(copy)
    rewrite(scenario, run_scenario(scenario))
    assert copy.read_text() == original
