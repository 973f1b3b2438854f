"""What happened to a workload, from its conditions, admission checks and events, oldest first."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from queueing.translate.times import moment, timestamp

Wire = Mapping[str, Any]


@dataclass(frozen=True, slots=True, order=True)
class Moment:
    """One thing that happened."""

    at: float
    """Seconds since 1970."""
    kind: str
    """`condition`, `check` or `event`."""
    title: str
    text: str
    after: str = ""
    """How long after the workload was created."""
    time: str = ""
    """RFC 3339."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a workload's life, in hundredths of it."""

    name: str
    begin: float
    length: float
    lasted: str


def moments(workload: Wire, events: Iterable[Wire]) -> list[Moment]:
    """Return all that is known to have happened to a workload."""
    created = seconds(workload["metadata"].get("creationTimestamp"))
    found = [Moment(created, "condition", "Created", "")] if created is not None else []
    found += _conditions(workload)
    found += _checks(workload)
    found += _events(events, {(one.title, round(one.at)) for one in found})
    begin = created or min((one.at for one in found), default=0.0)
    return [
        Moment(one.at, one.kind, one.title, one.text, span(one.at - begin), timestamp(one.at))
        for one in sorted(found)
    ]


def _conditions(workload: Wire) -> Iterator[Moment]:
    for one in (workload.get("status") or {}).get("conditions") or ():
        at = seconds(one.get("lastTransitionTime"))
        if at is not None:
            title = one["type"] if one["status"] == "True" else f"not {one['type']}"
            yield Moment(at, "condition", title, _told(one))


def _checks(workload: Wire) -> Iterator[Moment]:
    for one in (workload.get("status") or {}).get("admissionChecks") or ():
        at = seconds(one.get("lastTransitionTime"))
        if at is not None:
            title = f"AdmissionCheck {one['name']}: {one['state']}"
            yield Moment(at, "check", title, one.get("message") or "")


def _events(events: Iterable[Wire], known: set[tuple[str, int]]) -> Iterator[Moment]:
    """Yield events; one that says what a condition says at the same second is left out."""
    for one in events:
        first = one.get("eventTime") or one.get("firstTimestamp") or one.get("lastTimestamp")
        at = seconds(first)
        if at is None or (one.get("reason"), round(at)) in known:
            continue
        count = (one.get("series") or {}).get("count") or one.get("count") or 1
        times = f" ({count} times)" if count > 1 else ""
        yield Moment(at, "event", one.get("reason") or "Event", (one.get("message") or "") + times)


def _told(condition: Wire) -> str:
    reason, message = condition.get("reason") or "", condition.get("message") or ""
    if reason in ("", condition["type"]):
        return str(message)
    return f"{reason}: {message}" if message else str(reason)


def stretches(workload: Wire, now: float) -> list[Stretch]:
    """Return how long a workload waited, had quota only, was starting, and ran; up to now."""
    marks = list(_marks(workload, now))
    whole = max(marks[-1][1] - marks[0][1], 1.0) if marks else 1.0
    made = []
    for (name, begin), (_, end) in pairwise(marks):
        length = (end - begin) / whole * 100
        at = (begin - marks[0][1]) / whole * 100
        made.append(Stretch(name, round(at, 2), round(length, 2), span(end - begin)))
    return [one for one in made if one.length > 0]


_PHASES = (
    ("QuotaReserved", "has quota"),
    ("Admitted", "starts"),
    ("PodsReady", "runs"),
)


def _marks(workload: Wire, now: float) -> Iterator[tuple[str, float]]:
    """Yield when each phase began, and at last the end, in the order of time."""
    created = seconds(workload["metadata"].get("creationTimestamp"))
    if created is None:
        return
    true = {
        one["type"]: seconds(one.get("lastTransitionTime")) or created
        for one in (workload.get("status") or {}).get("conditions") or ()
        if one["status"] == "True"
    }
    end = max(created, true.get("Finished", now))
    at = created
    yield "waits", at
    for condition, name in _PHASES:
        if condition in true:
            at = min(max(at, true[condition]), end)
            yield name, at
    yield "end", end


def seconds(text: str | None) -> float | None:
    """Read a time as Kubernetes writes it; None for no time."""
    if not text:
        return None
    try:
        return moment(text)
    except ValueError:
        return None


_UNITS = (("d", 86_400), ("h", 3_600), ("min", 60), ("s", 1))


def span(lasted: float) -> str:
    """Write a length of time with its two largest units: `2 h 5 min`."""
    left, parts = max(0, int(lasted)), list[tuple[int, str]]()
    for unit, size in _UNITS:
        many, left = divmod(left, size)
        parts.append((many, unit))
    first = next((at for at, (many, _) in enumerate(parts) if many), len(parts))
    shown = [f"{many} {unit}" for many, unit in parts[first : first + 2] if many]
    return " ".join(shown) or "0 s"
