"""The folder of one run: the socket between its parts, and the files of its certificate.

It goes with the run. What a run left behind that was killed, the next one clears, and waits for it
if need be. All processes of a run hold a lock on its folder, which therefore is free only when the
last of them is gone.
"""

import fcntl
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

PREFIX: Final = "queueing-run-"


class Workplace(NamedTuple):
    """A folder that nobody else can read, and the descriptor that keeps it locked."""

    folder: Path
    lock: int
    """To be inherited by every process that uses the folder."""


@contextmanager
def workplace() -> Iterator[Workplace]:
    """Lend a folder until the end of the block, and clear what killed runs left."""
    _clear_leftovers(Path(tempfile.gettempdir()))
    made = _make()
    try:
        yield made
    finally:
        shutil.rmtree(made.folder, ignore_errors=True)
        os.close(made.lock)


def _make() -> Workplace:
    """Make a folder and lock it; another run may take it for a leftover before it is locked."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=PREFIX))
        with suppress(FileNotFoundError):
            lock = os.open(folder, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX)
            if folder.exists():
                return Workplace(folder, lock)
            os.close(lock)


def _clear_leftovers(place: Path) -> None:
    """Remove the folders of runs of this user that nobody holds any more.

    Parts of a run that was killed just now may still be ending: their folder is removed as soon as
    the last of them is gone. The thread that waits for that keeps no process from ending.
    """
    for folder in place.glob(f"{PREFIX}*"):
        if not _clear(folder, fcntl.LOCK_EX | fcntl.LOCK_NB):
            waits = (folder, fcntl.LOCK_EX)
            threading.Thread(target=_clear, args=waits, name="leftover", daemon=True).start()


def _clear(folder: Path, operation: int) -> bool:
    """Lock a folder and remove it; False if another process holds it."""
    with suppress(OSError):  # it is somebody else's, or goes at this moment
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            if os.fstat(lock).st_uid == os.getuid():
                fcntl.flock(lock, operation)
                shutil.rmtree(folder)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
    return True
