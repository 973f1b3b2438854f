"""Resource groups → quotas, with every rule that CRD CEL cannot afford to check."""

from queueing.core.facts import FlavorQuotas, Quota, ResourceGroup
from queueing.core.names import FlavorName, ResourceName
from queueing.translate.problems import Problems
from queueing.translate.wire import queues as wire

TOTAL_MAX = 256
"""Flavors, and covered resources, over all groups of one object."""
PAIRS_MAX = 512
"""Pairs of a flavor and a resource of one group."""


def resource_groups(
    groups: list[wire.ResourceGroup], problems: Problems, *, parent: str | None, own: bool
) -> tuple[ResourceGroup, ...]:
    """Translate resource groups.

    `parent` is None when there is a parent, else the word for the parent that is missing, without
    which no limit may be set. `own` holds lending within nominal quota, as for a ClusterQueue; a
    Cohort may lend its subtree's. Groups whose names contradict each other give no quota at all.
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
                            _quota(quota, _Place(f"{path}.resources[{i}]", parent, own), problems),
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


class _Place:
    """Where a quota stands, and which limits it may have there."""

    def __init__(self, path: str, parent: str | None, own: bool) -> None:  # noqa: FBT001
        self.path, self.parent, self.own = path, parent, own


def _quota(found: wire.ResourceQuota, place: _Place, problems: Problems) -> Quota:
    nominal = problems.amount(f"{place.path}.nominalQuota", found.name, found.nominal_quota)
    limits: list[int | None] = []
    for field, limit in (
        ("borrowingLimit", found.borrowing_limit),
        ("lendingLimit", found.lending_limit),
    ):
        path = f"{place.path}.{field}"
        if limit is not None and place.parent is not None:
            problems.add(path, f"must be nil when {place.parent} is empty")
        limits.append(None if limit is None else problems.amount(path, found.name, limit))
    borrowing, lending = limits
    if place.own and lending is not None and lending > nominal:
        problems.add(f"{place.path}.lendingLimit", "must be less than or equal to the nominalQuota")
    return Quota(nominal=nominal, borrowing_limit=borrowing, lending_limit=lending)


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
    where = f"{path}.flavors[{flavor.name}].resources"
    if len(flavor.resources) != len(covered):
        problems.add(
            where, "flavors must have the same number of resources as the coveredResources"
        )
    for quota, name in zip(flavor.resources, covered, strict=False):
        if quota.name != name:
            problems.add(where, f"{quota.name!r} must match the name in coveredResources, {name!r}")
