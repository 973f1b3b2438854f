"""A process that stands still for a while, without the wait."""

import asyncio

import pytest


def stand_still(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the running loop find, when it goes on, that so many seconds have passed."""
    loop = asyncio.get_running_loop()
    now = loop.time
    monkeypatch.setattr(loop, "time", lambda: now() + seconds)
