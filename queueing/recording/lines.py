"""The format of recordings: the first line says by whom it was made, each other is one event."""

import gzip
import json
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, cast

from queueing import __version__
from queueing.core.credits.facts import CreditFact
from queueing.core.decisions import Outcome
from queueing.core.facts import Fact
from queueing.core.settings import Settings
from queueing.recording.codec import CodecError, decode, encode

FORMAT = 1
"""Of the lines. One that is not known cannot be read."""
HEADER = "recording"
SUFFIXES = (".jsonl", ".jsonl.gz")
UNREADABLE = (OSError, EOFError, zlib.error)
"""What reading a file raises, compressed or not: it cannot be read, is cut off, or damaged."""
LAST = 253_402_300_799.0
"""The last second of the year 9999: a later moment cannot be told."""


def _is_moment(body: Any) -> bool:
    return type(body) in (int, float) and 0 <= body <= LAST


def _is_cycle(body: Any) -> bool:
    """Say whether it is a moment, and two whole numbers or nothing: a budget and a pause."""
    if not isinstance(body, tuple) or len(body) != 3:  # noqa: PLR2004 - as many as it has
        return False
    return _is_moment(body[0]) and all(one is None or type(one) is int for one in body[1:])


BODIES: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "begin": lambda body: isinstance(body, Settings),
        "now": _is_moment,
        "observe": lambda body: isinstance(body, Fact | CreditFact),
        "settle": lambda body: isinstance(body, Outcome),
        "cycle": _is_cycle,
        "sweep": lambda body: type(body) is int,
    }
)
"""What each event may hold."""


class RecordingError(Exception):
    """A recording that cannot be used: where, and what is wrong with it."""

    def __init__(self, file: str, line: int, problem: str) -> None:
        self.file, self.line, self.problem = file, line, problem
        super().__init__(f"{file}:{line}: {problem}")


@dataclass(frozen=True, slots=True)
class Line:
    """One event: its number in the file, its name, and what it holds."""

    number: int
    event: str
    body: Any
    gave: Any = None
    """What the engine answered, as it is written."""


def header() -> str:
    """Return the first line."""
    return written({HEADER: FORMAT, "version": __version__})


def line(event: str, body: Any, gave: Any = None) -> str:
    """Return the line of an event; an answer that is None is left out."""
    plain = {event: encode(body)}
    if gave is not None:
        plain["gave"] = encode(gave)
    return written(plain)


def written(plain: Any) -> str:
    """Write plain values as one line."""
    return json.dumps(plain, separators=(",", ":"), ensure_ascii=False) + "\n"


def opened(path: str) -> IO[bytes]:
    """Open a recording for reading. Raises RecordingError."""
    try:
        return cast("IO[bytes]", gzip.open(path)) if path.endswith(".gz") else Path(path).open("rb")
    except OSError as error:
        raise RecordingError(path, 0, error.strerror or str(error)) from error


def begun(path: Path) -> IO[bytes]:
    """Open a recording for writing. Raises OSError."""
    if path.suffix == ".gz":
        return cast("IO[bytes]", gzip.open(path, "wb", compresslevel=1))
    return path.open("wb")


def read(source: Iterator[bytes], file: str, *, any_version: bool = False) -> Iterator[Line]:
    """Yield the events of a recording.

    Raises RecordingError for what is none, or was made by another version: that may decide
    otherwise, so it is read only with `any_version`. A last line that is torn ends the recording.
    """
    number = 0
    try:
        for number, text in enumerate(source, start=1):
            if number == 1:
                _check_header(text, file, any_version=any_version)
                continue
            if not text.endswith(b"\n"):
                return  # whoever wrote it was stopped
            yield _event(text, file, number)
    except UNREADABLE as error:
        if not isinstance(error, EOFError) or number <= 1:
            raise RecordingError(file, number, f"cannot be read: {error}") from error
    if not number:
        raise RecordingError(file, 1, "is empty; a recording begins with its format")


def _check_header(text: bytes, file: str, *, any_version: bool) -> None:
    plain = _plain(text, file, 1)
    if HEADER not in plain:
        raise RecordingError(file, 1, "is no recording: the first line does not say its format")
    if plain[HEADER] != FORMAT:
        told = f"is of format {plain[HEADER]}; this version of queueing reads format {FORMAT}"
        raise RecordingError(file, 1, f"{told}: use the version that made it")
    made = plain.get("version", "an unknown version")
    if made != __version__ and not any_version:
        raise RecordingError(
            file,
            1,
            f"was made by queueing {made}, and this is {__version__}, which may decide otherwise:"
            " use that version, or --any-version to see what this one decides",
        )


def _event(text: bytes, file: str, number: int) -> Line:
    plain = _plain(text, file, number)
    gave = plain.pop("gave", None)
    if len(plain) != 1:
        raise RecordingError(file, number, "is no event")
    ((event, body),) = plain.items()
    try:
        found = decode(body)
    except CodecError as error:
        raise RecordingError(file, number, f"{event}: {error}") from error
    except RecursionError as error:
        raise RecordingError(file, number, f"{event}: is nested too deeply") from error
    if event in BODIES and not BODIES[event](found):
        raise RecordingError(file, number, f"{event}: cannot hold this")
    return Line(number, event, found, gave)


def _plain(text: bytes, file: str, number: int) -> dict[str, Any]:
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RecordingError(file, number, f"is not JSON: {error}") from error
    if not isinstance(plain, dict):
        raise RecordingError(file, number, "is no event")
    return plain
