"""Events: one kind under two groups, and where they may stand."""

from collections.abc import Iterator

from queueing.apiserver.failures import StatusCause, invalid_value
from queueing.apiserver.schema.structural import shown
from queueing.apiserver.tree import Object, dig, namespace_of

NEWER = "events.k8s.io/v1"
_ANYWHERE = ("default", "kube-system")
# Names in the core group, and in events.k8s.io.
_NAMES = (
    ("involvedObject", "regarding"),
    ("message", "note"),
    ("source", "deprecatedSource"),
    ("firstTimestamp", "deprecatedFirstTimestamp"),
    ("lastTimestamp", "deprecatedLastTimestamp"),
    ("count", "deprecatedCount"),
    ("reportingComponent", "reportingController"),
)


def renamed(event: Object, api_version: str) -> Object:
    """Return an Event as another group spells it."""
    if event.get("apiVersion") == api_version:
        return event
    forward = api_version == NEWER
    names = dict(_NAMES) if forward else {new: old for old, new in _NAMES}
    made = {names.get(name, name): value for name, value in event.items()}
    return {**made, "apiVersion": api_version}


def defaulted(event: Object) -> Object:
    """Return the Event with what every reader expects, also `kubectl get events --sort-by`."""
    times = dict.fromkeys(("firstTimestamp", "lastTimestamp", "eventTime"))
    return {"source": {}, **times, "reportingComponent": "", "reportingInstance": "", **event}


def violations(event: Object, _old: Object | None) -> Iterator[StatusCause]:
    """Yield what is wrong: an Event stands in the namespace of what it is about."""
    about = dig(event, "involvedObject", "namespace", default="") or ""
    place = namespace_of(event)
    if about != place and (about or place not in _ANYWHERE):
        detail = "does not match event.namespace"
        yield invalid_value("involvedObject.namespace", shown(about), detail)
