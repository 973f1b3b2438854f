"""Where the pod sets of a workload go: flavor by flavor, each beside what the earlier ones take."""

from collections.abc import Mapping, Sequence

from queueing.core.names import FlavorName, PodSetName
from queueing.core.topology.assignment import Assignment, Unplaced
from queueing.core.topology.forest import Forest
from queueing.core.topology.growing import grown, stays
from queueing.core.topology.nearness import home, nearest
from queueing.core.topology.requests import PodSetRequest, in_order
from queueing.core.topology.searching import Placed, SearchTerms

Places = dict[PodSetName, Assignment | Unplaced]
PAIR = 2


def place(
    forest: Forest, wanted: Mapping[FlavorName, Sequence[PodSetRequest]], terms: SearchTerms
) -> Places:
    """Find domains for all pod sets of a workload; the forest is unchanged afterwards.

    In each flavor the first pod sets that have no place end the search, so that later ones of that
    flavor are not in the answer.
    """
    found: Places = {}
    earlier: list[tuple[FlavorName, PodSetRequest, Assignment]] = []
    with forest.attempt():
        for flavor in sorted(wanted):
            for workers, leader in _groups(wanted[flavor]):
                while earlier:
                    assume(forest, *earlier.pop())
                placed = _placed(forest, flavor, workers, leader, terms)
                if isinstance(placed, Unplaced):
                    found |= {one.name: placed for one in (workers, leader) if one is not None}
                    break
                both = [(workers, placed.workers), (leader, placed.leader)]
                for one, assignment in both:
                    if one is not None and assignment is not None:
                        found[one.name] = assignment
                        earlier.append((flavor, one, assignment.beyond(one.kept)))
    return found


def _placed(
    forest: Forest,
    flavor: FlavorName,
    workers: PodSetRequest,
    leader: PodSetRequest | None,
    terms: SearchTerms,
) -> Placed | Unplaced:
    memories = forest.memories(flavor)
    here = home(memories, workers.topology)
    if not stays(here, workers, leader):
        return nearest(memories, workers, leader, terms)
    for one in (workers, leader) if terms.empty else ():
        if one is not None and one.kept is not None:
            assume(forest, flavor, one, one.kept)
    return grown(here, workers, leader, terms)


def assume(
    forest: Forest, flavor: FlavorName, pod_set: PodSetRequest, assignment: Assignment
) -> None:
    """Count a place as used by an earlier pod set of the same workload."""
    requests = in_order(dict(pod_set.pod.requests), pods=1)
    forest.assume(flavor, assignment.usage(requests))


def placements(places: Places) -> dict[PodSetName, Assignment]:
    """Return the pod sets that have a place, and where."""
    return {name: one for name, one in places.items() if isinstance(one, Assignment)}


def unplaced(places: Places) -> Unplaced | None:
    """Return why the first pod set without a place has none; None if all have one."""
    return next((one for one in places.values() if isinstance(one, Unplaced)), None)


def _groups(pod_sets: Sequence[PodSetRequest]) -> list[tuple[PodSetRequest, PodSetRequest | None]]:
    """Return pod sets alone, or as workers and their leader, in the order of the first of each."""
    groups: dict[str | int, list[PodSetRequest]] = {}
    for at, one in enumerate(pod_sets):
        groups.setdefault(one.topology.group or at, []).append(one)
    return [_roles(members) for members in groups.values()]


def _roles(members: Sequence[PodSetRequest]) -> tuple[PodSetRequest, PodSetRequest | None]:
    """Return workers and leader: the leader is the smaller pod set, of equal ones the second."""
    if len(members) < PAIR:
        return members[0], None
    workers, leader = members[:PAIR]
    return (leader, workers) if leader.count > workers.count else (workers, leader)
