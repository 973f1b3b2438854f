from pathlib import Path

import pytest
from click.testing import CliRunner

from queueing.cli.main import COMMANDS
from queueing.cli.reference import PAGES, PREEMPTIONS, REASONS, main
from queueing.core.decisions import PreemptionReason, Reason
from tests.phases import Phase

DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.mark.parametrize("name", list(PAGES))
def test_the_page_in_the_repository_is_fresh(name: str) -> None:
    assert (DOCS / name).read_text() == PAGES[name](), "run `make generate`"


def test_every_reason_is_explained() -> None:
    assert set(REASONS) == set(Reason)
    assert set(PREEMPTIONS) == set(PreemptionReason)


def test_every_phase_of_a_workload_is_drawn_and_explained() -> None:
    page = (DOCS / "lifecycle.md").read_text()
    for phase in Phase:
        assert f"    {phase} --> " in page
        assert f" --> {phase}" in page
        assert f"- *{phase}*: " in page


def test_every_command_for_people_has_its_section() -> None:
    page = PAGES["cli.md"]()
    listed = [name for name, entry in COMMANDS.items() if not entry.hidden]
    assert [line[12:] for line in page.splitlines() if line.startswith("## queueing ")] == listed


def test_check_names_stale_pages(tmp_path: Path) -> None:
    run = CliRunner().invoke
    assert run(main, ["--write", str(tmp_path)]).exit_code == 0
    assert run(main, ["--check", str(tmp_path)]).exit_code == 0
    (tmp_path / "reasons.md").write_text("something else")
    result = run(main, ["--check", str(tmp_path)])
    assert result.exit_code == 1
    assert "reasons.md: stale" in result.stderr
