"""Holds evictions back for a moment, and drops those that nobody needs any more.

Called by `effects`, for each victim that was chosen; run by `session`. Between the choice of a
victim and its eviction it may end, or its preemptor may get quota that others released. Nothing is
stored meanwhile: a new leader chooses anew.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NoReturn

from queueing.controller.term import Term
from queueing.core.decisions import Outcome, Preempt, Verdict

logger = logging.getLogger(__name__)

EVICTED_AFTER_S = 2.0
"""Seconds from the choice of a victim to its eviction: little beside the time that pods take to
leave, and long beside the writes that are on their way."""
ASKED_AGAIN_S = 0.01
"""Seconds until the engine is asked again whose round has paused."""


class LateEvictions:
    """Evictions that were decided a moment ago, oldest first.

    `evict` gets those that are needed when their time has come, and when they were decided. A
    victim whose admission is not stored by then gets as much time again: that may be refused.
    """

    def __init__(self, term: Term, evict: Callable[[Preempt, float], None]) -> None:
        self._term, self._evict = term, evict
        self._held: asyncio.Queue[tuple[float, Preempt, float]] = asyncio.Queue()

    def hold(self, decision: Preempt, decided: float) -> None:
        """Hold back an eviction that was decided in a cycle which began at a time."""
        self._held.put_nowait((self._term.clock.monotonic() + EVICTED_AFTER_S, decision, decided))

    async def run(self) -> NoReturn:
        """Evict, or spare, each victim when its time has come; for ever."""
        while True:
            due, decision, decided = await self._held.get()
            while self._is_early(due):
                left_s = due - self._term.clock.monotonic()
                await asyncio.sleep(max(left_s, ASKED_AGAIN_S))
            if self._term.engine.is_assumed(decision.workload):
                self.hold(decision, decided)
            elif self._term.engine.stands_by(decision):
                self._evict(decision, decided)
            else:
                logger.info(
                    "%s stays: what it would give back is needed no more", decision.workload
                )
                self._term.engine.settle(Outcome(decision=decision, verdict=Verdict.WITHDRAWN))
                self._term.queues.cycle.set()

    def _is_early(self, due: float) -> bool:
        """Say whether it is not time yet; promises may be taken back until a round has ended."""
        return self._term.clock.monotonic() < due or self._term.engine.is_within_round
