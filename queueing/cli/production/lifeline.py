"""A part of `queueing run` ends when the process that started it is gone, whatever became of it.

The part reads from a pipe whose other end only that process holds: its end, also by SIGKILL, is the
end of the pipe. Without this, a controller would go on leading with nobody left to stop it.
"""

import os
import signal
import threading
from collections.abc import Mapping
from typing import Final

VARIABLE: Final = "QUEUEING_LIFELINE"
"""Environment variable with the descriptor to read from."""


def follow(environment: Mapping[str, str]) -> None:
    """Send SIGTERM to this process when the pipe that the environment names ends, if any."""
    descriptor = environment.get(VARIABLE)
    if descriptor is not None:
        threading.Thread(
            target=_until_the_end, args=(int(descriptor),), name="lifeline", daemon=True
        ).start()


def _until_the_end(descriptor: int) -> None:
    while os.read(descriptor, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
