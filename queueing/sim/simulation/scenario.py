"""The file that says what is simulated: manifests as for a plan, and one document `Simulation`.

The document generates workloads in classes, and says how long those run that the manifests list.
It is no object of the cluster: it exists in files only.
"""

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from queueing.core.names import Key, ResourceName, name_of, namespace_of
from queueing.sim.documents import Document, Step
from queueing.sim.simulation.arrivals import Arrival, Asked, in_time, made_up
from queueing.sim.simulation.durations import DurationError, Length, fixed, read_length
from queueing.sim.simulation.swf import Mapped
from queueing_api.quantity import QuantityError, amount

API_VERSION = "simulation.queueing.dev/v1alpha1"
KIND = "Simulation"
MOST = 1_000_000
"""Workloads that one class may have."""


class Class(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """Workloads that are alike."""

    name: str
    queue: str
    """`namespace/name` of the LocalQueue."""
    count: int = 1
    requests: dict[str, str | int | float]
    """What one pod asks for."""
    pods: int = 1
    priority: int = 0
    runs: Any
    """How long each runs."""
    every: Any = "0s"
    """The time from one to the next."""
    first: Any = "0s"
    """When the first one comes, from the beginning."""
    maximum_execution: Any = None


class TraceQueues(
    msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True
):
    """Where the jobs of a trace go."""

    queue: str = ""
    queues: dict[str, str] = {}
    resource: str = "cpu"


class Spec(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, kw_only=True):
    """All that a `Simulation` may say."""

    seed: int = 1
    until: Any = None
    leaving: Any = "30s"
    """How long the pods of an evicted workload take to end."""
    runs: Any = "1h"
    """How long workloads run that the manifests list."""
    classes: list[Class] = []
    trace: TraceQueues = TraceQueues()


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a `Simulation` says, read and checked."""

    name: str = "simulation"
    seed: int = 1
    until_s: float | None = None
    leaving: Length = field(default_factory=lambda: fixed(30.0))
    runs: Length = field(default_factory=lambda: fixed(3600.0))
    classes: tuple["Generated", ...] = ()
    mapped: Mapped | None = None
    """Where jobs of a trace go; None where the document does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Generated:
    """A class as it is generated."""

    name: str
    count: int
    asked: Asked
    runs: Length
    every: Length
    first: Length

    @property
    def named(self) -> str:
        """What the keys of its workloads begin with."""
        queue = self.asked.queue
        return f"{namespace_of(queue)}/{self.name}-{name_of(queue)}"

    def arrivals(self, seed: int, begins: float) -> Iterator[Arrival]:
        """Yield its workloads; each class has a chance of its own, so that none changes others."""
        chance = random.Random(f"{seed}/{self.name}/{self.asked.queue}")  # noqa: S311 - no secret
        at = begins + self.first.draw(chance)
        for number in range(1, self.count + 1):
            key = Key(f"{self.named}-{number}")
            fact = made_up(key, at, self.asked)
            yield Arrival(at=at, fact=fact, runs_s=self.runs.draw(chance), name=self.name)
            at += self.every.draw(chance)


def generated(plan: Plan, begins: float) -> list[Arrival]:
    """Return all workloads that the classes of a plan generate, by time."""
    return in_time(arrival for one in plan.classes for arrival in one.arrivals(plan.seed, begins))


def taken_apart(documents: Sequence[Document]) -> tuple[Plan, list[Document]]:
    """Return what the `Simulation` among documents says, and the others.

    Raises ManifestError with file, line and field for what cannot be used.
    """
    ours = [one for one in documents if one.kind == KIND and one.group == API_VERSION[:-9]]
    others = [one for one in documents if one not in ours]
    if len(ours) > 1:
        first = ours[0]
        raise ours[1].error([], f"there is already a Simulation at {first.file}:{first.line}")
    return (read_plan(ours[0]) if ours else Plan()), others


def read_plan(document: Document) -> Plan:
    """Read a `Simulation`. Raises ManifestError."""
    if document.api_version != API_VERSION:
        raise document.error(["apiVersion"], f"must be {API_VERSION}")
    for name in document.value:
        if name not in ("apiVersion", "kind", "metadata", "spec"):
            raise document.error([name], "unknown field; all is said in spec")
    try:
        spec = msgspec.convert(document.value.get("spec") or {}, Spec)
    except msgspec.ValidationError as error:
        raise _told(document, error) from error
    reader = _Reader(document)
    until = None if spec.until is None else reader.length(["spec", "until"], spec.until)
    return Plan(
        name=document.name or "simulation",
        seed=spec.seed,
        until_s=None if until is None else until.numbers[0],
        leaving=reader.length(["spec", "leaving"], spec.leaving),
        runs=reader.length(["spec", "runs"], spec.runs),
        classes=tuple(reader.generated(spec.classes)),
        mapped=reader.mapped(spec.trace),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads parts of a document, and says where they cannot be used."""

    document: Document

    def length(self, path: Sequence[Step], written: Any) -> Length:
        try:
            return read_length(written)
        except DurationError as error:
            raise self.document.error(path, str(error)) from error

    def queue(self, path: Sequence[Step], written: str) -> Key:
        namespace, _, name = written.partition("/")
        if not namespace or not name or "/" in name:
            told = f"{written!r} must be namespace/name of a LocalQueue"
            raise self.document.error(path, told)
        return Key(written)

    def generated(self, classes: Sequence[Class]) -> Iterator[Generated]:
        names: dict[str, Generated] = {}
        for number, one in enumerate(classes):
            at: list[Step] = ["spec", "classes", number]
            for what, least, most in (("count", 0, MOST), ("pods", 1, MOST)):
                if not least <= getattr(one, what) <= most:
                    raise self.document.error([*at, what], f"must be from {least} to {most}")
            limit = one.maximum_execution
            asked = Asked(
                queue=self.queue([*at, "queue"], one.queue),
                requests=self._requests([*at, "requests"], one.requests),
                pods=one.pods,
                priority=one.priority,
                max_execution_s=None
                if limit is None
                else int(self.length([*at, "maximumExecution"], limit).numbers[0]),
            )
            made = Generated(
                name=one.name,
                count=one.count,
                asked=asked,
                runs=self.length([*at, "runs"], one.runs),
                every=self.length([*at, "every"], one.every),
                first=self.length([*at, "first"], one.first),
            )
            other = names.setdefault(made.named, made)
            if other is not made:
                told = f"{one.name!r} is already a class of {one.queue}"
                if other.name != one.name:
                    told = f"its workloads are named as those of {other.name!r}: choose another"
                raise self.document.error([*at, "name"], told)
            yield made

    def _requests(self, path: Sequence[Step], written: dict[str, Any]) -> dict[ResourceName, int]:
        found: dict[ResourceName, int] = {}
        for name, given in written.items():
            try:
                found[ResourceName(name)] = amount(name, str(given))
            except QuantityError as error:
                raise self.document.error([*path, name], str(error)) from error
            if found[ResourceName(name)] < 0:
                raise self.document.error([*path, name], f"{given} must not be negative")
        if not found:
            raise self.document.error(path, "must name at least one resource")
        return found

    def mapped(self, written: TraceQueues) -> Mapped | None:
        path: list[Step] = ["spec", "trace"]
        if not written.queue and not written.queues:
            return None
        queues = {
            number: self.queue([*path, "queues", number], queue)
            for number, queue in written.queues.items()
        }
        queue = written.queue or next(iter(written.queues.values()))
        return Mapped(
            queue=self.queue([*path, "queue"], queue),
            queues=queues,
            resource=ResourceName(written.resource),
        )


_PLACE = re.compile(r" - at `\$(.*)`$")
_STEP = re.compile(r"\.(\w+)|\[(\d+)\]|\[\.\.\.\]")


def _told(document: Document, error: msgspec.ValidationError) -> Exception:
    """Say with line and field what a schema refuses."""
    text = str(error)
    place = _PLACE.search(text)
    path: list[Step] = ["spec"]
    for name, number in _STEP.findall(place[1]) if place else ():
        if name or number:
            path.append(name or int(number))
    return document.error(path, _PLACE.sub("", text).replace("Object ", ""))
