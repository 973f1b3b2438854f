"""Demands on Workloads that would cost too much in their definition, or cannot be said there.

Our own writes are not asked about: they are checked where they are made, and an admission should
cost the API server no more than it must. Nor are writes of a status that leave what is demanded of
it as it was: that pods are ready, that work has ended. Nor new Workloads without anything that a
demand could find: annotations of the group, topology, requests for pods or with a sign before them.
"""

from typing import Final

from queueing.webhooks.policies.demand import GROUP, Demand, Policy
from queueing.webhooks.policies.gates import GATES, GATES_DEMANDS
from queueing.webhooks.policies.topology import WORKLOAD_DEMANDS
from queueing.webhooks.workloads import BOOST, ELASTIC


def _is_true(thing: str, condition: str) -> str:
    return (
        f"{thing}.?status.?conditions.orValue([])"
        f".exists(c, c.type == '{condition}' && c.status == 'True')"
    )


_RESERVED: Final = _is_true("object", "QuotaReserved")
_WAS_RESERVED: Final = _is_true("oldObject", "QuotaReserved")
_VARIABLES: Final = {
    "podSets": "object.spec.?podSets.orValue([])",
    "containers": "variables.podSets.map(p, p.template.?spec.?containers.orValue([]))"
    " + variables.podSets.map(p, p.template.?spec.?initContainers.orValue([]))",
    "requests": "variables.containers.map(l, l.map(c, c.?resources.?requests.orValue({})))",
    "usages": "object.?status.?admission.?podSetAssignments.orValue([])"
    ".filter(a, a.?count.orValue(0) > 0)",
    "reclaimable": "object.?status.?reclaimablePods.orValue([])",
    "excess": "variables.reclaimable.filter(r,"
    " !variables.podSets.exists(p, p.name == r.name && r.count <= p.?count.orValue(1)))",
    "held": f"oldObject != null && {_RESERVED} && {_WAS_RESERVED}",
    "oldReclaimable": "oldObject == null ? [] : oldObject.?status.?reclaimablePods.orValue([])",
    **GATES,
}

_REQUESTS: Final = (
    Demand(
        path="spec.podSets[].template.spec.containers[].resources.requests[pods]",
        expression="variables.requests.all(l, l.all(r, !('pods' in r)))",
        message="the key is reserved for internal kueue use",
    ),
    Demand(
        path="spec.podSets[].template.spec.containers[].resources.requests",
        expression="variables.requests.all(l, l.all(r, r.all(k,"
        " !quantity(string(r[k])).isLessThan(quantity('0')))))",
        message="must be non-negative",
    ),
)
_ANNOTATIONS: Final = (
    Demand(
        path="spec.podSets[].minCount",
        expression=f"object.metadata.?annotations[?'{ELASTIC}'].orValue('') != 'true'"
        " || variables.podSets.all(p, !has(p.minCount))",
        message="partial admission and elastic job cannot be used together",
    ),
    Demand(
        path=f"metadata.annotations[{BOOST}]",
        expression=f"object.metadata.?annotations[?'{BOOST}'].orValue('0').matches('^[+-]?[0-9]+$')",
        message='must be a valid signed integer; use "0" explicitly, empty string is not allowed',
    ),
)
_UNIT: Final = (
    "quantity(string(a.resourceUsage[k])).asApproximateFloat() * (k == 'cpu' ? 1e3 : 1.0)"
)
_INDIVISIBLE: Final = (
    "variables.usages.filter(a, a.?resourceUsage.orValue({}).exists(k,"
    f" int({_UNIT} + 0.5) % a.count != 0 && int({_UNIT} + 0.5) >= a.count))"
)
_STATUS: Final = (
    Demand(
        path="status.admission.podSetAssignments[].resourceUsage",
        expression=f"size({_INDIVISIBLE}) == 0",
        message="is not a multiple of the count",
        words=f"'is not a multiple of ' + string({_INDIVISIBLE}[0].count)",
    ),
    Demand(
        path="status.reclaimablePods[].count",
        expression="size(variables.excess) == 0",
        message="should be less or equal to the count of the pod set",
        words="'should be less or equal to ' + variables.podSets.filter(p,"
        " p.name == variables.excess[0].name).map(p, string(p.?count.orValue(1))).join('')",
    ),
    Demand(
        path="status.reclaimablePods",
        expression="!variables.held || variables.oldReclaimable.all(o,"
        " variables.reclaimable.exists(r, r.name == o.name))",
        message="cannot be removed",
    ),
    Demand(
        path="status.reclaimablePods[].count",
        expression="!variables.held || variables.oldReclaimable.all(o,"
        " variables.reclaimable.all(r, r.name != o.name || r.count >= o.count))",
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
    f" || object.spec.?podSets.orValue([]).exists(p, has(p.topologyRequest) || {_ODD_REQUEST})"
)
_CONCERNED: Final = (
    f"oldObject == null ? ({_ODD}) : (!has(request.subResource) || {_SAYS_OTHERWISE})"
)

WORKLOADS: Final = Policy(
    name="queueing-validate-workloads",
    group="kueue.x-k8s.io",
    version="v1beta2",
    resources=("workloads", "workloads/status"),
    conditions=(_CONCERNED,),
    variables=_VARIABLES,
    demands=(*_REQUESTS, *_ANNOTATIONS, *GATES_DEMANDS, *WORKLOAD_DEMANDS, *_STATUS, *_CHANGES),
)
