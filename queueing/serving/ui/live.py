"""What changes while a page is open, as server-sent events.

A page is made again every few seconds at most, and sent only if it is another one. A stream ends by
itself after some minutes; browsers ask again, so that a proxy on the way need not keep it for ever.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import msgspec
from aiohttp import web

from queueing.serving.ui.headers import SAFE
from queueing.serving.ui.problems import NotNowError, PageError

STREAMS_MAX = 100
"""How many pages may be open at a time and hear of changes; more are shown without them."""
OF_ONE_MAX = 20
"""How many of these may be of one visitor."""
LASTS_S = 300.0
AGAIN_MS = 5_000
"""After how long a browser asks again when a stream has ended."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A page as it is now."""

    main: str
    """The HTML inside its `main`."""
    time: str
    every_s: float


Make = Callable[[], Awaitable[Shown]]


class Streams:
    """The streams that are open."""

    def __init__(
        self,
        lasts_s: float = LASTS_S,
        streams_max: int = STREAMS_MAX,
        of_one_max: int = OF_ONE_MAX,
    ) -> None:
        self._lasts_s, self._max, self._of_one_max = lasts_s, streams_max, of_one_max
        self._open: dict[asyncio.Event, str] = {}
        """What ends each stream, with the name of the visitor."""

    def end(self) -> None:
        """Have all of them end soon."""
        for closing in self._open:
            closing.set()

    async def send(self, request: web.Request, visitor: str, make: Make) -> web.StreamResponse:
        """Send a page to a visitor whenever it has changed.

        Raises NotNowError where too many are open.
        """
        headers = {**SAFE, "Content-Type": "text/event-stream", "X-Accel-Buffering": "no"}
        response = web.StreamResponse(headers=headers)
        with self._opened(visitor) as closing:
            shown = await make()
            await response.prepare(request)
            await response.write(f"retry: {AGAIN_MS}\n\n".encode())
            # It ends when it has lasted long enough, or nobody looks any more.
            with suppress(TimeoutError, ConnectionError):
                async with asyncio.timeout(self._lasts_s):
                    try:
                        await self._follow(response, make, shown, closing)
                    except PageError as error:
                        await response.write(_event("problem", {"text": str(error)}))
        return response

    async def _follow(
        self, response: web.StreamResponse, make: Make, shown: Shown, closing: asyncio.Event
    ) -> None:
        told = ""
        while not closing.is_set():
            name = "same" if shown.main == told else "page"
            body = {"time": shown.time} | ({"main": shown.main} if name == "page" else {})
            told = shown.main
            await response.write(_event(name, body))
            try:
                async with asyncio.timeout(shown.every_s):
                    await closing.wait()
            except TimeoutError:
                shown = await make()

    @contextmanager
    def _opened(self, visitor: str) -> Iterator[asyncio.Event]:
        if len(self._open) >= self._max:
            raise NotNowError("Too many pages are open to send changes to one more.")
        if list(self._open.values()).count(visitor) >= self._of_one_max:
            raise NotNowError("You have too many pages open to send changes to one more.")
        closing = asyncio.Event()
        self._open[closing] = visitor
        try:
            yield closing
        finally:
            del self._open[closing]


def _event(name: str, body: dict[str, str]) -> bytes:
    return f"event: {name}\ndata: {msgspec.json.encode(body).decode()}\n\n".encode()
