"""Repeats a recording: the same engine is told the same, and must answer the same."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.recording.lines import Line, RecordingError, line, written
from queueing.recording.recorder import BEGIN, RepeatedPause
from queueing.state.engine import Engine


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """One answer of the engine, and what the recording says it was."""

    number: int
    """The line of the recording."""
    cycle: Cycle | None
    """What was decided now; None for what is no cycle."""
    recorded: str
    """The line as it was written, without what the engine was told."""
    repeated: str

    @property
    def same(self) -> bool:
        """Whether both are equal, to the byte."""
        return self.recorded == self.repeated


@dataclass(slots=True)
class Count:
    """What a replay has gone through so far."""

    terms: int = 0
    facts: int = 0
    cycles: int = 0
    admitted: int = 0
    preempted: int = 0
    engine: Engine | None = None

    def add(self, cycle: Cycle) -> None:
        """Count a cycle and its decisions."""
        self.cycles += 1
        for one in cycle.decisions:
            self.admitted += isinstance(one, Admit)
            self.preempted += isinstance(one, Preempt) and not one.already_evicted


def replay(lines: Iterable[Line], file: str, count: Count) -> Iterator[Repeated]:
    """Repeat a recording, answer by answer. Raises RecordingError for what is no event."""
    for one in lines:
        if one.event == BEGIN:
            count.engine = Engine(one.body)
            count.terms += 1
            continue
        engine = count.engine
        if engine is None:
            raise RecordingError(file, one.number, "there is no engine yet")
        match one.event:
            case "observe":
                engine.observe(one.body)
                count.facts += 1
            case "settle":
                engine.settle(one.body)
            case "cycle":
                now, budget, paused = one.body
                pause = None if paused is None else RepeatedPause(paused)
                cycle = engine.cycle(now, budget, pause)
                count.add(cycle)
                yield _repeated(one, cycle)
            case "now":
                pass  # of a snapshot, which decides nothing
            case "sweep":
                yield _repeated(one, engine.sweep(one.body))
            case _:
                raise RecordingError(file, one.number, f"{one.event} is no event")


def _repeated(one: Line, answer: Cycle | int) -> Repeated:
    return Repeated(
        number=one.number,
        cycle=answer if isinstance(answer, Cycle) else None,
        recorded=written({one.event: None, "gave": one.gave}),
        repeated=line(one.event, None, answer),
    )
