"""Writes a recording of the engine to a file, for as long as the process runs.

Each term of leadership begins with a new engine, and so with a line that says so. Whatever goes
wrong with the file ends the recording, and nothing else. A process that is killed leaves all but
the last second behind, and the one that is started in its place keeps that file.
"""

import asyncio
import logging
from pathlib import Path
from typing import IO

from queueing.core.settings import Settings
from queueing.recording.codec import CodecError
from queueing.recording.lines import SUFFIXES, begun, header
from queueing.recording.recorder import RecordedEngine

logger = logging.getLogger(__name__)

BYTES_MAX = 4 * 1024**3
"""Bytes before compression after which a recording ends."""
FLUSHED_EVERY_S = 1.0
"""How much of it a process that is killed may take along."""


class RecordingFile:
    """A file that lines are written to. Raises OSError if it cannot be begun.

    A file that is there already is renamed to `before`.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unflushed = False
        if path.is_file():
            path.replace(before(path))
        self._file: IO[bytes] | None = begun(path)
        self._left = BYTES_MAX
        self.write(header())

    def engine(self, settings: Settings) -> RecordedEngine:
        """Return an engine that is recorded."""
        return RecordedEngine(settings, self.write, self._give_up)

    def write(self, line: str) -> None:
        """Write a line; the recording ends when that fails, or it is too long."""
        if self._file is None:
            return
        text = line.encode()
        self._left -= len(text)
        if self._left < 0:
            self._give_up("it is too long")
            return
        try:
            self._file.write(text)
            self._unflushed = True
        except OSError as error:
            self._give_up(error)

    def flush(self) -> None:
        """Hand on what was written, so that it outlives this process."""
        if self._file is None or not self._unflushed:
            return
        self._unflushed = False
        try:
            self._file.flush()
        except OSError as error:
            self._give_up(error)

    async def keep_flushed(self) -> None:
        """Flush again and again, until cancelled."""
        while True:
            await asyncio.sleep(FLUSHED_EVERY_S)
            self.flush()

    def close(self) -> None:
        """End the recording."""
        found, self._file = self._file, None
        if found is not None:
            try:
                found.close()
            except OSError as error:
                logger.warning("the end of the recording %s is lost: %s", self._path, error)

    def _give_up(self, why: OSError | CodecError | str) -> None:
        logger.warning("the recording %s ends here: %s", self._path, why)
        self.close()


def before(path: Path) -> Path:
    """Return where the recording goes that was at a path: `life.1.jsonl.gz` for `life.jsonl.gz`."""
    ending = next((one for one in reversed(SUFFIXES) if path.name.endswith(one)), path.suffix)
    return path.with_name(f"{path.name.removesuffix(ending)}.1{ending}")
