"""Documents → facts and settings, with which a plan begins.

Every document is first validated by the schema of its kind. What the API server would refuse is an
error; what only a webhook would refuse is a warning. The order of documents does not matter.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from queueing.core.credits.facts import CreditFact
from queueing.core.facts import Fact, NamespaceFact
from queueing.core.names import FlavorName
from queueing.core.settings import Compatibility, Settings
from queueing.sim.contradictions import contradictions
from queueing.sim.creation import Creation
from queueing.sim.decoding import decode
from queueing.sim.devices import SimulatedDevices
from queueing.sim.documents import Document, load
from queueing.sim.job_kinds import JobKinds, Jobs
from queueing.sim.jobs import JobReader
from queueing.sim.kinds import (
    CONFIG,
    NAMESPACED,
    body,
    check_shape,
    configurations_within,
    has_schema,
    is_known,
    meant,
    rule_warnings,
    upgraded,
    without_effect,
)
from queueing.sim.left_out import told_once
from queueing.sim.nodes import unused_nodes
from queueing.sim.stakes import Stakes
from queueing.sim.variants import variants_to_come
from queueing.sim.yaml_text import ManifestError
from queueing.translate import budgets, credits_wire
from queueing.translate import credits as credit_objects
from queueing.translate.configuration import (
    CONCURRENT_ADMISSION,
    is_enabled,
    rules_of,
    settings_of,
    unknown_gates,
)
from queueing.translate.gates import without_effect as without_effect_gates
from queueing.translate.inbound import placement, queues, surroundings, workloads
from queueing.translate.inbound.manifests import read
from queueing.translate.jobs.composition import PriorityClasses
from queueing.translate.problems import Problems
from queueing.translate.requests import Surroundings, summarize
from queueing.translate.times import timestamp
from queueing.translate.unheeded import unheeded
from queueing.translate.wire import cluster, nodes
from queueing.translate.wire import queues as wire
from queueing.translate.wire.meta import Wire
from queueing.translate.wire.workloads import Workload
from queueing_api.config.v1beta2 import Configuration

DECIDING = ("multiKueue", "resources.")
"""Parts of a Configuration on which decisions depend."""

W = TypeVar("W", bound=Wire)


@dataclass(frozen=True, slots=True, kw_only=True)
class Intake:
    """The facts, the settings and the warnings of a set of documents."""

    facts: tuple[Fact | CreditFact, ...]
    settings: Settings
    warnings: tuple[str, ...]
    unknown_fields: tuple[str, ...]
    """The warnings that tell of fields which their kind does not have."""


def read_world(
    documents: Iterable[Document],
    *,
    now: float,
    compatibility: Compatibility,
    configuration: Configuration | None = None,
) -> Intake:
    """Translate documents. A `configuration` given here wins over one among the documents.

    Raises ManifestError, naming file, line and field, for the first document that is broken.
    """
    read = list(documents)
    kinds = JobKinds(read)
    written, warnings = _sort(read, kinds)
    found, unknown_fields = [], []
    for document in written:
        if kinds.of(document) is not None and not has_schema(document):
            _check_name(document)
            _complete(document, now)
            found.append(document)
            continue
        odd = check_shape(document)
        unknown_fields += odd.fields
        warnings += [*odd.names, *odd.fields]
        current = upgraded(document)
        warnings += rule_warnings(current)
        _complete(current, now)
        found.append(current)
    given = configuration or _configuration(found)
    found, off = _queued(found, kinds, given)
    warnings += off
    settled = given or Configuration()
    warnings += [f"feature gate {gate} is not known" for gate in unknown_gates(settled)]
    gates = without_effect_gates(settled.feature_gates)
    warnings += [f"feature gate {gate} changes nothing here" for gate in gates]
    warnings += [one for one in unheeded(settled) if one.startswith(DECIDING)]
    jobs = Jobs(kinds, None if given is None else given.integrations.frameworks)
    reader = _Reader(found, settled, jobs, as_kueue=compatibility is Compatibility.KUEUE)
    facts = reader.facts()
    return Intake(
        facts=facts,
        settings=settings_of(settled, compatibility=compatibility),
        warnings=(*warnings, *reader.warnings, *contradictions(facts)),
        unknown_fields=tuple(unknown_fields),
    )


def _check_name(document: Document) -> None:
    if not document.name:
        raise document.error(["metadata", "name"], "required")


def _queued(
    documents: Sequence[Document], kinds: JobKinds, configuration: Configuration | None
) -> tuple[list[Document], list[str]]:
    """Leave out jobs of kinds that are not queued, with a warning for each kind."""
    listed = None if configuration is None else configuration.integrations.frameworks
    kept, left_out = [], []
    for document in documents:
        if why := kinds.off(document, listed):
            left_out.append((document, f"is not queued and was left out: {why}"))
        else:
            kept.append(document)
    return kept, told_once(left_out)


def _sort(documents: Iterable[Document], kinds: JobKinds) -> tuple[list[Document], list[str]]:
    """Return the known documents by kind and name, and a warning per kind that has no effect."""
    known: dict[tuple[str, ...], Document] = {}
    left_out: list[tuple[Document, str]] = []
    for document in documents:
        is_job = kinds.of(document) is not None
        if not is_job and (why := without_effect(document)):
            left_out.append((document, f"has no effect on a plan: {why}"))
            continue
        if kinds.is_beside(document):
            continue
        if not is_job and not is_known(document):
            left_out.append((document, f"is not known and was left out{meant(document)}"))
            continue
        if is_job or document.kind in NAMESPACED:
            document.value["metadata"].setdefault("namespace", "default")
        namespace = document.value["metadata"].get("namespace") or ""
        identity = (document.group, document.kind, str(namespace), document.name)
        if identity in known:
            first = known[identity]
            problem = f"{document.title} is already defined at {first.file}:{first.line}"
            raise document.error([], problem)
        known[identity] = document
    return [known[identity] for identity in sorted(known)], told_once(left_out)


def _complete(document: Document, now: float) -> None:
    """Fill in uid and time of creation, and set the time of a LocalQueue's usage history to now."""
    metadata = document.value["metadata"]
    if not metadata.get("creationTimestamp"):
        metadata["creationTimestamp"] = timestamp(now)
    if not metadata.get("uid"):
        namespace = metadata.get("namespace")
        metadata["uid"] = f"{namespace}/{document.name}" if namespace else document.name
    if document.kind == "LocalQueue":
        share = (document.value.get("status") or {}).get("fairSharing") or {}
        if history := share.get("admissionFairSharingStatus"):
            history["lastUpdate"] = timestamp(now)


def read_configuration(file: str) -> Configuration:
    """Read a Configuration from a file of its own, or from the ConfigMap that holds it.

    Raises ManifestError when the file holds anything else, or a field that cannot be used.
    """
    documents = load([file])
    if len(documents) == 1 and documents[0].kind == "ConfigMap":
        documents = list(configurations_within(documents[0]))
    if len(documents) != 1 or documents[0].kind != "Configuration":
        problem = "must hold one Configuration and nothing else"
        raise ManifestError(file=file, line=1, problem=problem)
    if not is_known(documents[0]):
        raise documents[0].error(["apiVersion"], f"must be {CONFIG}/v1beta2")
    check_shape(documents[0])
    return Configuration.model_validate(body(documents[0]))


def _configuration(documents: Sequence[Document]) -> Configuration | None:
    written = [one for one in documents if one.kind == "Configuration"]
    if len(written) > 1:
        first = written[0]
        problem = f"there is already a Configuration at {first.file}:{first.line}"
        raise written[1].error([], problem)
    return Configuration.model_validate(body(written[0])) if written else None


class _Reader:
    """Translates documents that passed the schema of their kind."""

    def __init__(
        self,
        documents: Sequence[Document],
        configuration: Configuration,
        jobs: Jobs,
        *,
        as_kueue: bool,
    ) -> None:
        self.documents, self._jobs = documents, jobs
        self.warnings: list[str] = []
        self._rules = rules_of(configuration)
        self._configuration = configuration
        self._ranges = self._wire("LimitRange", cluster.LimitRange)
        self._overheads = {
            one.metadata.name: Problems().amounts("overhead.podFixed", one.overhead.pod_fixed)
            for one in self._wire("RuntimeClass", cluster.RuntimeClass)
        }
        flavors = self._wire("ResourceFlavor", wire.ResourceFlavor)
        self._places = any(map(surroundings.needs_nodes, flavors))
        """Whether it matters for any flavor which nodes there are."""
        self._around: dict[str, Surroundings] = {}
        self._stakes = Stakes(self._wire)
        self._devices = SimulatedDevices(self._wire, configuration, as_kueue=as_kueue)

    def facts(self) -> tuple[Fact | CreditFact, ...]:
        """Return facts in the order in which they depend on each other, each kind by name."""
        doors = self._each("LocalQueue", wire.LocalQueue, queues.local_queue)
        namespaces = self._namespaces()
        asking = self._workloads(namespaces)
        flavors = self._flavors()
        self.warnings += [*self._devices.warnings(), *self._stakes.warnings]
        return (
            *flavors,
            *self._each("Topology", wire.Topology, surroundings.topology),
            *self._nodes(),
            *self._each("AdmissionCheck", wire.AdmissionCheck, surroundings.check),
            *namespaces,
            *self._each("Cohort", wire.Cohort, queues.cohort),
            *self._each("ClusterQueue", wire.ClusterQueue, queues.cluster_queue),
            *doors,
            *asking,
            *(
                credit_objects.policy(one)
                for one in self._wire("CreditPolicy", credits_wire.CreditPolicy)
            ),
            *(
                credit_objects.grant(one)
                for one in self._wire("CreditGrant", credits_wire.CreditGrant)
            ),
            *(
                credit_objects.account(one)
                for one in self._wire("CreditAccount", credits_wire.CreditAccount)
            ),
            *(
                read(one)
                for one in self._wire("CreditBudget", credits_wire.CreditBudget)
                for read in (budgets.budget, budgets.budget_account)
            ),
        )

    def _workloads(self, spaces: Iterable[NamespaceFact]) -> list[Fact]:
        namespaces = {one.name: one for one in spaces}
        creation = Creation(self.documents, self._configuration, namespaces, self._jobs)
        workload_classes = self._wire("WorkloadPriorityClass", wire.WorkloadPriorityClass)
        pod_classes = self._wire("PriorityClass", cluster.PriorityClass)
        reader = JobReader(
            classes=PriorityClasses(
                workload={one.metadata.name: one for one in workload_classes},
                pod={one.metadata.name: one for one in pod_classes},
            ),
            rules=creation.rules,
            labels_of=creation.labels_of,
            jobs=[creation.job(one) for one in self.documents if self._jobs.has(one)],
            known=self._wire("Workload", Workload),
        )
        everything = reader.workloads()
        if is_enabled(self._configuration, CONCURRENT_ADMISSION):
            doors = self._wire("LocalQueue", wire.LocalQueue)
            queues_given = self._wire("ClusterQueue", wire.ClusterQueue)
            everything += list(variants_to_come(everything, doors, queues_given))
        self.warnings += reader.warnings
        everything.sort(key=lambda one: one.metadata.key)
        return [self._workload(one) for one in everything]

    def _workload(self, found: Workload) -> Fact:
        asks = workloads.asks_of(found, self._surroundings(found))
        self._devices.note(asks.shapes)
        fact = workloads.workload_asking(found, asks, found.metadata.key)
        charges, stake = self._devices.charges(found), self._stakes.of(found)
        lack = "" if fact.holds_quota else self._devices.lack(asks.shapes)
        if not charges and not stake and not lack:
            return fact
        return replace(fact, given=charges, stake=stake, unserved=lack)

    def _nodes(self) -> list[Fact]:
        """Return nodes, and what pods use of them that no topology placed."""
        if not self._places:
            return []
        found, pods = self._wire("Node", nodes.Node), self._wire("Pod", nodes.BoundPod)
        flavors = self._wire("ResourceFlavor", wire.ResourceFlavor)
        self.warnings += unused_nodes(found, flavors, self._wire("Topology", wire.Topology))
        devices = self._devices.on_nodes.changes()
        return [*map(placement.node, found), *placement.usage_by_node(pods), *devices]

    def _flavors(self) -> list[Fact]:
        """Return flavors with what their devices offer to those who ask for devices."""
        found = self._wire("ResourceFlavor", wire.ResourceFlavor)
        places_pods = self._rules.places_pods
        return [
            surroundings.flavor(
                one,
                self._devices.offers(one),
                self._devices.on_nodes.beside(FlavorName(one.metadata.name)),
                places_pods=places_pods,
            )
            for one in found
        ]

    def _surroundings(self, workload: Workload) -> Surroundings:
        namespace = workload.metadata.namespace
        if namespace not in self._around:
            inside = [one for one in self._ranges if one.metadata.namespace == namespace]
            self._around[namespace] = Surroundings(
                limits=summarize(inside),
                overheads=self._overheads,
                rules=self._rules,
                devices=self._devices.around(namespace),
                topologies=self._places,
            )
        return self._around[namespace]

    def _namespaces(self) -> list[NamespaceFact]:
        """Return every namespace that is written or used; an unwritten one has just its name."""
        written = {one.metadata.name: one for one in self._wire("Namespace", cluster.Namespace)}
        used = {
            str(one.value["metadata"]["namespace"])
            for one in self.documents
            if one.kind in NAMESPACED or self._jobs.has(one)
        }
        return [
            surroundings.namespace(
                written.get(name) or read(cluster.Namespace, {"metadata": {"name": name}})
            )
            for name in sorted(written.keys() | used)
        ]

    def _each(self, kind: str, shape: type[W], translate: Callable[[W], Fact]) -> list[Fact]:
        return [translate(one) for one in self._wire(kind, shape)]

    def _wire(self, kind: str, shape: type[W]) -> list[W]:
        return [decode(one, shape) for one in self.documents if one.kind == kind]
