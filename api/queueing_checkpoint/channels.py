"""How a process hears of requests and answers them."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from queueing_checkpoint.messages import Notice

POLL_S = 0.2
Heard = Callable[[Notice], None]


class Channel(Protocol):
    """A way to hear of requests and to answer them."""

    def listen(self, heard: Heard, ended: threading.Event) -> None:
        """Tell of each request, also of one that was made before, until the event is set."""
        ...

    def answer(self, text: str) -> None:
        """Give an answer. Raises OSError when it cannot be delivered now."""
        ...

    def idle(self, since: float | None) -> None:
        """Say since when nothing is done, or, by None, that something is. Raises OSError."""
        ...


class FileChannel:
    """Files in a folder that a sidecar shares: `request.json`, `answer.json` and `idle`."""

    def __init__(self, folder: Path) -> None:
        self._request, self._answer = folder / "request.json", folder / "answer.json"
        self._idle = folder / "idle"

    def listen(self, heard: Heard, ended: threading.Event) -> None:
        before = ""
        while not ended.wait(POLL_S):
            try:
                text = self._request.read_text(encoding="utf-8")
            except OSError:
                continue
            notice = Notice.read(text)
            if text != before and notice is not None:
                before = text
                heard(notice)

    def answer(self, text: str) -> None:
        write_whole(self._answer, text)

    def idle(self, since: float | None) -> None:
        if since is None:
            self._idle.unlink(missing_ok=True)
        else:
            write_whole(self._idle, "")


class SilentChannel:
    """Nobody asks: only SIGTERM does."""

    def listen(self, heard: Heard, ended: threading.Event) -> None:
        """Hear nothing."""

    def answer(self, text: str) -> None:
        """Tell nobody."""

    def idle(self, since: float | None) -> None:
        """Tell nobody."""


def write_whole(path: Path, text: str) -> None:
    """Replace a file in one step, so that no reader sees a part of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
