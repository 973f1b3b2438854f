"""What a person reads who asks why a workload waits: one YAML file per situation.

Each `told` was read by somebody who asked: would a member of a team understand it, and know what to
do? Write a new file with `told: ""`, run with `--update`, and read what it says.
"""

from pathlib import Path

import pytest

from tests.explain.case import CASES, Case


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in CASES])
def test_a_situation_is_told_as_its_file_says(path: Path, request: pytest.FixtureRequest) -> None:
    case = Case(path)
    told = case.told()
    if request.config.getoption("--update", default=False):
        case.rewrite(told)
        return
    assert told == case.page["told"]


def test_there_are_sixty_situations_and_each_says_what_it_is_about() -> None:
    about = [Case(path).page["about"] for path in CASES]
    assert len(set(about)) == len(CASES) >= 60
