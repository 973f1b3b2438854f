"""Logs: one line per decision, with its trace; as JSON for machines or as text for people."""

import logging
import sys
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TextIO

import msgspec
from typing_extensions import override

from queueing.translate.times import timestamp

ROOT = "queueing"
LIBRARIES = ("asyncio", "aiohttp")
"""Whose warnings and errors look as ours do: a traceback is one line of JSON."""
_FIELDS = "queueing_fields"


class LogFormat(StrEnum):
    """How a line looks."""

    JSON = "json"
    TEXT = "text"


def configure(
    log_format: LogFormat = LogFormat.JSON,
    level: int | str = logging.INFO,
    stream: TextIO | None = None,
) -> None:
    """Send the product's logs to the stream, by default standard error, and nowhere else.

    Warnings of the libraries that it runs on go there, too.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(_FORMATTERS[log_format]())
    root = logging.getLogger(ROOT)
    root.handlers[:] = [handler]
    root.propagate = False
    root.setLevel(level)
    for name in LIBRARIES:
        library = logging.getLogger(name)
        library.handlers[:] = [handler]
        library.propagate = False
        library.setLevel(logging.WARNING)


def decision(
    logger: logging.Logger, action: str, /, *, workload: str, trace_id: str, **fields: Any
) -> None:
    """Log one decision; `reason` and `message`, where given, are the words that users see."""
    if logger.isEnabledFor(logging.INFO):
        # Made by hand: to find out which line of ours logs costs as much as all the rest of it,
        # and no format says so.
        record = logging.LogRecord(logger.name, logging.INFO, "", 0, action, (), None)
        setattr(record, _FIELDS, {"workload": workload, "trace_id": trace_id, **fields})
        logger.handle(record)


def note(logger: logging.Logger, level: int, text: str, /, **fields: Any) -> None:
    """Log a line with fields of its own."""
    if logger.isEnabledFor(level):
        logger.log(level, text, extra={_FIELDS: fields})


class Once:
    """Says that something is wrong when it begins, and that it is over when it ends."""

    def __init__(self, logger: logging.Logger) -> None:
        self._logger = logger
        self._open: dict[str, str] = {}

    def begin(self, key: str, text: str) -> None:
        """Warn, unless the same text is already open under this key."""
        if self._open.get(key) != text:
            self._open[key] = text
            self._logger.warning(text)

    def end(self, key: str, text: str) -> None:
        """Report the end, if a warning is open under this key."""
        if self._open.pop(key, None) is not None:
            self._logger.info(text)


class JsonFormatter(logging.Formatter):
    """One JSON object per line: ts, level, logger, msg, then the fields of the line."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "ts": _moment(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "msg": record.getMessage(),
        }
        line.update({name: value for name, value in _fields(record).items() if name not in line})
        if record.exc_info:
            line["stacktrace"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


class TextFormatter(logging.Formatter):
    """Time, level, message, then name=value pairs; quoted where a value has blanks."""

    @override
    def format(self, record: logging.LogRecord) -> str:
        parts = [_moment(record), f"{record.levelname:<7}", record.getMessage()]
        parts += [f"{name}={_quoted(value)}" for name, value in _fields(record).items()]
        line = " ".join(parts)
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


_FORMATTERS: Mapping[LogFormat, type[logging.Formatter]] = {
    LogFormat.JSON: JsonFormatter,
    LogFormat.TEXT: TextFormatter,
}


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = getattr(record, _FIELDS, {})
    return fields


def _moment(record: logging.LogRecord) -> str:
    whole = timestamp(record.created).removesuffix("Z")
    return f"{whole}.{int(record.msecs):03}Z"


def _quoted(value: Any) -> str:
    text = str(value)
    plain = text and not any(character.isspace() or character in '"=' for character in text)
    return text if plain else msgspec.json.encode(text).decode()
