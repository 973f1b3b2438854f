"""What a demand needs from a queue, worked out once per shape and kept by the queue's rules."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from queueing.core.eligibility import Group, ineligibility
from queueing.core.facts import PodSetAssignment
from queueing.core.names import FlavorResource, ResourceName
from queueing.core.reasons import Obstacle
from queueing.core.settings import QuotaCheck
from queueing.core.usage import Demand, PodSetDemand

PODS = ResourceName("pods")


@dataclass(frozen=True, slots=True)
class Ask:
    """What a part needs from one resource group; all of it comes from one flavor."""

    group: Group
    amounts: tuple[tuple[ResourceName, int], ...]
    obstacles: tuple[Obstacle | None, ...]
    """Per flavor of the group: why the pods may not use it."""


@dataclass(frozen=True, slots=True)
class Part:
    """Pod sets that get the same flavors; most often a single one."""

    index: int
    pod_sets: tuple[int, ...]
    asks: tuple[Ask, ...]
    """In the order of the first resource, by name, of each."""
    uncovered: ResourceName | None
    """The first resource, by name, that the queue does not cover, so that nothing fits."""


@dataclass(frozen=True, slots=True)
class Outline:
    """All parts of a demand, and the total of each pod set."""

    parts: tuple[Part, ...]
    totals: tuple[Mapping[ResourceName, int], ...]
    spelled: dict[tuple[object, ...], tuple[PodSetAssignment, ...]] = field(
        default_factory=dict, compare=False
    )
    """Memo of the assignments that were spelled out, by the flavors chosen."""
    wanted: tuple[tuple[FlavorResource, int], ...] | None = field(default=None, compare=False)
    """What is asked of the first flavors that the pods may use; None with several parts."""
    fits: dict[tuple[int, ...], Any] = field(default_factory=dict, compare=False)
    """Memo of the answers where these flavors have enough (see `flavors.plain`)."""


def outline_of(demand: Demand, groups: Sequence[Group], quota_check: QuotaCheck) -> Outline:
    """Sort a demand's requests by pod set group and resource group."""
    group_of = {resource: group for group in groups for resource in group.covered}
    totals = tuple(_totals(one, counts_pods=PODS in group_of) for one in demand.pod_sets)
    together: dict[str, list[int]] = {}
    for number, one in enumerate(demand.pod_sets):
        name = f"group {one.pod_set.group}" if one.pod_set.group else f"alone {number}"
        together.setdefault(name, []).append(number)
    parts = tuple(
        _part(index, numbers, demand, totals, (group_of, quota_check))
        for index, numbers in enumerate(together.values())
    )
    kept = tuple({r: v for r, v in one.items() if r in group_of} for one in totals)
    return Outline(parts, kept, wanted=_wanted(parts))


def _wanted(parts: Sequence[Part]) -> tuple[tuple[FlavorResource, int], ...] | None:
    """Return what a single part asks of the first flavor of each group that its pods may use."""
    if len(parts) != 1 or parts[0].uncovered is not None:
        return None
    found = []
    for ask in parts[0].asks:
        usable = (at for at, obstacle in enumerate(ask.obstacles) if obstacle is None)
        first = next(usable, None)
        if first is None:
            return None
        resources = ask.group.options[first].resources
        found += [(resources[name], amount) for name, amount in ask.amounts]
    return tuple(found)


def _totals(demand: PodSetDemand, *, counts_pods: bool) -> dict[ResourceName, int]:
    totals = {name: amount * demand.count for name, amount in demand.pod_set.requests.items()}
    if counts_pods:
        totals[PODS] = demand.count
    return totals


def _part(
    index: int,
    numbers: Sequence[int],
    demand: Demand,
    totals: Sequence[Mapping[ResourceName, int]],
    rules: tuple[Mapping[ResourceName, Group], QuotaCheck],
) -> Part:
    group_of, quota_check = rules
    wanted: dict[ResourceName, int] = {}
    for number in numbers:
        for resource, amount in totals[number].items():
            wanted[resource] = wanted.get(resource, 0) + amount
    asked: dict[int, list[tuple[ResourceName, int]]] = {}
    uncovered = None
    for resource, amount in sorted(wanted.items()):
        group = group_of.get(resource)
        if group is not None:
            asked.setdefault(group.index, []).append((resource, amount))
        elif amount and quota_check is QuotaCheck.BLOCK_UNDECLARED and uncovered is None:
            uncovered = resource
    groups = {group.index: group for group in group_of.values()}
    pods = [demand.pod_sets[number].pod_set for number in numbers]
    asks = tuple(
        Ask(
            groups[one],
            tuple(amounts),
            tuple(ineligibility(groups[one], option, pods) for option in groups[one].options),
        )
        for one, amounts in asked.items()
    )
    return Part(index, tuple(numbers), asks, uncovered)
