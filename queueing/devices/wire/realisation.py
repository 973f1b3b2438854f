"""An admitted Workload → the claim templates, claims and pod changes that realise its admission.

A pure function of the Workload with its admission and of the DeviceFlavors, computed again whenever
it is needed and never stored. Everything is named by a digest of its contents, so that creating it
twice creates it once.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from queueing.devices.wire import domains
from queueing.devices.wire.asks import DeviceSurroundings, PodDevices, ResourceRequest, devices_of
from queueing.devices.wire.bound import asked_by_users
from queueing.devices.wire.names import (
    CHANNEL,
    CLAIM_SPECS,
    CLASS_PREFIX,
    COMPUTE_DOMAIN,
    FLAVOR,
    GATE,
    INJECT,
    INJECT_CLAIM,
    INJECT_RESOURCE,
    INJECT_TEMPLATE,
    PLAN,
    POD_SET,
    WORKLOAD,
    WORKLOAD_UID,
    digest,
    label_value,
    object_name,
)
from queueing.devices.wire.objects import ComputeDomainTerms, FlavoredResource
from queueing.devices.wire.terms import (
    UnservedError,
    check,
    claim_spec,
    claims_by_scheduler,
    is_kubernetes,
)
from queueing.translate.problems import Problems
from queueing.translate.wire.meta import Meta
from queueing.translate.wire.workloads import PodSet, PodSetAssignment, Workload

API_VERSION = "resource.k8s.io/v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimOwner:
    """The Job that owns the templates and claims, which are deleted with it."""

    api_version: str
    kind: str
    metadata: Meta


@dataclass(frozen=True, slots=True, kw_only=True)
class PodChanges:
    """What is added to the pod template of one pod set because of its devices."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    gates: tuple[str, ...] = ()
    """Scheduling gates, until the injection policy has given a pod its claim."""
    swaps: Mapping[str, str] = field(default_factory=dict)
    """Names of extended resources, and those that take their place in every container."""


NO_CHANGES = PodChanges()


@dataclass(frozen=True, slots=True)
class Realisation:
    """The objects and the pod changes that an admission needs for its devices."""

    objects: tuple[dict[str, Any], ...] = ()
    """What must exist before the job starts: templates, claims, and then ComputeDomains."""
    changes: Mapping[str, PodChanges] = field(default_factory=dict)
    """By pod set; sets that get nothing are left out."""

    @property
    def plan(self) -> str:
        """Digest of the whole: equal plans make equal objects."""
        named = {name: (one.labels, one.annotations) for name, one in self.changes.items()}
        swaps = {name: one.swaps for name, one in self.changes.items()}
        return digest([one["metadata"]["name"] for one in self.objects], named, swaps)


def realise(workload: Workload, owner: ClaimOwner, around: DeviceSurroundings) -> Realisation:
    """Return what an admitted Workload needs for its devices. Raises UnservedError.

    Pod sets whose flavor has no DeviceFlavor for a resource keep it: it is a device plugin's.
    """
    admission = workload.status.admission
    if admission is None or around.catalog.is_empty:
        return Realisation()
    assigned = {one.name: one for one in admission.pod_set_assignments}
    objects: list[dict[str, Any]] = []
    changes: dict[str, PodChanges] = {}
    for pod_set in workload.spec.pod_sets:
        found = devices_of(pod_set.template, around, pod_set.name, Problems())
        slots: list[_Slot] = []
        swaps: dict[str, str] = {}
        place = assigned.get(pod_set.name)
        asked = [(ask, *_served(ask, place, around)) for ask in found.asks]
        domain = next(_domains(asked, _Made(workload, owner, pod_set)), None)
        for ask, served, flavor in asked:
            if served is None:
                continue
            made = _Made(workload, owner, pod_set, flavor, ask.resource, domain)
            slots += _realise_one(ask, served, made, objects)
            if served.strategy == "Class" and not ask.slot:
                swaps[ask.resource] = CLASS_PREFIX + served.request.device_class_name
        made_of = _changes(slots, swaps)
        if domain is not None:
            objects.append(_domain_object(domain, place))
            made_of = replace(made_of, annotations={**made_of.annotations, CHANNEL: domain.name})
        if not around.catalog.as_kueue:
            made_of = _told_of_bound(made_of, workload, found)
            is_placed = place is not None and place.topology_assignment is not None
            if is_placed and any(one and claims_by_scheduler(one) for _, one, _ in asked):
                made_of = _owned(made_of, workload)
        if made_of != NO_CHANGES:
            changes[pod_set.name] = made_of
    return Realisation(tuple(objects), changes)


def _told_of_bound(made: PodChanges, workload: Workload, found: PodDevices) -> PodChanges:
    """Mark pods with claims of their user's own: whose they are, and what was asked for."""
    asked = asked_by_users(found)
    if asked is None:
        return made
    told = replace(made, annotations={**made.annotations, CLAIM_SPECS: asked.text})
    return _owned(told, workload)


def _owned(made: PodChanges, workload: Workload) -> PodChanges:
    """Mark pods whose claims carry no label of ours: their own says whose these are."""
    return replace(made, labels={**made.labels, WORKLOAD_UID: label_value(workload.metadata.uid)})


def _served(
    ask: ResourceRequest, assigned: PodSetAssignment | None, around: DeviceSurroundings
) -> tuple[FlavoredResource | None, str]:
    quota = around.catalog.quotas[ask.resource]
    flavor = assigned.flavors.get(quota, "") if assigned is not None else ""
    served = around.catalog.served.get((flavor, ask.resource))
    if served is None and (ask.slot or ask.traits):
        raise UnservedError(f"flavor {flavor} has no DeviceFlavor that serves {ask.resource}")
    return served, flavor


@dataclass(frozen=True, slots=True)
class _Made:
    """What every object of one pod set says of where it comes from."""

    workload: Workload
    owner: ClaimOwner
    pod_set: PodSet
    flavor: str = ""
    resource: str = ""
    domain: "_Domain | None" = None

    def object(self, kind: str, spec: Mapping[str, Any], *, name: str = "") -> dict[str, Any]:
        """Return an object of this pod set; without a name it is named by its content."""
        meta = self.owner.metadata
        uid = self.workload.metadata.uid
        within = {} if self.domain is None else {COMPUTE_DOMAIN: self.domain.name}
        plan = digest(uid, self.pod_set.name, self.flavor, spec, *within.values())
        labels = {
            WORKLOAD: label_value(self.workload.metadata.name),
            WORKLOAD_UID: label_value(self.workload.metadata.uid),
            POD_SET: label_value(self.pod_set.name),
            FLAVOR: label_value(self.flavor),
        }
        annotations = {INJECT_RESOURCE: self.resource}
        claim: dict[str, Any] = dict(spec)
        if kind == "ResourceClaimTemplate":
            claim = {
                "metadata": {"labels": labels, "annotations": annotations},
                "spec": dict(spec),
            }
        return {
            "apiVersion": domains.API_VERSION if kind == domains.KIND else API_VERSION,
            "kind": kind,
            "metadata": {
                "name": name or object_name(meta.name, self.pod_set.name, plan),
                "namespace": meta.namespace,
                "labels": labels,
                "annotations": {**annotations, **within, PLAN: plan},
                "ownerReferences": [
                    {
                        "apiVersion": self.owner.api_version,
                        "kind": self.owner.kind,
                        "name": meta.name,
                        "uid": meta.uid,
                        "controller": True,
                    }
                ],
            },
            "spec": claim,
        }


@dataclass(frozen=True, slots=True)
class _Domain:
    """The ComputeDomain of a pod set; the template of its channel has the same name."""

    name: str
    terms: ComputeDomainTerms
    made: _Made


def _domains(
    asked: Iterable[tuple[ResourceRequest, FlavoredResource | None, str]], made: _Made
) -> Iterator[_Domain]:
    """Yield the domains that the flavors of a pod set's resources ask for; the first counts."""
    for ask, served, flavor in asked:
        terms = None if served is None else served.compute_domain
        if served is None or terms is None or served.strategy != "Inject" or ask.slot:
            continue
        within = replace(made, flavor=flavor, resource=ask.resource)
        job, uid = made.owner.metadata.name, made.workload.metadata.uid
        name = domains.domain_name(terms, job, made.pod_set.name, uid, flavor)
        yield _Domain(name, terms, within)


def _domain_object(domain: _Domain, place: PodSetAssignment | None) -> dict[str, Any]:
    pods = domain.made.pod_set.count
    if place is not None and place.count is not None:
        pods = place.count
    spec = domains.domain_spec(domain.terms, domain.name, pods)
    return domain.made.object(domains.KIND, spec, name=domain.name)


@dataclass(frozen=True, slots=True)
class _Slot:
    """A claim that pods get when they are created, and the resource that it stands for."""

    resource: str
    template: str = ""
    shared: str = ""


def _realise_one(
    ask: ResourceRequest, served: FlavoredResource, made: _Made, objects: list[dict[str, Any]]
) -> list[_Slot]:
    """Make the objects of one ask, and return what has to be injected for it."""
    check(ask, served)
    if ask.slot:
        spec = claim_spec(ask, served)
        objects.append(made.object("ResourceClaimTemplate", spec, name=ask.template))
        return []
    if is_kubernetes(served):
        return []
    shared = served.sharing == "PerPodSet"
    kind = "ResourceClaim" if shared else "ResourceClaimTemplate"
    found = made.object(kind, claim_spec(ask, served))
    objects.append(found)
    name = found["metadata"]["name"]
    return [_Slot(ask.resource, shared=name) if shared else _Slot(ask.resource, template=name)]


def _changes(slots: list[_Slot], swaps: dict[str, str]) -> PodChanges:
    """Tell the pods: lists in one order, with nothing at places that do not apply."""
    if not slots:
        return PodChanges(swaps=swaps)
    lists = {
        INJECT_TEMPLATE: [one.template for one in slots],
        INJECT_CLAIM: [one.shared for one in slots],
    }
    named = {key: ",".join(names) for key, names in lists.items() if any(names)}
    resources = ",".join(one.resource for one in slots)
    return PodChanges(
        labels={INJECT: "true"},
        annotations={INJECT_RESOURCE: resources, **named},
        gates=(GATE,),
        swaps=swaps,
    )
