"""Snapshots, one after the other, as one recording."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from queueing.core.facts import Fact, Gone, Kind
from queueing.core.settings import Settings
from queueing.recording import snapshot
from queueing.recording.following import KINDS, Following
from queueing.recording.lines import FORMAT, HEADER, RecordingError, read, written
from queueing.recording.replay import Count, replay
from queueing.testing.builders import (
    admitted,
    cluster_queue,
    condition,
    flavor,
    local_queue,
    namespace,
    workload,
)

OBJECTS: tuple[Fact, ...] = (namespace(), flavor(), cluster_queue(), local_queue())
RUNS, WAITS = admitted("runs"), workload("waits")
ENDED = replace(RUNS, conditions={**RUNS.conditions, "Finished": condition("Finished")})


def seen(now: float, facts: Iterable[Fact], settings: Settings | None = None) -> bytes:
    return (snapshot.beginning(settings or Settings(), now) + snapshot.lines(facts)).encode()


def told(following: Following, text: bytes) -> list[bytes]:
    return list(following.lines(text, "it"))


def test_the_first_snapshot_is_told_as_it_is() -> None:
    first = seen(1.0, (*OBJECTS, RUNS, WAITS))
    assert b"".join(told(Following(), first)) == first


def test_of_later_ones_only_what_changed_is_told_and_who_is_gone() -> None:
    following = Following()
    first = told(following, seen(1.0, (*OBJECTS, RUNS, WAITS)))
    second = told(following, seen(16.0, (*OBJECTS, ENDED)))
    third = told(following, seen(31.0, (*OBJECTS, ENDED)))
    header = first[0].splitlines(keepends=True)[0]
    bodies = [one.body for one in read(iter([header, *second]), "it")]
    assert bodies == [16.0, ENDED, Gone(Kind.WORKLOAD, "team/waits")]
    assert len(third) == 1, "the moment alone"


def test_another_leader_with_other_settings_is_told_from_the_start_under_the_same_header() -> None:
    following, strict = Following(), Settings(partial_admission=False)
    text = told(following, seen(1.0, (*OBJECTS, RUNS)))
    text += told(following, seen(2.0, OBJECTS, strict))
    count = Count()
    whole = b"".join(text).splitlines(keepends=True)
    bodies = [one.body for one in read(iter(whole), "it")]
    assert bodies == [Settings(), 1.0, *OBJECTS, RUNS, strict, 2.0, *OBJECTS]
    assert list(replay(read(iter(whole), "it"), "it", count)) == []
    assert count.terms == 2
    assert count.engine is not None
    assert count.engine.memory.workloads == {}


def test_a_leader_of_another_version_ends_the_recording() -> None:
    following = Following()
    first = seen(1.0, OBJECTS)
    told(following, first)
    _, _, rest = first.partition(b"\n")
    with pytest.raises(RecordingError, match="it:1: is of another version of queueing"):
        told(following, written({HEADER: FORMAT, "version": "0.0.1"}).encode() + rest)


def test_what_was_followed_can_be_repeated() -> None:
    following = Following()
    text = told(following, seen(1.0, (*OBJECTS, RUNS))) + told(following, seen(2.0, OBJECTS))
    count = Count()
    whole = b"".join(text).splitlines(keepends=True)
    assert list(replay(read(iter(whole), "it"), "it", count)) == []
    assert (count.terms, count.cycles) == (1, 0)
    assert count.engine is not None
    assert count.engine.memory.workloads == {}


def test_a_snapshot_that_is_cut_off_is_refused() -> None:
    with pytest.raises(RecordingError, match="ends within a line"):
        told(Following(), seen(1.0, OBJECTS)[:-1])


def test_every_kind_of_object_can_go() -> None:
    assert set(KINDS.values()) == set(Kind)
