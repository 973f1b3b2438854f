"""The search over flavors (see `grades` for the rules, `reasons` for the messages)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple, Protocol

from queueing.core.flavors.assignment import Assignment, Choice, Choices, Progress
from queueing.core.flavors.grades import FIT, NO_CANDIDATES, NO_FIT, Grade, Rank, rank, tries_next
from queueing.core.names import FlavorName, FlavorResource, PodSetName, ResourceName
from queueing.core.outline import Ask, PodSetGroup, search_place
from queueing.core.queue_rules import QueueRules
from queueing.core.quota.node import QuotaNode
from queueing.core.reasons import (
    Excess,
    Obstacle,
    Severity,
    Shortage,
    Uncovered,
    Unreadable,
    not_nominated,
    not_of_slice,
)
from queueing.core.settings import Compatibility, Settings
from queueing.core.sharing import Commons, Flavors, shared_by
from queueing.core.usage import Demand


class Oracle(Protocol):
    """Answers what preemption could achieve for one flavor-resource."""

    def simulate(self, resource: FlavorResource, amount: int) -> tuple[Grade, int]:
        """Return NO_CANDIDATES, PREEMPT or RECLAIM, and the borrowing level without the victims."""


class Scan(NamedTuple):
    """The result of the search over the flavors of one resource group."""

    choices: Mapping[ResourceName, Choice]
    grade: Grade
    tried: int
    obstacles: Sequence[Obstacle]
    severity: Severity
    """The least severe of the flavors that do not fit."""


class Before(NamedTuple):
    """The usage that a part is added to."""

    usage: Mapping[FlavorResource, int]
    """What the parts before it use."""
    saved: Mapping[FlavorResource, int]
    """What need not be charged of these parts and of the part itself: see `savings`."""


@dataclass(slots=True, eq=False, kw_only=True)
class Search:
    """Assigns flavors to the demands of one workload in one queue.

    Without an oracle no preemption finds candidates; whether it would be allowed still counts.
    `commons` are ResourceClaims of the workload that others use: it is charged only what it adds.
    """

    rules: QueueRules
    node: QuotaNode
    settings: Settings
    oracle: Oracle | None = None
    commons: Commons | None = None
    _as_kueue: bool = field(init=False)
    _preempts_borrowing: bool = field(init=False)

    def __post_init__(self) -> None:
        self._as_kueue = self.settings.compatibility is Compatibility.KUEUE
        self._preempts_borrowing = self.rules.preempts_while_borrowing(self.settings)

    def assign(
        self,
        demand: Demand,
        progress: Progress | None = None,
        nominated: Choices | None = None,
    ) -> Assignment:
        """Return an assignment of all parts, each on top of those before; stop at one that fails.

        With `progress`, the search goes on after the flavors that were tried. Without
        `FlavorFungibility` it never does, though in Kueue mode flavors seem to be left. With
        `nominated`, the choices of an earlier search, each part keeps to the flavors of these.
        """
        outline = self.rules.offer.outline(demand, self.settings.quota_check)
        answer = Assignment(demand=demand, outline=outline)
        generation = self.node.root.generation
        start: Mapping[tuple[int, int], int] = {}
        if (
            progress is not None
            and self.settings.flavor_fungibility
            and progress.generation == generation
            and progress.shape == demand.full
        ):
            start = progress.tried
        tried: dict[tuple[int, int], int] = {}
        parts: Iterable[PodSetGroup] = outline.parts
        if nominated is not None:
            parts = map(kept_to, outline.parts, nominated)
        elif self.commons is not None and self.commons.flavors:
            parts = [as_the_slice(one, self.commons.flavors) for one in outline.parts]
        for part in parts:
            if not self._assign_part(part, answer, start, tried):
                break
        if tried:
            answer.progress = Progress(generation, demand.full, tried)
        return answer

    def _assign_part(
        self,
        part: PodSetGroup,
        answer: Assignment,
        start: Mapping[tuple[int, int], int],
        tried: dict[tuple[int, int], int],
    ) -> bool:
        """Assign one part, group by group; say whether there is a flavor for each of its asks.

        `start` is where an earlier attempt stopped; where this one stops is stored in `tried`.
        """
        names = [answer.demand.pod_sets[number].pod_set.name for number in part.pod_sets]
        choices: dict[ResourceName, Choice] = {}
        obstacles: list[Obstacle] = []
        places: dict[tuple[int, int], int] = {}
        saved = answer.saved if self.commons is None else savings(part, answer, self.commons)
        before = Before(answer.usage, saved)
        for ask in part.asks:
            if part.uncovered is not None:
                first_asked = search_place(ask.amounts[0][0])
                if search_place(part.uncovered) < first_asked:
                    break
            place = (part.index, ask.group.index)
            first = start.get(place, -1) + 1 if start else 0
            if first and self._starts_anew(part, ask, answer):
                first = 0
            found, grade, last, passed, severity = self._scan(ask, before, first)
            answer.severity = max(answer.severity, severity)
            if grade is not FIT:
                obstacles += passed
            elif passed:
                answer.passed_over.append((names[0], passed))
            if not found:
                return self._fail(answer, names, obstacles)
            choices.update(found)
            if last >= 0:
                places[place] = last
        if part.uncovered is not None:
            answer.severity = Severity.NO_MATCHING_FLAVOR
            return self._fail(answer, names, [*obstacles, Uncovered(part.uncovered)])
        tried.update(places)
        self._accept(part, answer, choices, saved, fits=not obstacles)
        if obstacles:
            answer.troubles += [(name, obstacles) for name in names]
        return True

    def _starts_anew(self, part: PodSetGroup, ask: Ask, answer: Assignment) -> bool:
        """Say whether the search ignores where it stopped.

        In Kueue mode it does if the first pod set of the part does not request the resource.
        """
        totals = answer.outline.totals[part.pod_sets[0]]
        return self._as_kueue and ask.amounts[0][0] not in totals

    @staticmethod
    def _fail(
        answer: Assignment, names: Sequence[PodSetName], obstacles: Sequence[Obstacle]
    ) -> bool:
        answer.grade = NO_FIT
        answer.troubles += [(name, obstacles) for name in names]
        return False

    @staticmethod
    def _accept(
        part: PodSetGroup,
        answer: Assignment,
        choices: Mapping[ResourceName, Choice],
        saved: Mapping[FlavorResource, int],
        *,
        fits: bool,
    ) -> None:
        answer.choices.append(choices)
        for ask in part.asks:
            flavor = choices[ask.amounts[0][0]].flavor
            answer.chosen.append(flavor)
            for resource, amount in ask.amounts_in(flavor):
                choice = choices[resource]
                key = FlavorResource(choice.flavor, resource)
                answer.usage[key] = answer.usage.get(key, 0) + amount
                if key in saved:
                    answer.saved[key] = saved[key]
                if choice.grade is not FIT:
                    if not fits and choice.grade < answer.grade:
                        answer.grade = choice.grade
                    if key not in answer.contested:
                        answer.contested.append(key)
                answer.borrow = max(answer.borrow, choice.borrow)

    def _scan(self, ask: Ask, before: Before, start: int) -> Scan:
        """Try the flavors of one resource group from index `start` on; return the best."""
        rules = self.rules.fact.fungibility
        fungible, as_kueue = self.settings.flavor_fungibility, self._as_kueue
        best: Mapping[ResourceName, Choice] = {}
        best_grade, best_borrow = NO_FIT, 0
        obstacles: list[Obstacle] = []
        severities: list[Severity] = []
        last = tried = len(ask.group.options) - 1
        for index in range(start, last + 1):
            tried = index
            obstacle = ask.obstacles[index]
            if isinstance(obstacle, Unreadable):
                return Scan({}, NO_FIT, -1, [obstacle], obstacle.severity)
            choices, grade, borrow, found = self._try(ask, index, before)
            if grade is FIT and not borrow:
                best, best_grade = choices, grade
                break
            obstacles += found
            if found and grade is not FIT:
                severities.append(max([one.severity for one in found]))
            if grade is not NO_FIT:
                stops = fungible and not tries_next(grade, borrow, rules)
                if (
                    stops
                    or not best
                    or self._ranks(grade, borrow) > self._ranks(best_grade, best_borrow)
                ):
                    best, best_grade, best_borrow = choices, grade, borrow
                if stops or (not fungible and grade is FIT):
                    break
        if not fungible and as_kueue:
            tried = 0  # so that it is judged again at once
        elif tried == last or not fungible:
            tried = -1
        if best_grade is FIT and not as_kueue:
            # a flavor is judged by its least preferred resource, which may be one that borrows
            best_grade = min(one.grade for one in best.values())
        if not severities:
            none = Severity.TOPOLOGY_PLACEMENT_FAILED if best else Severity.NO_MATCHING_FLAVOR
            severities.append(none)
        return Scan(best, best_grade, tried if best else -1, obstacles, min(severities))

    def _ranks(self, grade: Grade, borrow: int) -> Rank:
        """Return the rank of a flavor; without `FlavorFungibility` borrowing does not count."""
        if not self.settings.flavor_fungibility:
            return (int(grade),)
        return rank(grade, borrow, self.rules.fact.fungibility.preference)

    def _try(
        self, ask: Ask, index: int, before: Before
    ) -> tuple[Mapping[ResourceName, Choice], Grade, int, Sequence[Obstacle]]:
        """Return choices, grade and borrowing level of one flavor, and all that is in the way.

        Grade and level are those of its worst resource. Where that does not fit at all, nobody is
        asked what preemption could achieve for the others.
        """
        obstacle = ask.obstacles[index]
        if obstacle is not None:
            return {}, NO_FIT, 0, [obstacle]
        option = ask.group.options[index]
        obstacles: list[Obstacle] = []
        choices: dict[ResourceName, Choice] = {}
        fits, level = True, 0
        short: list[tuple[ResourceName, int]] = []
        for resource, amount in ask.amounts_in(option.name):
            grade, borrow, added = self._fit(option.resources[resource], before, amount, obstacles)
            if grade is NO_FIT:
                fits = False
            elif grade is NO_CANDIDATES:
                short.append((resource, added))
            elif borrow > level:
                level = borrow
            choices[resource] = Choice(option.name, grade, borrow)
        if not fits:
            return {}, NO_FIT, 0, obstacles
        if not short:
            return choices, FIT, level, obstacles
        if self.oracle is not None:
            for resource, added in short:
                found = self.oracle.simulate(option.resources[resource], added)
                choices[resource] = Choice(option.name, *found)
        if len(choices) == 1:
            return choices, *choices[resource][1:], obstacles
        preference = self.rules.fact.fungibility.preference
        served = ((grade, borrow) for _, grade, borrow in choices.values())
        return choices, *min(served, key=lambda one: rank(one[0], one[1], preference)), obstacles

    def _fit(
        self, key: FlavorResource, before: Before, amount: int, obstacles: list[Obstacle]
    ) -> tuple[Grade, int, int]:
        """Return grade, borrowing level and what is to be charged of one flavor-resource.

        Where preemption is allowed, the grade is NO_CANDIDATES: nobody was asked yet. What it lacks
        goes to `obstacles`.
        """
        cell = self.node.cell(key)
        earlier = before.usage.get(key, 0) if before.usage else 0
        total = added = earlier + amount
        if before.saved and before.saved.get(key):
            added -= before.saved[key]
            if not added:
                return FIT, 0, 0  # it adds nothing, so it fits also in overused quota
            if self.commons is not None and self.commons.flavors:
                total = added  # a slice asks for no more, as in Kueue
        free = max(0, cell.available())
        if added <= free:
            if cell.quota >= cell.usage + added:
                return FIT, 0, added
            return FIT, cell.height_of_fit(added)[0], added
        capacity = cell.potential()
        if total > capacity:
            obstacles.append(Excess(key, earlier, amount, capacity))
            return NO_FIT, 0, added
        obstacles.append(Shortage(key, total, added - free))
        borrow, may_reclaim = cell.height_of_fit(added)
        may_preempt = cell.limits.nominal >= total or may_reclaim or self._preempts_borrowing
        return NO_CANDIDATES if may_preempt else NO_FIT, borrow, added


def kept_to(part: PodSetGroup, choices: Mapping[ResourceName, Choice]) -> PodSetGroup:
    """Return a part that may only use the flavors of earlier choices."""
    asks = []
    for ask in part.asks:
        resource = ask.amounts[0][0]
        told = partial(not_nominated, resource=resource)
        asks.append(_kept_to(ask, choices[resource].flavor, told))
    return replace(part, asks=tuple(asks))


def as_the_slice(part: PodSetGroup, flavors: Flavors) -> PodSetGroup:
    """Return a part that may only use the flavors that another slice has; none where it had two."""
    theirs = [flavors[number] for number in part.pod_sets if number < len(flavors)]
    asks = []
    for ask in part.asks:
        firsts = (next((had[one] for one, _ in ask.amounts if one in had), None) for had in theirs)
        for kept in dict.fromkeys(one for one in firsts if one is not None):
            ask = _kept_to(ask, kept, partial(not_of_slice, kept=kept))
        asks.append(ask)
    return replace(part, asks=tuple(asks))


def _kept_to(ask: Ask, kept: FlavorName, told: Callable[[FlavorName], Obstacle]) -> Ask:
    options = zip(ask.group.options, ask.obstacles, strict=True)
    obstacles = (found if option.name == kept else told(option.name) for option, found in options)
    return replace(ask, obstacles=tuple(obstacles))


def savings(part: PodSetGroup, answer: Assignment, commons: Commons) -> dict[FlavorResource, int]:
    """Return what need not be charged of the parts so far and of this one, in any flavor.

    That is what other users of the same claims, or another slice, are already charged for.
    """
    demand, outline = answer.demand, answer.outline
    if demand.slice_of:
        return {
            one: min(
                charged,
                answer.usage.get(one, 0) + sum(outline.total(n, one) for n in part.pod_sets),
            )
            for (_, one), charged in commons.charged.items()
        }
    pod_sets = {demand.pod_sets[number].pod_set.name: number for number in part.pod_sets}
    claims = shared_by(demand.pod_sets[number].pod_set for number in part.pod_sets)
    saved = dict(answer.saved)
    for (claim, resource), charged in commons.charged.items():
        for (name, asked), used in claims.items():
            if (used, asked) == (claim, resource.resource):
                mine = min(charged, outline.total(pod_sets[name], resource))
                saved[resource] = saved.get(resource, 0) + mine
    return saved
