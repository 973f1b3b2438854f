"""Estimates beside pages: made when somebody looks, while the page is shown without them.

An estimate takes seconds, so that no page waits for one. It is shown to all who look for as long as
it is new enough, and until the next is there.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import NoReturn

from queueing.explain.model import Estimate
from queueing.serving.estimates import ASKS_MAX, TOO_MANY
from queueing.serving.frames import Subject
from queueing.serving.ui.problems import PageError

logger = logging.getLogger(__name__)

KEEP_S = 120.0
"""How long one is shown before another is made, if somebody still looks."""
AGAIN_S = 15.0
"""After how long it is asked again where there was no answer."""
UNDER_WAY = "This is being worked out."
FAULT = "Working this out fails; the log of this replica says why."

Ask = Callable[[], Awaitable[Mapping[str, Estimate]]]


@dataclass(frozen=True, slots=True)
class Prospect:
    """What can be shown now of when workloads will be admitted."""

    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    """By namespace and name."""
    note: str = ""
    """Why there are none, or none yet; empty where there are."""


@dataclass(slots=True)
class Prospects:
    """What was asked for lately, by what it is about."""

    keep_s: float = KEEP_S
    again_s: float = AGAIN_S
    _known: dict[Subject, tuple[float, Prospect]] = field(default_factory=dict)
    """Until when each is new enough."""
    _asking: set[Subject] = field(default_factory=set)
    _wanted: asyncio.Queue[tuple[Subject, Ask]] = field(default_factory=asyncio.Queue)

    async def run(self) -> NoReturn:
        """Work out what pages want, until cancelled."""
        async with asyncio.TaskGroup() as group:
            while True:
                subject, ask = await self._wanted.get()
                group.create_task(self._ask(subject, ask), name="estimate")

    def of(self, subject: Subject, ask: Ask) -> Prospect:
        """Return what is known, and have it worked out beside where that is nothing, or old."""
        now = asyncio.get_running_loop().time()
        self._forget(now)
        until, known = self._known.get(subject, (0.0, None))
        if now >= until and subject not in self._asking:
            if len(self._asking) >= ASKS_MAX:
                return known or Prospect(note=f"{TOO_MANY[:1].upper()}{TOO_MANY[1:]}.")
            self._asking.add(subject)
            self._wanted.put_nowait((subject, ask))
        return known or Prospect(note=UNDER_WAY)

    async def _ask(self, subject: Subject, ask: Ask) -> None:
        try:
            told, lasts_s = Prospect(await ask()), self.keep_s
        except PageError as error:
            told, lasts_s = Prospect(note=str(error)), self.again_s
        except Exception:
            # Whatever it is, it is about one page; if it ended this process, everybody who may look
            # could end each replica in turn, with its webhooks.
            logger.exception("%s cannot be estimated: a bug", subject)
            told, lasts_s = Prospect(note=FAULT), self.again_s
        self._known[subject] = asyncio.get_running_loop().time() + lasts_s, told
        self._asking.discard(subject)

    def _forget(self, now: float) -> None:
        """Keep nothing that is too old to be shown while another is made."""
        self._known = {
            one: (until, known)
            for one, (until, known) in self._known.items()
            if now < until + self.keep_s
        }
