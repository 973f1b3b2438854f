"""Places by topology for pods whose flavors were chosen: the end of flavor assignment.

As in Kueue, topology is looked at after quota, on the flavors that quota gave: a flavor whose nodes
have no place is not passed over in the same search, but in the next one.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType

from queueing.core.facts import PodSet
from queueing.core.flavors.assignment import Assignment
from queueing.core.flavors.grades import FIT, NO_CANDIDATES, NO_FIT
from queueing.core.holders import Holder
from queueing.core.names import FlavorName, FlavorResource, PodSetName
from queueing.core.placement.pods import NO_FLAVOR, Wanted
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.tree import QuotaTree
from queueing.core.reasons import NoPlace, Severity, Unreadable
from queueing.core.settings import Compatibility, Settings
from queueing.core.sharing import Commons
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.assignment import Unplaced
from queueing.core.topology.counts import Known
from queueing.core.topology.nearness import home
from queueing.core.topology.placement import Places, place, placements, unplaced
from queueing.core.topology.requests import Placeable, PodSetRequest, in_order
from queueing.core.topology.searching import SearchTerms, fitting

NOBODY: Wanted = MappingProxyType({})
NOT_IN_SLICES = "topology is not supported with ElasticJobsViaWorkloadSlices"
NO_INFORMATION = "workload requires Topology, but there is no TAS cache information"


class Placing:
    """Finds places for the workloads of one queue, on the usage of the tree as it is."""

    __slots__ = (
        "_as_kueue",
        "_grows_in_place",
        "_now",
        "_rules",
        "_standing",
        "_tree",
        "_when_empty",
    )

    def __init__(
        self,
        rules: QueueRules,
        tree: QuotaTree,
        settings: Settings,
        standing: Commons | None = None,
    ) -> None:
        """With `standing`, a workload may be a slice that replaces another one."""
        self._rules, self._tree = rules, tree
        self._standing, self._grows_in_place = standing, settings.grows_in_place
        self._as_kueue = settings.compatibility is Compatibility.KUEUE
        self._now = SearchTerms(profile=settings.placement)
        self._when_empty = SearchTerms(profile=settings.placement, empty=True)

    def complete(self, answer: Assignment) -> None:
        """Find places for all pods of an assignment, or lower its grade.

        Without room now, preemption is needed; if there is none even without all placed workloads,
        nothing fits.
        """
        wanted = NOBODY if answer.grade is NO_FIT else self.wanted(answer)
        if not wanted:
            return
        if answer.grade is FIT:
            found = self._find(wanted, self._now)
            lacking = {name: one for name, one in found.items() if isinstance(one, Unplaced)}
            if not lacking:
                answer.places = placements(found)
                return
            name, why = next(iter(lacking.items()))
            answer.troubles.append((name, [NoPlace(why.reason)]))
            answer.grade, answer.severity = NO_CANDIDATES, Severity.WAITING_FOR_QUOTA
        if unplaced(self._find(wanted, self._when_empty)) is None:
            _contest(answer, wanted)
        else:
            answer.grade, answer.severity = NO_FIT, Severity.TOPOLOGY_PLACEMENT_FAILED

    def condition(self, answer: Assignment) -> Callable[[], bool] | None:
        """Return what says whether there is room for an assignment now; None if it needs none."""
        wanted = self.wanted(answer)
        if not wanted:
            return None
        return lambda: unplaced(self._find(wanted, self._now)) is None

    def reserve(self, answer: Assignment, victims: Iterable[Holder]) -> None:
        """Give an assignment that needs preemption the places that it will have then.

        Without victims they are those in a cluster without placed workloads. It keeps them from
        others of its round.
        """
        wanted = self.wanted(answer)
        if not wanted:
            return
        leaving = list(victims)
        with self._tree.attempt():
            for one in leaving:
                self._tree.remove_usage(one.queue, one.counted)
            found = self._find(wanted, self._now if leaving else self._when_empty)
        answer.places = placements(found)

    def required(self, answer: Assignment) -> list[tuple[FlavorName, PodSetRequest]]:
        """Return the pod sets that must be in one domain each, with their flavors.

        Of a leader with its workers it is the first, as both are in the same domain; of a slice,
        the pods that have no place yet.
        """
        found: dict[str, tuple[FlavorName, PodSetRequest]] = {}
        for flavor, several in self.wanted(answer).items():
            for one in several:
                if one.kept is not None:
                    one = replace(one, count=max(one.count - one.kept.count, 0))
                if one.topology.required:
                    found.setdefault(one.topology.group or f"/{one.name}", (flavor, one))
        return list(found.values())

    def find(self, wanted: Wanted) -> Mapping[PodSetName, Placement] | None:
        """Return places that all pod sets have now; None if any has none."""
        found = self._find(wanted, self._now)
        return placements(found) if unplaced(found) is None else None

    def room(self, flavor: FlavorName, one: PodSetRequest) -> Known:
        """Return how many pods of a pod set fit into each domain now."""
        return fitting(home(self._tree.forest.memories(flavor), one.topology), one, self._now)

    def may_fit(self, flavor: FlavorName, one: PodSetRequest, domain: int) -> bool:
        """Say whether a domain may hold a pod set now; False is certain.

        Pods that fill no slice go without a place.
        """
        size = max((layer.size for layer in one.topology.slices), default=1)
        return self.room(flavor, one)[domain] >= one.count - one.count % max(size, 1)

    def _find(self, wanted: Wanted, terms: SearchTerms) -> Places:
        return place(self._tree.forest, wanted, terms)

    def wanted(self, answer: Assignment) -> Wanted:
        """Return what is to be placed, by flavor; an assignment that cannot be placed fails."""
        places_all = self._rules.offer.places_all
        if not places_all and not any(one.pod_set.wants_topology for one in answer.demand.pod_sets):
            return NOBODY
        found: dict[FlavorName, list[PodSetRequest]] = {}
        sound, kept = True, self._kept(answer)
        for number, one in enumerate(answer.demand.pod_sets):
            if not one.count or not (one.pod_set.wants_topology or places_all):
                continue
            flavor, problem = self._flavor(answer, number)
            stays, bound = kept.get(one.pod_set.name), _bound(one.pod_set)
            if stays is not None and bound and self._as_kueue:
                flavor, problem = None, f"{bound} {NOT_IN_SLICES}"
            if flavor is not None and flavor in self._rules.places_later:
                answer.delayed.add(one.pod_set.name)
            elif flavor is None:
                answer.grade, answer.severity = NO_FIT, Severity.NO_MATCHING_FLAVOR
                answer.troubles.append((one.pod_set.name, [Unreadable(problem)]))
                sound = False
            else:
                found.setdefault(flavor, []).append(
                    replace(request_of(one.pod_set, one.count), kept=stays)
                )
        return found if sound else NOBODY

    def _kept(self, answer: Assignment) -> Mapping[PodSetName, Placement]:
        """Return the places of the slice that a slice replaces, which its pods keep."""
        stands = self._standing
        if stands is None or not answer.demand.slice_of:
            return {}
        answer.stays = stands.places
        keeps = stands.pod_sets if self._grows_in_place else ()
        return {one.name: one.placement for one in keeps if one.placement is not None}

    def _flavor(self, answer: Assignment, number: int) -> tuple[FlavorName | None, str]:
        """Return the flavor with a topology that a pod set got, or why there is none."""
        chosen = _flavors_of(answer, number)
        forest = self._tree.forest
        placing = sorted(one for one in chosen if forest.has(one))
        if len(placing) == 1:
            return placing[0], ""
        if placing:
            return None, f"more than one TAS flavor assigned: {', '.join(placing)}"
        return None, NO_FLAVOR if self._rules.offer.places else NO_INFORMATION


def _flavors_of(answer: Assignment, number: int) -> set[FlavorName]:
    """Return the flavors of a pod set; one that requests nothing has those of its group."""
    asked = answer.outline.totals[number]
    for part, choices in zip(answer.outline.parts, answer.choices, strict=False):
        if number in part.pod_sets:
            own = {choices[resource].flavor for resource in asked if resource in choices}
            return own or {one.flavor for one in choices.values()}
    return set()


def _bound(pod_set: PodSet) -> str:
    """Return in which way pods are bound to a level; empty if they may be anywhere."""
    asked = pod_set.topology
    return "required" if asked.required else "preferred" if asked.preferred else ""


def request_of(pod_set: PodSet, count: int) -> PodSetRequest:
    """Return a pod set with so many pods as one to be placed."""
    return PodSetRequest(
        name=pod_set.name,
        count=count,
        pod=pod_set.placeable or Placeable(requests=in_order(pod_set.requests)),
        topology=pod_set.topology,
        implied=not pod_set.wants_topology,
    )


def _contest(answer: Assignment, wanted: Wanted) -> None:
    """Let all that placed pod sets use be preempted: their place may be where any of it is."""
    names = {one.name for several in wanted.values() for one in several}
    for one in answer.pod_sets():
        if one.name in names:
            for resource, flavor in one.flavors.items():
                key = FlavorResource(flavor, resource)
                if key not in answer.contested:
                    answer.contested.append(key)
