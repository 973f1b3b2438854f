"""Kinds whose pods are queued, as they are written, and which changes of them are refused."""

from dataclasses import dataclass
from typing import Any

from queueing.webhooks.marking import PARENT
from tests.webhooks.table import merged

Wire = dict[str, Any]
QUEUE, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
MANAGED, SERVING = "kueue.x-k8s.io/managed", "kueue.x-k8s.io/pod-group-serving"
IMMUTABLE = "field is immutable"
_POD = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]}
_TEMPLATE = {"metadata": {"labels": {"app": "web"}}, "spec": _POD}
_APP = {"selector": {"matchLabels": {"app": "web"}}, "template": _TEMPLATE, "replicas": 3}
_GROUPS = {"leaderTemplate": _TEMPLATE, "workerTemplate": {"spec": _POD}, "size": 4}
_TEMPLATES = "spec.leaderWorkerTemplate"
LWS = "leaderworkerset.x-k8s.io/leaderworkerset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One of the kinds, and what marks the pods of its objects."""

    framework: str
    api_version: str
    kind: str
    spec: Wire
    templates: tuple[str, ...]
    labels: frozenset[str] = frozenset()
    """Marks beside the one that all have, and the names of queue and class."""
    copies: bool = True
    """Whether queue and class are copied to the pods."""

    def thing(self, labels: Wire | None = None, **metadata: Any) -> Wire:
        """Return an object of the kind."""
        return {
            "apiVersion": self.api_version,
            "kind": self.kind,
            "metadata": {"name": "web", "labels": labels or {}, **metadata},
            "spec": self.spec,
        }


KINDS = (
    Marked(
        framework="deployment",
        api_version="apps/v1",
        kind="Deployment",
        spec=_APP,
        templates=("spec.template",),
        labels=frozenset({MANAGED}),
    ),
    Marked(
        framework="statefulset",
        api_version="apps/v1",
        kind="StatefulSet",
        spec={**_APP, "serviceName": "web"},
        templates=("spec.template",),
        copies=False,
    ),
    Marked(
        framework=LWS,
        api_version="leaderworkerset.x-k8s.io/v1",
        kind="LeaderWorkerSet",
        spec={"replicas": 2, "leaderWorkerTemplate": _GROUPS},
        templates=(f"{_TEMPLATES}.leaderTemplate", f"{_TEMPLATES}.workerTemplate"),
    ),
)
NAMED = {one.kind: one for one in KINDS}


def marks_of(thing: Wire, kind: Marked) -> list[tuple[str, set[str], Wire]]:
    """Return of each template the parent, the labels of ours, and their values."""
    found = []
    for path in kind.templates:
        template: Any = thing
        for step in path.split("."):
            template = template[step]
        metadata = template.get("metadata") or {}
        labels = {key: one for key, one in metadata.get("labels", {}).items() if "kueue" in key}
        found.append((metadata.get("annotations", {}).get(PARENT, ""), set(labels), labels))
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A change of an object in a queue, or a new one, and what is said of it."""

    name: str
    kind: str
    of: Wire
    """What differs from the usual object before the change; of a new one, what it is."""
    to: Wire | None
    """The merge patch; None for a new object."""
    says: str = ""

    @property
    def old(self) -> Wire | None:
        before = NAMED[self.kind].thing({QUEUE: "team"})
        return None if self.to is None else merged(before, self.of)

    @property
    def new(self) -> Wire:
        before: Wire = merged(NAMED[self.kind].thing({QUEUE: "team"}), self.of)
        return before if self.to is None else dict(merged(before, self.to))


def _labels(**labels: Any) -> Wire:
    named = {"queue": QUEUE, "priority": CLASS}
    return {"metadata": {"labels": {named[key]: value for key, value in labels.items()}}}


def _spec(**fields: Any) -> Wire:
    return {"spec": fields}


def _group(**fields: Any) -> Wire:
    return _spec(leaderWorkerTemplate=fields)


READY = {"status": {"readyReplicas": 1}}
_CPUS = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}}}
_IMAGE = {"name": "c", "image": "j", "resources": {"requests": {"cpu": "1"}}}
CHANGES = (
    *(
        change
        for kind in NAMED
        for change in (
            Change(name="another queue", kind=kind, of={}, to=_labels(queue="other")),
            Change(
                name="another queue while it serves",
                kind=kind,
                of=READY,
                to=_labels(queue="other"),
                says=IMMUTABLE,
            ),
            Change(name="no queue", kind=kind, of={}, to=_labels(queue=None), says=IMMUTABLE),
            Change(
                name="a queue that cannot be",
                kind=kind,
                of=_labels(queue="Team_A"),
                to=None,
                says="a lowercase RFC 1123 subdomain",
            ),
            Change(
                name="a class while it serves",
                kind=kind,
                of=READY,
                to=_labels(priority="high"),
                says="cannot be added to a non-suspended workload",
            ),
            Change(
                name="another class while it serves",
                kind=kind,
                of={**READY, **_labels(priority="low")},
                to=_labels(priority="high"),
            ),
            Change(
                name="no class",
                kind=kind,
                of=_labels(priority="low"),
                to=_labels(priority=None),
                says="cannot be removed from a workload",
            ),
            Change(
                name="what cannot grow",
                kind=kind,
                of={"metadata": {"annotations": {"kueue.x-k8s.io/elastic-job": "true"}}},
                to=None,
                says="elastic job is not supported for",
            ),
            Change(
                name="a prebuilt Workload",
                kind=kind,
                of={"metadata": {"labels": {"kueue.x-k8s.io/prebuilt-workload-name": "made"}}},
                to=None,
                says="Is not supported for",
            ),
        )
    ),
    Change(name="more replicas", kind="Deployment", of=READY, to=_spec(replicas=9)),
    Change(
        name="other requests",
        kind="Deployment",
        of=READY,
        to=_spec(template={"spec": {"containers": [_CPUS]}}),
    ),
    Change(name="to nothing", kind="StatefulSet", of=READY, to=_spec(replicas=0)),
    Change(name="from nothing", kind="StatefulSet", of=_spec(replicas=0), to=_spec(replicas=5)),
    Change(
        name="from nothing while pods are left",
        kind="StatefulSet",
        of={**_spec(replicas=0), "status": {"replicas": 1}},
        to=_spec(replicas=3),
        says="scaling down is still in progress",
    ),
    Change(
        name="more replicas",
        kind="StatefulSet",
        of={},
        to=_spec(replicas=5),
        says=f"spec.replicas: Invalid value: 5: {IMMUTABLE}",
    ),
    Change(
        name="other requests",
        kind="StatefulSet",
        of={},
        to=_spec(template={"spec": {"containers": [_CPUS]}}),
        says=IMMUTABLE,
    ),
    Change(
        name="another image",
        kind="StatefulSet",
        of={},
        to=_spec(template={"spec": {"containers": [_IMAGE]}}),
    ),
    Change(
        name="another pool of nodes",
        kind="StatefulSet",
        of={},
        to=_spec(template={"spec": {"nodeSelector": {"pool": "b"}}}),
        says=f'spec.template.spec.nodeSelector: Invalid value: "object": {IMMUTABLE}',
    ),
    Change(name="more groups", kind="LeaderWorkerSet", of=READY, to=_spec(replicas=5)),
    Change(
        name="too few groups",
        kind="LeaderWorkerSet",
        of=_spec(replicas=-1),
        to=None,
        says="invalid LeaderWorkerSet replicas: must be >= 0, got -1",
    ),
    Change(
        name="too many groups",
        kind="LeaderWorkerSet",
        of={},
        to=_spec(replicas=1_000_001),
        says="invalid LeaderWorkerSet replicas: must be <= 1000000, got 1000001",
    ),
    Change(name="larger groups", kind="LeaderWorkerSet", of={}, to=_group(size=8), says=IMMUTABLE),
    Change(
        name="no leader",
        kind="LeaderWorkerSet",
        of={},
        to=_group(leaderTemplate=None),
        says=f"{_TEMPLATES}.leaderTemplate",
    ),
    Change(
        name="other requests of workers",
        kind="LeaderWorkerSet",
        of={},
        to=_group(workerTemplate={"spec": {"containers": [_CPUS]}}),
        says=f"{_TEMPLATES}.workerTemplate.spec.containers",
    ),
)
