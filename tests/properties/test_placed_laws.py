"""The laws once more, in lives with topologies, and those of places."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product

import pytest
from typing_extensions import override

from queueing.core.decisions import Admit, Cycle, Preempt
from queueing.core.facts import (
    FlavorFact,
    NodeDevicesFact,
    NodeUsageFact,
    PodSetAssignment,
    WorkloadFact,
)
from queueing.core.names import Key, ResourceName
from queueing.core.settings import Compatibility
from queueing.core.topology.assignment import HOSTNAME, Assignment
from queueing.core.topology.requests import PODS
from queueing.core.topology.tree import Node
from queueing.core.usage import held_places
from tests.lives.happenings import lived, play
from tests.lives.living import LivingCluster
from tests.lives.random_events import Life
from tests.lives.random_places import some_places
from tests.lives.random_worlds import MODES, by_seed
from tests.properties.profiles import Law, look_until, named_if_endless, others_each_time, try_lives
from tests.properties.test_bad_input_laws import a_broken_object_harms_nobody_else
from tests.properties.test_contended_laws import CASES
from tests.properties.test_rebuild_laws import a_pause_changes_the_pace_only
from tests.properties.test_usage_laws import as_admitted, is_told

FEW = CASES[2::5]
MANY = 12
NEVER_ENDED = 234554452
"""A life in which two heads restarted the search over flavors of each other."""
Amounts = dict[ResourceName, int]


def placed(seed: int, mode: str) -> Life:
    """Return the life of a number."""
    return some_places(by_seed(seed), modes=[mode])


class Measured(LivingCluster):
    """A cluster that holds every admission against its nodes as they are at that time."""

    @override
    def write(self, cycle: Cycle) -> None:
        if is_told(self):
            self._hold_against_the_nodes(cycle)
        super().write(cycle)

    def nodes(self) -> list[Node]:
        found = (one for one in self.objects.values() if isinstance(one, Node))
        return [one for one in found if one.schedulable]

    def _hold_against_the_nodes(self, cycle: Cycle) -> None:
        held = {key: one for key, one in self.workloads.items() if one.holds_quota}
        for one in cycle.decisions:
            if isinstance(one, Admit):
                held[one.workload] = as_admitted(self.workloads[one.workload], one)
                self._check(one, held)
            elif isinstance(one, Preempt) and self.settings.compatibility is Compatibility.KUEUE:
                held.pop(one.workload, None)  # as Kueue counts, victims are gone at once

    def _check(self, admit: Admit, held: Mapping[Key, WorkloadFact]) -> None:
        """Hold leaves that an admission uses against what is left of them."""
        asked = {one.name: one for one in self.workloads[admit.workload].pod_sets}
        for one in admit.pod_sets:
            if one.placement is None:
                continue
            self.seen["placed"] += 1
            self.seen["over several domains"] += len(one.placement.domains) > 1
            assert one.placement.count <= one.count
            for domain in one.placement.domains:
                left = self._left(one, one.placement, domain.values, held.values())
                if self.settings.compatibility is Compatibility.KUEUE:
                    left.pop(PODS, None)  # nor does it count pods of who came earlier in a round
                short = {name: amount for name, amount in left.items() if amount < 0}
                assert not short, (admit.workload, domain, short)
            self._is_together(asked[one.name].topology.required, one)

    def _left(
        self,
        one: PodSetAssignment,
        placement: Assignment,
        values: tuple[str, ...],
        held: Iterable[WorkloadFact],
    ) -> Amounts:
        """Return what is left in a leaf; where it is no host, flavors do not see each other."""
        left: Counter[ResourceName] = Counter()
        levels = placement.levels
        flavor = self._flavor(one)
        wanted = flavor.node_labels.items()
        here = [
            node
            for node in self.nodes()
            if tuple(map(node.labels.get, levels)) == values and wanted <= node.labels.items()
        ]
        assert here, values
        names = {one.name for one in here}
        for node in here:
            left.update({**node.capacity, **flavor.on_nodes})
        for other in self.objects.values():
            if isinstance(other, NodeDevicesFact) and other.name in names:
                free = other.free.get(flavor.name, {})
                left.update({name: free[name] for name in free if name in flavor.on_nodes})
                self.seen["devices"] += bool(flavor.on_nodes and any(free.values()))
            if isinstance(other, NodeUsageFact) and other.name in names:
                left.subtract(other.usage)
        for place in (place for fact in held for place in held_places(fact)):
            mine = place.hosts or not {*one.flavors.values()}.isdisjoint(place.flavors)
            if mine and place.hosts is (levels == (HOSTNAME,)):
                left.subtract(place.usage.get(",".join(values), {}))
        return dict(left)

    def _flavor(self, one: PodSetAssignment) -> FlavorFact:
        """Return the flavor that places a pod set."""
        flavors = (fact for fact in self.objects.values() if isinstance(fact, FlavorFact))
        mine = {*one.flavors.values()}
        (found,) = (fact for fact in flavors if fact.topology and fact.name in mine)
        return found

    def _is_together(self, level: str | None, one: PodSetAssignment) -> None:
        if level is None or one.placement is None or level not in self.levels():
            return
        keys = set()
        for domain in one.placement.domains:
            labels = dict(zip(one.placement.levels, domain.values, strict=True))
            of = next(node for node in self.nodes() if labels.items() <= node.labels.items())
            keys.add(of.labels[level])
        assert len(keys) <= 1, (level, one)

    def levels(self) -> tuple[str, ...]:
        return tuple(self.engine._memory.objects.topologies["dc"].levels)


def an_admission_takes_only_what_is_free_on_nodes(life: Life) -> None:
    """And pods that must be in one domain are."""
    cluster = Measured.of(life)
    for step in life.steps:
        play(cluster, step)
        cluster.cycle()


def what_is_free_is_kept_as_if_it_was_counted_anew(life: Life) -> None:
    cluster = LivingCluster.of(life)
    for step in life.steps:
        play(cluster, step)
        if is_told(cluster):
            assert free_of(cluster) == free_of(cluster, anew=True)


def free_of(cluster: LivingCluster, *, anew: bool = False) -> dict[str, object]:
    """Return what nodes and pods of others leave in each flavor's leaves, and what is held there.

    What is charged is left out: it counts promises as well, and victims as gone.
    """
    engine = cluster.successor() if anew else cluster.engine
    forest = engine._memory.tree.forest
    found: dict[str, object] = {"held": forest.picture()["held"]}
    for name in filter(forest.has, engine._memory.objects.flavors):
        tree = forest.tree(name)
        found[name] = {
            tree.domains.path[leaf]: {
                resource: column[leaf] for resource, column in tree.room.items() if column[leaf]
            }
            for leaf in tree.domains.leaves
        }
    return found


LAWS = [
    pytest.param(an_admission_takes_only_what_is_free_on_nodes, id="only what is free"),
    pytest.param(what_is_free_is_kept_as_if_it_was_counted_anew, id="as if counted anew"),
]
OF_PLACES = [
    pytest.param(*law.values, mode, id=f"{law.id}, {mode}") for law in LAWS for mode in MODES
]


@pytest.mark.parametrize(("law", "mode"), [*FEW, *OF_PLACES])
def test_laws_hold_where_pods_are_placed(law: Law, mode: str) -> None:
    try_lives(law, partial(placed, mode=mode), mode, [1, 2])


def test_a_life_in_which_a_cycle_never_ended_once() -> None:
    with named_if_endless(f"{NEVER_ENDED} as Kueue", most_s=30.0):
        a_broken_object_harms_nobody_else(placed(NEVER_ENDED, "as Kueue"))


def test_a_life_in_which_a_pause_let_another_tree_have_the_nodes_once() -> None:
    a_pause_changes_the_pace_only(placed(3282209044, "fair sharing"))


@pytest.mark.slow
@pytest.mark.parametrize(("law", "mode"), [*CASES, *OF_PLACES])
def test_laws_hold_where_pods_are_placed_at_length(law: Law, mode: str) -> None:
    try_lives(law, partial(placed, mode=mode), mode, others_each_time(MANY))


def test_placed_lives_reach_what_places_decide() -> None:
    wanted = {"placed": 61, "over several domains": 6, "devices": 21}
    lives = (placed(seed, mode) for seed, mode in product(range(5), MODES))
    look_until(wanted, (lived(Measured, one).seen for one in lives))
