"""An AdmissionReview in, an AdmissionReview out: which rule judges which kind.

Invariants: the answer carries the request's uid; a review of a kind we do not know is allowed, for
a webhook that is asked too much must not stop the cluster; a deletion in progress is never refused.
"""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from queueing.webhooks.checkpoints import check_checkpoint, check_checkpoint_policy
from queueing.webhooks.cluster_queues import (
    check_cluster_queue,
    check_cohort,
    check_flavors_of_checks,
)
from queueing.webhooks.credits import (
    check_credit_account,
    check_credit_budget,
    check_credit_grant,
    check_credit_policy,
    check_usage_record,
)
from queueing.webhooks.device_flavors import check_device_flavor
from queueing.webhooks.findings import UNPROCESSABLE, Finding, Wire, code_of, dig
from queueing.webhooks.flavors import (
    check_admission_check,
    check_flavor,
    check_local_queue,
    check_topology,
)
from queueing.webhooks.jobs import Surroundings, check_job, default_job
from queueing.webhooks.patches import difference
from queueing.webhooks.pods import inject_claims
from queueing.webhooks.workloads import check_workload, default_workload

IN_USE = "kueue.x-k8s.io/resource-in-use"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What the Configuration chose, as far as a review depends on it."""

    reject_unknown_flavors_of_checks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One request: the object as it would be, as it was, and where it is made."""

    kind: str
    operation: str
    new: Wire
    old: Wire | None
    around: Surroundings


Check = Callable[[Review, Rules], list[Finding]]
Default = Callable[[Review], Wire]


def _check_cluster_queue(review: Review, rules: Rules) -> list[Finding]:
    found = check_cluster_queue(review.new, review.old)
    if review.old is not None and rules.reject_unknown_flavors_of_checks:
        found += check_flavors_of_checks(review.new)
    return found


def _check_job(review: Review, _rules: Rules) -> list[Finding]:
    return check_job(review.new, review.old, default_queue=review.around.default_local_queue)


CHECKS: Mapping[str, Check] = {
    "ClusterQueue": _check_cluster_queue,
    "Cohort": lambda review, _: check_cohort(review.new),
    "ResourceFlavor": lambda review, _: check_flavor(review.new, review.old),
    "Topology": lambda review, _: check_topology(review.new, review.old),
    "LocalQueue": lambda review, _: check_local_queue(review.new, review.old),
    "AdmissionCheck": lambda review, _: check_admission_check(review.new, review.old),
    "CheckpointPolicy": lambda review, _: check_checkpoint_policy(review.new),
    "Checkpoint": lambda review, _: check_checkpoint(review.new, review.old),
    "CreditPolicy": lambda review, _: check_credit_policy(review.new),
    "CreditBudget": lambda review, _: check_credit_budget(review.new, review.old),
    "CreditGrant": lambda review, _: check_credit_grant(review.new, review.old),
    "CreditAccount": lambda review, _: check_credit_account(review.new, review.old),
    "UsageRecord": lambda review, _: check_usage_record(review.new, review.old),
    "DeviceFlavor": lambda review, _: check_device_flavor(review.new),
    "Workload": lambda review, _: check_workload(review.new, review.old),
    "Job": _check_job,
}


def with_finalizer(thing: Wire) -> Wire:
    """Return the object with the finalizer that keeps it while it is in use."""
    metadata = thing.get("metadata") or {}
    finalizers = list(metadata.get("finalizers") or ())
    if IN_USE in finalizers:
        return thing
    return {**thing, "metadata": {**metadata, "finalizers": [*finalizers, IN_USE]}}


DEFAULTS: Mapping[str, Default] = {
    "ClusterQueue": lambda review: with_finalizer(review.new),
    "ResourceFlavor": lambda review: with_finalizer(review.new),
    "Workload": lambda review: default_workload(review.new),
    "Job": lambda review: default_job(review.new, review.around),
    "Pod": lambda review: inject_claims(review.new),
}


def read_review(body: Mapping[str, Any], around: Surroundings) -> Review:
    """Read the request of an AdmissionReview."""
    request = body.get("request") or {}
    return Review(
        kind=str(dig(request, "kind", "kind") or ""),
        operation=str(request.get("operation") or ""),
        new=request.get("object") or {},
        old=request.get("oldObject") or None,
        around=around,
    )


def validate(body: Mapping[str, Any], around: Surroundings, rules: Rules) -> Wire:
    """Answer a validating review: allowed, or refused with every mistake at once."""
    review = read_review(body, around)
    check = CHECKS.get(review.kind)
    leaving = dig(review.new, "metadata", "deletionTimestamp") is not None
    if check is None or review.operation == "DELETE" or leaving:
        return _answer(body, {"allowed": True})
    found = check(review, rules)
    if not found:
        return _answer(body, {"allowed": True})
    return _answer(body, {"allowed": False, "status": _status(review, found)})


def mutate(body: Mapping[str, Any], around: Surroundings) -> Wire:
    """Answer a mutating review with the patch of what is filled in at creation."""
    review = read_review(body, around)
    default = DEFAULTS.get(review.kind)
    if default is None or review.operation != "CREATE":
        return _answer(body, {"allowed": True})
    patch = list(difference(review.new, default(review)))
    if not patch:
        return _answer(body, {"allowed": True})
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return _answer(body, {"allowed": True, "patchType": "JSONPatch", "patch": encoded})


def _status(review: Review, found: list[Finding]) -> Wire:
    name = dig(review.new, "metadata", "name") or ""
    told = ", ".join(map(str, found))
    message = told if len(found) == 1 else f"[{told}]"
    code = code_of(found)
    if code == UNPROCESSABLE:
        message = f'{review.kind} "{name}" is invalid: {message}'
    return {
        "status": "Failure",
        "reason": "Invalid" if code == UNPROCESSABLE else "Forbidden",
        "code": code,
        "message": message,
        "details": {
            "name": name,
            "kind": review.kind,
            "causes": [
                {"reason": one.fault.value, "message": one.detail, "field": one.path}
                for one in found
            ],
        },
    }


def _answer(body: Mapping[str, Any], response: Wire) -> Wire:
    return {
        "apiVersion": body.get("apiVersion") or "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": dig(body, "request", "uid") or "", **response},
    }
