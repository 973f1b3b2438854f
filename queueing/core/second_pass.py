"""The second pass: places for pods of a workload that holds quota already.

There are two reasons for one. Quota was reserved while an admission check could still bring nodes,
and now the checks are Ready: the pods get their first places, and preempt others for them if need
be. Or a node failed that pods were given: they get another one, and all others stay where they are.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from queueing.core.decisions import Place, Preempt, Strand
from queueing.core.entries import Head, preemptions, taken_from
from queueing.core.facts import CheckPhase, WorkloadFact
from queueing.core.names import FlavorName, FlavorResource, Key, PodSetName
from queueing.core.nomination import World, victim_search
from queueing.core.placement.pods import Wanted, placed_at, wanted_places
from queueing.core.preemption.limits import Departures
from queueing.core.reasons import NoPlace, describe, pending_preemption
from queueing.core.topology.assignment import HOSTNAME, Occupancy, Unplaced
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.forest import Forest
from queueing.core.topology.placement import Places, place, placements, unplaced
from queueing.core.topology.replacement import replace_node
from queueing.core.topology.requests import PodSetRequest, in_order
from queueing.core.topology.searching import SearchTerms

USED_STILL = "workloads that are being evicted still use the nodes"
NO_REPLACEMENT = "Workload was evicted as there was no replacement for unhealthy node(s)"

NOWHERE: Mapping[PodSetName, Placement] = MappingProxyType({})


class Attempt(NamedTuple):
    """What one second pass came to."""

    decision: Place | Strand
    kept: Mapping[PodSetName, Placement] = NOWHERE
    """The places that it gets once victims have left them."""
    preemptions: tuple[Preempt, ...] = ()
    taken: tuple[Key, ...] = ()
    """Workloads whose promise is taken from them."""

    @property
    def ends(self) -> bool:
        """Whether its decision is to be written, so that no other attempt is due."""
        return isinstance(self.decision, Place) or self.decision.evicts


def awaits(workload: WorkloadFact) -> bool:
    """Say whether a workload that holds quota is to be placed, or placed anew."""
    if not workload.holds_quota or workload.evicted or workload.deleting or not workload.active:
        return False
    return _awaits_first_places(workload) or bool(failed_nodes(workload))


def failed_nodes(workload: WorkloadFact) -> tuple[str, ...]:
    """Return the failed nodes that pods of an admitted workload were given."""
    if workload.admission is None or not workload.admitted or not workload.unhealthy:
        return ()
    given = {
        domain.values[-1]
        for one in workload.admission.pod_sets
        if one.placement is not None and one.placement.levels == (HOSTNAME,)
        for domain in one.placement.domains
    }
    return tuple(one for one in workload.unhealthy if one in given)


def _awaits_first_places(workload: WorkloadFact) -> bool:
    checks = workload.checks
    if workload.admitted or not checks or workload.admission is None:
        return False
    ready = all(one.state is CheckPhase.READY for one in checks)
    return ready and any(one.delayed for one in workload.admission.pod_sets)


def second_pass(head: Head, world: World) -> Attempt:
    """Find places for the pods of a workload that `awaits` them; the tree is left as it was."""
    workload, forest, settings = head.workload, world.tree.forest, world.settings
    failed = failed_nodes(workload)
    if failed and workload.is_one_pod and settings.keeps_places_of_pods:
        return Attempt(_placed(workload, NOWHERE, failed))  # a pod that runs cannot move
    wanted, troubles = wanted_places(workload, forest, anew=bool(failed))
    if troubles:
        return Attempt(_stranded(workload, describe(troubles), failed))
    terms = SearchTerms(profile=settings.placement)
    node = next(iter(failed), None)
    found = place(forest, wanted, terms) if node is None else _replaced(forest, wanted, node, terms)
    lacking = ((name, one) for name, one in found.items() if isinstance(one, Unplaced))
    name, why = next(lacking, (None, None))
    if name is not None and why is not None:
        message = describe([(name, [NoPlace(why.reason)])])
        if failed:
            evicts = settings.evicts_unplaceable
            return Attempt(_stranded(workload, message, failed, evicts=evicts))
        return _by_preemption(head, world, wanted, message)
    places = placements(found)
    waits = _waits_for_victims(forest, wanted, places) if settings.rules.promises else None
    if waits is None:
        return Attempt(_placed(workload, places, failed))
    message = describe([(waits, [NoPlace(USED_STILL)])])
    return Attempt(_stranded(workload, message, failed), places)


def _by_preemption(head: Head, world: World, wanted: Wanted, message: str) -> Attempt:
    """Preempt others for first places, by the rules for heads; it needs no more quota."""
    workload, tree, settings = head.workload, world.tree, world.settings
    now = SearchTerms(profile=settings.placement)
    nobody = Attempt(_stranded(workload, message))
    when_empty = place(tree.forest, wanted, SearchTerms(profile=settings.placement, empty=True))
    may = head.queue in world.rules and not workload.preemption_gated
    if not may or unplaced(when_empty) is not None:
        return nobody
    search = victim_search(head, world, world.reach(), spared=head.spared | {workload.uid})
    targets = search.targets(
        {}, _contested(workload, wanted), lambda: unplaced(place(tree.forest, wanted, now)) is None
    )
    victims = [one for one in targets if not one.holder.promised]
    running = (tree.queue(one.holder.queue) for one in victims if one.holder.runs)
    if not targets or not Departures(world.bounds).allow(running):
        return nobody
    with tree.attempt():
        for one in targets:
            one.leave(tree)
        kept = placements(place(tree.forest, wanted, now))
    told = pending_preemption(message, len(victims)) if victims else message
    issued = preemptions(head, victims, tree)
    return Attempt(_stranded(workload, told), kept, issued, taken_from(targets))


def _contested(workload: WorkloadFact, wanted: Wanted) -> list[FlavorResource]:
    """Return what pod sets that are placed hold: victims must hold some of it, too."""
    names = {one.name for several in wanted.values() for one in several}
    held = () if workload.admission is None else workload.admission.pod_sets
    return list(
        dict.fromkeys(
            FlavorResource(flavor, resource)
            for one in held
            if one.name in names
            for resource, flavor in one.flavors.items()
        )
    )


def _replaced(forest: Forest, wanted: Wanted, node: str, terms: SearchTerms) -> Places:
    found: Places = {}
    for flavor in sorted(wanted):
        found |= replace_node(forest, flavor, wanted[flavor], node, terms)
    return found


def _waits_for_victims(
    forest: Forest, wanted: Wanted, places: Mapping[PodSetName, Placement]
) -> PodSetName | None:
    """Return the first pod set with a new place that victims have not left yet; None if none has.

    What is written is in force at once, while a search counts victims as gone.
    """
    taken: list[Occupancy] = []
    waits = None
    for flavor, one in [(name, one) for name in sorted(wanted) for one in wanted[name]]:
        gained = _gained(forest, flavor, one, places[one.name])
        if not forest.has_room(gained, now=True):
            waits = one.name
            break
        forest.hold(gained)
        taken.append(gained)
    for gained in taken:
        forest.hold(gained, -1)
    return waits


def _gained(forest: Forest, flavor: FlavorName, one: PodSetRequest, now: Placement) -> Occupancy:
    """Return what a pod set uses of leaves beyond what it has there already."""
    usage = now.beyond(one.current).usage(in_order(dict(one.pod.requests), pods=1))
    return Occupancy((flavor,), forest.tree(flavor).hosts, usage)


def _placed(
    workload: WorkloadFact, places: Mapping[PodSetName, Placement], left: tuple[str, ...]
) -> Place:
    admission = workload.admission
    assert admission is not None, f"{workload.key} holds no quota"  # noqa: S101
    return Place(
        workload=workload.key,
        uid=workload.uid,
        cluster_queue=admission.cluster_queue,
        pod_sets=placed_at(workload, places),
        left=left,
    )


def _stranded(
    workload: WorkloadFact, message: str, failed: Sequence[str] = (), *, evicts: bool = False
) -> Strand:
    admission = workload.admission
    assert admission is not None, f"{workload.key} holds no quota"  # noqa: S101
    if evicts:
        message = f"{NO_REPLACEMENT}: {','.join(failed)}"
    return Strand(
        workload=workload.key,
        uid=workload.uid,
        cluster_queue=admission.cluster_queue,
        message=message,
        left=tuple(failed),
        evicts=evicts,
    )
