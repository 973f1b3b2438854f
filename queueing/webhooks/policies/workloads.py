"""Demands on Workloads that would cost too much in their definition, or cannot be said there.

Our own writes are not asked about: they are checked where they are made, and an admission should
cost the API server no more than it must. Nor are writes of a status that leave what is demanded of
it as it was: that pods are ready, that work has ended. Nor new Workloads without anything that a
demand could find: annotations of the group, slices of pods, requests for pods or with a sign before
them.
"""

from typing import Final

from queueing.webhooks.findings import CauseType
from queueing.webhooks.policies.demand import GROUP, Demand, Policy
from queueing.webhooks.policies.gates import GATES, GATES_DEMANDS
from queueing.webhooks.policies.topology import SLICED, WORKLOAD_DEMANDS
from queueing.webhooks.workloads import BOOST, CONTAINER_LISTS, ELASTIC


def _is_true(thing: str, condition: str) -> str:
    return (
        f"{thing}.?status.?conditions.orValue([])"
        f".exists(c, c.type == '{condition}' && c.status == 'True')"
    )


_RESERVED: Final = _is_true("object", "QuotaReserved")
_WAS_RESERVED: Final = _is_true("oldObject", "QuotaReserved")
_VARIABLES: Final = {
    "podSets": "object.spec.?podSets.orValue([])",
    "usages": "object.?status.?admission.?podSetAssignments.orValue([])",
    "reclaimable": "object.?status.?reclaimablePods.orValue([])",
    "held": f"oldObject != null && {_RESERVED} && {_WAS_RESERVED}",
    "oldReclaimable": "oldObject == null ? [] : oldObject.?status.?reclaimablePods.orValue([])",
    **GATES,
}

_REQUESTS_AT: Final = "spec.podSets[].template.spec.containers[].resources.requests"


def _requested(part: str) -> tuple[Demand, ...]:
    """Demand something of each request, `c.resources.requests[k]`, of a list of containers."""

    def each(holds: str) -> str:
        return (
            f"variables.podSets.all(p, p.template.?spec.?{part}.orValue([]).all(c,"
            f" c.?resources.?requests.orValue({{}}).all(k, {holds})))"
        )

    at = f"{_REQUESTS_AT.replace('containers', part)}[]"
    return (
        Demand(
            path=f"{_REQUESTS_AT}[pods]",
            expression=each("k != 'pods'"),
            message="the key is reserved for internal kueue use",
            at=at,
        ),
        Demand(
            path=_REQUESTS_AT,
            expression=each("!quantity(string(c.resources.requests[k])).isLessThan(quantity('0'))"),
            message="must be non-negative",
            at=at,
        ),
    )


_REQUESTS: Final = tuple(demand for part in CONTAINER_LISTS for demand in _requested(part))
_ANNOTATIONS: Final = (
    Demand(
        path="spec.podSets[].minCount",
        expression=f"object.metadata.?annotations[?'{ELASTIC}'].orValue('') != 'true'"
        " || variables.podSets.all(p, !has(p.minCount))",
        message="partial admission and elastic job cannot be used together",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path=f"metadata.annotations[{BOOST}]",
        expression=f"object.metadata.?annotations[?'{BOOST}'].orValue('0').matches('^[+-]?[0-9]+$')",
        message='must be a valid signed integer; use "0" explicitly, empty string is not allowed',
    ),
)
_ENOUGH: Final = "variables.podSets.exists(p, p.name == r.name && r.count <= p.?count.orValue(1))"
_UNIT: Final = (
    "quantity(string(a.resourceUsage[k])).asApproximateFloat() * (k == 'cpu' ? 1e3 : 1.0)"
)
_INDIVISIBLE: Final = (
    f"a.?count.orValue(0) > 0 && int({_UNIT} + 0.5) % a.count != 0 && int({_UNIT} + 0.5) >= a.count"
)
_STATUS: Final = (
    Demand(
        path="status.admission.podSetAssignments[].resourceUsage",
        expression="variables.usages.all(a,"
        f" a.?resourceUsage.orValue({{}}).all(k, !({_INDIVISIBLE})))",
        message="is not a multiple of the count",
        words="'is not a multiple of ' + string(variables.usages.filter(a,"
        f" a.?resourceUsage.orValue({{}}).exists(k, {_INDIVISIBLE}))[0].count)",
        at="status.admission.podSetAssignments[].resourceUsage[]",
    ),
    Demand(
        path="status.reclaimablePods[].count",
        expression=f"variables.reclaimable.all(r, {_ENOUGH})",
        message="should be less or equal to the count of the pod set",
        words="'should be less or equal to ' + variables.podSets.filter(p, p.name =="
        f" variables.reclaimable.filter(r, !{_ENOUGH})[0].name)"
        ".map(p, string(p.?count.orValue(1))).join('')",
    ),
    Demand(
        path="status.reclaimablePods",
        expression="!variables.held || variables.oldReclaimable.all(o,"
        " variables.reclaimable.exists(r, r.name == o.name))",
        message="cannot be removed",
        fault=CauseType.FORBIDDEN,
    ),
    Demand(
        path="status.reclaimablePods[].count",
        expression="!variables.held || variables.reclaimable.all(r,"
        " !variables.oldReclaimable.exists(o, r.name == o.name && r.count < o.count))",
        message="cannot be less than it was",
        words="'cannot be less than ' + variables.oldReclaimable.filter(o,"
        " variables.reclaimable.exists(r, r.name == o.name && r.count < o.count))"
        ".map(o, string(o.count))[0]",
    ),
)
_CHANGES: Final = (
    Demand(
        path="spec.podSets",
        expression="!variables.held || object.spec.podSets == oldObject.spec.podSets",
        message="field is immutable",
    ),
)

_DEMANDED: Final = ("admission", "reclaimablePods")
"""Fields of a status that demands speak of, beside conditions that say when."""
_SAYS_OTHERWISE: Final = " || ".join(
    f"object.?status.?{field} != oldObject.?status.?{field}" for field in _DEMANDED
)
_ODD_REQUEST: Final = (
    "(p.template.?spec.?containers.orValue([]) + p.template.?spec.?initContainers.orValue([]))"
    ".exists(c, c.?resources.?requests.orValue({}).exists(r, r == 'pods'"
    " || !isQuantity(string(c.resources.requests[r]))"
    " || string(c.resources.requests[r]).startsWith('-')))"
)
_ODD: Final = (
    f"object.metadata.?annotations.orValue({{}}).exists(k, k.startsWith('{GROUP}'))"
    f" || object.spec.?podSets.orValue([]).exists(p, {SLICED} || {_ODD_REQUEST})"
)
_CONCERNED: Final = (
    f"oldObject == null ? ({_ODD}) : (!has(request.subResource) || {_SAYS_OTHERWISE})"
)

WORKLOADS: Final = Policy(
    name="queueing-validate-workloads",
    kind="Workload",
    group="kueue.x-k8s.io",
    version="v1beta2",
    resources=("workloads", "workloads/status"),
    conditions=(_CONCERNED,),
    variables=_VARIABLES,
    demands=(*_REQUESTS, *_ANNOTATIONS, *GATES_DEMANDS, *WORKLOAD_DEMANDS, *_STATUS, *_CHANGES),
)
