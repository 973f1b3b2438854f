"""The event loop of a long-lived process: the fastest that is installed."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any

logger = logging.getLogger(__name__)

_CLOSED = "the handler is closed"
"""What uvloop says of TLS that has bytes left to send when its connection was cut."""


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's where it is installed (not on Windows), else asyncio's own."""
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop
    made: Callable[[], asyncio.AbstractEventLoop] = import_module("uvloop").new_event_loop
    return made


def run_to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Run as asyncio.run does, on the fastest loop."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.get_loop().set_exception_handler(tell)
        runner.run(work)


def tell(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log what no task hears of, but not that a connection was cut: who used it is told that."""
    error = context.get("exception")
    if isinstance(error, RuntimeError) and str(error).endswith(_CLOSED):
        logger.debug("%s: %s", context.get("message", "a connection was cut"), error)
    else:
        loop.default_exception_handler(context)
