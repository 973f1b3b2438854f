"""One search: a pod set, or workers with their leader, on the nodes of one flavor."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

from queueing.core.topology.assignment import HOSTNAME, Assignment, Domain, Unplaced
from queueing.core.topology.balanced import BalancedSearch
from queueing.core.topology.choosing import Choice, TooFew
from queueing.core.topology.counts import Counts, CountsKey, Known, Memory
from queueing.core.topology.dealing import dealt
from queueing.core.topology.descent import Descent
from queueing.core.topology.refusals import too_few
from queueing.core.topology.requests import PodSetRequest, Profile, Search, in_order, search_for
from queueing.core.topology.taking import Share
from queueing.core.topology.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchTerms:
    """What holds for all searches of one attempt."""

    profile: Profile
    empty: bool = False
    """Whether workloads that are placed are ignored: what could be, if all of them left."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where workers go, and their leader if they have one."""

    workers: Assignment
    leader: Assignment | None


def search(
    memory: Memory,
    workers: PodSetRequest,
    leader: PodSetRequest | None,
    terms: SearchTerms,
    within: int | None = None,
) -> Placed | Unplaced:
    """Find domains for a pod set, or say why there are none.

    Of a leader only the requests are looked at. With `within` all leaves outside of that domain are
    closed.
    """
    tree = memory.tree
    wanted = search_for(tree.levels, workers, hosts=tree.hosts)
    if isinstance(wanted, str):
        return Unplaced(wanted)
    counts = memory.counts(_shape(wanted, workers, leader, terms), within)
    shares = _shares(counts, wanted, leaders=0 if leader is None else 1, profile=terms.profile)
    if isinstance(shares, str):
        return Unplaced(shares)
    pods = {one.domain: one.pods for one in shares if one.pods}
    led = {one.domain: one.leaders for one in shares if one.leaders}
    return Placed(assignment(tree, pods), assignment(tree, led) if leader is not None else None)


def fitting(memory: Memory, pods: PodSetRequest, terms: SearchTerms) -> Known:
    """Return how many pods of a pod set that can be searched for fit into each domain."""
    tree = memory.tree
    wanted = search_for(tree.levels, pods, hosts=tree.hosts)
    assert not isinstance(wanted, str), wanted  # noqa: S101 - see above
    return memory.counts(_shape(wanted, pods, None, terms)).room.pods


def assignment(tree: Tree, pods: dict[int, int]) -> Assignment:
    """Return pods by leaf as an assignment: in the order of the values of all levels."""
    path, only = tree.domains.path, -1 if tree.hosts else 0
    levels = (HOSTNAME,) if tree.hosts else tree.levels
    ordered = sorted((path[leaf], count) for leaf, count in pods.items())
    return Assignment(levels, tuple(Domain(values[only:], count) for values, count in ordered))


def merged(tree: Tree, *parts: Sequence[Domain]) -> Assignment:
    """Return the places of parts of a pod set, which all have leaves, as one."""
    pods = Counter[int]()
    for domain in chain(*parts):
        pods[tree.domains.leaf_of[domain.key]] += domain.count
    return assignment(tree, pods)


def _shares(counts: Counts, wanted: Search, *, leaders: int, profile: Profile) -> list[Share] | str:
    ascending = wanted.unconstrained and profile.mixed
    domains, room = counts.tree.domains, counts.room
    if profile.balanced and not wanted.required and not wanted.unconstrained:
        shares = BalancedSearch(domains, wanted, leaders).shares(room)
        if shares is not None:
            return shares
    if profile.heeds_annotations and counts.tree.spreads:
        shares = dealt(counts, wanted, leaders)
        if shares is not None:
            return shares
    chosen = Choice(counts, wanted, leaders, ascending).find()
    if isinstance(chosen, str):
        return chosen
    if isinstance(chosen, TooFew):
        return too_few(chosen, counts, wanted)
    return Descent(domains, room, wanted, leaders, ascending).spread(chosen)


def _shape(
    wanted: Search, workers: PodSetRequest, leader: PodSetRequest | None, terms: SearchTerms
) -> CountsKey:
    scored = terms.profile.respects_preferences and bool(workers.pod.preferences)
    preferences = workers.pod.preferences if scored else ()
    return CountsKey(
        pod=workers.pod.kept_to(preferences),
        requests=in_order(dict(workers.pod.requests), pods=1),
        leader=None if leader is None else in_order(dict(leader.pod.requests), pods=1),
        size=wanted.size,
        slice_level=wanted.slice_level,
        inner=wanted.inner,
        empty=terms.empty,
        scored=scored,
    )
