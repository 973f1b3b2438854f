"""What the log of the controller tells of its admissions."""

from pathlib import Path

import pytest

from bench.decision_times import admissions_in, mark_of

BEFORE = '{"ts": "2026-01-01T00:00:00.000Z", "msg": "Admit", "workload": "team/before"}\n'
LINES = """\
a line of another program
{"ts": "2026-01-01T00:00:02.500Z", "msg": "Admit", "workload": "team/one", "stored_after_s": 0.25}
{"ts": "2026-01-01T00:00:03.000Z", "msg": "Preempt", "workload": "team/one", "stored_after_s": 0.1}
{"ts": "2026-01-01T00:00:05.000Z", "msg": "Admit", "workload": "team/one", "stored_after_s": 1.0}
"""
BEGAN = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""


def test_an_admission_was_decided_so_long_before_its_line_as_that_says(tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert mark_of(log) == 0
    log.write_text(BEFORE)
    mark = mark_of(log)
    log.write_text(BEFORE + LINES)
    found = admissions_in(log, mark, BEGAN)
    assert {name: pytest.approx(times) for name, times in found.items()} == {"one": [2.25, 4.0]}
