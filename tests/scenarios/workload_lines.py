"""Workloads as lines say them → Workloads, pending, with quota reserved, or running."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from queueing_api.core.pod import PodSpec
from queueing_api.kueue.v1beta2.workload import PodSet, WorkloadSpec
from queueing_api.kueue.v1beta2.workload_status import WorkloadStatus
from queueing_api.quantity import amount, format_amount
from tests.scenarios.lines import METADATA, Json, Line, at, fields
from tests.scenarios.quotas import DEFAULT, quantity

ELASTIC = "kueue.x-k8s.io/elastic-job"
SLICE_NAME = "kueue.x-k8s.io/workload-slice-name"
ALLOWED = "kueue.x-k8s.io/workload-allowed-resource-flavors"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
WAITED = 7_200
"""Seconds between creation and reservation of who holds quota, unless a line tells since when."""
STATED = 82_800
"""The second of the day at which other conditions came, unless the line says it."""


class State(StrEnum):
    """The sections of workloads."""

    RUNNING = "running"
    RESERVED = "reserved"
    PENDING = "pending"


CONDITIONS: Mapping[State, tuple[str, ...]] = MappingProxyType(
    {
        State.RUNNING: ("QuotaReserved", "Admitted"),
        State.RESERVED: ("QuotaReserved",),
        State.PENDING: (),
    }
)

OWN = frozenset(
    {
        "queue",
        "podSets",
        "created",
        "since",
        "flavor",
        "usage",
        "conditions",
        "slice",
        "on",
        "delayed",
        "failed",
        "variantOf",
    }
)
OF_SPEC = fields(WorkloadSpec, but=("queueName", "podSets"))
OF_STATUS = fields(WorkloadStatus, but=("conditions",))
OF_POD_SET = fields(PodSet, but=("name", "template"))
OF_POD = fields(PodSpec)
OF_CONTAINER = frozenset({"limits", "claims"})
OF_TEMPLATE = OF_POD | OF_CONTAINER | {"nodeAffinity", "podAnnotations"}
OF_PODS = OF_POD_SET | OF_TEMPLATE


@dataclass(frozen=True, slots=True, kw_only=True)
class Doors:
    """Which ClusterQueue a LocalQueue leads to, and the first flavor of each of its resources."""

    queues: Mapping[str, str]
    """Namespace/name of a LocalQueue → ClusterQueue."""
    flavors: Mapping[str, Mapping[str, str]]
    """ClusterQueue → resource → flavor."""

    def queue_of(self, local_queue: str) -> str:
        """Return the ClusterQueue of a LocalQueue, its own name where there is none."""
        return self.queues.get(local_queue, local_queue.rpartition("/")[2])

    def flavor(self, queue: str, resource: str) -> str:
        return self.flavors.get(queue, {}).get(resource, DEFAULT)


def workload(line: Line, state: State, second: int, doors: Doors) -> Json:
    """Return the Workload of a line that stands at a place among the workloads of its file."""
    words = line.sort(own=OWN, metadata=METADATA, spec=OF_SPEC, status=OF_STATUS, pods=OF_PODS)
    own = words["own"]
    created = own.get("created", second)
    metadata = {**line.identity, "creationTimestamp": at(created), **words["metadata"]}
    if first := own.get("slice"):
        metadata["annotations"] = {
            ELASTIC: "true",
            SLICE_NAME: first,
            **metadata.get("annotations", {}),
        }
    if parent := own.get("variantOf"):
        metadata |= _of_variant(parent, own.get("flavor", DEFAULT), metadata)
    queue = own.get("queue") or _only(line, doors)
    sets = list(_pod_sets(line, words))
    spec = {"queueName": queue, "podSets": [one.wire() for one in sets], **words["spec"]}
    conditions = [
        {
            "type": kind,
            "status": "True",
            "reason": kind,
            "since": own.get("since", created + WAITED),
        }
        for kind in CONDITIONS[state]
    ]
    conditions += [_condition(kind, said) for kind, said in own.get("conditions", {}).items()]
    status = {"conditions": [_dated(one) for one in conditions], **words["status"]}
    if failed := own.get("failed"):
        status["unhealthyNodes"] = [{"name": one} for one in failed]
    if state is not State.PENDING:
        cluster_queue = doors.queue_of(f"{metadata['namespace']}/{queue}")
        held = [one.held(own, cluster_queue, doors) for one in sets]
        status.setdefault("admission", {"clusterQueue": cluster_queue, "podSetAssignments": held})
    return {"metadata": metadata, "spec": spec, "status": status}


def _of_variant(parent: str, flavor: str, metadata: Json) -> Json:
    owner = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload", "name": parent}
    return {
        "annotations": {ALLOWED: flavor, **metadata.get("annotations", {})},
        "ownerReferences": [{**owner, "uid": parent, "controller": True}],
    }


def _only(line: Line, doors: Doors) -> str:
    """Return the LocalQueue of a file that has but one."""
    if len(doors.queues) != 1:
        raise line.error("says no queue, and the file has several")
    return next(iter(doors.queues)).rpartition("/")[2]


def _condition(kind: str, said: Any) -> Json:
    """Read a reason, or a mapping of what else is to be said."""
    words = said if isinstance(said, dict) else {"reason": said}
    return {"type": kind, "status": "True", "since": STATED, **words}


def _dated(condition: Json) -> Json:
    since = condition.pop("since")
    return {"message": "", **condition, "lastTransitionTime": at(since)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """One pod set of a line."""

    name: str
    words: Json
    requests: Json
    flavor: Any = None
    """What it holds, if that is not what the line says of all pod sets."""

    @property
    def count(self) -> int:
        return int(self.words.get("count", 1))

    @property
    def template(self) -> Json:
        """Return what each pod is made from."""
        resources = {"requests": self.requests} if self.requests else {}
        resources |= {word: self.words[word] for word in OF_CONTAINER if word in self.words}
        container = {"name": "c", "image": "i", "resources": resources}
        pod = {word: value for word, value in self.words.items() if word in OF_POD}
        if terms := self.words.get("nodeAffinity"):
            pod["affinity"] = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
        spec = {"restartPolicy": "Never", "containers": [container], **pod}
        annotations = self.words.get("podAnnotations")
        return {"spec": spec, **({"metadata": {"annotations": annotations}} if annotations else {})}

    def wire(self) -> Json:
        return {
            "name": self.name,
            "count": self.count,
            "template": self.template,
            **{word: value for word, value in self.words.items() if word in OF_POD_SET},
        }

    def held(self, own: Json, queue: str, doors: Doors) -> Json:
        """Return the assignment: what all pods ask for, of the flavor that the line names."""
        usage = {one: str(held) for one, held in own.get("usage", {}).items()} or {
            one: format_amount(one, amount(one, asked) * self.count)
            for one, asked in self.requests.items()
        }
        flavor = self.flavor or own.get("flavor")
        flavors = {
            one: flavor.get(one, doors.flavor(queue, one))
            if isinstance(flavor, dict)
            else flavor or doors.flavor(queue, one)
            for one in usage
        }
        held = {"name": self.name, "count": self.count, "flavors": flavors, "resourceUsage": usage}
        on = own.get("on", {})
        here = on[self.name] if isinstance(on.get(self.name), dict) else on
        delayed = {"delayedTopologyRequest": "Pending"} if own.get("delayed") else {}
        return {**held, **_placed(here), **delayed}


def _placed(on: Mapping[str, int]) -> Json:
    """Return the assignment of so many pods to each of some hosts; nothing without any."""
    if not on:
        return {}
    one_each = {
        "domainCount": len(on),
        "valuesPerLevel": [{"individual": {"roots": list(on)}}],
        "podCounts": {"individual": list(on.values())},
    }
    assignment = {"levels": ["kubernetes.io/hostname"], "slices": [one_each]}
    return {"topologyAssignment": assignment}


def _pod_sets(line: Line, words: Mapping[str, Json]) -> Iterator[Pods]:
    """Yield the one pod set that the line itself describes, or those that it lists by name."""
    listed = words["own"].get("podSets")
    if listed is None:
        yield pods(line, "main", words["pods"], words["resources"])
        return
    for name, said in listed.items():
        path = (*line.path, "podSets", name)
        inner = Line(page=line.page, path=path, name=name, words=said)
        found = inner.sort(own=frozenset({"flavor"}), pods=OF_PODS)
        yield pods(inner, name, found["pods"], found["resources"], found["own"].get("flavor"))


def pods(line: Line, name: str, words: Json, resources: Json, flavor: Any = None) -> Pods:
    """Make the pods of a line from its words about them, and the resources that each asks for."""
    requests = {one: quantity(line, asked, one) for one, asked in resources.items()}
    return Pods(name=name, words=words, requests=requests, flavor=flavor)
