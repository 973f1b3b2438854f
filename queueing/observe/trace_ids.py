"""Ids of traces and spans, derived so that every replica arrives at the same ones."""

import re
from dataclasses import dataclass
from hashlib import sha256

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_SAMPLED = 1


@dataclass(frozen=True, slots=True)
class SpanRef:
    """A span of any trace, as a W3C traceparent names it: ids in lower-case hex."""

    trace_id: str
    span_id: str
    sampled: bool = True

    @property
    def traceparent(self) -> str:
        """The text of a `traceparent` header or annotation."""
        return f"00-{self.trace_id}-{self.span_id}-{'01' if self.sampled else '00'}"


def trace_id_of(uid: str, traceparent: str = "") -> str:
    """Return the trace of a workload, 32 hex digits: its submitter's, else one by its UID."""
    submitter = parse_traceparent(traceparent)
    if submitter is not None:
        return submitter.trace_id
    return sha256(f"queueing trace {uid}".encode()).hexdigest()[:32]


def span_id_of(uid: str, *path: str) -> str:
    """Return a span of a workload's trace: 16 hex digits that follow from the UID and its place."""
    return sha256("\0".join(("queueing span", uid, *path)).encode()).hexdigest()[:16]


def parse_traceparent(text: str) -> SpanRef | None:
    """Return what a traceparent names, None if it is not a valid one."""
    match = _TRACEPARENT.fullmatch(text.strip())
    if match is None or text.startswith("ff"):
        return None
    trace_id, span_id, flags = match.groups()
    if not trace_id.strip("0") or not span_id.strip("0"):
        return None
    return SpanRef(trace_id, span_id, bool(int(flags, 16) & _SAMPLED))
