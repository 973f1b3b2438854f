"""The event loop of a long-lived process: the fastest that is installed."""

import asyncio
from collections.abc import Callable, Coroutine
from importlib import import_module
from importlib.util import find_spec
from typing import Any


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """Return uvloop's where it is installed (not on Windows), else asyncio's own."""
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop
    made: Callable[[], asyncio.AbstractEventLoop] = import_module("uvloop").new_event_loop
    return made


def run_to_the_end(work: Coroutine[Any, Any, None]) -> None:
    """Run as asyncio.run does, on the fastest loop."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(work)
