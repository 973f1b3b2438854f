"""A recording of a random life, repeated."""

import gzip
import json
from functools import partial
from pathlib import Path

import pytest

from queueing.core.settings import Settings
from queueing.recording.codec import CodecError
from queueing.recording.lines import RecordingError, header, opened, read, written
from queueing.recording.recorder import RecordedEngine
from queueing.recording.replay import Count, Repeated, replay
from queueing.testing.builders import cluster_queue, flavor, local_queue, namespace, workload
from tests.lives.happenings import play
from tests.lives.living import LivingCluster
from tests.lives.random_events import EVERYTHING, some_step
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import seeded


def recorded(lines: list[str], settings: Settings) -> RecordedEngine:
    def fail(error: CodecError) -> None:
        raise error

    return RecordedEngine(settings, lines.append, fail)


def recorded_life(monkeypatch: pytest.MonkeyPatch, mode: str, seed: int, steps: int) -> list[str]:
    """Play a life, and return its recording."""
    lines = [header()]
    monkeypatch.setattr(LivingCluster, "engines", partial(recorded, lines))
    choose = by_seed(seed)
    cluster = LivingCluster.of(seeded(seed, mode))
    for at in range(steps):
        play(cluster, some_step(choose, EVERYTHING))
        if not at % 7:
            cluster.engine.sweep(2)
    return lines


def repeated(lines: list[str]) -> tuple[list[Repeated], Count]:
    count = Count()
    source = iter([one.encode() for one in lines])
    return list(replay(read(source, "life"), "life", count)), count


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_life_is_repeated_byte_for_byte(
    monkeypatch: pytest.MonkeyPatch, mode: str, seed: int
) -> None:
    lines = recorded_life(monkeypatch, mode, seed, 120)
    answers, count = repeated(lines)
    assert count.cycles > 20
    assert count.admitted
    assert [one for one in answers if not one.same] == []


def test_a_round_that_paused_is_repeated_where_it_paused() -> None:
    lines = [header()]
    engine = recorded(lines, Settings())
    for fact in (namespace(), flavor(), cluster_queue(), local_queue()):
        engine.observe(fact)
    for number in range(9):
        engine.observe(workload(f"w{number}", {"cpu": 1_000 + number}))
    asked = iter([False, True] * 50)
    cycle = engine.cycle(5.0, None, lambda: next(asked))
    engine.observe(workload("late", priority=9))
    while not cycle.finished:
        cycle = engine.cycle(5.0, None, lambda: next(asked))
    assert sum("late" in one and '"observe"' in one for one in lines) == 1
    answers, count = repeated(lines)
    assert count.cycles > 2
    assert all(one.same for one in answers)


def test_an_answer_is_written_as_in_recordings_made_before() -> None:
    lines: list[str] = []
    recorded(lines, Settings()).cycle(5.0, 10)
    gave = (
        '{"$":"Cycle","number":1,"now":5.0,"rounds":[],"judged":0,"finished":true,"wake_at":null}'
    )
    assert lines[-1].strip() == f'{{"cycle":[5.0,10,null],"gave":{gave}}}'


def test_another_decision_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = recorded_life(monkeypatch, "classical", 1, 60)
    at = next(place for place, line in enumerate(lines) if '"Admit"' in line)
    lines[at] = lines[at].replace('"judged":', '"judged":1')
    answers, _ = repeated(lines)
    assert [one.number for one in answers if not one.same] == [at + 1]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], ":1: is empty"),
        (['{"kind":"List"}\n'], ":1: is no recording"),
        ([written({"recording": 99, "version": "7"})], "is of format 99; this version"),
        ([written({"recording": 1, "version": "7.1"})], "made by queueing 7.1, and this is"),
        ([header(), "nonsense\n"], ":2: is not JSON"),
        ([header(), '{"observe":{"$":"Popen"}}\n'], ":2: observe: Popen cannot be read"),
        ([header(), '{"cycle":[1,null,null]}\n'], ":2: there is no engine yet"),
        ([header(), '{"cycle":5}\n'], ":2: cycle: cannot hold this"),
        ([header(), '{"cycle":[1e99,null,null]}\n'], ":2: cycle: cannot hold this"),
        ([header(), '{"cycle":[1,"x",null]}\n'], ":2: cycle: cannot hold this"),
        ([header(), '{"begin":5}\n'], ":2: begin: cannot hold this"),
        ([header(), '{"observe":5}\n'], ":2: observe: cannot hold this"),
        ([header(), '{"settle":5}\n'], ":2: settle: cannot hold this"),
        ([header(), '{"sweep":"all"}\n'], ":2: sweep: cannot hold this"),
        ([header(), '{"observe":' + "[" * 100_000 + "\n"], ":2: is not JSON"),
        (
            [header(), '{"observe":' + '{"$":"list","":[' * 350 + "]}" * 350 + "}\n"],
            ":2: observe: is nested too deeply",
        ),
    ],
)
def test_what_is_no_recording_is_told_with_its_line(lines: list[str], said: str) -> None:
    with pytest.raises(RecordingError) as error:
        repeated(lines)
    assert said in str(error.value)


def test_another_version_may_be_repeated_when_that_is_asked_for() -> None:
    lines = [written({"recording": 1, "version": "7.1"}).encode()]
    assert list(read(iter(lines), "old", any_version=True)) == []


def test_a_recording_whose_last_line_is_torn_ends_before_it() -> None:
    lines = [header().encode(), b'{"observe":{"$":"Name']
    assert list(read(iter(lines), "torn")) == []


def test_a_compressed_recording_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl.gz"
    path.write_bytes(gzip.compress((header() + written({"sweep": 3, "gave": 0})).encode()))
    with opened(str(path)) as source:
        (event,) = read(source, str(path))
    assert (event.event, event.body, event.gave) == ("sweep", 3, 0)


def test_a_damaged_compressed_recording_is_told(tmp_path: Path) -> None:
    path = tmp_path / "life.jsonl.gz"
    whole = bytearray(gzip.compress(header().encode()))
    whole[10] = 0xFF  # no block is of this type
    path.write_bytes(whole)
    with opened(str(path)) as source, pytest.raises(RecordingError, match="cannot be read"):
        list(read(source, str(path)))


def test_a_recording_is_one_json_value_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = recorded_life(monkeypatch, "fair sharing", 5, 40)
    assert all(one.endswith("\n") and one.count("\n") == 1 for one in lines)
    assert {"observe", "cycle", "begin"} <= {name for one in lines for name in json.loads(one)}
