"""Webhook configurations under the names of Kueue's own, so that installing one replaces the other.

Invariant: no webhook is asked about a Job without a queue label whose failure would stop that Job.
The CA is filled in by the serving process, which makes the certificate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from queueing.webhooks.policies.jobs import QUEUED
from queueing.webhooks.scope import MINOR_WITH_MUTATING_POLICIES, Scope, selector_wire

Wire = dict[str, Any]

KUEUE: Final = "kueue.x-k8s.io"
CREATE: Final = ("CREATE",)
WRITE: Final = ("CREATE", "UPDATE")
LABELLED: Final = QUEUED.partition(" || ")[0]
TIMEOUT_S: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hook:
    """One webhook: what it is asked about, and what becomes of a request when it is away."""

    kind: str
    resources: Sequence[str]
    operations: Sequence[str] = WRITE
    of_jobs: bool = False
    spares_us: bool = False
    condition: tuple[str, str] | None = None
    name: str = ""
    failure: str = "Fail"


_MUTATING: Final = (
    _Hook(kind="resourceflavor", resources=("resourceflavors",), operations=CREATE),
    _Hook(kind="clusterqueue", resources=("clusterqueues",), operations=CREATE),
)
_MUTATING_JOBS: Final = (
    _Hook(
        kind="job",
        resources=("jobs",),
        operations=CREATE,
        of_jobs=True,
        condition=("queued", LABELLED),
    ),
    # Which of these gets a default queue is known to the webhook only: away, it stops nobody.
    _Hook(
        kind="job",
        name="mjobwithoutqueue.kb.io",
        resources=("jobs",),
        operations=CREATE,
        of_jobs=True,
        condition=("not-queued", f"!({LABELLED})"),
        failure="Ignore",
    ),
)
_VALIDATING: Final = (
    _Hook(kind="clusterqueue", resources=("clusterqueues",)),
    _Hook(kind="cohort", resources=("cohorts",)),
    _Hook(kind="resourceflavor", resources=("resourceflavors",)),
    _Hook(kind="workload", resources=("workloads", "workloads/status"), spares_us=True),
    _Hook(
        kind="job", resources=("jobs",), of_jobs=True, spares_us=True, condition=("queued", QUEUED)
    ),
)


def render(scope: Scope) -> list[Wire]:
    """Return the configurations: what fills in, then what refuses.

    Jobs are suspended and given defaults by webhooks only where the server has no policies for it.
    """
    by_policy = scope.minor >= MINOR_WITH_MUTATING_POLICIES
    mutating = _MUTATING if by_policy else (*_MUTATING, *_MUTATING_JOBS)
    return [
        _configuration("Mutating", "mutate", mutating, scope),
        _configuration("Validating", "validate", _VALIDATING, scope),
    ]


def _configuration(prefix: str, verb: str, hooks: Sequence[_Hook], scope: Scope) -> Wire:
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": f"{prefix}WebhookConfiguration",
        "metadata": {"name": f"kueue-{prefix.lower()}-webhook-configuration"},
        "webhooks": [_webhook(hook, verb, scope) for hook in hooks],
    }


def _webhook(hook: _Hook, verb: str, scope: Scope) -> Wire:
    group, version = ("batch", "v1") if hook.of_jobs else (KUEUE, "v1beta2")
    path = f"/{verb}-{group.replace('.', '-')}-{version}-{hook.kind}"
    wire: Wire = {
        "name": hook.name or f"{verb[0]}{hook.kind}.kb.io",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": hook.failure,
        "timeoutSeconds": TIMEOUT_S,
        "clientConfig": {
            "service": {"name": scope.service, "namespace": scope.namespace, "path": path}
        },
        "rules": [
            {
                "apiGroups": [group],
                "apiVersions": [version],
                "operations": list(hook.operations),
                "resources": list(hook.resources),
            }
        ],
    }
    if hook.of_jobs:
        wire["namespaceSelector"] = selector_wire(scope.namespaces)
    conditions = list(_conditions(hook, scope))
    return {**wire, "matchConditions": conditions} if conditions else wire


def _conditions(hook: _Hook, scope: Scope) -> Iterator[dict[str, str]]:
    if hook.condition is not None:
        name, expression = hook.condition
        yield {"name": name, "expression": expression}
    if hook.spares_us:
        yield scope.not_ours
