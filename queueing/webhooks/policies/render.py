"""Policies and their bindings as the API server takes them."""

from typing import Any, Final

from queueing.translate.jobs.pods.view import Pods
from queueing.webhooks.policies.demand import Demand, Policy
from queueing.webhooks.policies.jobs import JOBS, JOBS_BESIDE_A_DEFAULT_QUEUE
from queueing.webhooks.policies.marked import policy_of_marked
from queueing.webhooks.policies.pairs import named, pair
from queueing.webhooks.policies.pods import PODS
from queueing.webhooks.policies.queued import beside_a_default_queue
from queueing.webhooks.policies.quotas import CLUSTER_QUEUES, COHORTS, FLAVORS_OF_CHECKS
from queueing.webhooks.policies.suspended import policy_of_suspended
from queueing.webhooks.policies.workloads import WORKLOADS
from queueing.webhooks.scope import Scope, selector_wire
from queueing.webhooks.suspension import JOB, SuspendedKind, marked

Wire = dict[str, Any]

_STAYS: Final = "!has(object.metadata.deletionTimestamp)"
"""What is being deleted is not judged: whoever holds it must be able to let go."""
POLICIES: Final = (CLUSTER_QUEUES, COHORTS, WORKLOADS, JOBS, JOBS_BESIDE_A_DEFAULT_QUEUE)
"""Policies of every installation that queues Jobs."""
_OF_JOBS: Final = (JOBS, JOBS_BESIDE_A_DEFAULT_QUEUE)


def render(scope: Scope) -> list[Wire]:
    """Return every policy followed by its binding, in a fixed order."""
    chosen = [one for one in POLICIES if one not in _OF_JOBS or JOB in scope.kinds]
    for kind in scope.kinds:
        if isinstance(kind, SuspendedKind) and kind != JOB:
            chosen += [policy_of_suspended(kind), beside_a_default_queue(kind)]
    chosen += map(policy_of_marked, marked(scope.kinds))
    if scope.pods is Pods.ALL:
        chosen.append(PODS)
    if scope.reject_unknown_flavors:
        chosen.append(FLAVORS_OF_CHECKS)
    return [wire for policy in chosen for wire in _pair(policy, scope)]


def _pair(policy: Policy, scope: Scope) -> tuple[Wire, Wire]:
    # One expression, so that our own writes cost no more than a look at who writes.
    concerned = " && ".join(
        f"({text})" for text in (scope.not_ours["expression"], _STAYS, *policy.conditions)
    )
    constraints: Wire = {
        "resourceRules": [
            {
                "apiGroups": [policy.group],
                "apiVersions": [policy.version],
                "operations": list(policy.operations),
                "resources": list(policy.resources),
            }
        ]
    }
    if policy.of_jobs:
        constraints["namespaceSelector"] = selector_wire(scope.namespaces)
    spec: Wire = {
        "failurePolicy": "Fail",
        "matchConstraints": constraints,
        "matchConditions": named({"concerned": concerned}),
        "validations": [_validation(demand) for demand in policy.demands],
    }
    if policy.variables:
        spec["variables"] = named(policy.variables)
    return pair(
        "ValidatingAdmissionPolicy",
        policy.name,
        spec,
        parameter=policy.parameter,
        validationActions=["Deny"],
    )


def _validation(demand: Demand) -> Wire:
    wire = {
        "expression": demand.expression,
        "message": f"{demand.path}: {demand.message}",
        "reason": "Forbidden",
    }
    if demand.words:
        wire["messageExpression"] = f"'{demand.path}: ' + {demand.words}"
    return wire
