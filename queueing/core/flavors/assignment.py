"""The result of flavor assignment, and how far the search over flavors came."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from queueing.core.decisions import Bar, Reason
from queueing.core.facts import PodSetAssignment
from queueing.core.flavors.grades import FIT, NO_FIT, Grade
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName
from queueing.core.outline import Outline
from queueing.core.reasons import Obstacle, Severity, describe
from queueing.core.sharing import Use, less
from queueing.core.topology.assignment import Assignment as Placement
from queueing.core.topology.assignment import Occupancy
from queueing.core.topology.usage import beyond
from queueing.core.usage import Demand, Shape, occupancies, use_of


class Choice(NamedTuple):
    """The flavor that one resource of a part gets."""

    flavor: FlavorName
    grade: Grade
    borrow: int


Choices = Sequence[Mapping[ResourceName, Choice]]
"""The choices of each part of a demand, in order."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where the next search over flavors begins: (part, resource group) → flavor tried last.

    A part that got no flavor is not included. It is valid only for the same demand, also with
    fewer pods, and while no quota of the queue's tree has changed (`generation`).
    """

    generation: int
    shape: Shape
    tried: Mapping[tuple[int, int], int]
    barred: Bar | None = field(default=None, compare=False)
    """Why budgets or rules barred flavors that fitted; None if they did not."""


@dataclass(slots=True, kw_only=True)
class Assignment:
    """The flavors of the parts that were assigned, their usage, and the obstacles."""

    demand: Demand
    outline: Outline
    grade: Grade = FIT
    """The worst of all parts. NO_CANDIDATES, PREEMPT and RECLAIM all need preemption."""
    borrow: int = 0
    choices: list[Mapping[ResourceName, Choice]] = field(default_factory=list)
    chosen: list[FlavorName] = field(default_factory=list)
    """The flavor of every resource group of every part assigned, in order."""
    usage: dict[FlavorResource, int] = field(default_factory=dict)
    saved: dict[FlavorResource, int] = field(default_factory=dict)
    """The part of `usage` that other users of the same claims are already charged for."""
    contested: list[FlavorResource] = field(default_factory=list)
    """Flavor-resources that need preemption, in the order in which they were found."""
    troubles: list[tuple[PodSetName, Sequence[Obstacle]]] = field(default_factory=list)
    """Obstacles of the resource groups that do not fit."""
    passed_over: list[tuple[PodSetName, Sequence[Obstacle]]] = field(default_factory=list)
    """Obstacles at flavors before the ones that fit."""
    severity: Severity = Severity.TOPOLOGY_PLACEMENT_FAILED
    """Of the resource group where the flavors that do not fit are hardest to help."""
    progress: Progress | None = None
    places: Mapping[PodSetName, Placement] = field(default_factory=dict)
    """Where pods go that topologies place; if preemption is needed, where they will."""
    stays: Sequence[Occupancy] = ()
    """What the slice uses of leaves that it replaces: it is charged only what it adds."""
    delayed: set[PodSetName] = field(default_factory=set)
    """Pod sets that are placed when the admission checks are Ready."""

    @property
    def fits(self) -> bool:
        return self.grade is FIT

    @property
    def needs_preemption(self) -> bool:
        return NO_FIT < self.grade < FIT

    @property
    def charged(self) -> Mapping[FlavorResource, int]:
        """What its admission adds to the usage of the queue."""
        return less(self.usage, self.saved) if self.saved else self.usage

    @property
    def use(self) -> Use:
        """The usage, with ResourceClaims that others may use kept apart."""
        if not self.demand.claims:
            return Use(self.usage)
        asked = (one.pod_set for one in self.demand.pod_sets)
        return use_of(asked, self.pod_sets(), self.demand.slice_of)

    @property
    def reason(self) -> Reason:
        """Why it does not fit, as a reason of the condition `QuotaReserved`.

        Where preemption is allowed it is never worse than waiting for quota.
        """
        if self.needs_preemption:
            return min(self.severity, Severity.WAITING_FOR_QUOTA).condition_reason
        return self.severity.condition_reason

    @property
    def message(self) -> str:
        """Why it does not fit, as the message of that condition."""
        return describe(self.troubles)

    def pod_sets(self) -> tuple[PodSetAssignment, ...]:
        """Return the assignment per pod set; parts that were not reached are left out."""
        key = (len(self.choices), *self.chosen)
        found = self.outline.spelled.get(key)
        if found is None:
            found = self.outline.spelled[key] = self._spell()
        if not self.places and not self.delayed:
            return found
        places, delayed = self.places, self.delayed
        placed = (
            replace(one, placement=places.get(one.name), delayed=one.name in delayed)
            for one in found
        )
        return tuple(self._with_flavors(n, one) for n, one in enumerate(placed))

    def _with_flavors(self, number: int, one: PodSetAssignment) -> PodSetAssignment:
        """Give a pod set that requests nothing the flavors of its group, as it takes a place there.

        Only by them it is known later whose nodes these are.
        """
        if one.placement is None or one.flavors:
            return one
        for part, choices in zip(self.outline.parts, self.choices, strict=False):
            if number in part.pod_sets:
                flavors = {resource: choice.flavor for resource, choice in choices.items()}
                return replace(one, flavors=flavors, usage=dict.fromkeys(flavors, 0))
        return one

    def occupancies(self) -> tuple[Occupancy, ...]:
        """Return what the pods use of leaves of topologies."""
        if not self.places:
            return ()
        asked = {one.pod_set.name: one.pod_set for one in self.demand.pod_sets}
        found = occupancies((one, asked[one.name]) for one in self.pod_sets())
        return tuple(beyond(found, self.stays))

    def _spell(self) -> tuple[PodSetAssignment, ...]:
        outline, flavors = self.outline, dict[int, dict[ResourceName, FlavorName]]()
        for part, choices in zip(outline.parts, self.choices, strict=False):
            for number in part.pod_sets:
                asked = outline.totals[number]
                flavors[number] = {one: choices[one].flavor for one in asked if one in choices}
        return tuple(
            PodSetAssignment(
                name=one.pod_set.name,
                count=one.count,
                flavors=flavors[number],
                usage={
                    resource: outline.total(number, FlavorResource(flavor, resource))
                    for resource, flavor in flavors[number].items()
                },
            )
            for number, one in enumerate(self.demand.pod_sets)
            if number in flavors
        )
