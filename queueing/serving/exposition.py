"""In which of Prometheus' two formats the metrics of the controller are answered."""

import re
from typing import NamedTuple

OPEN_METRICS = "application/openmetrics-text"
PLAIN = "text/plain"
_END = "# EOF\n"
_COUNTER = re.compile(r"^# HELP (\S+) (.*)\n# TYPE \1 counter$", re.MULTILINE)
"""OpenMetrics describes a counter without the suffix of its samples; the plain format with it."""
_NAMELESS = re.compile(r"^(# TYPE \S+_total) unknown$", re.MULTILINE)
"""A counter for which OpenMetrics has no name left."""
_EXEMPLAR = re.compile(r" # \{[^}\n]*\} .*$", re.MULTILINE)


class Answer(NamedTuple):
    """A text and its media type, with the version of the format."""

    text: str
    content_type: str


def answer(text: str, accept: str) -> Answer:
    """Return what a scraper gets that accepts these media types.

    The controller writes OpenMetrics if it has exemplars, which the plain format does not know: who
    asks for that gets what the controller would have written in it.
    """
    if text.endswith(_END) and OPEN_METRICS in accept:
        return Answer(text, f"{OPEN_METRICS}; version=1.0.0; charset=utf-8")
    if text.endswith(_END):
        text = _EXEMPLAR.sub("", text).removesuffix(_END)
        text = _COUNTER.sub(r"# HELP \1_total \2\n# TYPE \1_total counter", text)
        text = _NAMELESS.sub(r"\1 counter", text)
    return Answer(text, f"{PLAIN}; version=0.0.4; charset=utf-8")
