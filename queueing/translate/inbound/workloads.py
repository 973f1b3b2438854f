"""Workload → fact: what it requests, and the decisions that its status records.

Called by `controller.intake` for each version of a Workload, and by `sim.intake` for each that is
read from a file.
"""

from dataclasses import dataclass, field
from hashlib import blake2b
from operator import attrgetter

import msgspec

from queueing.core.facts import (
    NOTHING,
    Admission,
    CheckPhase,
    CheckState,
    Condition,
    PodSet,
    PodSetAssignment,
    WorkloadFact,
)
from queueing.core.names import CheckName, FlavorName, Key, PodSetName, QueueName, ResourceName, Uid
from queueing.core.selectors import Requirement
from queueing.core.topology.requests import NOTHING_ASKED
from queueing.devices.wire.counting import count_devices
from queueing.devices.wire.offers import DeviceShape
from queueing.translate.inbound.placement import (
    placeable,
    placement,
    topology_request,
    wants_topology,
    with_updates,
)
from queueing.translate.jobs.slices import slice_of
from queueing.translate.jobs.variants import allowed_flavors, has_variants, variant_of
from queueing.translate.labels import (
    ADMISSION_GATED_BY,
    ALLOWED_FLAVORS,
    PRIORITY_BOOST,
    SLICE_NAME,
    USER,
    VARIANT_PARENT,
)
from queueing.translate.problems import Problems
from queueing.translate.requests import NOTHING_AROUND, RULES, Surroundings, counted_requests
from queueing.translate.selectors import requirement, toleration
from queueing.translate.times import seconds
from queueing.translate.transformations import NO_RULES, ResourceRules
from queueing.translate.wire import workloads as wire
from queueing.translate.wire.pods import PodSpec

_name_of = attrgetter("name")
ADMISSIONS_MAX = 16
"""How many different admissions are remembered of Workloads that ask for the same."""
ELASTIC_DEVICES = "an elastic job cannot have devices that are given out by claims"


@dataclass(frozen=True, slots=True)
class Asks:
    """What a Workload's spec requests, and what is wrong with it.

    It is costly to compute and depends on generation and surroundings alone, so callers keep it.
    """

    pod_sets: tuple[PodSet, ...]
    problems: str
    rules: ResourceRules = NO_RULES
    shapes: tuple[DeviceShape, ...] = ()
    """The shapes of the devices that are requested, for which flavors must have offers."""
    admissions: dict[bytes, Admission] = field(default_factory=dict, compare=False, repr=False)
    """Admissions of such Workloads, by their text: most get the same. None with places of pods."""


def what_it_asks_by(found: wire.Workload) -> bytes:
    """Return all that `asks_of` reads of a Workload: two with the same ask for the same.

    Labels of pod templates are left out, for the API server gives those of Jobs the Job's name.
    """
    read = [
        (
            one.name,
            one.count,
            one.min_count,
            one.topology_request,
            one.template.metadata.annotations,
            one.template.spec,
        )
        for one in found.spec.pod_sets
    ]
    return msgspec.json.encode((found.spec.queue_name, read))


def asks_of(found: wire.Workload, around: Surroundings = NOTHING_AROUND) -> Asks:
    """Translate a Workload's pod sets in its namespace's surroundings."""
    problems = Problems()
    shapes: dict[str, DeviceShape] = {}
    reader = _Reader(around, found.spec.queue_name, problems, shapes)
    pod_sets = tuple(
        reader.pod_set(pod_set, f"spec.podSets[{position}]")
        for position, pod_set in enumerate(found.spec.pod_sets)
    )
    return Asks(pod_sets, problems.text(rules=RULES), around.rules, tuple(shapes.values()))


def workload(found: wire.Workload, around: Surroundings = NOTHING_AROUND) -> WorkloadFact:
    """Translate a Workload in its namespace's surroundings."""
    return workload_asking(found, asks_of(found, around), found.metadata.key)


def workload_asking(found: wire.Workload, asks: Asks, key: Key) -> WorkloadFact:
    """Translate the Workload with this key whose pod sets were translated before."""
    rules, meta, spec, status = asks.rules, found.metadata, found.spec, found.status
    gated_by = meta.annotations.get(ADMISSION_GATED_BY, "") if rules.heeds_gates else ""
    reclaimable = status.reclaimable_pods if rules.counts_reclaimable else ()
    boost, unusable_boost = _boost(meta.annotations) if rules.boosts_priority else (0, "")
    admission = None
    if status.admission is not None and status.admission.cluster_queue:
        text = msgspec.json.encode(status.admission)
        admission = asks.admissions.get(text) or _admission(status.admission, asks, text)
    pod_sets = asks.pod_sets
    if admission is not None and status.admission_checks:
        pod_sets = tuple(with_updates(one, status.admission_checks) for one in pod_sets)
    unusable_admission = admission.unusable if admission is not None else ""
    sliced = slice_of(meta) if rules.slices_jobs and SLICE_NAME in meta.annotations else ""
    by_claims = ELASTIC_DEVICES if sliced and any(one.devices for one in asks.pod_sets) else ""
    confined = ALLOWED_FLAVORS in meta.annotations
    variant = variant_of(meta) if confined else None
    problems = (asks.problems, unusable_boost, unusable_admission, by_claims)
    queue, owners = spec.queue_name, meta.owner_references
    return WorkloadFact(
        key=key,
        uid=Uid(meta.uid or key),
        local_queue=Key(f"{meta.namespace or 'default'}/{queue}") if queue else None,
        pod_sets=pod_sets,
        created=meta.created,
        priority=(spec.priority or 0) + boost,
        active=spec.active,
        admission=admission,
        given=NOTHING,
        beside=NOTHING,
        conditions={
            one.type: Condition(
                type=one.type,
                status=one.status == "True",
                reason=one.reason,
                message=one.message,
                changed=one.changed,
            )
            for one in status.conditions
        },
        checks=tuple(map(_check, status.admission_checks)),
        admission_gates=_gates(gated_by) if gated_by else (),
        preemption_gated=bool(spec.preemption_gates) and _gated(found),
        reclaimable=dict(map(_reclaimable, reclaimable)),
        requeue_count=status.requeue_state.count if status.requeue_state else 0,
        requeue_at=seconds(status.requeue_state.requeue_at) if status.requeue_state else None,
        max_execution_s=spec.maximum_execution_time_seconds,
        past_execution_s=status.accumulated_past_execution_time_seconds,
        deleting=meta.deletion_timestamp is not None,
        misconfigured="; ".join(filter(None, problems)),
        slice_of=sliced,
        unhealthy=tuple(map(_name_of, status.unhealthy_nodes)),
        is_one_pod=len(owners) == 1 and (owners[0].kind, owners[0].api_version) == ("Pod", "v1"),
        flavors=allowed_flavors(meta)
        if confined and (variant is not None or rules.confines_flavors)
        else None,
        variant=variant,
        has_variants=VARIANT_PARENT in meta.labels and has_variants(meta),
        user=meta.labels.get(USER, ""),
    )


@dataclass(frozen=True, slots=True)
class _Reader:
    """Translates the pod sets of one Workload."""

    around: Surroundings
    queue: str
    problems: Problems
    shapes: dict[str, DeviceShape]

    def pod_set(self, found: wire.PodSet, path: str) -> PodSet:
        spec, problems = found.template.spec, self.problems
        own = counted_requests(spec, self.around, path=f"{path}.template.spec", problems=problems)
        counted = count_devices(
            found, own, self.around.devices, queue=self.queue, problems=problems
        )
        self.shapes.update((one.key, one) for one in counted.shapes)
        requests = counted.requests
        ordered = {ResourceName(name): requests[name] for name in sorted(requests)}
        group = found.topology_request.pod_set_group_name if found.topology_request else ""
        places, topology = self.around.rules.places_pods, found.topology_request
        on_nodes = places and self.around.topologies
        return PodSet(
            name=PodSetName(found.name),
            count=found.count,
            requests=ordered,
            min_count=found.min_count,
            node_selector=spec.node_selector,
            node_affinity=node_affinity(spec),
            tolerations=tuple(map(toleration, spec.tolerations)),
            group=group or None,
            wants_topology=places and wants_topology(topology),
            topology=topology_request(topology) if places else NOTHING_ASKED,
            placeable=placeable(spec, self.around, counted.slots) if on_nodes else None,
            shape=_shape(found, ordered),
            devices=counted.facts,
        )


def node_affinity(spec: PodSpec) -> tuple[tuple[Requirement, ...], ...] | None:
    """Return the required node affinity as alternatives; terms on node fields do not select."""
    if spec.affinity is None or spec.affinity.node_affinity is None:
        return None
    required = spec.affinity.node_affinity.required_during_scheduling_ignored_during_execution
    if required is None:
        return None
    return tuple(
        tuple(map(requirement, term.match_expressions)) for term in required.node_selector_terms
    )


def _shape(found: wire.PodSet, requests: dict[ResourceName, int]) -> str:
    """Return a digest of what decisions depend on in a pod set; independent of any order."""
    spec = found.template.spec
    seen = (requests, spec.node_selector, spec.affinity, spec.tolerations, found.topology_request)
    return blake2b(msgspec.json.encode(seen, order="sorted"), digest_size=12).hexdigest()


def _boost(annotations: dict[str, str]) -> tuple[int, str]:
    """Return what an annotation adds to the priority, and what is wrong with it if anything is."""
    text = annotations.get(PRIORITY_BOOST)
    if text is None:
        return 0, ""
    try:
        return int(text), ""
    except ValueError:
        path, wanted = f"metadata.annotations[{PRIORITY_BOOST}]", "must be a valid signed integer"
        return 0, f'{path}: {text!r} {wanted}; use "0" explicitly'


def _reclaimable(found: wire.ReclaimablePod) -> tuple[PodSetName, int]:
    return PodSetName(found.name), found.count


def _gates(text: str) -> tuple[str, ...]:
    return tuple(gate.strip() for gate in text.split(",") if gate.strip())


def _gated(found: wire.Workload) -> bool:
    """Say whether a preemption gate of the spec is not open yet."""
    opened = {gate.name for gate in found.status.preemption_gates if gate.position == "Open"}
    return any(gate.name not in opened for gate in found.spec.preemption_gates)


def _check(found: wire.CheckState) -> CheckState:
    return CheckState(
        name=CheckName(found.name),
        state=CheckPhase(found.state) if found.state in list(CheckPhase) else CheckPhase.PENDING,
        changed=seconds(found.last_transition_time) or 0.0,
        message=found.message,
        requeue_after_s=found.requeue_after_seconds,
        retry_count=found.retry_count,
    )


def _admission(found: wire.Admission, asks: Asks, text: bytes) -> Admission:
    problems = Problems()
    asked = {pod_set.name: pod_set for pod_set in asks.pod_sets}
    held = tuple(
        _assignment(one, asked.get(PodSetName(one.name)), problems)
        for one in found.pod_set_assignments
    )
    made = Admission(
        cluster_queue=QueueName(found.cluster_queue), pod_sets=held, unusable=problems.text()
    )
    if all(one.placement is None for one in held):
        if len(asks.admissions) >= ADMISSIONS_MAX:
            asks.admissions.clear()
        asks.admissions[text] = made
    return made


def _assignment(
    found: wire.PodSetAssignment, asked: PodSet | None, problems: Problems
) -> PodSetAssignment:
    """Translate a pod set's assignment; an unusable amount is replaced by what its pods request."""
    count, given = found.count, found.topology_assignment
    if count is None or count < 0:
        count = 0 if asked is None else asked.count
    usage: dict[ResourceName, int] = {}
    for name in sorted(found.resource_usage):
        resource, path = ResourceName(name), f"status.admission[{found.name}].resourceUsage[{name}]"
        requested = 0 if asked is None else asked.requests.get(resource, 0) * count
        usage[resource] = problems.amount(path, name, found.resource_usage[name], requested)
    return PodSetAssignment(
        name=PodSetName(found.name),
        count=count,
        flavors={ResourceName(name): FlavorName(found.flavors[name]) for name in found.flavors},
        usage=usage,
        placement=None if given is None else placement(given),
        delayed=found.delayed_topology_request == "Pending",
    )
