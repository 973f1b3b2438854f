"""The short form of a scenario: a line per object → the objects in full.

`README.md` beside this module describes the form.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from queueing.sim.documents import Document
from queueing_api.core.cluster import NodeSpec
from queueing_api.kueue.v1beta2.admission_check import AdmissionCheckSpec
from queueing_api.kueue.v1beta2.cluster_queue import ClusterQueueSpec
from queueing_api.kueue.v1beta2.cohort import CohortSpec
from queueing_api.kueue.v1beta2.local_queue import LocalQueueSpec
from queueing_api.kueue.v1beta2.resource_flavor import ResourceFlavorSpec
from tests.scenarios.further_lines import FURTHER
from tests.scenarios.lines import DAY, METADATA, Json, Line, at, fields, is_resource, lines
from tests.scenarios.quotas import flavors_of, quantity, resource_groups
from tests.scenarios.workload_lines import Doors, State, workload

KUEUE = "kueue.x-k8s.io/v1beta2"
CONFIGURATION = "config.kueue.x-k8s.io/v1beta2"
LEVELS = ("block", "rack", "kubernetes.io/hostname")
"""Of topologies that flavors name and that the file does not give in full."""
SECTIONS = (
    "configuration",
    "flavors",
    "topologies",
    "nodes",
    "checks",
    "cohorts",
    "queues",
    "localQueues",
    *FURTHER,
    *State,
)

OF_FLAVOR = fields(ResourceFlavorSpec)
OF_CHECK = fields(AdmissionCheckSpec)
OF_COHORT = fields(CohortSpec, but=("parentName", "resourceGroups"))
OF_NODE = fields(NodeSpec)
OF_QUEUE = fields(ClusterQueueSpec, but=("cohortName", "resourceGroups"))
OF_LOCAL_QUEUE = fields(LocalQueueSpec)


def expand(page: Document, full: Sequence[Document] = ()) -> list[Document]:
    """Return the objects that the lines of a file stand for, beside those that it gives in full.

    Raises ManifestError, naming file and line, for what cannot be understood.
    """
    return list(_Expansion(page, full).documents())


@dataclass(frozen=True, slots=True)
class _Expansion:
    page: Document
    full: Sequence[Document]

    def documents(self) -> Iterator[Document]:
        if said := self.page.value.get("configuration"):
            whole = Line(page=self.page, path=("configuration",), name="", words=said)
            yield whole.document(CONFIGURATION, "Configuration", {"metadata": {}, **said})
        yield from self.flavors()
        yield from self.topologies()
        yield from map(_node, lines(self.page, "nodes"))
        yield from map(_check, lines(self.page, "checks"))
        yield from map(_cohort, lines(self.page, "cohorts"))
        yield from map(_queue, lines(self.page, "queues"))
        for section, make in FURTHER.items():
            yield from map(make, lines(self.page, section))
        doors = list(self.local_queues())
        yield from doors
        yield from self.workloads(doors)

    def flavors(self) -> Iterator[Document]:
        """Yield the flavors that have a line, and all others that a quota names."""
        known = {one.name for one in self.full if one.kind == "ResourceFlavor"}
        for line in lines(self.page, "flavors"):
            known.add(line.name)
            words = line.sort(metadata=METADATA, spec=OF_FLAVOR)
            yield _object(line, "ResourceFlavor", words["spec"], words["metadata"])
        for section in ("cohorts", "queues"):
            for line in lines(self.page, section):
                for flavor in (one for named in _quotas(line).values() for one in named):
                    if flavor not in known:
                        known.add(flavor)
                        yield _object(line, "ResourceFlavor", {}, {"name": flavor})

    def topologies(self) -> Iterator[Document]:
        """Yield those that have a line, and others that flavors name: blocks, racks and hosts."""
        known = {one.name for one in self.full if one.kind == "Topology"}
        for line in lines(self.page, "topologies"):
            known.add(line.name)
            yield _topology(line, line.name, line.sort(own=frozenset({"levels"}))["own"]["levels"])
        for line in lines(self.page, "flavors"):
            name = line.words.get("topologyName")
            if name and name not in known:
                known.add(name)
                yield _topology(line, name, LEVELS)

    def local_queues(self) -> Iterator[Document]:
        """Yield the LocalQueues that have a line, and one for each ClusterQueue without any."""
        led_to = {_leads_to(one) for one in self.full if one.kind == "LocalQueue"}
        for line in lines(self.page, "localQueues"):
            door = _local_queue(line)
            led_to.add(_leads_to(door))
            yield door
        for line in lines(self.page, "queues"):
            if line.name not in led_to:
                value = {"metadata": line.identity, "spec": {"clusterQueue": line.name}}
                yield line.document(KUEUE, "LocalQueue", value)

    def workloads(self, doors: Sequence[Document]) -> Iterator[Document]:
        """Yield the workloads, each created a second after the one before it in the file."""
        everywhere = [*doors, *(one for one in self.full if one.kind == "LocalQueue")]
        around = Doors(
            queues={_key(one): _leads_to(one) for one in everywhere},
            flavors={
                line.name: {one: named[0] for one, named in _quotas(line).items()}
                for line in lines(self.page, "queues")
            },
        )
        seconds = count(1)
        for section in self.page.value:
            if section in set(State):
                for line in lines(self.page, section):
                    value = workload(line, State(section), next(seconds), around)
                    yield line.document(KUEUE, "Workload", value)


def _quotas(line: Line) -> Mapping[str, list[str]]:
    """Return the flavors of each resource of a line, in the order in which they are tried."""
    return {word: flavors_of(value) for word, value in line.words.items() if is_resource(word)}


def _leads_to(local_queue: Document) -> str:
    return str(local_queue.value["spec"]["clusterQueue"])


def _key(document: Document) -> str:
    return f"{document.value['metadata'].get('namespace', 'default')}/{document.name}"


def _object(line: Line, kind: str, spec: Json, metadata: Json) -> Document:
    named = {"name": line.name, **metadata}
    return line.document(KUEUE, kind, {"metadata": named, "spec": spec})


def _topology(line: Line, name: str, levels: Sequence[str]) -> Document:
    spec = {"levels": [{"nodeLabel": one} for one in levels]}
    return _object(line, "Topology", spec, {"name": name})


def _node(line: Line) -> Document:
    """Make a node that is Ready, in a place such as `block/rack`, with room for 100 pods."""
    words = line.sort(own=frozenset({"in", "labels", "ready", "status"}), spec=OF_NODE)
    own, ready = words["own"], str(words["own"].get("ready", True))
    labels = own.get("labels", {"pool": "gpu"})
    if place := own.get("in"):
        labels = dict(zip(LEVELS, [*place.split("/"), line.name], strict=True)) | labels
    room = {one: quantity(line, value, one) for one, value in words["resources"].items()}
    value = {
        "metadata": {"name": line.name, "labels": labels},
        "spec": words["spec"],
        "status": {
            "allocatable": {"pods": "100", **room},
            "conditions": [{"type": "Ready", "status": ready}],
        },
    }
    if "status" in own:
        value["status"] = own["status"]
    return line.document("v1", "Node", value)


def _check(line: Line) -> Document:
    """Make an AdmissionCheck, which is active unless the line says otherwise."""
    words = line.sort(own=frozenset({"active"}), spec=OF_CHECK)
    active = str(words["own"].get("active", True))
    condition = {"type": "Active", "status": active, "reason": "Active", "message": ""}
    spec = {"controllerName": f"example.com/{line.name}"} | words["spec"]
    value = {
        "metadata": {"name": line.name},
        "spec": spec,
        "status": {"conditions": [condition | {"lastTransitionTime": at(0)}]},
    }
    return line.document(KUEUE, "AdmissionCheck", value)


def _cohort(line: Line) -> Document:
    words = line.sort(own=frozenset({"parent"}), spec=OF_COHORT)
    spec = words["spec"]
    if words["resources"]:
        spec["resourceGroups"] = resource_groups(line, words["resources"])
    if parent := words["own"].get("parent"):
        spec["parentName"] = parent
    return _object(line, "Cohort", spec, {})


def _queue(line: Line) -> Document:
    """Make a ClusterQueue, which is open to all namespaces unless the line says otherwise."""
    words = line.sort(own=frozenset({"cohort"}), metadata=METADATA, spec=OF_QUEUE)
    groups = resource_groups(line, words["resources"])
    spec = {"namespaceSelector": {}, "resourceGroups": groups} | words["spec"]
    if cohort := words["own"].get("cohort"):
        spec["cohortName"] = cohort
    return _object(line, "ClusterQueue", spec, words["metadata"])


def _local_queue(line: Line) -> Document:
    """Make a LocalQueue; `consumed` is what it has used on average until now."""
    words = line.sort(own=frozenset({"consumed"}), spec=OF_LOCAL_QUEUE)
    if "clusterQueue" not in words["spec"]:
        raise line.error("says no clusterQueue")
    value = {"metadata": line.identity, "spec": words["spec"]}
    if (consumed := words["own"].get("consumed")) is not None:
        used = {one: str(amount) for one, amount in consumed.items()}
        history = {"consumedResources": used, "lastUpdate": at(DAY)}
        fair = {"weightedShare": 0, "admissionFairSharingStatus": history}
        value["status"] = {"fairSharing": fair}
    return line.document(KUEUE, "LocalQueue", value)
