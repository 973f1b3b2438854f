"""An AdmissionReview in, an AdmissionReview out: which rule judges which kind.

Called by `serving.routes` for each review of the API server; by `sim.kinds` (`check`) for each
manifest of a plan.

Invariants: the answer carries the request's uid; a review of a kind we do not know is allowed, for
a webhook that is asked too much must not stop the cluster; a deletion in progress is never refused.
"""

import base64
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from queueing.kinds.registry import FRAMEWORKS
from queueing.webhooks.device_flavors import bad_selectors
from queueing.webhooks.findings import UNPROCESSABLE, Finding, Wire, code_of, dig
from queueing.webhooks.jobs import DefaultingContext, default_job, default_labels
from queueing.webhooks.marking import is_its_own, marking
from queueing.webhooks.pod_gates import gated
from queueing.webhooks.policies.claims import CLAIMS
from queueing.webhooks.policies.demand import Policy
from queueing.webhooks.policies.jobs import JOBS, JOBS_BESIDE_A_DEFAULT_QUEUE
from queueing.webhooks.policies.marked import policy_of_marked
from queueing.webhooks.policies.pods import PODS
from queueing.webhooks.policies.quotas import CLUSTER_QUEUES, COHORTS, FLAVORS_OF_CHECKS
from queueing.webhooks.policies.workloads import WORKLOADS
from queueing.webhooks.rules import (
    OF_MUTATIONS,
    bound,
    broken_demands,
    broken_rules,
    concerns,
    patches_of,
    program_of,
)
from queueing.webhooks.suspension import MarkedKind, kinds_on, marked
from queueing.webhooks.workloads import default_workload

IN_USE = "kueue.x-k8s.io/resource-in-use"


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    """What the Configuration chose, as far as a review depends on it."""

    reject_unknown_flavors_of_checks: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One request: the object as it would be, as it was, and where it is made."""

    kind: str
    operation: str
    new: Wire
    old: Wire | None
    around: DefaultingContext
    request: Wire = field(default_factory=dict)


Default = Callable[[Review], Wire]


MARKED: Mapping[str, MarkedKind] = {one.kind: one for one in marked(kinds_on(FRAMEWORKS, {}))}
"""Kinds whose pods are queued."""
POLICIES: Mapping[str, Policy] = {
    policy.kind: policy
    for policy in (
        *(CLUSTER_QUEUES, COHORTS, WORKLOADS, JOBS, PODS),
        *map(policy_of_marked, MARKED.values()),
    )
}
"""Demands on each kind that are always made."""


def check(kind: str, new: Wire, old: Wire | None = None) -> list[Finding]:
    """Return all that is wrong with an object as it is stored, new or changed from `old`.

    Whether anybody would be asked about such a write does not matter.
    """
    policies = [POLICIES[kind]] if kind in POLICIES else []
    demanded = (broken_demands(one, bound(one.variables, new, old)) for one in policies)
    return [*(one for found in demanded for one in found), *_beside_demands(kind, new, old)]


def _beside_demands(kind: str, new: Wire, old: Wire | None) -> Iterator[Finding]:
    yield from broken_rules(kind, new, old)
    if kind == "DeviceFlavor":
        yield from bad_selectors(new)


def findings(review: Review, rules: WebhookSettings) -> list[Finding]:
    """Return why a write is refused: what definitions and policies say, if they are about it."""
    found: list[Finding] = []
    for policy in _policies(review, rules):
        bindings = bound(policy.variables, review.new, review.old, review.request)
        if concerns(policy.conditions, bindings):
            found += broken_demands(policy, bindings)
    return [*found, *_beside_demands(review.kind, review.new, review.old)]


def _policies(review: Review, rules: WebhookSettings) -> Iterator[Policy]:
    """Yield the policies that are in force around a write."""
    if review.kind in POLICIES:
        yield POLICIES[review.kind]
    if review.old is None:
        return
    if review.kind == "ClusterQueue" and rules.reject_unknown_flavors_of_checks:
        yield FLAVORS_OF_CHECKS
    if review.kind == "Job" and review.around.default_local_queue:
        yield JOBS_BESIDE_A_DEFAULT_QUEUE


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
}


def read_review(body: Mapping[str, Any], around: DefaultingContext) -> Review:
    """Read the request of an AdmissionReview."""
    request = body.get("request") or {}
    return Review(
        kind=str(dig(request, "kind", "kind") or ""),
        operation=str(request.get("operation") or ""),
        new=request.get("object") or {},
        old=request.get("oldObject") or None,
        around=around,
        request=request,
    )


def validate(body: Mapping[str, Any], around: DefaultingContext, rules: WebhookSettings) -> Wire:
    """Answer a validating review: allowed, or refused with every mistake at once."""
    review = read_review(body, around)
    leaving = dig(review.new, "metadata", "deletionTimestamp") is not None
    if review.operation == "DELETE" or leaving:
        return _answer(body, {"allowed": True})
    found = findings(review, rules)
    if not found:
        return _answer(body, {"allowed": True})
    return _answer(body, {"allowed": False, "status": _status(review, found)})


def mutate(body: Mapping[str, Any], around: DefaultingContext, field: str = "") -> Wire:
    """Answer a mutating review with the patch of what is filled in at creation.

    With the `field` that suspends it, the object is a job of whatever kind. Raises CelError for a
    pod that is not as the API server has them.
    """
    review = read_review(body, around)
    patch: list[Wire] = []
    if review.operation == "CREATE" and field:
        patch = list(difference(review.new, default_job(review.new, around, field)))
    elif review.operation == "CREATE" and review.kind in DEFAULTS:
        patch = list(difference(review.new, DEFAULTS[review.kind](review)))
    elif review.operation == "CREATE" and review.kind == "Pod":
        patch = patches_of(CLAIMS, review.new)
    elif review.kind in MARKED:
        patch = list(_marks(MARKED[review.kind], review))
    return _patched(body, patch)


def _patched(body: Mapping[str, Any], patch: list[Wire]) -> Wire:
    if not patch:
        return _answer(body, {"allowed": True})
    encoded = base64.b64encode(json.dumps(patch).encode()).decode()
    return _answer(body, {"allowed": True, "patchType": "JSONPatch", "patch": encoded})


def gate(body: Mapping[str, Any], around: DefaultingContext) -> Wire:
    """Answer a mutating review with the patch that queues a new pod."""
    review = read_review(body, around)
    patch = [] if review.operation != "CREATE" else list(gated(review.new, around))
    return _patched(body, patch)


def _marks(kind: MarkedKind, review: Review) -> Iterator[Wire]:
    """Yield the patches of an object whose pods are queued: its default labels, and its marks."""
    given = default_labels(review.new, review.around)
    if given is None or review.around.owner_managed:
        return
    bindings = bound({}, given)
    if concerns((is_its_own(kind),), bindings):
        yield from difference(review.new, given)
        yield from program_of(marking(kind.through), OF_MUTATIONS)(bindings)


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


def difference(before: Any, after: Any, path: str = "") -> Iterator[dict[str, Any]]:
    """Yield the JSON patch (RFC 6902) from `before` to `after`; lists are replaced whole."""
    if before == after:
        return
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield {"op": "replace", "path": path, "value": after}
        return
    for key in sorted(before.keys() - after.keys()):
        yield {"op": "remove", "path": f"{path}/{escaped(key)}"}
    for key, value in after.items():
        where = f"{path}/{escaped(key)}"
        if key not in before:
            yield {"op": "add", "path": where, "value": value}
        else:
            yield from difference(before[key], value, where)


def escaped(key: str) -> str:
    """Spell a key as one step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")
