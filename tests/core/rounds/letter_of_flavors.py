"""The rules of flavor assignment, one sentence after the other."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from queueing.core.decisions import PreemptionReason
from queueing.core.facts import ClusterQueueFact, FlavorFact, PodSet, PreemptionPolicy
from queueing.core.flavor_quotas import FlavorPolicy, FlavorPreference, Fungibility, ResourceGroup
from queueing.core.names import FlavorName, FlavorResource, ResourceName
from tests.core.preemption.letter_of_round import Without, height_of_fit
from tests.core.preemption.plain_tree import Amounts, Knot, Victims
from tests.core.rounds.letter_of_doors import is_elsewhere

NO_FIT, NO_CANDIDATES, PREEMPT, RECLAIM, FIT = range(5)
NEXT = FlavorPolicy.TRY_NEXT_FLAVOR
PODS = ResourceName("pods")
Judged = tuple[int, int]
"""Mode and borrowing level."""
REASONS = ("", "WaitingForQuota", "ExceedsMaxQuota", "NoMatchingFlavor")
"""What keeps a workload from ever fitting, the worst last."""
QUOTA, MAXIMUM, FLAVOR = range(1, 4)
WORST: Judged = NO_FIT, 10**9
Hunt = Callable[[Amounts, list[FlavorResource]], Victims]
"""Finds victims for requests, among the users of what is contested."""


@dataclass
class Given:
    """Flavors of one pod set, and what was in the way."""

    name: str
    count: int
    flavors: dict[ResourceName, FlavorName]
    obstacles: list[str]


@dataclass
class Assigned:
    """The answer for all pod sets that were reached."""

    mode: int = FIT
    severity: int = 0
    """The place in REASONS: the mildest of a group's flavors, the worst of groups and pod sets."""
    borrow: int = 0
    pod_sets: list[Given] = field(default_factory=list)
    usage: Amounts = field(default_factory=dict)
    contested: list[FlavorResource] = field(default_factory=list)
    tried: list[dict[ResourceName, int]] = field(default_factory=list)
    """Per pod set: the index of the flavor tried last, -1 after the last of all."""

    @property
    def is_unfinished(self) -> bool:
        return any(index >= 0 for one in self.tried for index in one.values())

    @property
    def message(self) -> str:
        return "; ".join(
            f"couldn't assign flavors to pod set {one.name}: {', '.join(sorted(one.obstacles))}"
            for one in self.pod_sets
            if one.obstacles
        )


@dataclass
class Chooser:
    """Assigns flavors in one queue as it stands."""

    fact: ClusterQueueFact
    knot: Knot
    knots: dict[str, Knot]
    flavors: Mapping[str, FlavorFact]
    hunt: Hunt
    fair: bool
    ignores_undeclared: bool
    fungible: bool
    kept: Assigned | None = None
    """The first nomination of the round, whose flavors are kept."""

    def assign(
        self,
        pod_sets: Sequence[PodSet],
        counts: Sequence[int],
        before: Sequence[Mapping[ResourceName, int]],
    ) -> Assigned:
        """Assign group after group of pod sets; stop at the first that gets no flavor."""
        found = Assigned()
        totals = [self._total(*one) for one in zip(pod_sets, counts, strict=True)]
        together: dict[object, list[int]] = {}
        for number, one in enumerate(pod_sets):
            together.setdefault(one.group or number, []).append(number)
        for numbers in together.values():
            start = before[numbers[0]] if self.fungible and numbers[0] < len(before) else {}
            members = [pod_sets[number] for number in numbers]
            asked = [totals[number] for number in numbers]
            chosen, obstacles, severity = self._choose(members, asked, start, found.usage)
            found.severity = max(found.severity, severity)
            for number in numbers:
                given = Given(pod_sets[number].name, counts[number], {}, obstacles)
                found.pod_sets.append(given)
                if chosen is None:
                    found.tried.append({})
                else:
                    self._give(found, given, chosen, totals[number], fits=not obstacles)
            if chosen is None:
                found.mode = NO_FIT
                return found
        return found

    def _total(self, pod_set: PodSet, count: int) -> dict[ResourceName, int]:
        total = {name: amount * count for name, amount in pod_set.requests.items()}
        if any(PODS in group.covered for group in self.fact.groups):
            total[PODS] = count
        return total

    @staticmethod
    def _give(
        found: Assigned,
        given: Given,
        chosen: Mapping[ResourceName, tuple[FlavorName, Judged, int]],
        total: Mapping[ResourceName, int],
        *,
        fits: bool,
    ) -> None:
        """Note the flavors of a pod set, which fits where nothing was in the way of the best."""
        mine = {name: one for name, one in chosen.items() if name in total}
        found.tried.append({name: index for name, (_, _, index) in mine.items()})
        for name, (flavor, (mode, borrow), _) in mine.items():
            given.flavors[name] = flavor
            key = FlavorResource(flavor, name)
            found.usage[key] = found.usage.get(key, 0) + total[name]
            found.borrow = max(found.borrow, borrow)
            found.mode = found.mode if fits else min(found.mode, mode)
            if mode != FIT and key not in found.contested:
                found.contested.append(key)

    def _choose(
        self,
        pod_sets: Sequence[PodSet],
        totals: Sequence[Mapping[ResourceName, int]],
        start: Mapping[ResourceName, int],
        earlier: Amounts,
    ) -> tuple[dict[ResourceName, tuple[FlavorName, Judged, int]] | None, list[str], int]:
        """Choose a flavor per resource group; None and the reasons where one has none."""
        severity = 0
        asked: dict[ResourceName, int] = {}
        for total in totals:
            for name, amount in total.items():
                asked[name] = asked.get(name, 0) + amount
        chosen: dict[ResourceName, tuple[FlavorName, Judged, int]] = {}
        obstacles: list[str] = []
        for name in sorted(asked, key=fnv_1a):
            if name in chosen:
                continue
            group = next((one for one in self.fact.groups if name in one.covered), None)
            if group is None:
                if not asked[name] or self.ignores_undeclared:
                    continue
                return None, [*obstacles, f"resource {name} unavailable in ClusterQueue"], FLAVOR
            wanted = {one: amount for one, amount in asked.items() if one in group.covered}
            best, mode, reasons, mildest = self._scan(
                group, wanted, pod_sets, earlier, start.get(name, -1)
            )
            severity = max(severity, mildest)
            if mode != FIT:
                obstacles += reasons
            if not best:
                return None, obstacles, severity
            chosen.update(best)
        return chosen, obstacles, severity

    def _scan(
        self,
        group: ResourceGroup,
        wanted: Mapping[ResourceName, int],
        pod_sets: Sequence[PodSet],
        earlier: Amounts,
        last: int,
    ) -> tuple[dict[ResourceName, tuple[FlavorName, Judged, int]], int, list[str], int]:
        """Try the flavors of a group after the one tried last, and keep the best."""
        rules = self.fact.fungibility
        reasons: list[str] = []
        severities: list[int] = []
        best: dict[ResourceName, tuple[FlavorName, Judged]] = {}
        best_judged = WORST
        index = last
        for index in range(last + 1, len(group.flavors)):
            name = group.flavors[index].flavor
            unsuitable = self._dropped(name, min(wanted, key=fnv_1a), pod_sets)
            unsuitable = unsuitable or self._unsuitable(name, pod_sets)
            if unsuitable:
                reasons.append(unsuitable)
                severities.append(FLAVOR)
                continue
            judged: Judged = FIT, 0
            given: dict[ResourceName, tuple[FlavorName, Judged]] = {}
            lacks: list[str] = []
            for resource in wanted:
                key = FlavorResource(name, resource)
                one = self._judge(key, earlier.get(key, 0), wanted[resource], lacks)
                if is_better(judged, one, rules.preference):
                    judged = one
                given[resource] = name, one
            reasons += lacks
            if judged[0] != FIT:
                never = any(told.startswith("insufficient quota") for told in lacks)
                severities.append(MAXIMUM if never else QUOTA)
            if not self.fungible:
                if judged[0] > best_judged[0]:
                    best, best_judged = given, judged
                if judged[0] == FIT:
                    break
                continue
            if not goes_on(judged, rules):
                best, best_judged = given, judged
                break
            if is_better(judged, best_judged, rules.preference):
                best, best_judged = given, judged
        tried = -1 if index == len(group.flavors) - 1 else index
        if not self.fungible:
            tried = 0  # it is never looked at again, but seems to be a flavor with others left
        chosen = {name: (flavor, judged, tried) for name, (flavor, judged) in best.items()}
        return chosen, best_judged[0], reasons, min(severities, default=0)

    def _dropped(self, name: FlavorName, resource: ResourceName, pod_sets: Sequence[PodSet]) -> str:
        """Say that no pod set was nominated for a flavor; empty when one was."""
        if self.kept is None:
            return ""
        names = {one.name for one in pod_sets}
        mine = [one.flavors.get(resource) for one in self.kept.pod_sets if one.name in names]
        if name in mine:
            return ""
        return (
            f"skipping flavor {name} as it is not found in the nomination mapping for resource"
            f" {resource}"
        )

    def _unsuitable(self, name: FlavorName, pod_sets: Sequence[PodSet]) -> str:
        """Say why pods may not use a flavor; empty when they may."""
        flavor = self.flavors[name]
        for one in pod_sets:
            for taint in flavor.taints if not one.tolerations else ():
                spelled = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
                return f"untolerated taint {spelled} in flavor {name}"
            if is_elsewhere(one, flavor.node_labels):
                return f"flavor {name} doesn't match node affinity"
        return ""

    def _judge(self, key: FlavorResource, earlier: int, amount: int, reasons: list[str]) -> Judged:
        """Judge one flavor-resource."""
        knot, value = self.knot, earlier + amount
        flavor, name = key
        if value > knot.potential(key):
            reasons.append(
                f"insufficient quota for {name} in flavor {flavor}, previously considered podsets"
                f" requests ({earlier}) + current podset request ({amount})"
                f" > maximum capacity ({knot.potential(key)})"
            )
            return WORST
        free = max(0, knot.available(key))
        borrow, may_reclaim = height_of_fit(knot, key, value)
        if value <= free:
            return FIT, borrow
        reasons.append(
            f"insufficient unused quota for {name} in flavor {flavor}, {value - free} more needed"
        )
        if not (knot.limits(key).nominal >= value or may_reclaim or self._preempts_borrowing()):
            return WORST
        victims = self.hunt({key: value}, [key])
        if not victims:
            return NO_CANDIDATES, borrow
        with Without(self.knots, victims):
            borrow = height_of_fit(knot, key, value)[0]
        own = any(why is PreemptionReason.IN_CLUSTER_QUEUE for _, why in victims)
        return (PREEMPT if own else RECLAIM), borrow

    def _preempts_borrowing(self) -> bool:
        policies, never = self.fact.preemption, PreemptionPolicy.NEVER
        by_share = self.fair and policies.reclaim_within_cohort is not never
        return policies.borrow_within_cohort is not never or by_share


def fnv_1a(name: str) -> int:
    """Hash a name as Kueue does that orders resources by it."""
    found = 14695981039346656037
    for byte in name.encode():
        found = (found ^ byte) * 1099511628211 % 2**64
    return found


def is_better(one: Judged, other: Judged, preference: FlavorPreference) -> bool:
    """Say whether a flavor is preferred to another."""
    if NO_FIT in (one[0], other[0]):
        return one[0] != NO_FIT
    if NO_CANDIDATES in (one[0], other[0]):
        return (one[0], -one[1]) > (other[0], -other[1])
    if preference is FlavorPreference.PREEMPTION_OVER_BORROWING:
        return (-one[1], one[0]) > (-other[1], other[0])
    return (one[0], -one[1]) > (other[0], -other[1])


def goes_on(judged: Judged, rules: Fungibility) -> bool:
    """Say whether the next flavor is tried."""
    mode, borrow = judged
    if mode in (NO_FIT, NO_CANDIDATES):
        return True
    if mode in (PREEMPT, RECLAIM) and rules.when_can_preempt is NEXT:
        return True
    return borrow > 0 and rules.when_can_borrow is NEXT
