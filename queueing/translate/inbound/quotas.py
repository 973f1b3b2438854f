"""Resource groups → quotas, with the rules that are too expensive for CEL in the CRD."""

from queueing.core.flavor_quotas import FlavorQuotas, Quota, ResourceGroup
from queueing.core.names import FlavorName, ResourceName
from queueing.translate.problems import Problems
from queueing.translate.wire import queues as wire
from queueing.translate.wire.meta import Quantity

TOTAL_MAX = 256
"""Flavors, and covered resources, over all groups of one object."""
PAIRS_MAX = 512
"""Pairs of a flavor and a resource of one group."""


def resource_groups(
    groups: list[wire.ResourceGroup], problems: Problems
) -> tuple[ResourceGroup, ...]:
    """Translate resource groups.

    Groups whose names contradict each other give no quota at all. A limit that cannot bind, because
    there is no parent to borrow from or because more would be lent than there is, does no harm.
    """
    if _judge_names(groups, problems):
        return ()
    return tuple(
        ResourceGroup(
            covered=tuple(map(ResourceName, group.covered_resources)),
            flavors=tuple(
                FlavorQuotas(
                    flavor=FlavorName(flavor.name),
                    quotas=tuple(
                        (
                            ResourceName(quota.name),
                            _quota(quota, f"{path}.resources[{i}]", problems),
                        )
                        for i, quota in enumerate(flavor.resources)
                    ),
                )
                for path, flavor in (
                    (f"spec.resourceGroups[{number}].flavors[{n}]", flavor)
                    for n, flavor in enumerate(group.flavors)
                )
            ),
        )
        for number, group in enumerate(groups)
    )


def _quota(found: wire.ResourceQuota, path: str, problems: Problems) -> Quota:
    def limit(field: str, written: Quantity | None) -> int | None:
        at = f"{path}.{field}"
        return None if written is None else problems.amount(at, found.name, written)

    return Quota(
        nominal=problems.amount(f"{path}.nominalQuota", found.name, found.nominal_quota),
        borrowing_limit=limit("borrowingLimit", found.borrowing_limit),
        lending_limit=limit("lendingLimit", found.lending_limit),
    )


def _judge_names(groups: list[wire.ResourceGroup], problems: Problems) -> bool:
    """Note names that contradict each other; say whether there are any."""
    before = problems.text()
    resources: set[str] = set()
    flavors: set[str] = set()
    for number, group in enumerate(groups):
        path = f"spec.resourceGroups[{number}]"
        for name in group.covered_resources:
            if name in resources:
                problems.add(f"{path}.coveredResources", f"Duplicate value: {name!r}")
            resources.add(name)
        for flavor in group.flavors:
            if flavor.name in flavors:
                problems.add(f"{path}.flavors", f"Duplicate value: {flavor.name!r}")
            flavors.add(flavor.name)
            _judge_flavor(flavor, group.covered_resources, path, problems)
        if len(group.flavors) * len(group.covered_resources) > PAIRS_MAX:
            problems.add(
                path,
                "number of flavor-resource combinations in a resourceGroup must be"
                f" ≤ {PAIRS_MAX}, got {len(group.flavors) * len(group.covered_resources)}",
            )
    for what, names in (("flavors", flavors), ("covered resources", resources)):
        if len(names) > TOTAL_MAX:
            problems.add(
                "spec.resourceGroups",
                f"total number of {what} across all resourceGroups must be ≤ {TOTAL_MAX},"
                f" got {len(names)}",
            )
    return problems.text() != before


def _judge_flavor(
    flavor: wire.FlavorQuotas, covered: list[str], path: str, problems: Problems
) -> None:
    if sorted(one.name for one in flavor.resources) == sorted(covered):
        return  # in another order they say the same
    where = f"{path}.flavors[{flavor.name}].resources"
    if len(flavor.resources) != len(covered):
        problems.add(
            where, "flavors must have the same number of resources as the coveredResources"
        )
    for quota, name in zip(flavor.resources, covered, strict=False):
        if quota.name != name:
            problems.add(where, f"{quota.name!r} must match the name in coveredResources, {name!r}")
