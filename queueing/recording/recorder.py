"""An engine that writes down what it is told, and what it answers.

A recording begins with the engine, so that all it knows is in it: a replay has the same memory, and
decides the same.
"""

from collections.abc import Callable
from typing import Any

from typing_extensions import override

from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Cycle, Outcome
from queueing.core.facts import Fact
from queueing.core.rounds import Pause
from queueing.core.settings import Settings
from queueing.recording.codec import CodecError
from queueing.recording.lines import line
from queueing.state.engine import Engine

BEGIN, OBSERVE, SETTLE, CYCLE, SWEEP = "begin", "observe", "settle", "cycle", "sweep"
Write = Callable[[str], None]
"""Takes a line; it may not raise."""
GiveUp = Callable[[CodecError], None]
"""Is told why the recording cannot go on."""


class RecordedEngine(Engine):
    """The engine, with a line for each call that may change what it decides."""

    __slots__ = ("_give_up", "_write")

    def __init__(self, settings: Settings, write: Write, give_up: GiveUp) -> None:
        super().__init__(settings)
        self._write, self._give_up = write, give_up
        self._note(BEGIN, settings)

    @override
    def observe(self, fact: Fact | CreditFact) -> bool:
        self._note(OBSERVE, fact)
        return super().observe(fact)

    @override
    def settle(self, outcome: Outcome) -> None:
        # The text of an API server is not looked at, so it is not written down either.
        self._note(SETTLE, Outcome(decision=outcome.decision, verdict=outcome.verdict))
        super().settle(outcome)

    @override
    def cycle(self, now: float, budget: int | None = None, pause: Pause | None = None) -> Cycle:
        counted = None if pause is None else CountedPause(pause)
        found = super().cycle(now, budget, counted)
        paused = None if counted is None else counted.first
        self._note(CYCLE, (now, budget, paused), found)
        return found

    @override
    def sweep(self, most: int) -> int:
        found = super().sweep(most)
        self._note(SWEEP, most, found)
        return found

    def _note(self, event: str, told: Any, gave: Cycle | int | None = None) -> None:
        """Write a line; what cannot be written ends the recording, not the work."""
        try:
            self._write(line(event, told, gave))
        except CodecError as error:
            self._give_up(error)


class CountedPause:
    """Asks whether to pause, and remembers at which question it was told so for the first time."""

    def __init__(self, ask: Pause) -> None:
        self._ask, self._asked = ask, 0
        self.first = 0
        """0 while it was told not to."""

    def __call__(self) -> bool:
        self._asked += 1
        told = self._ask()
        if told and not self.first:
            self.first = self._asked
        return told


class RepeatedPause:
    """Answers as one that was counted."""

    def __init__(self, first: int) -> None:
        self._first, self._asked = first, 0

    def __call__(self) -> bool:
        self._asked += 1
        return 0 < self._first <= self._asked
