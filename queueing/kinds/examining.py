"""A description held against an example: all that would be read of it, and what cannot be."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import msgspec

from queueing.kinds.compiler import Kind
from queueing.kinds.paths import EACH, Names, spelled
from queueing.kinds.pod_sets import PodSet, UnreadableError
from queueing.kinds.view import View, read
from queueing.translate.problems import Problems
from queueing.translate.requests import NOTHING_AROUND, pod_requests
from queueing.translate.wire.pods import PodTemplate
from queueing_api.quantity import format_amount


def _ended(view: View) -> dict[str, Any] | None:
    ended = view.ended
    return None if ended is None else {"succeeded": ended.succeeded, "message": ended.message}


STATES: Mapping[str, Callable[[View], Any]] = {
    "suspended": lambda view: view.suspended,
    "active": lambda view: view.active,
    "ready": lambda view: view.ready,
    "finished": _ended,
    "ignored": lambda view: view.ignored,
    "onHold": lambda view: view.on_hold,
    "groups": lambda view: view.groups,
    "reclaimable": lambda view: dict(view.reclaimable),
    "priorityClass": lambda view: view.priority_class,
    "managedBy": lambda view: view.managed_by,
}
"""What is told of an object beside its pod sets, by name."""

_template = msgspec.json.Decoder(PodTemplate)


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPodSet:
    """A pod set of an example, and what each of its pods requests."""

    name: str
    count: int
    min_count: int | None
    template: str
    """Where its template is in the example."""
    requests: Mapping[str, str]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        least = {} if self.min_count is None else {"minCount": self.min_count}
        requests = {"requests": dict(self.requests), "template": self.template}
        return {"name": self.name, "count": self.count, **least, **requests}


@dataclass(frozen=True, slots=True)
class Missing:
    """A field that the description reads and the example does not have."""

    path: str
    read_by: str
    """Field of the description."""
    meant: str
    """A field of the example with a name like it; empty without one."""

    def as_json(self) -> dict[str, str]:
        """Return it as plain values."""
        found = {"path": self.path, "readBy": self.read_by}
        return found | ({"didYouMean": self.meant} if self.meant else {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Examination:
    """What is read of an example."""

    pod_sets: Sequence[FoundPodSet]
    states: Mapping[str, Any]
    missing: Sequence[Missing]
    problems: Sequence[UnreadableError] = field(default=())
    """What cannot be read."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "podSets": [one.as_json() for one in self.pod_sets],
            "states": dict(self.states),
            "notInExample": [one.as_json() for one in self.missing],
        }


def examine(
    kind: Kind, example: Mapping[str, Any], related: Mapping[str, Any] | None = None
) -> Examination:
    """Read all that a kind's description says of an example."""
    missing = tuple(_missing(kind, example))
    try:
        view = read(kind, msgspec.json.encode(example), related=related)
    except UnreadableError as error:
        return Examination(pod_sets=(), states={}, missing=missing, problems=(error,))
    problems: list[UnreadableError] = []
    states: dict[str, Any] = {}
    pod_sets: tuple[FoundPodSet, ...] = ()
    try:
        pod_sets = tuple(map(_pod_set, view.pod_sets))
    except UnreadableError as error:
        problems.append(error)
    for name, told in STATES.items():
        try:
            states[name] = told(view)
        except UnreadableError as error:
            problems.append(error)
    distinct = {(one.field, one.problem): one for one in reversed(problems)}
    return Examination(
        pod_sets=pod_sets,
        states=states,
        missing=missing,
        problems=tuple(reversed(distinct.values())),
    )


def _pod_set(one: PodSet) -> FoundPodSet:
    where = (*one.item, *one.rule.template)
    try:
        template = _template.decode(one.template)
    except msgspec.ValidationError as error:
        raise UnreadableError((*one.rule.at, "template"), str(error), where) from error
    problems = Problems()
    path = f"{spelled(where)}.spec"
    asked = pod_requests(template.spec, NOTHING_AROUND, path=path, problems=problems)
    if problems.text():
        raise UnreadableError((*one.rule.at, "template"), problems.text(), where)
    return FoundPodSet(
        name=one.name,
        count=one.count,
        min_count=one.min_count,
        template=spelled(where),
        requests={name: format_amount(name, asked[name]) for name in sorted(asked)},
    )


def _missing(kind: Kind, example: Mapping[str, Any]) -> Iterator[Missing]:
    """Yield the outermost fields that are not there, each once."""
    told: set[Names] = set()
    for path, at in kind.reads.items():
        absent = next((one for one in _prefixes(path) if not _is_there(example, one)), None)
        if absent is None or absent in told:
            continue
        told.add(absent)
        beside = {name for one in _parents(example, absent) for name in one}
        close = get_close_matches(absent[-1], sorted(beside), n=1)
        shown = ".".join(absent).replace(f".{EACH}", "[*]")
        yield Missing(shown, spelled(at), close[0] if close else "")


def _prefixes(path: Names) -> Iterator[Names]:
    return (path[:end] for end in range(1, len(path) + 1) if path[end - 1] != EACH)


def _is_there(example: Mapping[str, Any], path: Names) -> bool:
    return any(one.get(path[-1]) is not None for one in _parents(example, path))


def _parents(value: Any, path: Names) -> Iterator[Mapping[str, Any]]:
    """Yield the maps in which the last field of a path may be."""
    if len(path) <= 1:
        if isinstance(value, Mapping):
            yield value
        return
    step, *rest = path
    if step == EACH:
        entries = value.values() if isinstance(value, Mapping) else value
        for one in entries if isinstance(value, Mapping | list) else ():
            yield from _parents(one, tuple(rest))
    elif isinstance(value, Mapping) and value.get(step) is not None:
        yield from _parents(value[step], tuple(rest))
