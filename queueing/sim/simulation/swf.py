"""Traces in the Standard Workload Format, in which the public archives of clusters are kept.

A line is a job: 18 numbers with spaces between, -1 for what is not known; `;` begins a comment. Of
these, what matters to queueing is read: when a job was submitted, how long it ran, how many
processors it asked for or got, how long it asked for, who submitted it, and to which queue.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import inf

from queueing.core.names import Key, ResourceName
from queueing.recording.lines import LAST, UNREADABLE, RecordingError, opened
from queueing.sim.simulation.arrivals import Arrival, Asked, made_up
from queueing.sim.yaml_text import ManifestError

FIELDS = (
    "job number",
    "submit time",
    "wait time",
    "run time",
    "allocated processors",
    "average CPU time",
    "used memory",
    "requested processors",
    "requested time",
    "requested memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding job",
    "think time",
)
SUFFIX = ".swf"
UNKNOWN = -1.0
MILLI = 1_000
CPU = ResourceName("cpu")
WAY_OUT = "mend or delete the line, or leave such lines out with --skip-broken-lines"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """Where the jobs of a trace go. Queues of the trace are told by their number."""

    queue: Key
    """The LocalQueue of all jobs that `queues` does not name."""
    queues: Mapping[str, Key] = field(default_factory=dict)
    resource: ResourceName = CPU
    """What a processor is."""

    @property
    def unit(self) -> int:
        """How much a processor is of the resource."""
        return MILLI if self.resource == "cpu" else 1


@dataclass(slots=True)
class Trace:
    """What was read of a file beside its jobs."""

    file: str
    left_out: int = 0
    """Jobs that never ran."""
    broken: list[ManifestError] = field(default_factory=list)
    """Lines that could not be used."""
    processors: int = 0
    """How many the machine had by its header, or the largest job that asks for more."""


def read_swf(
    trace: Trace, begins: float, mapped: Mapped, *, skip_broken: bool = False
) -> Iterator[Arrival]:
    """Yield the jobs of a trace, in the order of the file; the first comes when time begins.

    A job whose number is unknown, or that of an earlier one, is named by its line.

    Raises ManifestError with line, field and the way out for the first line that is no job, unless
    such lines are left out.
    """
    first: float | None = None
    names: set[str] = set()
    for number, line in enumerate(_lines(trace.file), start=1):
        text = line.strip()
        if text.startswith(";"):
            _note_header(trace, text)
            continue
        if not text:
            continue
        latest = inf if first is None else first + LAST - begins
        try:
            job = _numbers(trace.file, number, text, latest)
        except ManifestError as error:
            if not skip_broken:
                raise
            trace.broken.append(error)
            continue
        processors = int(job["requested processors"])
        if processors <= 0:
            processors = int(job["allocated processors"])
        if processors <= 0 or job["run time"] < 0 or job["submit time"] < 0:
            trace.left_out += 1
            continue
        trace.processors = max(trace.processors, processors)
        first = job["submit time"] if first is None else first
        name = f"job-{job['job number']:.0f}"
        if job["job number"] < 0 or name in names:
            name = f"line-{number}"
        names.add(name)
        yield _arrival(name, job, processors, begins + job["submit time"] - first, mapped)


def _arrival(
    key_name: str, job: Mapping[str, float], processors: int, at: float, mapped: Mapped
) -> Arrival:
    queue = f"{job['queue']:.0f}"
    limit = int(job["requested time"])
    asked = Asked(
        queue=mapped.queues.get(queue, mapped.queue),
        requests={mapped.resource: mapped.unit},
        pods=processors,
        max_execution_s=limit if limit > 0 else None,
        user=f"user-{job['user']:.0f}" if job["user"] >= 0 else "",
    )
    namespace = asked.queue.partition("/")[0]
    key = Key(f"{namespace}/{key_name}")
    name = f"queue {queue}" if job["queue"] >= 0 else "jobs"
    return Arrival(at=at, fact=made_up(key, at, asked), runs_s=job["run time"], name=name)


def _numbers(file: str, number: int, text: str, latest: float) -> dict[str, float]:
    parts = text.split()
    if len(parts) < len(FIELDS):
        field_name = FIELDS[len(parts)]
        told = f"there are {len(parts)} numbers in place of {len(FIELDS)}; {WAY_OUT}"
        raise ManifestError(file=file, line=number, field=field_name, problem=told)
    found: dict[str, float] = {}
    for name, part in zip(FIELDS, parts, strict=False):
        try:
            found[name] = float(part)
        except ValueError as error:
            told = f"{part!r} is not a number; {WAY_OUT}"
            raise ManifestError(file=file, line=number, field=name, problem=told) from error
        if not abs(found[name]) < float(1 << 53):
            told = f"{part} is out of range; {WAY_OUT}"
            raise ManifestError(file=file, line=number, field=name, problem=told)
    if found["submit time"] > latest:
        told = f"is after the year 9999; {WAY_OUT}"
        raise ManifestError(file=file, line=number, field="submit time", problem=told)
    return found


def _note_header(trace: Trace, text: str) -> None:
    name, _, given = text.lstrip("; ").partition(":")
    if name.strip() == "MaxProcs" and given.strip().isdecimal():
        trace.processors = max(trace.processors, int(given.strip()))


def _lines(file: str) -> Iterator[str]:
    try:
        with opened(file) as source:
            for line in source:
                yield line.decode("utf-8", "replace")
    except RecordingError as error:
        raise ManifestError(file=file, line=0, problem=error.problem) from error
    except UNREADABLE as error:
        raise ManifestError(file=file, line=0, problem=str(error)) from error
