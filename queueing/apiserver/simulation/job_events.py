"""What the Job controller says about Jobs in Events, and how it counts what it says again."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import NamedTuple

from queueing.apiserver.failures import ApiFailure
from queueing.apiserver.memory.writes import Author, StoreWrites, wire_time
from queueing.apiserver.resources.resource import Resource
from queueing.apiserver.simulation.jobs import condition
from queueing.apiserver.tree import Object, dig, metadata, name_of, namespace_of, uid_of

SIMILAR_MAX = 10
"""Events of one reason that a Job gets; what follows is counted in one more, as by client-go."""
REMEMBERED_MAX = 4_096
"""Jobs and reasons whose Events are remembered, to be counted."""
_COMBINED = "(combined from similar events): "
_COMPONENT = "job-controller"
_AUTHOR = Author(name="kube-controller-manager")
_NANO = 1_000_000_000


class Said(NamedTuple):
    """One thing to say about a Job."""

    reason: str
    message: str
    type: str = "Normal"


_TURNS = {
    ("Suspended", "True"): Said("Suspended", "Job suspended"),
    ("Suspended", "False"): Said("Resumed", "Job resumed"),
    ("Complete", "True"): Said("Completed", "Job completed"),
}
"""What is said when a condition gets a status."""


def created(pod: Object) -> Said:
    """Say that a pod was created."""
    return Said("SuccessfulCreate", f"Created pod: {name_of(pod)}")


def not_created(failure: ApiFailure) -> Said:
    """Say that a pod was refused."""
    return Said("FailedCreate", f"Error creating: {failure}", "Warning")


def deleted(pod: Object) -> Said:
    """Say that a pod was deleted."""
    return Said("SuccessfulDelete", f"Deleted pod: {name_of(pod)}")


def turns(before: Object, after: Object) -> Iterator[Said]:
    """Yield what the conditions of a Job say that they did not say before."""
    for kind in ("Suspended", "Complete", "Failed"):
        old, new = condition(before, kind) or {}, condition(after, kind) or {}
        if not new or old.get("status") == new["status"]:
            continue
        if kind == "Complete" and _exceeds(after):
            message = "Too many succeeded pods running after completion count reached"
            yield Said("TooManySucceededPods", message, "Warning")
        if kind == "Failed":
            yield Said(new["reason"], new["message"], "Warning")
        elif (kind, new["status"]) in _TURNS:
            yield _TURNS[kind, new["status"]]


def _exceeds(job: Object) -> bool:
    completions = dig(job, "spec", "completions")
    return completions is not None and dig(job, "status", "succeeded", default=0) > completions


@dataclass(slots=True)
class JobEvents:
    """Writes Events about Jobs; one that was there already is counted."""

    writes: StoreWrites
    _events: Resource = field(init=False)
    _names: OrderedDict[tuple[str, str], dict[str, str]] = field(default_factory=OrderedDict)
    """Names of Events by message, by uid of the Job and reason."""
    _last: int = 0

    def __post_init__(self) -> None:
        self._events = self.writes.store.catalog.builtin("", "events")

    def tell(self, job: Object, said: Said) -> None:
        """Write an Event; none in a namespace that is going away."""
        names = self._known(job, said.reason)
        message = said.message
        if message not in names and len(names) >= SIMILAR_MAX:
            message, said = _COMBINED, said._replace(message=_COMBINED + message)
        with suppress(ApiFailure):
            if not (message in names and self._count(job, names[message], said)):
                names[message] = self._create(job, said)

    def _known(self, job: Object, reason: str) -> dict[str, str]:
        key = uid_of(job), reason
        names = self._names.setdefault(key, {})
        self._names.move_to_end(key)
        if len(self._names) > REMEMBERED_MAX:
            self._names.popitem(last=False)
        return names

    def _count(self, job: Object, name: str, said: Said) -> bool:
        """Count an Event that is there; False if somebody has deleted it."""
        old = self.writes.store.peek(self._events, namespace_of(job), name)
        if old is None:
            return False
        news = {"count": old["count"] + 1, "lastTimestamp": self._now(), "message": said.message}
        self.writes.commit_update(self._events, old, {**old, **news}, _AUTHOR)
        return True

    def _create(self, job: Object, said: Said) -> str:
        now, place = self._now(), namespace_of(job)
        made = self.writes.create(
            {
                "apiVersion": "v1",
                "kind": "Event",
                "metadata": {"name": self._new_name(job), "namespace": place},
                "involvedObject": {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": name_of(job),
                    "namespace": place,
                    "uid": uid_of(job),
                    "resourceVersion": metadata(job).get("resourceVersion"),
                },
                "type": said.type,
                "reason": said.reason,
                "message": said.message,
                "count": 1,
                "firstTimestamp": now,
                "lastTimestamp": now,
                "source": {"component": _COMPONENT},
                "reportingComponent": _COMPONENT,
            },
            manager=_AUTHOR.name,
        )
        return name_of(made)

    def _new_name(self, job: Object) -> str:
        """Return a name that no Event has, nor one of others who name by the time alone."""
        self._last = max(self._last + 1, int(self.writes.clock() * _NANO))
        return f"{name_of(job)}.{_COMPONENT}.{self._last:x}"

    def _now(self) -> str:
        return wire_time(self.writes.clock())
