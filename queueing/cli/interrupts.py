"""Ctrl-C while a command is still being loaded, or is over: the process just ends.

To load a command takes half a second in which nothing was done yet. Python would show where in an
import it was; and some libraries swallow the exception and go on. Before this module nothing can
be done, so it imports next to nothing.
"""

import os
import signal

EXIT_CODE = 128 + signal.SIGINT
"""What shells expect of a command that Ctrl-C ended."""
_STDERR = 2


def end_at_once() -> None:
    """Let Ctrl-C end the process on the spot, until `end_in_order`.

    What ignores the signal since before, as a job in the background does, goes on ignoring it.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def end_in_order() -> None:
    """Let Ctrl-C be an exception again: the command may have something to put right."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: object) -> None:
    """End here; what was printed was flushed when it was."""
    os.write(_STDERR, b"Interrupted.\n")
    os._exit(EXIT_CODE)
