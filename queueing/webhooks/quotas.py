"""Resource groups of ClusterQueues and Cohorts: shape, limits, quantities."""

from collections.abc import Iterator
from dataclasses import dataclass

from queueing.webhooks.findings import (
    Finding,
    Wire,
    dig,
    duplicate,
    entries,
    invalid,
    of_definition,
)
from queueing_api.quantity import QuantityError, parse

FLAVORS_MAX = 256
RESOURCES_MAX = 256
PAIRS_MAX = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the groups stand, and what their limits refer to."""

    path: str
    has_parent: bool
    orphan: str
    """What limits without a parent are told: `cohort` or `parent`."""
    lending_within_nominal: bool
    """A queue lends at most its nominal quota; a cohort also what its members lend."""


def check_groups(groups: list[Wire], place: Place) -> Iterator[Finding]:
    """Yield what is wrong with the resource groups of one object."""
    yield from of_definition(_totals(groups, place.path))
    seen_resources: set[str] = set()
    seen_flavors: set[str] = set()
    for index, group in enumerate(groups):
        path = f"{place.path}[{index}]"
        covered = [name for name in dig(group, "coveredResources") or () if isinstance(name, str)]
        yield from _unique(covered, seen_resources, f"{path}.coveredResources")
        flavors = entries(group, "flavors")
        names = [str(flavor.get("name", "")) for flavor in flavors]
        yield from _unique(names, seen_flavors, f"{path}.flavors", suffix=".name")
        for position, flavor in enumerate(flavors):
            where = f"{path}.flavors[{position}]"
            yield from of_definition(_covered(flavor, covered, where))
            yield from _quotas(flavor, where, place)


def _totals(groups: list[Wire], path: str) -> Iterator[Finding]:
    flavors = sum(len(entries(group, "flavors")) for group in groups)
    resources = sum(len(dig(group, "coveredResources") or ()) for group in groups)
    if flavors > FLAVORS_MAX:
        told = f"total number of flavors across all resourceGroups must be ≤ {FLAVORS_MAX}"
        yield invalid(path, flavors, f"{told}, got {flavors}")
    if resources > RESOURCES_MAX:
        told = "total number of covered resources across all resourceGroups must be"
        yield invalid(path, resources, f"{told} ≤ {RESOURCES_MAX}, got {resources}")
    for index, group in enumerate(groups):
        pairs = len(entries(group, "flavors")) * len(dig(group, "coveredResources") or ())
        if pairs > PAIRS_MAX:
            told = "number of flavor-resource combinations in a resourceGroup must be"
            yield invalid(f"{path}[{index}]", pairs, f"{told} ≤ {PAIRS_MAX}, got {pairs}")


def _unique(names: list[str], seen: set[str], path: str, suffix: str = "") -> Iterator[Finding]:
    for index, name in enumerate(names):
        if name in seen:
            yield duplicate(f"{path}[{index}]{suffix}", name)
        seen.add(name)


def _covered(flavor: Wire, covered: list[str], path: str) -> Iterator[Finding]:
    resources = entries(flavor, "resources")
    if len(resources) != len(covered):
        told = "flavors must have the same number of resources as the coveredResources"
        yield invalid(f"{path}.resources", len(resources), told)
    for index, resource in enumerate(resources):
        where = f"{path}.resources[{index}]"
        if index < len(covered) and resource.get("name") != covered[index]:
            told = "must match the name in coveredResources"
            yield invalid(f"{where}.name", resource.get("name"), told)


def _quotas(flavor: Wire, path: str, place: Place) -> Iterator[Finding]:
    for index, resource in enumerate(entries(flavor, "resources")):
        where = f"{path}.resources[{index}]"
        if not place.has_parent:
            yield from of_definition(_orphans(resource, where, place.orphan))
        yield from _quota(resource, where, place)


def _orphans(resource: Wire, path: str, orphan: str) -> Iterator[Finding]:
    for name in ("borrowingLimit", "lendingLimit"):
        if resource.get(name) is not None:
            told = f"must be nil when {orphan} is empty"
            yield invalid(f"{path}.{name}", resource[name], told)


def _quota(resource: Wire, path: str, place: Place) -> Iterator[Finding]:
    amounts: dict[str, int] = {}
    for name in ("nominalQuota", "borrowingLimit", "lendingLimit"):
        value = resource.get(name)
        if value is None:
            continue
        try:
            amounts[name] = parse(value).nano
        except QuantityError as error:
            yield from of_definition([invalid(f"{path}.{name}", value, str(error))])
            continue
        if amounts[name] < 0:
            yield invalid(f"{path}.{name}", value, "must be greater than or equal to 0")
    if not place.lending_within_nominal or not {"lendingLimit", "nominalQuota"} <= amounts.keys():
        return
    if amounts["lendingLimit"] > amounts["nominalQuota"]:
        told = "must be less than or equal to the nominalQuota"
        yield invalid(f"{path}.lendingLimit", resource.get("lendingLimit"), told)


def check_weight(weight: object, path: str) -> Iterator[Finding]:
    """Yield what is wrong with a fair sharing weight (0, or clearly more than a nano)."""
    if weight is None:
        return
    if not isinstance(weight, str | int | float):
        yield invalid(path, weight, "must be a quantity")
        return
    try:
        amount = parse(weight).nano
    except QuantityError as error:
        yield invalid(path, weight, str(error))
        return
    if amount < 0:
        yield invalid(path, weight, "must be greater than or equal to 0")
    elif amount == 1:
        yield invalid(path, weight, "When not 0, weight must be > 10e-9")
