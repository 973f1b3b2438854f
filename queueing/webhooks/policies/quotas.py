"""Demands on resource groups, of ClusterQueues and Cohorts alike."""

from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.policies.demand import Demand, Policy

_GROUPS: Final = {"groups": "object.?spec.?resourceGroups.orValue([])"}


def _each_quota(holds: str) -> str:
    """Say in CEL that something holds of every `r`, the quota of one resource."""
    return f"variables.groups.all(g, g.flavors.all(f, f.resources.all(r, {holds})))"


def _duplicates(names: str, one: str, held: str) -> str:
    """Say in CEL which names stand in more than one place, quoted as messages quote."""
    found = f"variables.groups.map(g, g.{names}.filter(n, {held}))"
    return f"{found}.filter(l, size(l) > 0)[0][0]{one}"


_RESOURCE_TWICE: Final = (
    "size(variables.groups.filter(h, n in h.coveredResources)) > 1"
    " || size(g.coveredResources.filter(m, m == n)) > 1"
)
_FLAVOR_TWICE: Final = (
    "size(variables.groups.filter(h, h.flavors.exists(m, m.name == n.name))) > 1"
    " || size(g.flavors.filter(m, m.name == n.name)) > 1"
)
_UNIQUE: Final = (
    Demand(
        path="spec.resourceGroups",
        expression=f"variables.groups.all(g, g.coveredResources.all(n, !({_RESOURCE_TWICE})))",
        message="Duplicate value in coveredResources",
        at="spec.resourceGroups[].coveredResources[]",
        fault=CauseType.DUPLICATE,
        words=f"'Duplicate value: \"' + {_duplicates('coveredResources', '', _RESOURCE_TWICE)}"
        " + '\"'",
    ),
    Demand(
        path="spec.resourceGroups",
        expression=f"variables.groups.all(g, g.flavors.all(n, !({_FLAVOR_TWICE})))",
        message="Duplicate value among the flavors",
        at="spec.resourceGroups[].flavors[].name",
        fault=CauseType.DUPLICATE,
        words=f"'Duplicate value: \"' + {_duplicates('flavors', '.name', _FLAVOR_TWICE)} + '\"'",
    ),
)


def _not_negative(limit: str) -> Demand:
    holds = f"!has(r.{limit}) || !quantity(string(r.{limit})).isLessThan(quantity('0'))"
    return Demand(
        path=f"spec.resourceGroups[].flavors[].resources[].{limit}",
        expression=_each_quota(holds),
        message="must be greater than or equal to 0",
    )


_AMOUNTS: Final = tuple(map(_not_negative, ("nominalQuota", "borrowingLimit", "lendingLimit")))
_LENT: Final = Demand(
    path="spec.resourceGroups[].flavors[].resources[].lendingLimit",
    expression=_each_quota(
        "!has(r.lendingLimit) || quantity(string(r.lendingLimit))"
        ".compareTo(quantity(string(r.nominalQuota))) <= 0"
    ),
    message="must be less than or equal to the nominalQuota",
)

CLUSTER_QUEUES: Final = Policy(
    name="queueing-validate-clusterqueues",
    kind="ClusterQueue",
    group="kueue.x-k8s.io",
    version="v1beta2",
    resources=("clusterqueues",),
    variables=_GROUPS,
    demands=(*_UNIQUE, *_AMOUNTS, _LENT),
)
COHORTS: Final = Policy(
    name="queueing-validate-cohorts",
    kind="Cohort",
    group="kueue.x-k8s.io",
    version="v1beta2",
    resources=("cohorts",),
    variables=_GROUPS,
    demands=(*_UNIQUE, *_AMOUNTS),
)
FLAVORS_OF_CHECKS: Final = Policy(
    name="queueing-validate-flavors-of-checks",
    kind="ClusterQueue",
    group="kueue.x-k8s.io",
    version="v1beta2",
    resources=("clusterqueues",),
    operations=("UPDATE",),
    variables={
        **_GROUPS,
        "checks": "object.?spec.?admissionChecksStrategy.?admissionChecks.orValue([])",
    },
    demands=(
        Demand(
            path="spec.admissionChecksStrategy.admissionChecks[].onFlavors",
            expression="variables.checks.all(c, c.?onFlavors.orValue([]).all(n,"
            " variables.groups.exists(g, g.flavors.exists(f, f.name == n))))",
            message="Unsupported value: it must be a flavor of the ClusterQueue",
            at="spec.admissionChecksStrategy.admissionChecks[].onFlavors[]",
            fault=CauseType.NOT_SUPPORTED,
        ),
    ),
)
"""Only with the gate RejectUpdatesToCQWithInvalidOnFlavors."""
