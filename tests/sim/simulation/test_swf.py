"""Traces in the Standard Workload Format."""

import gzip
from pathlib import Path

import pytest

from queueing.core.names import Key
from queueing.sim.simulation.swf import Mapped, Trace, read_swf
from queueing.sim.yaml_text import ManifestError

TRACE = """\
; Version: 2.2
; MaxProcs: 128
1 100 5 3600 16 -1 -1 16 7200 -1 1 3 1 -1 2 -1 -1 -1
2 160 0 60 -1 -1 -1 4 -1 -1 1 -1 1 -1 1 -1 -1 -1

3 200 9 -1 8 -1 -1 8 100 -1 5 4 1 -1 1 -1 -1 -1
"""
MAIN = Mapped(queue=Key("team/main"), queues={"2": Key("team/large")})


def written(tmp_path: Path, text: str) -> Trace:
    path = tmp_path / "trace.swf"
    path.write_text(text)
    return Trace(str(path))


def test_a_job_comes_at_its_time_with_its_processors_limit_user_and_queue(tmp_path: Path) -> None:
    first, second = read_swf(written(tmp_path, TRACE), 1000.0, MAIN)
    assert (first.at, first.runs_s, first.fact.local_queue) == (1000.0, 3600.0, "team/large")
    (pods,) = first.fact.pod_sets
    assert (pods.count, dict(pods.requests)) == (16, {"cpu": 1000})
    assert (first.fact.max_execution_s, first.fact.user) == (7200, "user-3")
    assert (second.at, second.fact.local_queue, second.fact.user) == (1060.0, "team/main", "")
    assert second.fact.max_execution_s is None


def test_jobs_of_one_number_or_of_none_are_different_workloads(tmp_path: Path) -> None:
    line = "{} 100 0 60 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n"
    trace = written(tmp_path, "".join(map(line.format, (7, 7, -1, -1))))
    keys = [one.fact.key for one in read_swf(trace, 0.0, MAIN)]
    assert keys == ["team/job-7", "team/line-2", "team/line-3", "team/line-4"]


def test_a_job_that_comes_after_the_year_9999_is_a_broken_line(tmp_path: Path) -> None:
    late = "3 9007199254740000 0 60 2 -1 -1 2 100 -1 1 1 1 -1 1 -1 -1 -1\n"
    trace = written(tmp_path, TRACE + late)
    assert len(list(read_swf(trace, 1000.0, MAIN, skip_broken=True))) == 2
    assert str(trace.broken[0]).partition(": ")[2].startswith("submit time: is after the year 9999")


def test_who_never_ran_is_left_out_and_the_size_of_the_machine_is_read(tmp_path: Path) -> None:
    trace = written(tmp_path, TRACE)
    assert len(list(read_swf(trace, 0.0, MAIN))) == 2
    assert (trace.left_out, trace.processors) == (1, 128)


def test_a_compressed_trace_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "trace.swf.gz"
    path.write_bytes(gzip.compress(TRACE.encode()))
    assert len(list(read_swf(Trace(str(path)), 0.0, MAIN))) == 2


def test_a_damaged_compressed_trace_is_told(tmp_path: Path) -> None:
    path = tmp_path / "trace.swf.gz"
    whole = bytearray(gzip.compress(TRACE.encode()))
    whole[10] = 0xFF  # no block is of this type
    path.write_bytes(whole)
    with pytest.raises(ManifestError, match=r"trace\.swf\.gz"):
        list(read_swf(Trace(str(path)), 0.0, MAIN))


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("1 2 3", ":2: run time: there are 3 numbers in place of 18; mend"),
        ("x" + " 1" * 17, ":2: job number: 'x' is not a number; mend"),
        ("1 1e30" + " 1" * 16, ":2: submit time: 1e30 is out of range; mend"),
        ("1 nan" + " 1" * 16, ":2: submit time: nan is out of range; mend"),
    ],
)
def test_a_broken_line_is_told_with_its_field_and_the_way_out(
    tmp_path: Path, line: str, said: str
) -> None:
    with pytest.raises(ManifestError) as error:
        list(read_swf(written(tmp_path, f"; a header\n{line}\n"), 0.0, MAIN))
    assert said in str(error.value)
    assert "--skip-broken-lines" in str(error.value)


def test_broken_lines_are_left_out_when_that_is_asked_for(tmp_path: Path) -> None:
    trace = written(tmp_path, f"what\n{TRACE}")
    assert len(list(read_swf(trace, 0.0, MAIN, skip_broken=True))) == 2
    assert len(trace.broken) == 1
