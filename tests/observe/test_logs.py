import io
import json
import logging
from collections.abc import Iterator

import pytest

from queueing.observe.logs import LIBRARIES, ROOT, LogFormat, Once, configure, decision, note

logger = logging.getLogger("queueing.test")


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    loggers = [logging.getLogger(name) for name in (ROOT, *LIBRARIES)]
    before = [(one.handlers[:], one.propagate, one.level) for one in loggers]
    yield io.StringIO()
    for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
        one.handlers[:], one.propagate = handlers, propagate
        one.setLevel(level)


def test_a_decision_is_one_line_of_json_with_its_trace(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, stream=stream)
    decision(logger, "Admit", workload="ns/w", trace_id="ab" * 16, cluster_queue="cq", count=3)
    (text,) = stream.getvalue().splitlines()
    line = json.loads(text)
    assert list(line)[:4] == ["ts", "level", "logger", "msg"]
    assert line["ts"].endswith("Z")
    del line["ts"]
    assert line == {
        "level": "info",
        "logger": "queueing.test",
        "msg": "Admit",
        "workload": "ns/w",
        "trace_id": "ab" * 16,
        "cluster_queue": "cq",
        "count": 3,
    }


def test_a_field_cannot_overwrite_what_every_line_has(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, stream=stream)
    note(logger, logging.WARNING, "words", level="mine", what=ValueError("odd"))
    line = json.loads(stream.getvalue())
    assert (line["level"], line["msg"], line["what"]) == ("warning", "words", "odd")


def test_a_failure_keeps_its_story_within_the_line(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, stream=stream)
    try:
        _ = 1 // 0
    except ZeroDivisionError:
        logger.exception("failed")
    (text,) = stream.getvalue().splitlines()
    assert "ZeroDivisionError" in json.loads(text)["stacktrace"]


def test_what_a_library_warns_of_is_one_line_as_well(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, stream=stream)
    logging.getLogger("asyncio").error("it broke", exc_info=ValueError("odd"))
    logging.getLogger("aiohttp.access").info("GET /healthz")
    (text,) = stream.getvalue().splitlines()
    line = json.loads(text)
    assert (line["level"], line["logger"]) == ("error", "asyncio")
    assert "ValueError: odd" in line["stacktrace"]


def test_text_quotes_only_what_needs_it(stream: io.StringIO) -> None:
    configure(LogFormat.TEXT, stream=stream)
    decision(logger, "Wait", workload="ns/w", trace_id="t", message='needs "more" cpu', empty="")
    line = stream.getvalue().rstrip("\n").split(" ", 1)[1]
    assert line == (r'INFO    Wait workload=ns/w trace_id=t message="needs \"more\" cpu" empty=""')


def test_lines_below_the_level_are_not_built(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, "WARNING", stream)
    decision(logger, "Admit", workload="ns/w", trace_id="t")
    note(logger, logging.INFO, "words")
    assert stream.getvalue() == ""


def test_configuring_twice_does_not_log_twice(stream: io.StringIO) -> None:
    configure(LogFormat.JSON, stream=stream)
    configure(LogFormat.TEXT, stream=stream)
    logger.info("once")
    assert stream.getvalue().count("once") == 1


def test_trouble_is_told_when_it_begins_changes_and_ends(stream: io.StringIO) -> None:
    configure(LogFormat.TEXT, stream=stream)
    once = Once(logger)
    once.end("api", "never said")
    for _ in range(3):
        once.begin("api", "the API server is away")
    once.begin("api", "the API server refuses us")
    once.end("api", "the API server is back")
    once.end("api", "never said")
    said = [line.split(maxsplit=2)[1:] for line in stream.getvalue().splitlines()]
    assert said == [
        ["WARNING", "the API server is away"],
        ["WARNING", "the API server refuses us"],
        ["INFO", "the API server is back"],
    ]
